/* A job's compressed calls ("THC: Accelerating Distributed Deep Learning Using Tensor Homomorphic
 * Compression", Li et al., 2024, algorithm 3): from the caller's floats to what travels, and back, block by
 * block (thc/codec.h). Three passes over the tensor, between two calls of the stream:
 *
 *     compress_begin     the norm of each block; the largest of all ranks is agreed on (XFER_NORMS)
 *     compress_encode    indices, and what they leave out; the switch sums what the indices stand for
 *     compress_decode    the sum, or the mean, in floats
 *
 * Sums and residues are the same bits on every rank and CPU. A block in which some rank has a NaN or an
 * infinity, or floats whose squares add up to more than a float holds, becomes NaN on every rank, and its
 * error is forgotten. One thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "thc/parts.h"
#include "transfer/segments.h"
#include "transfer/turnout.h"

/* Error feedback: what compression has left out of each tensor so far, to be added to it the next time ("THC:
 * Accelerating Distributed Deep Learning Using Tensor Homomorphic Compression", Li et al., 2024,
 * section 5.1).
 *
 * A tensor is known by its name, if the caller has given it one (swagg_name_tensor), or else by its address;
 * and by its length. Memory is bounded: what was not used for longest is forgotten first. One thread at a
 * time. Starts as zeros, but for most_bytes. */
struct feedback {
    size_t most_bytes;
    size_t bytes;                   /* in use */
    uint64_t forgotten;             /* tensors that had to make room, or found none */
    struct feedback_memory *latest; /* used last; the others behind it */
};

struct compress {
    struct client_compression options;
    uint16_t rank, ranks;
    struct thc_codec codec; /* its block is that of the part at hand */
    struct feedback feedback;
    uint64_t round; /* the last call's number */
    /* Of the call at hand; the memory stays for the next. */
    struct xfer_segment *segments; /* the caller's, measured in floats */
    size_t segment_count;
    uint64_t floats, parts;
    bool average;
    float *left_out; /* NULL: is not kept */
    float *block;    /* [options.block] */
    float *norms;    /* [parts] */
    uint8_t *packed, *sums;
    uint8_t *missed; /* [elements] 1: the sum has not come, and counts as zeros */
    bool misses;     /* there are some */
    size_t block_room, norms_room, packed_room, sums_room, missed_room;
    /* With a quorum. */
    bool quorum;
    size_t chunk_bytes;                 /* of the job's packets */
    struct xfer_roll *norm_roll, *roll; /* of the two calls, by chunk */
    size_t norm_roll_room, roll_room;
    struct xfer_turnout turnout; /* of the last call, in floats */
    /* Of all calls so far. */
    double error2; /* the square of what this rank's contributions left out or added */
    double sum2;   /* the square of the sums */
    uint64_t calls, total;
    uint64_t missed_calls; /* whose sums have not all come */
    uint64_t missed_total; /* floats that were zeros for it */
};

/* options: with compression. Memory is taken when it is needed. */
void compress_open(struct compress *c, const struct client_options *options,
                   const struct agg_kernels *kernels);
void compress_close(struct compress *c);

/* Whether a call is compressed; all ranks say the same. */
bool compress_takes(const struct compress *c, const struct xfer_call *call);

/* What a call says of its error feedback: struct swagg_post. */
struct compress_how {
    uint64_t name;   /* of the tensor; 0: it has none */
    float *left_out; /* the caller's memory for it; NULL: as the options have it */
    uint64_t round;  /* the call's number, the same on every rank; 0: the next */
};

/* segments are the caller's until the call is over. chunk_bytes: of the job's packets. False: there is no
 * memory. */
bool compress_begin(struct compress *c, struct xfer_segment segments[], size_t n, bool average,
                    size_t chunk_bytes, const struct compress_how *how);

/* The two calls of the stream; the norms are of compress_begin, and become the largest in place. */
struct xfer_call compress_call_norms(const struct compress *c);
struct xfer_call compress_call_indices(const struct compress *c);

void compress_encode(struct compress *c);

/* Before compress_decode: the sums of n elements (SML_GROUP floats, transformed), the first of which is `at`,
 * have not come. They count as zeros. */
void compress_miss(struct compress *c, uint64_t at, uint64_t n);
/* with_them: turnout of the second call's stream; NULL: there is no quorum. */
void compress_decode(struct compress *c, const struct xfer_turnout *with_them);
