/* How protocols go through a burst of packets (struct agg_protocol: locate, apply): one after another.
 * Inline, so that a protocol's own step is compiled into its loop.
 */
#ifndef SWAGG_CORE_PROTOCOL_BURST_H
#define SWAGG_CORE_PROTOCOL_BURST_H

#include "protocol/protocol.h"

/* Fills in the packet's job, rank and slot, and returns the reason that it has until it is applied. */
typedef uint8_t agg_locate_one(const struct agg_jobs *jobs, struct agg_packet *p);

/* Applies a packet, if it has a slot. True if the caller has something to do for it: v is the verdict then.
 */
typedef bool agg_apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v);

static inline __attribute__((always_inline)) void
agg_locate_burst(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n, agg_locate_one *one)
{
    for (unsigned i = 0; i < n; i++)
        p[i].reason = one(jobs, &p[i]);
}

/* reason: the protocol's. */
static inline __attribute__((always_inline)) unsigned agg_apply_burst(struct agg_packet p[], unsigned n,
                                                                      uint64_t now, struct agg_verdict *v,
                                                                      const struct agg_reason reason[],
                                                                      agg_apply_one *one)
{
    unsigned i = 0;

    while (i < n && !one(&p[i], now, v))
        i++;
    if (i == n) {
        i = n - 1;
        v->reason = p[i].reason;
        v->kept = false;
        v->released = NULL;
    }
    v->action = reason[v->reason].action;
    return i + 1;
}

#endif
