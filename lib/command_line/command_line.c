#include "command_line.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "version.h"

enum {
    ROWS_MAX = 64,
    HELP = 254, /* getopt's values of --help and --version */
    VERSION = 255,
    LONG_ONLY = 256, /* of row i: LONG_ONLY + i, or the row's letter */
    HELP_COLUMN = 26,
    HELP_WIDTH = 104,
};

/* --- mistakes ----------------------------------------------------------------------------------------------
 */

static const char *command = ""; /* of the program, that was read last; empty: it has none */
static bool is_silent;

static void say(const char *format, va_list args)
{
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, args);
}

bool complain(const char *format, ...)
{
    va_list args;

    if (is_silent)
        return false;

    va_start(args, format);
    say(format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

static void say_help_tells(void)
{
    fprintf(stderr, "%s%s%s --help tells how it is used\n", program_invocation_short_name,
            command[0] != '\0' ? " " : "", command);
}

int refuse_usage(const char *format, ...)
{
    va_list args;

    if (is_silent)
        return EXIT_USAGE;

    va_start(args, format);
    say(format, args);
    fputs(format[strlen(format) - 1] == '?' ? " " : "; ", stderr);
    say_help_tells();
    va_end(args);
    return EXIT_USAGE;
}

const char *option_name(const struct option_row *row)
{
    static char name[64];

    if (row->name != NULL)
        snprintf(name, sizeof(name), "--%s", row->name);
    else
        snprintf(name, sizeof(name), "-%c", row->letter);
    return name;
}

/* --- help --------------------------------------------------------------------------------------------------
 */

/* Words from column HELP_COLUMN to HELP_WIDTH; the line so far is `at` characters long. */
static void print_words(const char *text, int at)
{
    while (*text != '\0') {
        const int word = (int)strcspn(text, " ");

        if (at > HELP_COLUMN && at + 1 + word > HELP_WIDTH) {
            putchar('\n');
            at = 0;
        }
        if (at < HELP_COLUMN)
            at += printf("%*s%.*s", HELP_COLUMN - at, "", word, text);
        else
            at += printf(" %.*s", word, text);
        text += word + (text[word] == ' ');
    }
    putchar('\n');
}

static void print_row(const struct option_row *row)
{
    int at = 0;

    if (row->read == NULL) /* an operand */
        at = printf("  %s", row->value);
    else if (row->name == NULL)
        at = printf("  -%c %s", row->letter, row->value);
    else if (row->letter != 0)
        at = printf("  -%c, --%s", row->letter, row->name);
    else
        at = printf("      --%s", row->name);
    if (row->name != NULL && row->value != NULL)
        at += printf("=%s", row->value);
    print_words(row->help, at);
}

/* For troff, where a bare hyphen is none to type. */
static void print_typed(const char *text)
{
    for (; *text != '\0'; text++)
        printf(*text == '-' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void print_man_row(const struct option_row *row)
{
    fputs(".TP\n", stdout);
    if (row->letter != 0)
        printf("\\fB\\-%c\\fR%s", row->letter, row->name != NULL ? ", " : " ");
    if (row->name != NULL) {
        fputs("\\fB\\-\\-", stdout);
        print_typed(row->name);
        printf("\\fR%s", row->value != NULL ? "=" : "");
    }
    if (row->value != NULL) {
        fputs("\\fI", stdout);
        print_typed(row->value);
        fputs("\\fR", stdout);
    }
    printf("\n%c", toupper((unsigned char)row->help[0]));
    print_typed(row->help + 1);
    puts(".");
}

static int print_help(const struct command_line *line, const char *form)
{
    const bool man = form != NULL && strcmp(form, "man") == 0;

    if (!man)
        printf("%s\n", line->intro);
    for (size_t g = 0; g < line->count; g++)
        for (size_t i = 0; i < line->groups[g].count; i++)
            (man ? print_man_row : print_row)(&line->groups[g].rows[i]);
    if (man)
        puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR, \\fB\\-\\-version\\fR");
    else
        puts(line->version != NULL ? "  -h, --help, --version" : "  -h, --help");
    if (!man && line->print_rest != NULL)
        line->print_rest();
    return EXIT_GOOD;
}

/* --- reading -----------------------------------------------------------------------------------------------
 */

/* All rows in one list, in getopt's words. */
struct flat {
    const struct option_row *row[ROWS_MAX];
    void *fields[ROWS_MAX];
    int rows, longs;
    struct option of[ROWS_MAX + 3];
    char letters[2 * ROWS_MAX + 3];
};

static void add_letter(struct flat *f, char letter, bool takes_value)
{
    char *end = f->letters + strlen(f->letters);

    *end++ = letter;
    if (takes_value)
        *end = ':';
}

static void add_row(struct flat *f, const struct option_row *row, void *fields)
{
    const bool takes_value = row->value != NULL;

    f->row[f->rows] = row;
    f->fields[f->rows] = fields;
    if (row->letter != 0)
        add_letter(f, row->letter, takes_value);
    if (row->name != NULL)
        f->of[f->longs++] = (struct option){row->name, takes_value ? required_argument : no_argument, NULL,
                                            LONG_ONLY + f->rows};
    f->rows++;
}

static void flatten(struct flat *f, const struct command_line *line)
{
    memset(f, 0, sizeof(*f));
    if (line->ends_at_operand)
        f->letters[0] = '+';
    for (size_t g = 0; g < line->count; g++)
        for (size_t i = 0; i < line->groups[g].count; i++)
            if (line->groups[g].rows[i].read != NULL)
                add_row(f, &line->groups[g].rows[i], line->groups[g].fields);
    f->of[f->longs++] = (struct option){"help", optional_argument, NULL, HELP};
    if (line->version != NULL)
        f->of[f->longs++] = (struct option){"version", no_argument, NULL, VERSION};
    add_letter(f, 'h', false);
}

static const struct option_row *row_of(const struct flat *f, int found, void **fields)
{
    for (int i = 0; i < f->rows; i++)
        if (found == LONG_ONLY + i || found == f->row[i]->letter) {
            *fields = f->fields[i];
            return f->row[i];
        }
    return NULL;
}

/* Behind what getopt has said: which long option was meant, and where to read on. */
static void say_what_was_meant(const struct command_line *line, const struct flat *f, const char *typed)
{
    char word[64];

    snprintf(word, sizeof(word), "%.*s", (int)strcspn(typed, "="), typed);
    struct nearest meant = nearest_to(word + strspn(word, "-"));
    for (int i = 0; optopt == 0 && i < f->longs; i++)
        nearest_offer(&meant, f->of[i].name);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    if (meant.best != NULL)
        fprintf(stderr, "did you mean --%s? ", meant.best);
    else if (line->hint != NULL)
        fprintf(stderr, "%s; ", line->hint);
    say_help_tells();
}

static int read_all(const struct command_line *line, const struct flat *f, int argc, char *argv[])
{
    const struct option_row *row;
    void *fields;
    int found;

    while ((found = getopt_long(argc, argv, f->letters, f->of, NULL)) != -1) {
        if (found == 'h' || found == HELP)
            return is_silent ? EXIT_GOOD : print_help(line, optarg);
        if (found == VERSION) {
            if (!is_silent)
                printf("%s %s\n", program_invocation_short_name, line->version);
            return EXIT_GOOD;
        }
        row = row_of(f, found, &fields);
        if (row == NULL && !is_silent)
            say_what_was_meant(line, f, argv[optind - 1]);
        if (row == NULL || !row->read(row, optarg, (char *)fields + row->offset))
            return EXIT_USAGE;
    }
    return OPTIONS_READ;
}

int options_read(const struct command_line *line, int argc, char *argv[])
{
    struct flat f;

    command = strcmp(argv[0], program_invocation_name) == 0 ? "" : argv[0];
    flatten(&f, line);
    optind = 0; /* getopt may have been at work on another command line */
    is_silent = line->is_silent;
    opterr = !is_silent;
    const int status = read_all(line, &f, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    if (line->operands == NULL && optind < argc)
        return refuse_usage("\"%s\" is no option", argv[optind]);
    if (line->operands != NULL && optind == argc && !line->is_optional)
        return refuse_usage("%s%swhich %s?", command, command[0] != '\0' ? ": " : "", line->operands);
    return OPTIONS_READ;
}
