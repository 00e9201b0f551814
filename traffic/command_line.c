#include "command_line.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 64,
    VERSION = 255,   /* getopt's value of --version */
    LONG_ONLY = 256, /* of row i: LONG_ONLY + i, or the row's letter */
    HELP_COLUMN = 26,
    HELP_WIDTH = 104,
};

void complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* --- readers -----------------------------------------------------------------------------------------------
 */

static bool read_number(const struct option_row *row, const char *text, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 0);
    if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && *number <= row->most)
        return true;
    complain("--%s: \"%s\" is not a number from 0 to %" PRIu64, row->name, text, row->most);
    return false;
}

bool option_flag(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    (void)text;
    *(bool *)field = true;
    return true;
}

bool option_text(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    *(const char **)field = text;
    return true;
}

bool option_byte(const struct option_row *row, const char *text, void *field)
{
    uint64_t number;
    const bool good = read_number(row, text, &number);

    if (good)
        *(uint8_t *)field = (uint8_t)number;
    return good;
}

bool option_unsigned(const struct option_row *row, const char *text, void *field)
{
    uint64_t number;
    const bool good = read_number(row, text, &number);

    if (good)
        *(unsigned *)field = (unsigned)number;
    return good;
}

bool option_int(const struct option_row *row, const char *text, void *field)
{
    uint64_t number;
    const bool good = read_number(row, text, &number);

    if (good)
        *(int *)field = (int)number;
    return good;
}

bool option_number(const struct option_row *row, const char *text, void *field)
{
    return read_number(row, text, field);
}

bool option_real(const struct option_row *row, const char *text, void *field)
{
    double *number = field;
    char *end;

    *number = strtod(text, &end);
    if (end != text && *end == '\0' && *number >= 0 && *number <= (double)row->most)
        return true;
    complain("--%s: \"%s\" is not a number from 0 to %" PRIu64, row->name, text, row->most);
    return false;
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
    int at =
        row->letter != 0 ? printf("  -%c, --%s", row->letter, row->name) : printf("      --%s", row->name);

    if (row->value != NULL)
        at += printf("=%s", row->value);
    print_words(row->help, at);
}

static void print_help(const struct command_line *line)
{
    fputs(line->intro, stdout);
    putchar('\n');
    for (size_t g = 0; g < line->count; g++)
        for (size_t i = 0; i < line->groups[g].count; i++)
            print_row(&line->groups[g].rows[i]);
    fputs(line->version != NULL ? "  -h, --help, --version\n" : "  -h, --help\n", stdout);
}

/* --- reading -----------------------------------------------------------------------------------------------
 */

/* All rows in one list, in getopt's words. */
struct flat {
    const struct option_row *row[ROWS_MAX];
    void *fields[ROWS_MAX];
    int rows;
    struct option longs[ROWS_MAX + 3];
    char letters[2 * ROWS_MAX + 2];
};

static void add_letter(struct flat *f, char letter, bool takes_value)
{
    char *end = f->letters + strlen(f->letters);

    *end++ = letter;
    if (takes_value)
        *end = ':';
}

static void flatten(struct flat *f, const struct command_line *line)
{
    memset(f, 0, sizeof(*f));
    for (size_t g = 0; g < line->count; g++) {
        for (size_t i = 0; i < line->groups[g].count; i++, f->rows++) {
            const struct option_row *row = &line->groups[g].rows[i];

            f->row[f->rows] = row;
            f->fields[f->rows] = line->groups[g].fields;
            f->longs[f->rows] = (struct option){
                row->name, row->value != NULL ? required_argument : no_argument, NULL, LONG_ONLY + f->rows};
            if (row->letter != 0)
                add_letter(f, row->letter, row->value != NULL);
        }
    }
    f->longs[f->rows] = (struct option){"help", no_argument, NULL, 'h'};
    if (line->version != NULL)
        f->longs[f->rows + 1] = (struct option){"version", no_argument, NULL, VERSION};
    add_letter(f, 'h', false);
}

/* The row of what getopt found; -1: it is none, which getopt has said. */
static int row_of(const struct flat *f, int found)
{
    if (found >= LONG_ONLY)
        return found - LONG_ONLY;
    for (int i = 0; i < f->rows; i++)
        if (f->row[i]->letter == found)
            return i;
    return -1;
}

static bool take(const struct flat *f, int found)
{
    const int i = row_of(f, found);

    return i >= 0 && f->row[i]->read(f->row[i], optarg, (char *)f->fields[i] + f->row[i]->offset);
}

int options_read(const struct command_line *line, int argc, char *argv[])
{
    struct flat f;
    int found;

    flatten(&f, line);
    optind = 0; /* getopt may have been at work on another command line */
    while ((found = getopt_long(argc, argv, f.letters, f.longs, NULL)) != -1) {
        if (found == 'h') {
            print_help(line);
            return EXIT_GOOD;
        }
        if (found == VERSION) {
            printf("%s %s\n", program_invocation_short_name, line->version);
            return EXIT_GOOD;
        }
        if (!take(&f, found))
            return EXIT_USAGE;
    }
    if (line->operands == NULL && optind < argc) {
        complain("\"%s\" is no option", argv[optind]);
        return EXIT_USAGE;
    }
    if (line->operands != NULL && optind == argc) {
        complain("%s: which %s?", argv[0], line->operands);
        return EXIT_USAGE;
    }
    return OPTIONS_READ;
}
