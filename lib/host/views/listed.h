/* The jobs that a host has, as its views call them. */
#pragma once

#include "views/declared.h"

enum { LISTED_JOBS_MAX = 1024, LISTED_NAME_BYTES = 64, LISTED_CALL_BYTES = 2 * LISTED_NAME_BYTES };

struct listed_jobs {
    unsigned n;
    struct listed_job {
        char name[LISTED_NAME_BYTES], tenant[LISTED_NAME_BYTES];
        char call[LISTED_CALL_BYTES]; /* means this one */
        uint64_t size;
    } job[LISTED_JOBS_MAX];
};

/* Whether a job is called so, by its name or as TENANT/NAME. */
bool listed_is_called(const char *name, const char *tenant, const char *called);

/* To be freed; NULL: no memory. */
struct listed_jobs *listed_jobs(const struct view_source *host);
