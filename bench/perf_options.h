/* swagg-perf: what its command line says. */
#ifndef BENCH_PERF_OPTIONS_H
#define BENCH_PERF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "command_line.h"
#include "swagg.h"

struct perf {
    struct swagg_options options;
    struct swagg_job *job;
    size_t begin, end, factor;
    int iterations, warmups, pause_ms;
    enum swagg_type type;
    const char *type_name;
    bool reduce, check;
    int root;
    void *send, *recv;
};

/* OPTIONS_READ, or the exit code: help or the version was given, or something is wrong, and said. */
int perf_parse(struct perf *p, int argc, char *argv[]);

#endif
