/* Where a received frame goes: to the switch itself, or through the bridge.
 *
 * Threads: a struct receive is one lcore's.
 */
#ifndef SWAGG_LCORE_RECEIVE_H
#define SWAGG_LCORE_RECEIVE_H

#include <stdint.h>

#include "aggregate/engine.h"
#include "base/counters.h"
#include "bridge/bridge.h"
#include "bridge/host.h"
#include "bridge/loops.h"
#include "bridge/sighting.h"
#include "lcore/classifier.h"
#include "lcore/inbox.h"
#include "lcore/storm.h"
#include "net/moves.h"
#include "port/port.h"
#include "port/send.h"

enum { RECEIVE_BURST = 64 };

struct receive {
    /* Set before the start, then only read. */
    const struct port *port;   /* all of the switch's */
    struct rte_mempool *mbufs; /* for the duplicates that impairments make */
    const struct vlans *vlans; /* NULL: the switch has none */
    const struct classifier *classifier;
    struct bridge *bridge;
    struct sighting *claim; /* of other stations to the switch's IP address */
    struct loops *loops;
    enum config_link_local link_local;
    const struct host *host;
    struct engine *engine;
    struct inbox *to_control; /* control messages for the main lcore */
    struct send *send;
    struct counters *counters;

    /* Changed by its thread alone. */
    unsigned queues;
    struct port_queue_id queue[PORT_QUEUES_MAX]; /* that it receives from */

    struct ctl_intake intake;            /* of control messages */
    struct storm storm[SWAGG_MAX_PORTS]; /* by port */
    struct net_moves moves;              /* of stations, between ports */
    uint64_t now;                        /* TSC at the start of this round; the loop sets it */
    bool full; /* the last poll has got a whole burst from some queue, so there may be more */
};

/* Receives a burst from each of this lcore's receive queues and handles it; returns how many frames. */
unsigned receive_poll(struct receive *r);

#endif
