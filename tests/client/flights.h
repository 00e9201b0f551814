/* Calls of a rank that are in flight, with tensors of their own: what a test posts, and how it ends. */
#pragma once

#include "crew.h"

enum { FLIGHTS_HELD = 20 };

/* What every rank does as its call i, drawn from the seed. */
struct plan {
    struct tensor tensor;
    int root;        /* -1: an allreduce */
    bool blocking;   /* it is not posted */
    bool vector;     /* in pieces */
    unsigned random; /* what else is drawn for it */
};
struct plan plan_of(unsigned i, int ranks, size_t count_max);

struct flight {
    struct plan plan;
    struct swagg_request *request;
    unsigned char *send, *recv;
};

void flight_begin(struct flight *f, const struct plan *plan, int rank);
int flight_post(struct swagg_job *job, struct flight *f, const struct swagg_post *how);
/* Returns the status of the call, or WRONG_SUM. */
int flight_end(struct flight *f, const struct crew_member *m, int rc);
/* Ends one of so many, by one of the ways that there are; they move up. */
int flight_end_one(struct crew_member *m, struct flight held[FLIGHTS_HELD], unsigned *n, uint64_t *random);

/* So many calls, as many in flight as there is room for, blocking ones between them. made, if it is not NULL,
 * counts those that rank 0 has made. */
int flights_beside_blocking(struct crew_member *m, unsigned calls, size_t count_max, atomic_int *made);
