/* Replays the steps of a profile: sleeps while the model would compute, and has its gradients summed as they
 * become ready, by whatever a program sums with. What swagg-replay and mpi-replay share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "schedule_options.h"

struct steps_options {
    struct schedule_how how;
    const char *json; /* a file for what was measured; NULL: none */
    unsigned steps, warmups;
};

enum { STEPS_OPTIONS = 3 };
extern const struct option_row steps_rows[STEPS_OPTIONS]; /* of struct steps_options */
struct steps_options steps_defaults(void);

/* Gradients that are summed by one call, over and over. */
struct steps_bucket {
    const float *send; /* [count] */
    float *recv;
    size_t count;
    double began, ended; /* by monotonic_seconds; whoever sums fills in the end, and the beginning if it is
                            later than the call */
};

/* Who sums. Functions return 0, or, having said what is wrong, anything else. */
struct steps_calls {
    const char *name; /* in what is printed */
    void *ctx;
    int rank, ranks;
    bool is_approximate; /* sums are not exact, so they are not checked */
    /* Begins to sum a bucket; it may return before the sum is there. Not called again for a bucket whose sum
     * is not there. */
    int (*post)(void *ctx, struct steps_bucket *bucket);
    int (*rest)(void *ctx, double until);            /* returns then, at the earliest; sums go on meanwhile */
    int (*finish)(void *ctx);                        /* returns when all sums are there */
    int (*sum)(void *ctx, float values[], size_t n); /* each becomes the sum of what all ranks have */
};

void steps_sleep(double until); /* by monotonic_seconds */

/* Replays the profile; rank 0 prints what a step takes. Returns an exit status. */
int steps_run(const struct profile *p, const struct steps_options *o, const struct steps_calls *calls);
