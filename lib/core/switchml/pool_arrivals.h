/* Who is late: what a pool notes of each rank's contributions (protocol/delays.h). Every shard has notes of
 * its own, so that each has one writer; a view adds them up. For those who apply packets to a
 * pool, and for its views. */
#ifndef SWAGG_CORE_SWITCHML_POOL_ARRIVALS_H
#define SWAGG_CORE_SWITCHML_POOL_ARRIVALS_H

#include "switchml/pool_state.h"

/* Of one rank in one shard. Written by the shard's owner, read by anybody. */
struct sml_arrivals {
    uint64_t bytes, repeated, probes, completed;
    uint64_t delay_sum, delay_last, delay_worst, at; /* ns */
    uint64_t delays[AGG_DELAY_BUCKETS];
    /* What seems lost; of the last line, so that where nothing is lost it is never touched. */
    uint64_t lost_up, lost_down;
    uint64_t rest[6];
};

static_assert(sizeof(struct sml_arrivals) == 5 * SML_LINE &&
                  offsetof(struct sml_arrivals, delays) == SML_LINE &&
                  offsetof(struct sml_arrivals, lost_up) == 4 * SML_LINE,
              "whole lines, the first without the histogram, the last with losses alone");

static inline struct sml_arrivals *sml_arrivals_of(const struct sml_pool *pool, uint16_t slot, uint16_t rank)
{
    /* slot % shards, exact for slots and shards of 16 bits */
    const uint32_t shard = slot - pool->cfg.shards * (uint32_t)(slot * pool->shards_inverse >> 32);

    return &pool->arrivals[shard * pool->cfg.workers + rank];
}

static inline void sml_arrivals_add(uint64_t *count, uint64_t n)
{
    sml_publish(*count, *count + n);
}

/* A contribution that counts. */
static inline void sml_arrivals_count(struct sml_arrivals *a, const struct sml_packet *p, uint64_t delay,
                                      uint64_t now)
{
    sml_arrivals_add(&a->bytes, p->body_bytes);
    sml_arrivals_add(&a->delay_sum, delay);
    sml_publish(a->delay_last, delay);
    if (delay > a->delay_worst)
        sml_publish(a->delay_worst, delay);
    sml_publish(a->at, now);
    sml_arrivals_add(&a->delays[agg_delay_bucket(delay)], 1);
}

/* A packet that had come before, or a question, which was answered for this reason. A rank that asks for a
 * chunk without being in it has sent its contribution; one that gets a result again has been sent it. */
static inline void sml_arrivals_lost(struct sml_arrivals *a, const struct sml_pool *pool,
                                     const struct sml_slot *slot, uint16_t rank, const struct sml_packet *p,
                                     enum sml_reason reason)
{
    const bool is_collected = (slot->expected - p->tag) << pool->tag_shift == 0;

    if (reason == SML_SEND_ONE)
        sml_arrivals_add(&a->lost_down, 1);
    else if (p->kind == SML_PROBE && is_collected && !ranks_has(slot->maps, rank))
        sml_arrivals_add(&a->lost_up, 1);
}

/* After a packet was applied, for this reason. The pool keeps arrivals. */
static inline void sml_arrivals_note(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                     const struct sml_packet *p, enum sml_reason reason, uint64_t now)
{
    struct sml_arrivals *a = sml_arrivals_of(pool, p->slot, rank);

    switch (reason) {
    case SML_HELD:
    case SML_SEND_ALL:
    case SML_SEND_PARENT:
    case SML_SEND_QUORUM:
        if (slot->contributed == 1 || pool->cfg.workers == 1)
            slot->first_at = now;
        sml_arrivals_count(a, p, now - slot->first_at, now);
        if (reason != SML_HELD)
            sml_arrivals_add(&a->completed, 1);
        break;
    case SML_DROP_DUPLICATE:
    case SML_DROP_STALE:
    case SML_SEND_ONE:
    case SML_SEND_ANSWER:
    case SML_SEND_LATE:
    case SML_SEND_STRAGGLES:
    case SML_ASK_PARENT:
        if (p->kind == SML_PROBE)
            sml_arrivals_add(&a->probes, 1);
        else if (p->kind != SML_RESTORE)
            sml_arrivals_add(&a->repeated, 1);
        if (reason == SML_SEND_ONE || reason == SML_SEND_ANSWER)
            sml_arrivals_lost(a, pool, slot, rank, p, reason);
        break;
    default:
        break;
    }
}

#endif
