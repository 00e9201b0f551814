/* A step of training as its network sees it: which gradients are to be summed, and when they are there. */
#pragma once

#include "profile.h"

struct schedule_how {
    double scale;          /* so many times fewer bytes, in gradients and buckets; more than 0 */
    double speed;          /* so many times as fast computing; more than 0 */
    uint64_t bucket_bytes; /* gradients are summed together up to about so many, of the model as it is; 0: the
                              profile's */
};

/* Gradients that are summed by one call. */
struct schedule_bucket {
    uint64_t elements; /* float32; one at least */
    double ready_s;    /* since the step began */
};

struct schedule {
    double compute_s;  /* forward and backward */
    uint64_t elements; /* of all buckets */
    unsigned buckets;
    struct schedule_bucket bucket[]; /* in the order in which they are ready */
};

/* The caller's, to be freed; NULL: no memory. Gradients of a layer are there at the end of its part of the
 * backward pass. A bucket is full, and goes, once it has as many bytes; what is left over at the end is one
 * more. */
struct schedule *schedule_of(const struct profile *p, const struct schedule_how *how);

/* How long some call of a step was under way, and how much of that while the model computed, in seconds.
 * Begin with zeros. */
struct schedule_shares {
    double communication, overlap;
    double seen; /* until then it has been counted */
};

/* Counts one more call; calls are counted in the order in which they began. computed: when the model had
 * computed. All by the same clock, from 0 on. */
void schedule_count(struct schedule_shares *shares, double began, double ended, double computed);
