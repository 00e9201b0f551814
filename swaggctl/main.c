/* swaggctl: asks a running switch, and tells it what to do. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "commands.h"
#include "places.h"
#include "print.h"
#include "version.h"

/* Exit statuses. */
enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_SWITCH = 3 };

struct command_line {
    const char *place; /* --switch; NULL: not given */
    bool json;
    struct print_style style;
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
    fputs("  switches                names of the switches that run here\n"
          "\n"
          "exit status: 0 done; 1 the switch says no; 2 a wrong command line; 3 no switch answers\n",
          to);
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
    case 'h':
        print_usage(stdout);
        return EXIT_SUCCESS;
    case 'v':
        printf("swaggctl %s\n", build_version);
        return EXIT_SUCCESS;
    default:
        fputs("swaggctl --help tells how it is used\n", stderr);
        return EXIT_USAGE;
    }
}

static int parse(struct command_line *cl, int argc, char *argv[])
{
    static const struct option options[] = {
        {"switch", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"only", required_argument, NULL, 'o'},
        {"no-header", no_argument, NULL, 'H'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    int option, status;

    *cl = (struct command_line){0};
    while ((option = getopt_long(argc, argv, "s:jo:Hh", options, NULL)) != -1) {
        status = take_option(cl, option);
        if (status >= 0)
            return status;
    }
    cl->words = argv + optind;
    cl->n = (unsigned)(argc - optind);
    if (cl->n > 0)
        return -1;
    print_usage(stderr);
    return EXIT_USAGE;
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
    const char *error = json_string_value(json_object_get(answer, "error")), *unknown;
    char why[256];

    if (cl->json)
        json_dumpf(view != NULL ? view : answer, stdout, JSON_INDENT(2));
    if (cl->json)
        putchar('\n');
    if (!json_is_true(json_object_get(answer, "ok")))
        return complain(EXIT_REFUSED, error != NULL ? error : "the switch says no, and not why");
    if (view == NULL || cl->json)
        return EXIT_SUCCESS;
    unknown = print_unknown(view, &cl->style);
    if (unknown != NULL) {
        snprintf(why, sizeof(why), "--only: there is no %s in this view", unknown);
        return complain(EXIT_USAGE, why);
    }
    print_view(stdout, view, &cl->style);
    return EXIT_SUCCESS;
}

static int run(const struct command_line *cl)
{
    char why[COMMAND_WHY_MAX], trouble[PLACE_WHY_MAX];
    unsigned used;
    const struct command *command = command_find(cl->words, cl->n, &used, why);
    struct place place;
    json_t *request, *answer;
    int status;

    if (command == NULL)
        return complain(EXIT_USAGE, why);
    if (place_choose(&place, cl->place, trouble) < 0)
        return complain(EXIT_NO_SWITCH, trouble);
    request = command_request(command, cl->words + used, cl->n - used);
    answer = ask(&place, request, trouble);
    json_decref(request);
    if (answer == NULL)
        return complain(EXIT_NO_SWITCH, trouble);
    status = show(cl, answer);
    json_decref(answer);
    return status;
}

static void print_name(const char *name)
{
    puts(name);
}

int main(int argc, char *argv[])
{
    struct command_line cl;
    int status = parse(&cl, argc, argv);

    if (status >= 0)
        return status;
    if (cl.n == 1 && strcmp(cl.words[0], "switches") == 0)
        places_visit(print_name);
    else
        status = run(&cl);
    return status < 0 ? EXIT_SUCCESS : status;
}
