/* The whole switch: what its lcores share, and the lcores. Here the parts are put together; each gets what it
 * needs and knows nothing of the whole, so only who starts and stops the daemon uses this.
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
#include "lcore/inbox.h"
#include "lcore/lcores.h"
#include "port/port.h"

struct datapath {
    /* Identity. */
    struct net_mac mac;
    rte_be32_t ip;    /* 0: none; then nothing but switching is done */
    uint64_t boot_id; /* random, tells this run from the one before */

    unsigned ports;
    struct port port[SWAGG_MAX_PORTS];
    bool multi_segment; /* every port sends frames of several segments */
    struct lcores lcores;
    struct shards shards;
    uint8_t data_ports; /* to how many UDP ports workers are told to deal their slots (port/steer.h) */

    struct rte_mempool *mbufs;
    struct rte_mempool *long_buffers; /* of frames that came merged; NULL: every one is cut */
    uint64_t mergeable;               /* mark of the frames that we build (port/linux/tx.h) */
    struct bridge *bridge;
    struct jobs jobs;
    struct inbox to_control; /* control messages for the main lcore */
    struct lcore_pace pace;
    uint64_t tx_delay; /* in TSC cycles: struct send, delay */

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

#endif
