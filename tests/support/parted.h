/* Collectives in which ranks bring and get different parts of a tensor (transfer/parts.h), for tests: what
 * their blocks are, where a rank's lie, and what must come out. Each rank has a whole tensor of its own; the
 * parts that it brings are taken from that. */
#pragma once

#include <string.h>

#include "random.h"
#include "reference.h"
#include "transfer/parts.h"

enum { PARTED_RANKS_MAX = 64 };

struct parted {
    uint64_t length[PARTED_RANKS_MAX]; /* elements */
    unsigned blocks;
    size_t element;
};

static inline bool parted_is(const struct xfer_call *call)
{
    return xfer_copies(call->collective) || call->collective == XFER_REDUCE_SCATTER;
}

/* A call of about so many bytes: any collective, or a barrier. code: of a reduce-scatter. */
static inline struct xfer_call parted_draw(uint64_t *random, unsigned ranks, uint8_t code, uint64_t bytes)
{
    static const uint8_t collectives[] = {XFER_BROADCAST, XFER_ALLGATHER, XFER_REDUCE_SCATTER,
                                          XFER_BARRIER,   XFER_GATHER,    XFER_SCATTER};
    struct xfer_call call = {
        .collective = collectives[rng_below(random, sizeof collectives)], .type = AGG_U8, .op = AGG_BOR};

    if (call.collective == XFER_REDUCE_SCATTER) {
        call.type = (uint8_t)agg_code_type(code);
        call.op = (uint8_t)agg_code_op(code);
    }
    if (call.collective != XFER_BARRIER)
        call.count = bytes / agg_element_size(call.type, call.op);
    if (call.collective == XFER_BROADCAST || call.collective == XFER_GATHER ||
        call.collective == XFER_SCATTER)
        call.root = (uint32_t)rng_below(random, ranks);
    if (call.collective == XFER_GATHER || call.collective == XFER_SCATTER)
        call.count = ranks == 1 ? 0 : call.count / (ranks - 1) * (ranks - 1);
    return call;
}

/* seed: the same on all ranks. Some blocks are empty. */
static inline struct parted parted_of(const struct xfer_call *call, unsigned ranks, uint64_t seed)
{
    struct parted p = {.blocks = ranks, .element = agg_element_size(call->type, call->op)};
    uint64_t left = call->count;

    if (call->collective == XFER_BROADCAST) {
        p.blocks = 1;
        p.length[0] = call->count;
        return p;
    }
    for (unsigned b = 0; b < ranks; b++) {
        const uint64_t share = rng_below(&seed, left / (ranks - b) * 2 + 2);

        if (call->collective == XFER_GATHER || call->collective == XFER_SCATTER)
            p.length[b] = b == call->root ? 0 : call->count / (ranks - 1);
        else
            p.length[b] = b + 1 == ranks || share > left ? left : share * (seed % 5 != 0);
        left -= p.length[b];
    }
    return p;
}

/* Who brings a block of a call of bytes. */
static inline unsigned parted_from(const struct xfer_call *call, unsigned block)
{
    return call->collective == XFER_BROADCAST || call->collective == XFER_SCATTER ? call->root : block;
}

static inline bool parted_gets(const struct xfer_call *call, unsigned rank, unsigned block)
{
    switch (call->collective) {
    case XFER_BROADCAST:
        return rank != call->root;
    case XFER_ALLGATHER:
        return rank != block;
    case XFER_GATHER:
        return rank == call->root && block != call->root;
    default:
        return rank == block && (call->collective != XFER_SCATTER || rank != call->root);
    }
}

/* A rank's segments, one a block. in: its tensor; out: as much room. */
static inline void parted_cut(const struct parted *p, const struct xfer_call *call, unsigned rank,
                              uint8_t *in, uint8_t *out, struct xfer_segment segment[])
{
    size_t offset = 0;

    for (unsigned b = 0; b < p->blocks; b++) {
        const size_t bytes = p->length[b] * p->element;
        const bool all = call->collective == XFER_REDUCE_SCATTER;
        const bool brings = all || parted_from(call, b) == rank;
        const bool has_place = call->collective == XFER_ALLGATHER || parted_gets(call, rank, b);

        segment[b] = (struct xfer_segment){
            .in = brings ? in + offset : NULL, .out = has_place ? out + offset : NULL, .count = p->length[b]};
        offset += bytes;
    }
}

/* After the call. Adds to a rank's block what its owner has left out. chunk_bytes: of the job; 0: nobody
 * adds. */
static inline void parted_add_own(const struct parted *p, const struct xfer_call *call, unsigned ranks,
                                  size_t chunk_bytes, unsigned rank, const uint8_t *in, uint8_t *out)
{
    uint64_t before = 0, first, end;

    if (chunk_bytes == 0 || !xfer_owner_adds(&agg_kernels_scalar, call, ranks))
        return;
    for (unsigned b = 0; b < rank; b++)
        before += p->length[b] * p->element;
    xfer_own_chunks(chunk_bytes, p->element, call->count * p->element, before,
                    before + p->length[rank] * p->element, &first, &end);
    const void *both[] = {out + first, in + first};
    if (end > first)
        reference_reduce(agg_code(call->type, call->op), out + first, both, 2, (end - first) / p->element);
}

/* Whether a rank has what it is to get. all: the tensors of all ranks; sum: of a reduce-scatter the whole. */
static inline bool parted_is_right(const struct parted *p, const struct xfer_call *call, unsigned rank,
                                   const uint8_t *const all[], const uint8_t *sum, const uint8_t *out)
{
    const uint8_t code = agg_code(call->type, call->op);
    size_t offset = 0;

    for (unsigned b = 0; b < p->blocks; b++) {
        const size_t bytes = p->length[b] * p->element;
        const uint8_t *right = call->collective == XFER_REDUCE_SCATTER ? sum : all[parted_from(call, b)];

        if (parted_gets(call, rank, b) && !reference_equal(code, out + offset, right + offset, p->length[b]))
            return false;
        offset += bytes;
    }
    return true;
}
