/* Error feedback: what compression has left out of each tensor so far, to be added to it the next time ("THC:
 * Accelerating Distributed Deep Learning Using Tensor Homomorphic Compression", Li et al., 2024,
 * section 4.1).
 *
 * A tensor is known by its name, if the caller has given it one (swagg_name_tensor), or else by its address;
 * and by its length. Memory is bounded: what was not used for longest is forgotten first. One thread at a
 * time. */
#ifndef SWAGG_CLIENT_FEEDBACK_H
#define SWAGG_CLIENT_FEEDBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feedback_memory;

/* Starts as zeros, but for most_bytes. */
struct feedback {
    size_t most_bytes;
    size_t bytes;                   /* in use */
    uint64_t forgotten;             /* tensors that had to make room, or found none */
    struct feedback_memory *latest; /* used last; the others behind it */
};

struct feedback_key {
    bool named;
    uint64_t who; /* the name, or the address */
    uint64_t floats;
};

/* The memory of a tensor, [floats]; zeros the first time. NULL: it is too long, or there is no memory, so
 * this call's errors are lost. Stays in place until the next call of this function. */
float *feedback_of(struct feedback *f, const struct feedback_key *key);

void feedback_forget_all(struct feedback *f);

#endif
