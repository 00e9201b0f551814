/* A polling lcore: its tasks, what it owns, its loop.
 *
 * The loop does its tasks in turn (receive, aggregate, send), flushes what they have gathered, and reports
 * that it holds no job (RCU). When there is nothing to do it spins for a while, then naps; naps grow with the
 * pause, up to a bound. The main lcore has a struct lcore, too, without tasks, for its counters and for
 * sending through the ports' owners.
 */
#ifndef SWAGG_LCORE_LCORE_H
#define SWAGG_LCORE_LCORE_H

#include <stdint.h>

#include <rte_rcu_qsbr.h>

#include "aggregate/engine.h"
#include "base/counters.h"
#include "bridge/host.h"
#include "lcore/idle.h"
#include "lcore/receive.h"
#include "port/send.h"

enum { LCORE_STALL_MS = 100 }; /* a pause that counts as a stall, beyond the longest nap */

struct lcore {
    /* Set before the start, then only read. */
    unsigned index; /* in the placement; the main lcore comes after the last */
    unsigned eal_id;
    uint64_t shards; /* bit s: aggregates shard s */
    struct lcore_pace pace;
    struct rte_rcu_qsbr *rcu; /* where it reports that it holds no job; thread id = index */
    const bool *stop;         /* atomic */

    /* This lcore's alone. */
    struct receive receive __rte_cache_aligned;
    struct send send;
    struct engine engine;
    struct host host;

    /* Read by everybody. */
    struct counters counters __rte_cache_aligned;
    int tid;       /* of its thread; atomic, 0 before it runs */
    uint64_t busy; /* TSC cycles in rounds that found something to do; one writer, as counters */
    struct lcore_share {
        uint64_t busy, at; /* when it was last looked at; the main lcore's */
        unsigned percent;  /* of the time between the last two looks that it was busy; atomic */
    } share;
};

/* One round of the loop: all tasks once. now: in TSC cycles. Returns how much work there was; 0: none. */
unsigned lcore_round(struct lcore *lc, uint64_t now);

/* The loop, until *stop; an lcore_function_t, argument: the struct lcore. */
int lcore_run(void *lcore);

/* Looks how busy it has been since the last look. By the main lcore, every second or so. now: TSC. */
void lcore_look(struct lcore *lc, uint64_t now);

/* As it was last looked at, in percent. Any thread. */
unsigned lcore_busy_percent(const struct lcore *lc);

/* The CPU that it runs on, or the first of several. */
int lcore_cpu(const struct lcore *lc);

#endif
