/* swagg-perf: the options of its command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command_line.h"
#include "perf_types.h"
#include "swagg.h"

struct perf {
    struct swagg_options options;
    struct swagg_job *job;
    size_t begin, end, factor;
    int iterations, warmups, pause_ms, offset_ms;
    const struct perf_type *type;
    const char *json; /* a file for the table; NULL: none */
    FILE *table;
    bool reduce, check, registers;
    int root;
    void *send, *recv;
};

/* OPTIONS_READ; or the exit code: help or the version was printed, or a mistake reported. */
int perf_parse(struct perf *p, int argc, char *argv[]);
