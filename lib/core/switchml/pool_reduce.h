/* How a contribution is added to the sum of its chunk, or combined by another operation. There are four ways,
 * by the job's mode and by whether the operation is wide (kernels.h), and one for indices (elements.h). A
 * part of pool_parts.h: the usual ways are to be inlined. */
#pragma once

#include <string.h>

#include "switchml/pool_state.h"

/* Where the sum goes. Its first contribution may stay in the packet's own buffer; if that is an opening
 * packet, others have agreed to the call in it. */
static inline uint8_t *sml_sum_at(const struct sml_pool *pool, struct sml_slot *slot, bool first,
                                  const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    if (first && buffer != NULL) {
        slot->body[p->ver] = (uint8_t *)p->body; /* writable, since the caller named a buffer */
        sml_slot_result(pool, slot, p->ver)->buffer = buffer;
        v->kept = true;
    }
    return slot->body[p->ver] + slot->call_bytes;
}

/* Whether this rank's contribution, which has come, has no elements. */
static inline bool sml_is_empty(const struct sml_pool *pool, struct sml_slot *slot,
                                const struct sml_result *result, unsigned rank)
{
    return result->empties > 0 && ranks_has(sml_slot_empty(pool, slot), rank);
}

/* How many of the contributions of the ranks below this one have no elements. */
__attribute__((noinline)) static unsigned sml_empties_below(const struct sml_pool *pool,
                                                            struct sml_slot *slot, unsigned rank)
{
    const uint64_t *empty = sml_slot_empty(pool, slot);
    unsigned n = 0;

    for (unsigned i = 0; i < pool->map_words; i++)
        n += (unsigned)__builtin_popcountll(empty[i] & ranks_below(rank, i));
    return n;
}

/* Whether any elements are in the sum so far. */
static inline bool sml_is_started(const struct sml_pool *pool, struct sml_slot *slot,
                                  const struct sml_result *result)
{
    if (pool->cfg.mode != XFER_ORDERED)
        return slot->contributed > result->empties;
    return result->empties == 0 ? slot->summed > 0
                                : slot->summed > sml_empties_below(pool, slot, slot->summed);
}

/* Writes the first contribution as the sum so far, unless it is there already, in a kept buffer. */
static inline void sml_start(uint8_t *sum, const uint8_t *elements, size_t bytes)
{
    if (sum != elements)
        memcpy(sum, elements, bytes);
}

/* Adds the contribution of the rank whose turn it is, together with those that have waited for it. All of
 * them are read once, and the sum is written once. The last rank to come always has its turn. elements: NULL,
 * it has none; started: as sml_is_started. */
static inline void sml_add_in_order(const struct sml_pool *pool, struct sml_slot *slot,
                                    const struct sml_result *result, bool started, const uint8_t *elements,
                                    uint8_t *sum, size_t bytes)
{
    const uint64_t *seen = sml_slot_seen(slot);
    const void *in[AGG_MAX_WORKERS];
    unsigned n = 0;

    if (started)
        in[n++] = sum;
    if (elements != NULL)
        in[n++] = elements;
    for (slot->summed++; slot->summed < pool->cfg.workers && ranks_has(seen, slot->summed); slot->summed++)
        if (!sml_is_empty(pool, slot, result, slot->summed))
            in[n++] = sml_slot_contribution(pool, slot, slot->summed);
    if (n == 1)
        sml_start(sum, in[0], bytes);
    else if (n > 1)
        pool->cfg.kernels->operations[slot->code].reduce(sum, in, n, bytes);
}

/* Takes in a contribution without elements: those that have waited for its rank may have their turn. A call
 * of no elements has no others, and nothing is to be done for it. */
__attribute__((noinline)) static void sml_pass(const struct sml_pool *pool, struct sml_slot *slot,
                                               uint16_t rank, const struct sml_packet *p)
{
    struct sml_result *result = sml_slot_result(pool, slot, p->ver);
    const bool ordered = pool->cfg.mode == XFER_ORDERED;

    if (!pool->cfg.empties)
        return;
    if (ordered && rank == slot->summed)
        sml_add_in_order(pool, slot, result, sml_is_started(pool, slot, result), NULL,
                         slot->body[p->ver] + slot->call_bytes, slot->body_bytes - slot->call_bytes);
    if (result->empties++ == 0)
        ranks_clear(sml_slot_empty(pool, slot), pool->map_words);
    ranks_add(sml_slot_empty(pool, slot), rank);
}

/* Adds all contributions at once, since a sum of only some would be rounded. Rank 0's has waited where the
 * result goes. */
static inline void sml_add_at_once(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                   const uint8_t *elements, uint8_t *sum, size_t bytes)
{
    const void *in[AGG_MAX_WORKERS];

    in[0] = sum;
    for (unsigned other = 1; other < pool->cfg.workers; other++)
        in[other] = sml_slot_contribution(pool, slot, other);
    in[rank] = elements;
    pool->cfg.kernels->operations[slot->code].reduce(sum, in, pool->cfg.workers, bytes);
}

/* The sum lies in floats of its own until it is complete. */
static inline void sml_add_wide(const struct sml_pool *pool, struct sml_slot *slot, const uint8_t *elements,
                                uint8_t *sum, size_t bytes)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[slot->code];
    uint8_t *acc = sml_slot_accumulator(pool, slot);

    if (slot->contributed == 0)
        op->start(acc, elements, bytes);
    else
        op->fold(acc, elements, bytes);
    if (slot->contributed == pool->cfg.workers - 1)
        op->finish(sum, acc, pool->cfg.ranks, bytes);
}

/* As sml_add_at_once, where a contribution may be that of several ranks: an average is divided by their
 * number.
 */
static inline void sml_add_for_ranks(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                     const uint8_t *elements, uint8_t *sum, size_t bytes)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[slot->code];
    uint8_t *acc = sml_slot_accumulator(pool, slot);

    op->start(acc, rank == 0 ? elements : sum, bytes);
    for (unsigned other = 1; other < pool->cfg.workers; other++)
        op->fold(acc, other == rank ? elements : sml_slot_contribution(pool, slot, other), bytes);
    op->finish(sum, acc, pool->cfg.ranks, bytes);
}

__attribute__((noinline)) static void sml_reduce_wide(const struct sml_pool *pool, struct sml_slot *slot,
                                                      uint16_t rank, const struct sml_packet *p, void *buffer,
                                                      struct agg_verdict *v)
{
    const bool ordered = pool->cfg.mode == XFER_ORDERED, last = slot->contributed == pool->cfg.workers - 1;
    const uint8_t *elements = p->body + slot->call_bytes;
    const size_t bytes = p->body_bytes - slot->call_bytes;
    uint8_t *sum;

    if (ordered && rank > 0 && !last) {
        memcpy(sml_slot_contribution(pool, slot, rank), elements, bytes);
        return;
    }
    sum = sml_sum_at(pool, slot, ordered && rank == 0, p, buffer, v);
    if (!ordered)
        sml_add_wide(pool, slot, elements, sum, bytes);
    else if (last && pool->cfg.ranks != pool->cfg.workers)
        sml_add_for_ranks(pool, slot, rank, elements, sum, bytes);
    else if (last)
        sml_add_at_once(pool, slot, rank, elements, sum, bytes);
    else
        sml_start(sum, elements, bytes);
}

/* Adds what the indices stand for. Sums are longer than contributions, so they lie in the slot's own memory;
 * they are integers, so the order of the ranks does not matter. */
__attribute__((noinline)) static void sml_add_values(const struct sml_pool *pool, struct sml_slot *slot,
                                                     const struct sml_packet *p)
{
    const struct sml_table *t = &pool->cfg.table;
    const uint8_t *elements = p->body + slot->call_bytes;
    const size_t sum_bytes = sml_slot_sum_bytes(slot) - slot->call_bytes;
    const unsigned bits = sml_index_bits(t->code), sum_bits = sml_sum_bits(t->code);
    uint8_t *sums = slot->body[p->ver] + slot->call_bytes;

    if (slot->contributed == 0)
        memset(sums, 0, sum_bytes);
    if (sml_brings_sums(pool, p))
        pool->cfg.kernels->operations[agg_code(sum_bits == 8 ? AGG_U8 : AGG_U16, AGG_SUM)].fold(
            sums, elements, sum_bytes);
    else if (sum_bits == 8)
        pool->thc->add8(sums, elements, sum_bytes, bits, t->values);
    else
        pool->thc->add16((uint16_t *)sums, elements, sum_bytes / 2, bits, t->values);
}

/* Takes in the elements of rank's contribution, which agrees with the others; after the last one the sum is
 * in its place, for sml_finish. May keep buffer, and says so. */
static inline void sml_reduce(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                              const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[slot->code];
    const struct sml_result *result = sml_slot_result(pool, slot, p->ver);
    const bool ordered = pool->cfg.mode == XFER_ORDERED;
    const bool started = sml_is_started(pool, slot, result);
    const uint8_t *elements = p->body + slot->call_bytes;
    const size_t bytes = p->body_bytes - slot->call_bytes;
    uint8_t *sum;

    if (sml_looks_up(slot->code)) {
        sml_add_values(pool, slot, p);
        return;
    }
    if (agg_is_wide(op)) {
        sml_reduce_wide(pool, slot, rank, p, buffer, v);
        return;
    }
    if (ordered && rank != slot->summed) {
        memcpy(sml_slot_contribution(pool, slot, rank), elements, bytes);
        return;
    }
    sum = sml_sum_at(pool, slot, !started, p, buffer, v);
    if (ordered)
        sml_add_in_order(pool, slot, result, started, elements, sum, bytes);
    else if (!started)
        sml_start(sum, elements, bytes);
    else
        op->fold(sum, elements, bytes);
}

/* With a quorum, whose ranks are not known before the end: as sml_reduce, for sml_sum_gathered. In order, all
 * contributions wait in their places, that of rank 0 where the result goes. */
static inline uint8_t *sml_gathered(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver,
                                    unsigned rank)
{
    return rank == 0 ? slot->body[ver] + slot->call_bytes : sml_slot_contribution(pool, slot, rank);
}
static inline void sml_gather(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                              const struct sml_packet *p, struct agg_verdict *v)
{
    if (pool->cfg.mode == XFER_ORDERED && !sml_looks_up(slot->code))
        memcpy(sml_gathered(pool, slot, p->ver, rank), p->body + slot->call_bytes,
               p->body_bytes - slot->call_bytes);
    else
        sml_reduce(pool, slot, rank, p, NULL, v);
}

/* Of the ranks whose contributions wait, at least one. */
static inline void sml_reduce_gathered(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver,
                                       size_t bytes)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[slot->code];
    uint8_t *sum = slot->body[ver] + slot->call_bytes;
    const void *in[AGG_MAX_WORKERS];
    unsigned n = 0;

    for (unsigned rank = 0; rank < pool->cfg.workers; rank++)
        if (ranks_has(sml_slot_seen(slot), rank))
            in[n++] = sml_gathered(pool, slot, ver, rank);
    if (n == 1 && !agg_is_wide(op))
        sml_start(sum, in[0], bytes);
    else
        op->reduce(sum, in, n, bytes);
}

/* Makes the result of what was gathered. */
static inline void sml_sum_gathered(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[slot->code];
    const size_t bytes = (size_t)slot->body_bytes - slot->call_bytes;
    uint8_t *sum = slot->body[ver] + slot->call_bytes;

    if (sml_looks_up(slot->code))
        return;
    if (pool->cfg.mode == XFER_ORDERED)
        sml_reduce_gathered(pool, slot, ver, bytes);
    else if (agg_is_wide(op) && slot->contributed < pool->cfg.workers)
        op->finish(sum, sml_slot_accumulator(pool, slot), slot->contributed, bytes);
    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(sum, sum, slot->contributed, bytes);
}

/* What remains to be done with the sum of all contributions; of a wide operation it is done. */
static inline void sml_finish(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[slot->code];
    uint8_t *sum = slot->body[ver] + slot->call_bytes;

    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(sum, sum, pool->cfg.ranks, slot->body_bytes - slot->call_bytes);
}
