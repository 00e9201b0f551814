/* How protocols go through a burst of packets (struct agg_protocol: locate, apply): one after another.
 * Inline, so that a protocol's own step is compiled into its loop.
 *
 * Memory is asked for before it is needed: the slots of a burst while it is located, and what a packet is
 * added to, with its first lines, while those before it are applied. The hardware fetches what follows.
 */
#pragma once

#include "protocol/protocol.h"

/* Fills in the packet's job, rank and slot, and returns the reason that it has until it is applied. */
typedef uint8_t agg_locate_one(const struct agg_jobs *jobs, struct agg_packet *p);

/* Applies a packet, if it has a slot. True if the caller has something to do for it: v is the verdict then.
 */
typedef bool agg_apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v);

enum {
    AGG_AHEAD = 8,       /* packets */
    AGG_FETCHED = 4 * 64 /* bytes of a packet, and of a sum, at most: so many have the hardware go on */
};

/* Asks for the memory that applying the packet needs; it has been located. */
typedef void agg_fetch_one(const struct agg_packet *p);

/* The lines of these bytes, to be read, or to be read and written. */
static inline __attribute__((always_inline)) void agg_fetch(const uint8_t *at, size_t bytes, const bool write)
{
    const uint8_t *end = at + (bytes < AGG_FETCHED ? bytes : AGG_FETCHED);

    for (at -= (uintptr_t)at % 64; at < end; at += 64)
        if (write)
            __builtin_prefetch(at, 1);
        else
            __builtin_prefetch(at, 0);
}

/* For protocols that know no more: the packet. Its first line has been read. */
static inline void agg_fetch_packet(const struct agg_packet *p)
{
    agg_fetch(p->payload, p->bytes, false);
}

static inline __attribute__((always_inline)) void agg_locate_burst(const struct agg_jobs *jobs,
                                                                   struct agg_packet p[], unsigned n,
                                                                   agg_locate_one *one, agg_fetch_one *fetch)
{
    for (unsigned i = 0; i < n; i++)
        p[i].reason = one(jobs, &p[i]);
    for (unsigned i = 0; i < n && i < AGG_AHEAD; i++)
        fetch(&p[i]);
}

/* reason: the protocol's. */
static inline __attribute__((always_inline)) unsigned
agg_apply_burst(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v,
                const struct agg_reason reason[], agg_apply_one *one, agg_fetch_one *fetch)
{
    unsigned i = 0;

    for (; i < n; i++) {
        if (i + AGG_AHEAD < n)
            fetch(&p[i + AGG_AHEAD]);
        if (one(&p[i], now, v))
            break;
    }
    if (i == n) {
        i = n - 1;
        v->reason = p[i].reason;
        v->kept = false;
        v->released = NULL;
    }
    v->action = reason[v->reason].action;
    return i + 1;
}
