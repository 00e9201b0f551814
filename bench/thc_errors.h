/* bench-thc's errors: the mean of n workers' vectors as THC brings it about, beside other ways to send few
 * bits. The square of its error, by the square of the mean (NMSE). */
#pragma once

#include "kernels/kernels.h"
#include "random/splitmix.h"

enum { VECTOR_FLOATS = 1 << 17, WORKERS_MOST = 64 };

typedef float vector[VECTOR_FLOATS];

/* The workers' vectors: `given` of them, dealt to the workers in turn. */
struct vectors {
    unsigned given; /* 1..WORKERS_MOST */
    const vector *of;
};

/* Between 0 and 1, neither included. */
static inline double uniform_01(uint64_t *state)
{
    return ((double)(splitmix_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* Members of a JSON object, "errors" and "others" with this prefix, both with a comma behind. */
void print_errors(const char *prefix, const struct vectors *v, const struct agg_kernels *kernels);
