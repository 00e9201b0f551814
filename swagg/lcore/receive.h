/* Where a received frame goes: to the switch itself, or through the bridge.
 *
 * Threads: a struct receive is one lcore's.
 */
#pragma once

#include <stdint.h>

#include "aggregate/engine.h"
#include "base/counters.h"
#include "bridge/bridge.h"
#include "bridge/host.h"
#include "bridge/sighting.h"
#include "config/config.h"
#include "lcore/classifier.h"
#include "lcore/inbox.h"
#include "net/moves.h"
#include "port/port.h"
#include "port/send.h"
#include "share/bucket.h"

/* Storm control: how many frames that would go to every port a port may bring in. Each kind has a token
 * bucket of its own; frames to known stations pass none. Of one port; one lcore's. */
struct storm {
    struct share_rate rate[CONFIG_STORM_KINDS]; /* each 0: no bound */
    struct share_bucket bucket[CONFIG_STORM_KINDS];
};

enum { STORM_BURST_LEAST = 32 };

/* frames: a second, that this lcore may let in; 0: any number. A tenth of a second's may come at once. */
static inline void storm_set(struct storm *s, enum config_storm_kind kind, uint64_t frames, uint64_t hz)
{
    const uint64_t tenth = frames / 10;

    s->rate[kind] = (struct share_rate){0};
    if (frames > 0)
        s->rate[kind] = (struct share_rate){.each = frames < hz ? hz / frames : 1,
                                            .burst = tenth > STORM_BURST_LEAST ? tenth : STORM_BURST_LEAST};
}

/* Whether so many frames of this kind may be flooded. now: in the unit of hz. */
static inline bool storm_admits(struct storm *s, enum config_storm_kind kind, unsigned frames, uint64_t now)
{
    return s->rate[kind].each == 0 || share_take(&s->bucket[kind], &s->rate[kind], frames, now);
}

static inline enum drop storm_drops_as(enum config_storm_kind kind)
{
    return (enum drop)(DROP_STORM_BROADCAST + kind);
}

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
