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

#include <rte_rcu_qsbr.h>

#include "aggregate/engine.h"
#include "base/counters.h"
#include "bridge/host.h"
#include "lcore/receive.h"
#include "port/send.h"

enum { LCORE_STALL_MS = 100 }; /* a pause, beyond the longest nap, that is worth a word */

/* How an lcore spends the time in which nothing comes. */
struct lcore_pace {
    uint32_t spin;          /* rounds without work before the first nap */
    uint32_t max_sleep_us;  /* 0: it never naps */
    uint64_t cycles_per_ms; /* of the TSC */
    uint64_t stall;         /* TSC cycles without a round that are a stall */
};

struct lcore {
    /* Set before the start, then only read. */
    unsigned index; /* in the placement; the main lcore comes after the last */
    unsigned eal_id;
    uint64_t shards; /* bit s: aggregates shard s */
    struct lcore_pace pace;
    struct rte_rcu_qsbr *rcu; /* here it reports that it holds nothing, thread id = index */
    const bool *stop;         /* atomic */

    /* This lcore's alone. */
    struct receive receive __rte_cache_aligned;
    struct send send;
    struct engine engine;
    struct host host;

    /* Read by everybody. */
    struct counters counters __rte_cache_aligned;
    int tid; /* of its thread; atomic, 0 before it runs */
};

/* One round of the loop: all tasks once. now: in TSC cycles. Returns how much there was to do, 0: nothing. */
unsigned lcore_round(struct lcore *lc, uint64_t now);

/* The loop, until *stop; an lcore_function_t, argument: the struct lcore. */
int lcore_run(void *lcore);

/* The CPU that it runs on, or the first of several. */
int lcore_cpu(const struct lcore *lc);

#endif
