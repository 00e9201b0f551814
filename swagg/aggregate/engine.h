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

#include "config/placement.h"

struct lcore;
struct rte_mbuf;

enum { ENGINE_BURST = 64 };

/* Answers that may be sent to senders that are in no job. */
struct engine_allowance {
    uint64_t credit, at; /* how many now; TSC of the last refill */
};

/* Packets gathered for each lcore. */
struct engine_lcore {
    uint64_t waiting; /* bit l: there are packets for lcore l */
    struct {
        uint16_t n;
        struct rte_mbuf *frame[ENGINE_BURST];
    } to[SWAGG_MAX_LCORES];
    struct engine_allowance rejects, path_answers;
};

/* Takes over a frame that passed the checks of frame.h and is addressed to one of the switch's data ports. */
void engine_steer(struct lcore *lc, unsigned port, struct rte_mbuf *m);

/* Works off what engine_steer gathered: own packets at once, others' by ring. */
void engine_flush(struct lcore *lc);

/* Works off what other lcores have handed over; returns how many packets. */
unsigned engine_collect(struct lcore *lc);

#endif
