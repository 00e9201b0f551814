/* swaggctl: asks a running switch, and tells it what to do. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "capture.h"
#include "choose.h"
#include "commands.h"
#include "exit_status.h"
#include "places.h"
#include "print.h"
#include "standard_streams.h"
#include "top.h"
#include "version.h"
#include "watch.h"

/* What a capture takes. */
enum filter { FILTER_PORT, FILTER_JOB, FILTER_KIND, FILTERS };

enum {
    OPTION_FILTER = 256,
    OPTION_SNAP = OPTION_FILTER + FILTERS
}; /* getopt's, of options without a letter */

struct command_line {
    const char *place; /* --switch; NULL: not given */
    bool json;
    struct print_style style;
    const char *file;            /* for a capture */
    const char *filter[FILTERS]; /* of a capture; NULL: not given */
    double every;                /* seconds */
    unsigned long times;         /* 0: until it is interrupted */
    unsigned long snap;          /* bytes of a frame that a capture keeps; 0: as many as the switch does */
    char **words;
    unsigned n;
};

static const char usage[] =
    "usage: swaggctl [OPTION...] COMMAND [ARGUMENT...]\n"
    "Asks a running swagg, and tells it what to do.\n"
    "\n"
    "  -s, --switch NAME|PATH  which switch, where several run: its name, or its socket\n"
    "  -j, --json              print JSON\n"
    "  -o, --only KEY,...      print only these keys or columns, in this order\n"
    "  -H, --no-header         print no header above tables\n"
    "  -n, --every SECONDS     how often watch and top look, 1 unless given\n"
    "  -c, --times N           how often watch looks, or how many frames capture takes, in all\n"
    "  -w, --write FILE        where capture writes to; - is standard output\n"
    "      --port PORT, --job JOB, --kind data|control|other\n"
    "                          what capture takes: only frames of this port, gradient packets of this job, "
    "frames\n"
    "                          of this kind\n"
    "      --snap BYTES        how much of a frame capture keeps\n"
    "  -h, --help\n"
    "      --version\n"
    "\n"
    "commands:\n";

static void print_usage(FILE *to)
{
    char words[128];

    fputs(usage, to);
    for (unsigned i = 0; i < commands_count; i++) {
        command_usage(words, sizeof(words), &commands[i]);
        fprintf(to, "  %-22s  %s\n", words, commands[i].help);
    }
    fputs("  capture                 frames that pass the switch, into a file (pcapng), until it is "
          "interrupted\n"
          "  watch COMMAND           a view again and again, with rates a second in place of counters\n"
          "  top                     the whole switch on a full screen, every second\n"
          "  switches                names of the switches that run here\n"
          "\n"
          "exit status: 0 done; 1 the switch says no; 2 a wrong command line; 3 no switch was reached\n",
          to);
}

/* Of the request for a capture. */
static const char *const filters[FILTERS] = {
    [FILTER_PORT] = "port",
    [FILTER_JOB] = "job",
    [FILTER_KIND] = "kind",
};

/* All are positive; times and bytes are whole. As take_option. */
static int take_number(struct command_line *cl, int option)
{
    const char *of = option == 'n' ? "seconds" : option == 'c' ? "times" : "bytes";
    char *end;
    const double value = strtod(optarg, &end);

    if (end == optarg || *end != '\0' || !(value > 0) || value > 1e6 ||
        (option != 'n' && value != (double)(unsigned long)value)) {
        fprintf(stderr, "swaggctl: %s is no number of %s\n", optarg, of);
        return EXIT_USAGE;
    }
    if (option == 'n')
        cl->every = value;
    else if (option == 'c')
        cl->times = (unsigned long)value;
    else
        cl->snap = (unsigned long)value;
    return -1;
}

/* -1: go on; otherwise the exit status. */
static int take_option(struct command_line *cl, int option)
{
    switch (option) {
    case 's':
        cl->place = optarg;
        return -1;
    case 'j':
        cl->json = true;
        return -1;
    case 'o':
        cl->style.only = optarg;
        return -1;
    case 'H':
        cl->style.no_header = true;
        return -1;
    case 'w':
        cl->file = optarg;
        return -1;
    case OPTION_FILTER + FILTER_PORT:
    case OPTION_FILTER + FILTER_JOB:
    case OPTION_FILTER + FILTER_KIND:
        cl->filter[option - OPTION_FILTER] = optarg;
        return -1;
    case 'n':
    case 'c':
    case OPTION_SNAP:
        return take_number(cl, option);
    case 'h':
        print_usage(stdout);
        return EXIT_GOOD;
    case 'v':
        printf("swaggctl %s\n", build_version);
        return EXIT_GOOD;
    default:
        fputs("swaggctl --help tells how it is used\n", stderr);
        return EXIT_USAGE;
    }
}

/* The option that only a capture heeds, and is given although the command is another; NULL: there is none. */
static const char *misplaced(const struct command_line *cl)
{
    if (strcmp(cl->words[0], "capture") == 0)
        return NULL;
    for (unsigned i = 0; i < FILTERS; i++)
        if (cl->filter[i] != NULL)
            return filters[i];
    return cl->snap > 0 ? "snap" : cl->file != NULL ? "write" : NULL;
}

static int parse(struct command_line *cl, int argc, char *argv[])
{
    static const struct option options[] = {
        {"switch", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"only", required_argument, NULL, 'o'},
        {"no-header", no_argument, NULL, 'H'},
        {"every", required_argument, NULL, 'n'},
        {"times", required_argument, NULL, 'c'},
        {"write", required_argument, NULL, 'w'},
        {"port", required_argument, NULL, OPTION_FILTER + FILTER_PORT},
        {"job", required_argument, NULL, OPTION_FILTER + FILTER_JOB},
        {"kind", required_argument, NULL, OPTION_FILTER + FILTER_KIND},
        {"snap", required_argument, NULL, OPTION_SNAP},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    int option, status;

    *cl = (struct command_line){.every = 1};
    while ((option = getopt_long(argc, argv, "s:jo:Hn:c:w:h", options, NULL)) != -1) {
        status = take_option(cl, option);
        if (status >= 0)
            return status;
    }
    cl->words = argv + optind;
    cl->n = (unsigned)(argc - optind);
    if (cl->json && cl->style.only != NULL) {
        fputs("swaggctl: --only chooses what is printed as text: leave it out, or --json\n", stderr);
        return EXIT_USAGE;
    }
    if (cl->n == 0) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (misplaced(cl) != NULL) {
        fprintf(stderr,
                "swaggctl: --%s is for capture: leave it out, or name ports and jobs behind the command\n",
                misplaced(cl));
        return EXIT_USAGE;
    }
    return -1;
}

static int complain(int status, const char *why)
{
    fprintf(stderr, "swaggctl: %s\n", why);
    return status;
}

/* Prints what the switch has answered. */
static int show(const struct command_line *cl, const json_t *answer)
{
    const json_t *view = json_object_get(answer, "view");
    const char *error = json_string_value(json_object_get(answer, "error"));
    char why[1280];

    if (cl->json)
        json_dumpf(view != NULL ? view : answer, stdout, JSON_INDENT(2));
    if (cl->json)
        putchar('\n');
    if (!json_is_true(json_object_get(answer, "ok")))
        return complain(EXIT_BAD, error != NULL ? error : "the switch says no, and not why");
    if (view == NULL || cl->json)
        return EXIT_GOOD;
    if (print_lacks(view, &cl->style, why, sizeof(why)))
        return complain(EXIT_USAGE, why);
    if (print_is_empty(view) && isatty(STDOUT_FILENO))
        puts("none");
    print_view(stdout, view, &cl->style);
    return EXIT_GOOD;
}

static int ask_once(const struct command_line *cl, const struct place *place, const json_t *request,
                    bool is_view);

/* Several jobs are called as the request says: shows them all, or does what is asked to the one that the user
 * chooses. -1: there is no user to choose. */
static int ask_each(const struct command_line *cl, const struct place *place, const json_t *request,
                    const json_t *choices, bool is_view)
{
    const int chosen = is_view ? -1 : choose(choices, "which job?");
    json_t *one = json_copy((json_t *)request), *name;
    int status = is_view || chosen >= 0 ? EXIT_GOOD : -1;
    size_t i;

    json_array_foreach(choices, i, name)
    {
        if (status != EXIT_GOOD || (chosen >= 0 && (size_t)chosen != i))
            continue;
        if (is_view && i > 0 && !cl->json)
            putchar('\n');
        json_object_set(one, "name", name);
        status = ask_once(cl, place, one, is_view);
    }
    json_decref(one);
    return status;
}

static int ask_once(const struct command_line *cl, const struct place *place, const json_t *request,
                    bool is_view)
{
    char why[PLACE_WHY_MAX];
    json_t *answer = ask(place, request, why);
    const json_t *choices = json_object_get(answer, "choices");
    int status = -1;

    if (answer == NULL)
        return complain(EXIT_NO_SWITCH, why);
    if (choices != NULL)
        status = ask_each(cl, place, request, choices, is_view);
    if (status < 0)
        status = show(cl, answer);
    json_decref(answer);
    return status;
}

static int ask_again_and_again(const struct command_line *cl, const struct place *place,
                               const json_t *request)
{
    const struct watch watch = {.place = *place,
                                .request = request,
                                .style = cl->style,
                                .json = cl->json,
                                .every = cl->every,
                                .times = cl->times};
    char why[PLACE_WHY_MAX];
    const int status = watch_run(&watch, why);

    return status == EXIT_GOOD ? status : complain(status, why);
}

static int run(const struct command_line *cl, char *const words[], unsigned n, bool watch)
{
    char why[COMMAND_WHY_MAX], trouble[PLACE_WHY_MAX];
    unsigned used;
    const struct command *command = command_find(words, n, &used, why);
    struct place place;
    json_t *request;
    int status;

    if (command == NULL)
        return complain(EXIT_USAGE, why);
    if (watch && command_acts(command))
        return complain(EXIT_USAGE, "watch shows views; this command changes something");
    if (place_choose(&place, cl->place, trouble) < 0)
        return complain(EXIT_NO_SWITCH, trouble);
    request = command_request(command, words + used, n - used);
    status = watch ? ask_again_and_again(cl, &place, request) : ask_once(cl, &place, request, used == 1);
    json_decref(request);
    return status;
}

static int top(const struct command_line *cl)
{
    char why[PLACE_WHY_MAX];
    struct place place;

    if (place_choose(&place, cl->place, why) < 0)
        return complain(EXIT_NO_SWITCH, why);
    return top_run(&place, cl->every, why) == 0 ? EXIT_GOOD : complain(EXIT_USAGE, why);
}

static json_t *capture_request(const struct command_line *cl)
{
    json_t *request = ask_request("capture");

    for (unsigned i = 0; i < FILTERS; i++)
        if (cl->filter[i] != NULL)
            json_object_set_new(request, filters[i], json_string(cl->filter[i]));
    if (cl->snap > 0)
        json_object_set_new(request, "snap", json_integer((json_int_t)cl->snap));
    return request;
}

static int capture(const struct command_line *cl)
{
    struct capture c = {.file = cl->file, .frames = cl->times};
    char why[PLACE_WHY_MAX];
    json_t *request;
    int status;

    if (cl->file == NULL)
        return complain(EXIT_USAGE, "where to? capture --write FILE, or --write - for standard output");
    if (place_choose(&c.place, cl->place, why) < 0)
        return complain(EXIT_NO_SWITCH, why);
    c.request = request = capture_request(cl);
    status = capture_run(&c, why);
    json_decref(request);
    return status == 0 ? EXIT_GOOD : complain(status, why);
}

static void print_name(const char *name)
{
    puts(name);
}

static int switches(const struct command_line *cl)
{
    (void)cl;
    places_visit(print_name);
    return EXIT_GOOD;
}

static int watch(const struct command_line *cl)
{
    return run(cl, cl->words + 1, cl->n - 1, true);
}

/* Commands that are no request to a switch, but for watch, which makes one again and again. */
static const struct other {
    const char *word, *takes;
    int (*run)(const struct command_line *cl);
} others[] = {
    {"top", "", top},
    {"capture", "", capture},
    {"watch", " COMMAND", watch},
    {"switches", "", switches},
};

static int run_other(const struct command_line *cl, const struct other *o)
{
    if ((cl->n > 1) == (o->takes[0] != '\0'))
        return o->run(cl);
    fprintf(stderr, "swaggctl: usage: swaggctl %s%s\n", o->word, o->takes);
    return EXIT_USAGE;
}

int main(int argc, char *argv[])
{
    struct command_line cl;
    int status;

    standard_streams_begin();
    status = parse(&cl, argc, argv);
    if (status >= 0)
        return status;
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(cl.words[0], others[i].word) == 0)
            return run_other(&cl, &others[i]);
    return run(&cl, cl.words, cl.n, false);
}
