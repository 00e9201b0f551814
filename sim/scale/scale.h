/* `swagg-sim scale`: how far trees of switches scale. docs/simulation.md, "Scale". */
#pragma once

#include <stdbool.h>

enum { SCALE_JOBS_MAX = 64 };

struct scale_command {
    bool small;        /* a few workers, in a second */
    const char *costs; /* the data-path benchmark's record */
    const char *json;  /* a file for the figures; NULL: none */
    const char *out;   /* the folder whose scale.md gets the tables, between the lines that mark them, and
                          whose scale.svg the picture; NULL: none */
    unsigned jobs;     /* CPUs, at most SCALE_JOBS_MAX */
};

/* Returns an exit status: 1 if a sum was wrong. */
int scale_command(const struct scale_command *c);
