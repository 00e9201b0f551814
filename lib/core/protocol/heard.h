/* Flags by which threads that carry packets tell another that somebody was heard: of a pool
 * (agg_protocol.heard) and of each member of a job (agg_job.heard). All shards set them, so a flag's line is
 * written only where it changes: once each time that it was asked for. */
#pragma once

#include "protocol/protocol.h"

static inline void agg_heard_set(bool *heard)
{
    if (!__atomic_load_n(heard, __ATOMIC_RELAXED))
        __atomic_store_n(heard, true, __ATOMIC_RELAXED);
}

/* Whether it was set since this was last asked. */
static inline bool agg_heard_take(bool *heard)
{
    return __atomic_load_n(heard, __ATOMIC_RELAXED) && __atomic_exchange_n(heard, false, __ATOMIC_RELAXED);
}

/* A packet that was applied with this action: unless it was dropped, its sender lives. */
static inline void agg_heard_packet(const struct agg_packet *p, enum agg_action action)
{
    if (action != AGG_DROP && p->slot != NULL && p->job->heard != NULL && p->rank < p->job->size)
        agg_heard_set(&p->job->heard[p->rank]);
}

/* Whether the member that sends from there was heard since this was last asked. */
static inline bool agg_heard_member(const struct agg_job *job, const struct agg_sender *from)
{
    const struct agg_seat *seat = agg_job_find(job, from);

    return seat != NULL && job->heard != NULL && seat->rank < job->size &&
           agg_heard_take(&job->heard[seat->rank]);
}
