/* A polling lcore: its tasks, what it owns, its loop.
 *
 * The loop does its tasks in turn (receive, aggregate, send), flushes what they have gathered, and reports
 * that it holds no job (RCU). When there is nothing to do it spins for a while, then naps (lcore/idle.h). The
 * main lcore has a struct lcore, too, without tasks, for its counters and for sending through the ports'
 * owners.
 */
#pragma once

#include <stdint.h>

#include <rte_rcu_qsbr.h>

#include "aggregate/engine.h"
#include "base/counters.h"
#include "bridge/host.h"
#include "lcore/idle.h"
#include "lcore/receive.h"
#include "lcore/standing.h"
#include "port/send.h"

enum { LCORE_STALL_MS = 100 }; /* a pause that counts as a stall, beyond the longest nap */

/* What the main lcore decides for an lcore, also while that polls. */
struct lcore_tasks {
    struct placement_lcore queues; /* that it receives from, and sends to */
    uint64_t ports;                /* bit p: there is a port p */
    uint64_t tx_delay;             /* as in struct send */
    bool multi_segment;            /* every port sends frames of several segments */
    enum config_link_local link_local;
    /* by port: how many such frames a second this lcore lets in */
    struct config_storm storm[SWAGG_MAX_PORTS];
    struct lcore_pace pace;
};

struct lcore {
    /* Set before the start, then only read. */
    unsigned index; /* in the placement; the main lcore comes after the last */
    unsigned eal_id;
    uint64_t shards;          /* bit s: aggregates shard s */
    struct rte_rcu_qsbr *rcu; /* where it reports that it holds no job; thread id = index */
    const bool *stop;         /* atomic */
    struct bell bell;         /* rung by whoever leaves something for it: in a ring, in *stop, in tasks */

    /* The main lcore's; others read what `tasks` points to. */
    struct lcore_tasks copy[2];      /* those in force, and room for the next */
    const struct lcore_tasks *tasks; /* atomic: one of copy; NULL: none yet */
    const struct lcore_tasks *taken; /* atomic: those that the lcore works by; its own */

    /* This lcore's alone. */
    struct lcore_pace pace;
    uint64_t rested; /* TSC cycles of the nap since the last round */
    struct standing standing;
    struct receive receive __rte_cache_aligned;
    struct send send;
    struct engine engine;
    struct host host;

    /* Read by everybody. */
    struct counters counters __rte_cache_aligned;
    int tid;       /* of its thread; atomic, 0 before it runs */
    uint64_t busy; /* TSC cycles in rounds that found something to do; one writer, as counters */
    struct lcore_load {
        uint64_t busy, at; /* when it was last looked at; the main lcore's */
        unsigned percent;  /* of the time between the last two looks that it was busy; atomic */
    } load;
};

/* One round of the loop: all tasks once. now: in TSC cycles. Returns how much work there was; 0: none. */
unsigned lcore_round(struct lcore *lc, uint64_t now);

/* From its next round on the lcore works by these, after it has sent all that waits by those before. One
 * change at a time: lcore_has_taken tells when the lcore has left those before. By the main lcore. */
void lcore_assign(struct lcore *lc, const struct lcore_tasks *tasks);
bool lcore_has_taken(const struct lcore *lc);

/* The queues that an lcore was assigned to receive from, in their order, and to send to, the one of each port
 * that it uses; returns how many. Any thread, while no other is assigned. */
unsigned lcore_rx_queues(const struct lcore *lc, struct port_queue_id queue[PORT_QUEUES_MAX]);
unsigned lcore_tx_queues(const struct lcore *lc, struct port_queue_id queue[PORT_QUEUES_MAX]);

/* Takes over what was assigned; false: it has done so before. By the lcore itself, between two rounds. */
bool lcore_take(struct lcore *lc);

/* The loop, until *stop; an lcore_function_t, argument: the struct lcore. */
int lcore_run(void *lcore);

/* Looks how busy it has been since the last look. By the main lcore, every second or so. now: TSC. */
void lcore_look(struct lcore *lc, uint64_t now);

/* As it was last looked at, in percent. Any thread. */
unsigned lcore_busy_percent(const struct lcore *lc);

/* The CPU that it runs on, or the first of several. */
int lcore_cpu(const struct lcore *lc);

/* Raises the priority of this process's session, if it leads one, as a service does, as the lcores raise
 * their own. If the kernel groups tasks by session (/proc/sys/kernel/sched_autogroup_enabled), only this
 * decides how threads of different sessions share a CPU. */
void priority_raise_session(void);
