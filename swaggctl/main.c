/* swaggctl: asks a running switch, and tells it what to do. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "capture.h"
#include "command_line.h"
#include "commands.h"
#include "print.h"
#include "standard_streams.h"
#include "top.h"
#include "tree.h"
#include "tree_ask.h"
#include "version.h"
#include "watch.h"
#include "why_ask.h"

/* What a capture takes. */
enum filter { FILTER_PORT, FILTER_JOB, FILTER_RANK, FILTER_KIND, FILTER_REASON, FILTERS };

struct arguments {
    const char *instance; /* --switch; NULL: not given */
    bool json, dry_run, all;
    struct print_style style;
    const char *file;            /* for a capture */
    const char *filter[FILTERS]; /* of a capture; NULL: not given */
    double every;                /* seconds */
    uint64_t times;              /* 0: until it is interrupted */
    uint64_t snap;               /* bytes of a frame that a capture keeps; 0: as many as the switch does */
    char **words;
    unsigned n;
};

static bool read_seconds(const struct option_row *row, const char *text, void *field)
{
    if (!option_real(row, text, field))
        return false;
    if (*(double *)field > 0)
        return true;
    return complain("--%s must be more than 0", row->name);
}

enum { NUMBER_MAX = 1000000 };
#define FIELD(member) offsetof(struct arguments, member)

static const struct option_row rows[] = {
    {"switch", 's', "NAME|PATH", option_text, FIELD(instance), 0, 0,
     "which switch, where several run: its name (the DPDK file prefix), or the path of its socket. Without "
     "it, the only one that runs; if there are several, and a terminal, swaggctl asks"},
    {"json", 'j', NULL, option_flag, FIELD(json), 0, 0, "print JSON: one object, or with watch one a line"},
    {"only", 'o', "KEY,...", option_text, FIELD(style.only), 0, 0,
     "print only these keys or columns, in this order"},
    {"all", 'a', NULL, option_flag, FIELD(all), 0, 0,
     "print all as it is: on a terminal counters that are 0 are left out, and bytes and times are rounded"},
    {"no-header", 'H', NULL, option_flag, FIELD(style.no_header), 0, 0, "print no header above tables"},
    {"every", 'n', "SECONDS", read_seconds, FIELD(every), 0, NUMBER_MAX,
     "how often watch and top look, and how long why does: 1 unless given; rates need two looks, so the "
     "first table comes after so long, on a terminal sooner"},
    {"times", 'c', "N", option_number, FIELD(times), 1, NUMBER_MAX,
     "how many tables watch, or top without a terminal, prints; or how many frames capture takes"},
    {"write", 'w', "FILE", option_text, FIELD(file), 0, 0, "where capture writes to; - is standard output"},
    {"port", 0, "PORT", option_text, FIELD(filter[FILTER_PORT]), 0, 0,
     "capture takes only frames of this port"},
    {"job", 0, "JOB", option_text, FIELD(filter[FILTER_JOB]), 0, 0,
     "capture takes only gradient packets of this job"},
    {"rank", 0, "RANK", option_text, FIELD(filter[FILTER_RANK]), 0, 0,
     "capture takes only those of this rank of the job"},
    {"reason", 0, "REASON", option_text, FIELD(filter[FILTER_REASON]), 0, 0,
     "capture takes only received frames that are dropped for this reason, as swaggctl drops has it"},
    {"kind", 0, "KIND", option_text, FIELD(filter[FILTER_KIND]), 0, 0,
     "capture takes only frames of this kind: data, control or other"},
    {"snap", 0, "BYTES", option_number, FIELD(snap), 1, NUMBER_MAX, "how much of a frame capture keeps"},
    {"dry-run", 0, NULL, option_flag, FIELD(dry_run), 0, 0,
     "reload only tells what it would change, and what of it needs a restart"},
};

static const char intro[] = "usage: swaggctl [OPTION...] COMMAND [ARGUMENT...]\n"
                            "Asks a running swagg, and tells it what to do.\n";

static void print_commands(void)
{
    char words[128];
    unsigned count;
    const struct command *commands = commands_all(&count);

    puts("\ncommands:");
    for (unsigned i = 0; i < count; i++) {
        command_usage(words, sizeof(words), &commands[i]);
        printf("  %-22s  %s\n", words, commands[i].help);
    }
    puts("\nexit status: 0 done; 1 the switch says no; 2 a wrong command line; 3 no switch was reached");
}

/* Of the request for a capture. */
static const char *const filters[FILTERS] = {
    [FILTER_PORT] = "port",     [FILTER_JOB] = "job",   [FILTER_RANK] = "rank",
    [FILTER_REASON] = "reason", [FILTER_KIND] = "kind",
};

/* The option that only a capture heeds, and is given although the command is another; NULL: there is none. */
static const char *misplaced(const struct arguments *a)
{
    if (strcmp(a->words[0], "capture") == 0)
        return NULL;
    for (unsigned i = 0; i < FILTERS; i++)
        if (a->filter[i] != NULL)
            return filters[i];
    return a->snap > 0 ? "snap" : a->file != NULL ? "write" : NULL;
}

static bool is_utf8(const char *text)
{
    json_t *value = json_string(text);

    json_decref(value);
    return value != NULL;
}

/* What a request cannot say, which is text in UTF-8: without it, it would ask for something else, such as all
 * ports in the place of one. NULL: there is none. */
static const char *unspeakable(const struct arguments *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (!is_utf8(a->words[i]))
            return a->words[i];
    for (unsigned i = 0; i < FILTERS; i++)
        if (a->filter[i] != NULL && !is_utf8(a->filter[i]))
            return a->filter[i];
    return NULL;
}

/* OPTIONS_READ, or the exit status. */
static int parse(struct arguments *a, int argc, char *argv[])
{
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), a};
    const struct command_line line = {.version = build_version,
                                      .intro = intro,
                                      .operands = "command",
                                      .groups = &group,
                                      .count = 1,
                                      .print_rest = print_commands};

    *a = (struct arguments){.every = 1};
    const int status = options_read(&line, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    a->words = argv + optind;
    a->n = (unsigned)(argc - optind);
    if (a->json && a->style.only != NULL)
        return refuse_usage("--only chooses what is printed as text: leave it out, or --json");
    if (a->dry_run && strcmp(a->words[0], "reload") != 0)
        return refuse_usage("--dry-run is for reload: leave it out");
    if (misplaced(a) != NULL)
        return refuse_usage("--%s is for capture: leave it out, or name ports and jobs behind the command",
                            misplaced(a));
    if (unspeakable(a) != NULL)
        return refuse_usage("\"%s\" is not in UTF-8, as all that a switch is asked is", unspeakable(a));
    return OPTIONS_READ;
}

static int fail(int status, const char *why)
{
    complain("%s", why);
    return status;
}

/* For a reader: others get all that there is, as it is. */
static void read_easily(struct print_style *style, const json_t *request, const json_t *answer)
{
    style->view = command_view(request);
    style->spared = json_object_get(answer, "counters");
}

/* Prints what the switch has answered. */
static int show(const struct arguments *cl, const json_t *request, const json_t *answer)
{
    const json_t *view = json_object_get(answer, "view");
    const char *error = json_string_value(json_object_get(answer, "error"));
    struct print_style style = cl->style;
    char why[1280];

    if (!cl->all && style.only == NULL && isatty(STDOUT_FILENO))
        read_easily(&style, request, answer);
    if (cl->json)
        json_dumpf(view != NULL ? view : answer, stdout, JSON_INDENT(2));
    if (cl->json)
        putchar('\n');
    if (!json_is_true(json_object_get(answer, "ok")))
        return fail(EXIT_BAD, error != NULL ? error : "the switch says no, and not why");
    if (view == NULL || cl->json)
        return EXIT_GOOD;
    if (json_object_get(view, "configuration") != NULL) /* a file: as it is */
        return fputs(json_string_value(json_object_get(view, "configuration")), stdout) < 0;
    if (print_lacks(view, &cl->style, why, sizeof(why)))
        return fail(EXIT_USAGE, why);
    if (print_is_empty(view) && isatty(STDOUT_FILENO))
        puts("none");
    print_view(stdout, view, &style);
    return EXIT_GOOD;
}

static int ask_once(const struct arguments *cl, const struct instance *instance, const json_t *request,
                    bool is_view);

/* Several jobs are called as the request says: shows them all, or does what is asked to the one that the user
 * chooses. -1: there is no user to choose. */
static int ask_each(const struct arguments *cl, const struct instance *instance, const json_t *request,
                    const json_t *choices, bool is_view)
{
    const int chosen = is_view ? -1 : choose(choices, "which job?");
    json_t *one = json_copy((json_t *)request), *name;
    int status = is_view || chosen >= 0 ? EXIT_GOOD : -1;
    size_t i;

    json_array_foreach (choices, i, name) {
        if (status != EXIT_GOOD || (chosen >= 0 && (size_t)chosen != i))
            continue;
        if (is_view && i > 0 && !cl->json)
            putchar('\n');
        json_object_set(one, "name", name);
        status = ask_once(cl, instance, one, is_view);
    }
    json_decref(one);
    return status;
}

static int ask_once(const struct arguments *cl, const struct instance *instance, const json_t *request,
                    bool is_view)
{
    char why[INSTANCE_WHY_MAX];
    json_t *answer = ask(instance, request, why);
    const json_t *choices = json_object_get(answer, "choices");
    int status = -1;

    if (answer == NULL)
        return fail(EXIT_NO_SWITCH, why);
    if (choices != NULL)
        status = ask_each(cl, instance, request, choices, is_view);
    if (status < 0)
        status = show(cl, request, answer);
    json_decref(answer);
    return status;
}

static int ask_again_and_again(const struct arguments *cl, const struct instance *instance,
                               const json_t *request)
{
    const struct watch watch = {.instance = *instance,
                                .request = request,
                                .style = cl->style,
                                .json = cl->json,
                                .every = cl->every,
                                .times = cl->times};
    char why[INSTANCE_WHY_MAX];
    const int status = watch_run(&watch, why);

    return status == EXIT_GOOD ? status : fail(status, why);
}

static int run(const struct arguments *cl, char *const words[], unsigned n, bool watch)
{
    char why[COMMAND_WHY_MAX], trouble[INSTANCE_WHY_MAX];
    unsigned used;
    const struct command *command = command_find(words, n, &used, why);
    struct instance instance;
    json_t *request;
    int status;

    if (command == NULL)
        return fail(EXIT_USAGE, why);
    if (watch && command_acts(command))
        return fail(EXIT_USAGE, "watch shows views; this command changes something");
    if (instance_choose(&instance, cl->instance, trouble) < 0)
        return fail(EXIT_NO_SWITCH, trouble);
    request = command_request(command, words + used, n - used);
    if (cl->dry_run)
        json_object_set_new(request, "dry_run", json_true());
    status =
        watch ? ask_again_and_again(cl, &instance, request) : ask_once(cl, &instance, request, used == 1);
    json_decref(request);
    if (status == EXIT_BAD && used == 1 && command_begun(words, n, why, sizeof(why)))
        complain("did you mean swaggctl %s?", why);
    return status;
}

static int top(const struct arguments *cl)
{
    char why[INSTANCE_WHY_MAX];
    struct instance instance;

    if (instance_choose(&instance, cl->instance, why) < 0)
        return fail(EXIT_NO_SWITCH, why);
    return top_run(&instance, cl->every, (unsigned long)cl->times);
}

static int why(const struct arguments *cl)
{
    char trouble[INSTANCE_WHY_MAX];
    struct instance instance;
    int status;

    if (cl->n > 2)
        return refuse_usage("usage: swaggctl why JOB");
    if (instance_choose(&instance, cl->instance, trouble) < 0)
        return fail(EXIT_NO_SWITCH, trouble);
    status = why_run(&instance, cl->words[1], cl->every, cl->json, trouble);
    return status == EXIT_GOOD ? status : fail(status, trouble);
}

static int tree(const struct arguments *cl)
{
    char why[INSTANCE_WHY_MAX];
    struct instance instance;
    json_t *request, *answer, *view;
    int status;

    if (instance_choose(&instance, cl->instance, why) < 0)
        return fail(EXIT_NO_SWITCH, why);
    view = tree_ask(&instance, why);
    if (view == NULL)
        return fail(EXIT_NO_SWITCH, why);
    if (!cl->json)
        tree_indent(view);
    request = ask_request("tree");
    answer = json_pack("{s:b, s:o}", "ok", 1, "view", view);
    status = show(cl, request, answer);
    json_decref(request);
    json_decref(answer);
    return status;
}

static json_t *capture_request(const struct arguments *cl)
{
    json_t *request = ask_request("capture");

    for (unsigned i = 0; i < FILTERS; i++)
        if (cl->filter[i] != NULL)
            json_object_set_new(request, filters[i], json_string(cl->filter[i]));
    if (cl->snap > 0)
        json_object_set_new(request, "snap", json_integer((json_int_t)cl->snap));
    return request;
}

static int capture(const struct arguments *cl)
{
    struct capture c = {.file = cl->file, .frames = cl->times};
    char why[INSTANCE_WHY_MAX];
    json_t *request;
    int status;

    if (cl->file == NULL)
        return fail(EXIT_USAGE, "where to? capture --write FILE, or --write - for standard output");
    if (instance_choose(&c.instance, cl->instance, why) < 0)
        return fail(EXIT_NO_SWITCH, why);
    c.request = request = capture_request(cl);
    status = capture_run(&c, why);
    json_decref(request);
    return status == 0 ? EXIT_GOOD : fail(status, why);
}

static void print_name(void *unused, const char *name)
{
    (void)unused;
    puts(name);
}

static int switches(const struct arguments *cl)
{
    (void)cl;
    instances_visit(print_name, NULL);
    return EXIT_GOOD;
}

static int watch(const struct arguments *cl)
{
    return run(cl, cl->words + 1, cl->n - 1, true);
}

/* What those do that are no request; watch makes one again and again. */
static const struct {
    const char *word;
    int (*run)(const struct arguments *cl);
} others[] = {
    {"why", why},         {"top", top},     {"tree", tree},
    {"capture", capture}, {"watch", watch}, {"switches", switches},
};

static int run_other(const struct arguments *cl, const struct command *command)
{
    char usage[128];

    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i].word, command->name) == 0 && (cl->n > 1) == (command->takes[0] != ARGUMENT_NONE))
            return others[i].run(cl);
    command_usage(usage, sizeof(usage), command);
    return refuse_usage("usage: swaggctl %s", usage);
}

int main(int argc, char *argv[])
{
    const struct command *other;
    struct arguments cl;
    int status;

    standard_streams_begin();
    status = parse(&cl, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    other = command_other(cl.words[0]);
    if (other != NULL)
        return run_other(&cl, other);
    return run(&cl, cl.words, cl.n, false);
}
