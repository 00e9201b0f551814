/* Frames that pass the switch, into a file. */
#pragma once

#include "ask.h"

struct capture {
    struct instance instance;
    const json_t *request;
    const char *file;     /* "-": standard output */
    unsigned long frames; /* to be captured; 0: until SIGINT or SIGTERM */
};

/* Captures, then says on standard error how much. 0; 1: the switch says no, or the file cannot be written; 3:
 * the switch does not answer. why then says what is wrong. */
int capture_run(const struct capture *c, char why[INSTANCE_WHY_MAX]);
