/* The way of an aggregation packet: from the port where it arrives to the lcore that owns its slot, and
 * through the job's pool; results and answers go out again (docs/architecture.md, "One packet's way", steps 3
 * and 4). The engine knows a protocol only by its table (protocol/protocol.h). engine_receive only looks at
 * the bits by which the protocol deals packets to shards; a shard belongs to one lcore. Everything else
 * happens there: a burst is located first, then applied, so that its slots are on their way into the cache by
 * the time that they are needed. A packet of the receiving lcore's own shards is at once made what its
 * protocol is to see, and lies ready for that; others cross by ring first.
 */
#pragma once

#include <stdint.h>

#include "aggregate/egress.h"
#include "aggregate/fair.h"
#include "base/bell.h"
#include "base/counters.h"
#include "base/strangers.h"
#include "config/placement.h"
#include "port/buffers_near.h"
#include "port/facts.h"
#include "protocol/protocol.h"

enum {
    ENGINE_BURST = 64,
    ENGINE_AT_ONCE = 16, /* packets that are located, then applied: as many as a core fetches lines at once */
    ENGINE_SERVE = 4 * ENGINE_BURST, /* of the frames that wait, about so many are handled in a round */
    ENGINE_RING_SIZE = 2048,
    ENGINE_TICK_NS = 1000000, /* between two ticks of a pool; more where the lcore stands still */
};

/* Which lcore has which shard, and the way to it. Set before the start, then only read. */
struct shards {
    unsigned n;
    uint8_t owner[SWAGG_MAX_SHARDS];          /* an lcore, by its number in the placement */
    uint8_t owned[SWAGG_MAX_LCORES];          /* by lcore: how many are its */
    struct rte_ring *inbox[SWAGG_MAX_LCORES]; /* by lcore: packets for its shards from others; NULL: it has
                                                 none */
    struct bell *bell[SWAGG_MAX_LCORES];      /* by lcore: to be rung after that; NULL: it never sleeps */
};

/* Where packets come from: a protocol that this switch speaks, and the jobs that they may belong to, by the
 * numbers that they carry. */
struct engine_source {
    const struct agg_protocol *table; /* NULL: there is no such source */
    const struct agg_jobs *jobs;
    bool parent;     /* the switch above sends them; else members do */
    unsigned uplink; /* the parent's */
};

enum { ENGINE_SOURCES = COUNTED_PROTOCOLS * (1 + SWAGG_MAX_UPLINKS) };

/* Number of the source of a protocol's packets (enum agg_protocol_id) that members send ... */
static inline unsigned engine_from_members(unsigned protocol)
{
    return protocol;
}

/* ... and of those that the parent of this uplink sends. */
static inline unsigned engine_from_parent(unsigned protocol, unsigned uplink)
{
    return COUNTED_PROTOCOLS * (1 + uplink) + protocol;
}

/* An lcore's engine. */
struct engine {
    /* Set before the start, then only read. */
    unsigned lcore; /* whose this is */
    const struct shards *shards;
    const struct buffers *buffers;               /* which may be kept */
    struct engine_source source[ENGINE_SOURCES]; /* by number */
    struct counters *counters;
    double ns_per_cycle;          /* of the TSC */
    const uint32_t *jobs_running; /* of all protocols; atomic. NULL: one at most */

    uint64_t now;       /* TSC at the start of this round; the loop sets it */
    uint64_t ticked_at; /* TSC when pools were last told the time */
    struct egress egress;
    struct strangers strangers;

    /* Packets of this lcore's shards, one source's, as its protocol sees them. */
    struct engine_ready {
        unsigned n, source;
        struct rte_mbuf *frame[ENGINE_AT_ONCE];
        struct agg_packet packet[ENGINE_AT_ONCE];
    } ready;

    /* Packets gathered for each other lcore. */
    uint64_t waiting; /* bit l: there are packets for lcore l */
    struct {
        uint16_t n;
        struct rte_mbuf *frame[ENGINE_BURST];
    } to[SWAGG_MAX_LCORES];

    bool pressed;     /* there was more to receive in the last round than it has received */
    bool sharing;     /* in this round, frames of jobs that have had their part wait in fair */
    unsigned handled; /* packets, in this round */
    struct fair fair;
};

/* Of so many cycles of the TSC. */
static inline uint64_t engine_ns(const struct engine *e, uint64_t cycles)
{
    return (uint64_t)((double)cycles * e->ns_per_cycle);
}

/* Begins a round. While several jobs run and there is more to receive than this lcore can handle, frames of a
 * job that has had its part wait, and are handled by engine_serve. All others are handled as they come. */
static inline void engine_begin(struct engine *e)
{
    egress_begin(&e->egress);
    e->handled = 0;
    e->sharing = e->fair.held > 0 || (e->pressed && e->jobs_running != NULL &&
                                      __atomic_load_n(e->jobs_running, __ATOMIC_RELAXED) > 1);
}

/* Whether jobs share it and it has not had a burst to handle in this round. */
static inline bool engine_wants_more(const struct engine *e)
{
    return e->sharing && e->handled < ENGINE_BURST;
}

/* The engine's room: takes over frames that came in by this port, from the sources that their records name
 * and e->source has. Where a protocol's packets are payloads they have passed frame_check. Packets of this
 * lcore's shards are handled, the last few by engine_flush. */
void engine_receive(struct engine *e, unsigned port, struct facts *const burst[], unsigned n);

/* Handles what engine_receive has left: packets of this lcore's shards, and those of others, which are put
 * into their owners' rings. */
void engine_flush(struct engine *e);

/* Handles packets that other lcores have put into this one's ring; returns how many. */
unsigned engine_collect(struct engine *e);

/* Handles frames that wait, as their jobs' parts allow, and more if the lcore has little else to do; returns
 * how many. */
unsigned engine_serve(struct engine *e);

/* Tells this lcore's shards of pools that depend on it (agg_protocol.tick) the time, once in ENGINE_TICK_NS.
 */
void engine_tick(struct engine *e);

/* When it is to be called again, TSC, though nothing comes; UINT64_MAX: no job here depends on the time. */
uint64_t engine_due_at(const struct engine *e);

/* Whether other lcores have packets for this one. */
bool engine_is_wanted(const struct engine *e);
