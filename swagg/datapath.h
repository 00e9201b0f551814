/* The whole switch: its lcores, and what they share. The parts are put together here; each gets what it needs
 * and does not know the whole, so only the code that starts and stops the daemon uses this. The main lcore
 * makes it before the others start, and frees it after they have stopped. In between, lcores and identity do
 * not change, ports as datapath_prepare_ports says; all lcores write the bridge's table (bridge.h says how).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_rcu_qsbr.h>

#include "aggregate/jobs.h"
#include "bridge/bridge.h"
#include "bridge/neighbours.h"
#include "bridge/sighting.h"
#include "config/config.h"
#include "lcore/classifier.h"
#include "lcore/inbox.h"
#include "lcore/lcores.h"
#include "port/buffers_near.h"
#include "port/port.h"

struct datapath {
    /* Identity. */
    struct net_mac mac;
    rte_be32_t ip;    /* 0: none; then the switch only switches */
    uint64_t boot_id; /* random: so that workers notice a restart */

    uint64_t ports; /* atomic: bit p: there is a port p */
    struct port port[SWAGG_MAX_PORTS];
    bool multi_segment; /* every port sends frames of several segments */
    struct lcores lcores;
    struct shards shards;
    uint8_t data_ports; /* how many UDP ports workers are told to use (port/steer.h) */

    struct buffers buffers;
    /* To receive into, by port: of buffers for those that were there at the start, others of their own. */
    struct rte_mempool *port_mbufs[SWAGG_MAX_PORTS];
    struct rte_mempool *long_buffers; /* for frames that came merged; NULL: all are cut */
    uint64_t mergeable;               /* mark of the frames that we build (port/linux/tx.h) */
    struct classifier classifier;
    struct vlans vlans;
    struct bridge *bridge; /* a table for each network */
    struct jobs jobs;
    struct inbox to_control;    /* control messages for the main lcore */
    struct placement placement; /* which lcore polls what */
    struct lcore_pace pace;
    uint64_t tx_delay; /* in TSC cycles: struct send, delay */

    struct rte_rcu_qsbr *rcu; /* every polling lcore reports here, thread id = its index */
    bool stop;                /* atomic; the main lcore sets it */

    struct sighting claim; /* of other stations to the switch's IP address */
    struct loops loops;
    enum config_link_local link_local;
    struct neighbours neighbours;
    unsigned uplinks;
};

/* The memory.megabytes that a data path with so many lcores needs, pool.megabytes included. At any time. */
unsigned datapath_megabytes(const struct config *cfg, unsigned lcores);

/* Makes everything, without starting it: memory, ports, lcores' tasks. After eal_start. *dp is NULL on error,
 * which was logged. */
int datapath_open(struct datapath **dp, const struct config *cfg, const struct placement *placement);

/* Starts ports and lcores. */
int datapath_start(struct datapath *dp);

/* Stops the lcores; after that they hold no frame and no job. */
void datapath_stop(struct datapath *dp);

/* Stops and closes everything; dp may be half opened or NULL. */
void datapath_close(struct datapath *dp);

/* Ports that come and go while the lcores poll, and queues that go from one lcore to another, in two steps:
 * the first makes all that it takes, and may fail; the second puts it to use, and cannot. Whoever shows ports
 * waits during the second step (show/views.h). The main lcore. */
struct datapath_ports_next {
    uint64_t come, gone; /* bit p: port p */
    struct placement placement;
};

/* Opens and starts the ports of cfg that there are not yet; its ports have the numbers that they have until
 * now (config/reload.h). Queues that no lcore of its list has are dealt out, and the list says so then. 0, or
 * -errno after logging, and nothing has changed. */
int datapath_prepare_ports(struct datapath *dp, struct config *cfg, struct datapath_ports_next *next);

/* Closes the ports that are in cfg no more, and has the lcores poll those that it opened. */
void datapath_commit_ports(struct datapath *dp, const struct datapath_ports_next *next,
                           const struct config *cfg);

/* Or closes what the first step has opened. */
void datapath_forget_ports(struct datapath *dp, struct datapath_ports_next *next);
