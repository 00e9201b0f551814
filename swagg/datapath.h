/* The switch as its lcores see it: what they share, and what of it may change while they run.
 *
 * Built by the main lcore before the others start and torn down after they have stopped. In between, ports,
 * lcores and identity do not change; the bridge's table is written by all (bridge.h says how).
 */
#ifndef SWAGG_DATAPATH_H
#define SWAGG_DATAPATH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_rcu_qsbr.h>

#include "aggregate/jobs.h"
#include "bridge/bridge.h"
#include "bridge/claim.h"
#include "config/config.h"
#include "control/inbox.h"
#include "lcore/lcore.h"
#include "port/port.h"

struct datapath {
    /* Identity. */
    struct rte_ether_addr mac;
    rte_be32_t ip;    /* 0: none; then nothing but switching is done */
    uint64_t boot_id; /* random, tells this run from the one before */

    unsigned ports, lcores, shards;
    struct port port[SWAGG_MAX_PORTS];
    bool multi_segment;                        /* every port sends frames of several segments */
    struct lcore *lcore[SWAGG_MAX_LCORES + 1]; /* the last in use, [lcores], is the main lcore's */
    uint8_t shard_owner[SWAGG_MAX_SHARDS];

    struct rte_mempool *mbufs;
    struct rte_mempool *long_buffers; /* of frames that came merged; NULL: every one is cut */
    uint64_t mergeable;               /* mark of the frames that we build (linux_tx.h) */
    struct bridge *bridge;
    struct jobs jobs;
    struct inbox to_control; /* control messages for the main lcore */
    uint32_t spin, max_sleep_us;
    uint64_t stall;         /* TSC cycles without a round that are worth a word */
    uint64_t cycles_per_ms; /* of the TSC */
    uint64_t tx_delay; /* TSC cycles that a frame may wait for others to the same port while there is work */

    struct rte_rcu_qsbr *rcu; /* every polling lcore reports here, thread id = its index */
    bool stop;                /* atomic; the main lcore sets it */

    struct claim claim; /* of the switch's IP, by others */
};

/* Everything but starting: memory, ports, lcores' tasks. The EAL runs. *dp is NULL on error, which was
 * logged. */
int datapath_open(struct datapath **dp, const struct config *cfg, const struct placement *placement);

/* Starts ports and lcores. */
int datapath_start(struct datapath *dp);

/* Stops the lcores; they hold nothing any more. */
void datapath_stop(struct datapath *dp);

/* Stops what runs and closes everything; dp may be half opened or NULL. */
void datapath_close(struct datapath *dp);

static inline struct lcore *datapath_main_lcore(struct datapath *dp)
{
    return dp->lcore[dp->lcores];
}

/* Sums over all lcores, the main one included. */
uint64_t datapath_drops(const struct datapath *dp, unsigned port, enum drop reason);
uint64_t datapath_events(const struct datapath *dp, enum event event);
uint64_t datapath_verdicts(const struct datapath *dp, enum sml_verdict_kind kind);

#endif
