/* The jobs that a host has, as its views call them. */
#pragma once

#include "metrics/metrics.h"

enum { LISTED_JOBS_MAX = 1024, LISTED_NAME_BYTES = 128 };

struct listed_jobs {
    unsigned n;
    struct listed_job {
        char name[LISTED_NAME_BYTES], tenant[LISTED_NAME_BYTES];
        char call[2 * LISTED_NAME_BYTES]; /* means this one */
        uint64_t size;
    } job[LISTED_JOBS_MAX];
};

/* To be freed; NULL: no memory. */
struct listed_jobs *listed_jobs(const struct metrics_host *host);
