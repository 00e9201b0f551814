/* Checks that a switch's results are what the workers' contributions come to. */
#pragma once

#include "capture/store.h"

struct verify_job {
    unsigned workers; /* that contribute to a chunk: as the user said, as the switch said when the job was
                         formed, or as many as were seen */
    uint64_t chunks, contributions, repeated;
    uint64_t right, wrong;
    uint64_t empty;   /* results without elements, to workers that wanted none */
    uint64_t unknown; /* results whose contributions are not all in the captures */
    /* results that are missing although all workers have contributed; not counted in jobs with a quorum,
     * where a straggler may go without */
    uint64_t missing;
    uint64_t conflicts; /* chunks to which a worker sent two different contributions */
};

struct verify {
    enum xfer_format format;               /* of jobs whose forming the captures do not have */
    unsigned workers;                      /* of each job; 0: not given */
    struct verify_job job[STORE_JOBS_MAX]; /* as store.job */
    /* Called for each wrong result. */
    void (*report)(void *context, const struct stored_packet *result, const char *why);
    void *context;
};

/* s must be sorted, and v->job start as {0}. */
void verify(struct verify *v, const struct store *s);
