/* What swaggctl can be told to do: one table, by which command lines are read, helped with and completed. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "print.h"

enum { COMMAND_ARGUMENTS_MAX = 4, COMMAND_WHY_MAX = 512 };

enum command_argument {
    ARGUMENT_NONE,
    ARGUMENT_JOB,
    ARGUMENT_PORT,
    ARGUMENT_LCORE,
    ARGUMENT_LEVEL,
    ARGUMENT_MAC,
    ARGUMENT_DIRECTION,
    ARGUMENT_NEW_PORT,
    ARGUMENT_NEW_JOB,
    ARGUMENT_DEVICE,
    ARGUMENT_COMMAND,
    ARGUMENT_SETTINGS, /* the last: any number of KEY=VALUE, most of them numbers */
    ARGUMENTS,
};

struct command {
    const char *name; /* one word or two, as typed, and as the switch knows it */
    enum command_argument takes[COMMAND_ARGUMENTS_MAX];
    bool optional; /* the last argument may be left out */
    bool own;      /* it is no request to a switch, but swaggctl's own */
    const char *help;
};

/* All: views, as they are declared (views/declared.h), then what changes something, then the rest. */
const struct command *commands_all(unsigned *count);

/* The request that these words begin with and whose arguments the rest can be; *used: how many words it has
 * itself. NULL: why says what is wrong. */
const struct command *command_find(char *const words[], unsigned n, unsigned *used,
                                   char why[COMMAND_WHY_MAX]);

/* What is typed of the command of two words that these are, where they are the view of something of that name
 * ("port up"); false: there is none. */
bool command_begun(char *const words[], unsigned n, char *usage, size_t room);

/* The one that is no request and called so; NULL: there is none. */
const struct command *command_other(const char *word);

/* Whether it changes something; else it shows a view. */
bool command_acts(const struct command *command);

/* The request for it; to be released. */
json_t *command_request(const struct command *command, char *const arguments[], unsigned n);

/* What the request shows; NULL: it is not for a view. */
const struct view *command_view(const json_t *request);

/* "port NAME": what is typed. */
void command_usage(char *text, size_t room, const struct command *command);
