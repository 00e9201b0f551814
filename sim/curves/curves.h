/* `swagg-sim atp --curves`: what ATP does at 100 Gb/s with many workers and jobs. docs/simulation.md, "ATP".
 */
#pragma once

#include <stdbool.h>

enum { CURVES_THREADS_MAX = 64 };

struct curves_command {
    bool small;       /* few workers and jobs, in a few seconds */
    const char *json; /* a file for the points; NULL: none */
    unsigned threads; /* at most CURVES_THREADS_MAX */
};

/* Plays all points, and prints them. Returns an exit status: 1 if a sum was wrong. */
int curves_command(const struct curves_command *c);
