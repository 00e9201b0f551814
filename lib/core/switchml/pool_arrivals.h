/* Who is late: what a pool notes of each rank's contributions (protocol/delays.h). Every shard has notes of
 * its own, so that each has one writer; a view adds them up. For those who apply packets to a
 * pool, and for its views. */
#pragma once

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

static inline bool sml_asks(const struct sml_packet *p)
{
    return p->kind == SML_PROBE || p->kind == SML_ASK;
}

/* Who sends packets of a published size may know no questions, and sends again. */
static inline bool sml_asks_again(const struct sml_packet *p)
{
    return sml_asks(p) || p->size_code != SML_SIZE_AGREED;
}

/* A packet that had come before, or a question, which was answered. A rank that is told to send again has
 * sent what has not come. One that gets a result again has been sent it; if not in this very burst, for then
 * the question was here before the answer left. A contribution that comes again shows no loss where ranks can
 * ask: it is sent when questions, too, have had no answer. */
static inline void sml_arrivals_lost(struct sml_arrivals *a, const struct sml_pool *pool,
                                     struct sml_slot *slot, const struct sml_packet *p,
                                     const struct agg_verdict *v, uint64_t now)
{
    const bool passed_up = v->reason == SML_ASK_PARENT;

    if (v->reason == SML_SEND_ONE && sml_asks_again(p) && sml_slot_result(pool, slot, p->ver)->sent_at != now)
        sml_arrivals_add(&a->lost_down, 1);
    if (sml_asks(p) && (passed_up || v->reason == SML_SEND_ANSWER) &&
        (passed_up ? v->brief : v->payload)[0] >> 4 == SML_NACK)
        sml_arrivals_add(&a->lost_up, 1);
}

/* A result of this version leaves. The pool keeps arrivals. */
static inline void sml_arrivals_sent(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver,
                                     uint64_t now)
{
    sml_slot_result(pool, slot, ver)->sent_at = now;
}

/* After a packet was applied. The pool keeps arrivals. */
static inline void sml_arrivals_note(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                     const struct sml_packet *p, const struct agg_verdict *v, uint64_t now)
{
    struct sml_arrivals *a = sml_arrivals_of(pool, p->slot, rank);

    switch (v->reason) {
    case SML_HELD:
    case SML_SEND_ALL:
    case SML_SEND_PARENT:
    case SML_SEND_QUORUM:
        if (slot->contributed == 1 || pool->cfg.workers == 1)
            slot->first_at = now;
        sml_arrivals_count(a, p, now - slot->first_at, now);
        if (v->reason != SML_HELD)
            sml_arrivals_add(&a->completed, 1);
        if (v->reason == SML_SEND_ALL || v->reason == SML_SEND_QUORUM)
            sml_arrivals_sent(pool, slot, p->ver, now);
        break;
    case SML_RESTORED:
        sml_arrivals_sent(pool, slot, p->ver, now);
        break;
    case SML_DROP_DUPLICATE:
    case SML_DROP_STALE:
    case SML_SEND_ONE:
    case SML_SEND_ANSWER:
    case SML_SEND_LATE:
    case SML_SEND_STRAGGLES:
    case SML_ASK_PARENT:
        if (sml_asks(p))
            sml_arrivals_add(&a->probes, 1);
        else if (p->kind != SML_RESTORE)
            sml_arrivals_add(&a->repeated, 1);
        sml_arrivals_lost(a, pool, slot, p, v, now);
        break;
    default:
        break;
    }
}
