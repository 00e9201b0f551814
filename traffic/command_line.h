/* Command lines of the traffic tools and of swagg-perf, as tables: a row for each option, by which it is both
 * read and explained in --help. Rows are in groups, each of which fills one struct, so that tools can share
 * groups. */
#ifndef SWAGG_TRAFFIC_COMMAND_LINE_H
#define SWAGG_TRAFFIC_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exit_status.h"

struct option_row;

/* Reads text into the row's field. False: it does not fit, which was reported. */
typedef bool option_reader(const struct option_row *row, const char *text, void *field);

struct option_row {
    const char *name;  /* --NAME */
    char letter;       /* -LETTER; 0: none */
    const char *value; /* the name of its value in --help; NULL: it takes none */
    option_reader *read;
    size_t offset; /* of the field in the group's struct */
    uint64_t most; /* of a number */
    const char *help;
};

/* By the type of the field: */
option_reader option_flag;     /* bool, which becomes true */
option_reader option_text;     /* const char *: points into argv */
option_reader option_byte;     /* uint8_t, 0..most */
option_reader option_unsigned; /* unsigned, 0..most */
option_reader option_int;      /* int, 0..most */
option_reader option_number;   /* uint64_t, 0..most */
option_reader option_real;     /* double, 0..most */

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
};

enum { OPTIONS_READ = -1 };

/* Fills the groups' structs. argv[0] is the command's name. Returns OPTIONS_READ, with optind at the first
 * operand; or the exit code: help or the version was printed, or a mistake reported. */
int options_read(const struct command_line *line, int argc, char *argv[]);

/* "PROGRAM: ..." to standard error. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

#endif
