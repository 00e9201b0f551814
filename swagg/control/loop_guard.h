/* Keeps a loop that somebody has made by mistake from filling the network: looks for it by probes, and blocks
 * a port for a while.
 *
 * Probes go out when a port's link comes up, when a station moves between ports all the time, after a port
 * was opened again and, if the configuration says so, every few seconds. If one comes back, the higher
 * numbered of its two ports is blocked. A switch with one port sends nothing on that it receives, so that one
 * is never blocked.
 *
 * Threads: the main lcore's.
 */
#pragma once

#include "bridge/bridge.h"
#include "bridge/host.h"
#include "bridge/sighting.h"
#include "config/config.h"

struct loop_guard {
    /* Set before the start, then only read. */
    struct loops *loops;
    struct port *port;
    const uint64_t *ports; /* atomic: bit p: there is a port p */
    const struct host *host;
    struct bridge *bridge;
    unsigned networks;
    bool finds;        /* sends probes */
    uint64_t probe_ns; /* how often it looks for loops unasked; 0: never */
    uint64_t block_ns; /* how long a port is blocked; 0: never */

    uint64_t probed_at;                /* unasked */
    uint64_t quiet_until;              /* until then no word about stations that move */
    uint64_t open_at[SWAGG_MAX_PORTS]; /* of blocked ports */
};

/* Also while it runs. */
void loop_guard_init(struct loop_guard *g, const struct config_loops *cfg);

/* These ports (bit p: port p) are new: whatever was blocked had their numbers before. */
void loop_guard_forget(struct loop_guard *g, uint64_t ports);

/* Looks for a loop behind this port. */
void loop_guard_probe(const struct loop_guard *g, unsigned port);

/* To be called ten times a second or so. now: monotonic_ns. */
void loop_guard_tick(struct loop_guard *g, uint64_t now);
