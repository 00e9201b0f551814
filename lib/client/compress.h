/* A job's compressed calls ("THC: Accelerating Distributed Deep Learning Using Tensor Homomorphic
 * Compression", Li et al., 2024, algorithm 3): from the caller's floats to what travels, and back, block by
 * block (thc/codec.h). Three passes over the tensor, around two calls of the stream:
 *
 *     compress_norm      the norm of each block; the largest of all ranks is agreed on (XFER_NORMS)
 *     compress_encode    indices, and what they leave out; the switch sums what the indices stand for
 *     compress_decode    the sum, or the mean, in floats
 *
 * Each pass goes on as far as it is told, so that what the blocks before have become may travel meanwhile.
 * Sums and residues are the same bits on every rank and CPU, however the passes are cut. A block in which
 * some rank has a NaN or an infinity, or floats whose squares add up to more than a float holds, becomes NaN
 * on every rank, and its error is forgotten. One thread at a time. */
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

/* How far a pass has come. */
struct compress_pass {
    uint64_t parts, floats; /* done; with those that fill a block up */
};

/* A call on its way. */
struct compress_call {
    struct xfer_segment *segments; /* the caller's, measured in floats */
    size_t segment_count;
    uint64_t floats, parts;
    uint64_t round;
    bool average;
    struct compress_pass normed, encoded, decoded;
    float *left_out; /* NULL: is not kept */
    float *norms;    /* [parts] */
    uint8_t *packed, *sums;
    uint8_t *missed;                    /* [elements] 1: the sum has not come, and counts as zeros */
    bool misses;                        /* there are some */
    struct xfer_roll *norm_roll, *roll; /* with a quorum: of the two calls, by chunk */
    size_t norms_room, packed_room, sums_room, missed_room, norm_roll_room, roll_room;
    bool taken; /* else only its memory is there, for the next */
};

enum { COMPRESS_CALLS = 2 }; /* on their way at once: one that is encoded, and one whose sums come */

struct compress {
    struct client_compression options;
    uint16_t rank, ranks;
    struct thc_codec codec; /* its block is that of the part at hand */
    struct feedback feedback;
    uint64_t round; /* the last call's number */
    struct compress_call call[COMPRESS_CALLS];
    float *block; /* the part at hand */
    size_t block_room;
    bool quorum;
    size_t chunk_bytes;          /* of the job's packets */
    struct xfer_turnout turnout; /* with a quorum: of the last call, in floats */
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
    uint64_t name;     /* of the tensor; 0: it has none */
    float *left_out;   /* the caller's memory for it; NULL: as the options have it */
    uint64_t round;    /* the call's number, the same on every rank; 0: the next */
    const void *where; /* its address, if its segments are copies; NULL: they are not */
};

/* Begins a call: no other one's indices may lack. segments are the caller's until it is over. chunk_bytes: of
 * the job's packets. NULL: there is no memory, or no room for another. */
struct compress_call *compress_begin(struct compress *c, struct xfer_segment segments[], size_t n,
                                     bool average, size_t chunk_bytes, const struct compress_how *how);
bool compress_has_room(struct compress *c);

/* The two calls of the stream; the norms are of compress_norm, and become the largest in place. */
struct xfer_call compress_call_norms(const struct compress_call *call);
struct xfer_call compress_call_indices(const struct compress *c, const struct compress_call *call);

/* Goes on with a pass by so many floats, or a block if that is longer; as far as it can. norms: so many are
 * the largest of all ranks now; sums: so many elements (SML_GROUP floats, transformed) have come. UINT64_MAX:
 * all. */
void compress_norm(struct compress *c, struct compress_call *call, uint64_t floats);
void compress_encode(struct compress *c, struct compress_call *call, uint64_t norms, uint64_t floats);
void compress_decode(struct compress *c, struct compress_call *call, uint64_t sums, uint64_t floats);

static inline bool compress_is_through(const struct compress_call *call, const struct compress_pass *pass)
{
    return pass->parts == call->parts;
}

/* Before compress_end: the sums of n elements, the first of which is `at`, have not come. They count as
 * zeros. Not where some have been decoded. */
void compress_miss(struct compress_call *call, uint64_t at, uint64_t n);
/* Decodes what is left, and ends the call. with_them: turnout of the second call's stream; NULL: there is no
 * quorum. */
void compress_end(struct compress *c, struct compress_call *call, const struct xfer_turnout *with_them);

/* It cannot go on. */
void compress_give_up(struct compress_call *call);
