/* swagg-perf: the options of its command line. */
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

/* OPTIONS_READ; or the exit code: help or the version was printed, or a mistake reported. */
int perf_parse(struct perf *p, int argc, char *argv[]);

#endif
