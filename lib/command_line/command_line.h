/* Command lines as tables: a row for each option, by which it is read, explained in --help, and printed for
 * the manual page (--help=man). Rows are in groups, each of which fills one struct, so that programs can
 * share groups. All mistakes are told alike, on standard error: what is wrong, perhaps what was meant, and
 * that
 * --help tells more; nothing was begun then (EXIT_USAGE). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exit_status.h"

struct option_row;

/* Reads text into the row's field. False: it does not fit, which was reported. */
typedef bool option_reader(const struct option_row *row, const char *text, void *field);

struct option_row {
    const char *name;     /* --NAME; NULL: there is only the letter */
    char letter;          /* -LETTER; 0: none */
    const char *value;    /* the name of its value in --help; NULL: it takes none */
    option_reader *read;  /* NULL: it is an operand, shown by its value's name */
    size_t offset;        /* of the field in the group's struct */
    uint64_t least, most; /* of a number */
    const char *help;
};

/* By the type of the field: */
option_reader option_flag;     /* bool, which becomes true */
option_reader option_text;     /* const char *: points into argv */
option_reader option_byte;     /* uint8_t */
option_reader option_unsigned; /* unsigned */
option_reader option_int;      /* int */
option_reader option_number;   /* uint64_t */
option_reader option_real;     /* double */
option_reader option_bytes;    /* size_t; K, M or G may follow */

/* One of words, up to NULL: *which is its place. */
bool option_one_of(const struct option_row *row, const char *text, const char *const words[],
                   unsigned *which);

struct option_group {
    const struct option_row *rows;
    size_t count;
    void *fields; /* the struct that offsets refer to; it has the defaults */
};

struct command_line {
    const char *version;  /* what --version says behind the program's name; NULL: it is no option */
    const char *intro;    /* of --help: "usage: ..." and what the command does, with its line ends */
    const char *operands; /* what follows the options, as in "which captures?"; NULL: nothing may follow */
    const struct option_group *groups;
    size_t count;
    void (*print_rest)(void);    /* of --help, behind the options; NULL: there is none */
    const char *hint;            /* what is said of an option that is none; NULL: no more than of others */
    bool ends_at_operand;        /* what follows the first operand is no option */
    bool is_optional, is_silent; /* operands may be missing; another process says what there is to say */
};

enum { OPTIONS_READ = -1 };

/* Fills the groups' structs. argv[0] is the command's name. Returns OPTIONS_READ, with optind at the first
 * operand; or the exit code: help or the version was printed, or a mistake reported. */
int options_read(const struct command_line *line, int argc, char *argv[]);

/* How it is given, for messages: "--NAME", or "-LETTER". Until the next call. */
const char *option_name(const struct option_row *row);

/* "PROGRAM: ..." to standard error. Returns false, so that `return complain(...)` reads well. */
__attribute__((format(printf, 1, 2))) bool complain(const char *format, ...);

/* The same of a command line, and that --help tells how the program is used; EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int refuse_usage(const char *format, ...);
