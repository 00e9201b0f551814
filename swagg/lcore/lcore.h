/* A polling lcore: its tasks, what it owns, its loop.
 *
 * The loop does its tasks in turn (receive, aggregate, send), flushes what they put out, reports that it
 * holds no job any more (RCU), and backs off when there is nothing to do: it spins for a while, then naps,
 * the longer the pause the longer the nap, up to a bound.
 *
 * The main lcore has a struct lcore, too, without tasks: so that it can count, and send through the ports'
 * owners.
 */
#ifndef SWAGG_LCORE_LCORE_H
#define SWAGG_LCORE_LCORE_H

#include <stdint.h>

#include <rte_ring.h>

#include "aggregate/engine.h"
#include "base/counters.h"
#include "lcore/output.h"

struct datapath;

enum { LCORE_BURST = 64, LCORE_RING_SIZE = 2048 };

struct lcore_queue {
    uint8_t port, queue;
};

struct lcore {
    /* Set before the start, then only read. */
    struct datapath *dp;
    unsigned index; /* in the placement; the main lcore comes after the last */
    unsigned eal_id;
    unsigned rx_count;
    struct lcore_queue rx[SWAGG_MAX_PORTS * SWAGG_MAX_QUEUES]; /* that it receives from */
    uint64_t tx;                                               /* bit p: sends to port p ... */
    uint8_t tx_queue[SWAGG_MAX_PORTS];                         /* ... by this queue */
    uint64_t tx_for_others; /* ports for which it sends what other lcores have: those whose queue 0 it has */
    uint64_t shards;        /* bit s: aggregates shard s */
    struct rte_ring *inbox; /* gradient packets for its shards from other lcores; NULL: owns none */
    uint64_t tx_impaired;   /* those of tx that may have frames to send without being given any */

    /* This lcore's alone. */
    struct output output __rte_cache_aligned;
    struct engine_lcore engine;
    uint64_t now; /* TSC at the start of this round */

    /* Read by everybody. */
    struct counters counters __rte_cache_aligned;
    int tid; /* of its thread; atomic, 0 before it runs */
};

static inline void lcore_drop(struct lcore *lc, unsigned port, enum drop reason, unsigned frames)
{
    counter_add(&lc->counters.drop[port][reason], frames);
}

static inline void lcore_count(struct lcore *lc, enum event event, unsigned n)
{
    counter_add(&lc->counters.event[event], n);
}

/* The loop, until datapath.stop; an lcore_function_t, argument: the struct lcore. */
int lcore_run(void *lcore);

/* The CPU that it runs on, or the first of several. */
int lcore_cpu(const struct lcore *lc);

#endif
