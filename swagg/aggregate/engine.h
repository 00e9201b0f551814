/* Gradient packets: from the port where they arrive to the lcore that owns their slot, through the job's
 * pool, and the results back out (docs/architecture.md, "One packet's way", steps 3 and 4).
 *
 * Slot i belongs to shard i % shards, a shard to one lcore. engine_steer only looks at the slot's number;
 * everything else happens on the owner: a burst is parsed and located first, then applied, so that its slots
 * are on their way into the cache by the time that they are needed.
 */
#ifndef SWAGG_AGGREGATE_ENGINE_H
#define SWAGG_AGGREGATE_ENGINE_H

#include <stdint.h>

#include "aggregate/jobs.h"
#include "base/counters.h"
#include "bridge/bridge.h"
#include "config/placement.h"
#include "port/send.h"

enum { ENGINE_BURST = 64, ENGINE_RING_SIZE = 2048 };

/* Which lcore has which shard, and the way to it. Set before the start, then only read. */
struct shards {
    unsigned n;
    uint8_t owner[SWAGG_MAX_SHARDS]; /* an lcore, by its number in the placement */
    struct rte_ring
        *inbox[SWAGG_MAX_LCORES]; /* by lcore: packets for its shards from others; NULL: it has none */
};

/* Answers that may be sent to senders that are in no job. */
struct engine_allowance {
    uint64_t credit, at; /* how many now; TSC of the last refill */
};

/* An lcore's engine. */
struct engine {
    /* Set before the start, then only read. */
    unsigned lcore; /* whose this is */
    const struct shards *shards;
    const struct jobs *jobs;
    const struct bridge *bridge;
    struct send *send;
    struct counters *counters;
    struct rte_mempool *mbufs;
    bool multi_segment; /* every port sends frames of several segments */
    uint64_t mergeable; /* mark of the frames that are built here (port/linux/tx.h) */
    uint64_t boot_id;   /* of this switch, for rejects */
    uint8_t data_ports; /* for path probes: how many UDP ports workers are told to deal their slots to */

    uint64_t now; /* TSC at the start of this round; the loop sets it */

    /* Packets gathered for each lcore. */
    uint64_t waiting; /* bit l: there are packets for lcore l */
    struct {
        uint16_t n;
        struct rte_mbuf *frame[ENGINE_BURST];
    } to[SWAGG_MAX_LCORES];
    struct engine_allowance rejects, path_answers;
};

/* Takes over a frame that passed the checks of frame.h and is addressed to one of the switch's data ports. */
void engine_steer(struct engine *e, unsigned port, struct rte_mbuf *m);

/* Works off what engine_steer gathered: own packets at once, others' by ring. */
void engine_flush(struct engine *e);

/* Works off what other lcores have handed over; returns how many packets. */
unsigned engine_collect(struct engine *e);

#endif
