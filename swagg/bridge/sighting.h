/* A station that any lcore has seen on a port and that the main lcore wants to know of: one that uses the
 * switch's IP address, by mistake or to get the workers' gradients; one that moves between ports all the
 * time (below); or a neighbour (neighbours.h). Only the last one is kept.
 */
#pragma once

#include <rte_common.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "net/headers.h"
#include "net/mac.h"

/* One word that any lcore writes and the main lcore takes; 0: none. */
struct sighting {
    uint64_t word;
} __rte_cache_aligned;

/* Any lcore. */
void sighting_note(struct sighting *s, const struct net_mac *station, uint8_t port);

/* The last one; false: there was none since the last call. The main lcore. */
bool sighting_take(struct sighting *s, struct net_mac *station, uint8_t *port);

/* The last one, which stays; false: there was none. Any lcore. */
bool sighting_look(const struct sighting *s, struct net_mac *station, uint8_t *port);

/* Signs of a loop behind the ports, which any polling lcore may see and the main lcore acts upon
 * (control/loop_guard.h): a probe of ours that has come back (net/loop_probe.h), and a station that moves
 * between ports all the time (net/moves.h). */
struct loops {
    /* Set before the start, then only read. */
    uint64_t number[SWAGG_MAX_PORTS]; /* in the probes of each port; random */
    uint64_t window;                  /* in which a station must not move too often; in TSC cycles */

    struct sighting mover;
    uint64_t returned; /* the last probe that came back: both its ports, in one word; atomic; 0: none */
};

/* By which port a probe left, and by which it came back. */
struct loops_returned {
    unsigned left, at;
};

/* A frame from the switch's own address has come in by this port. Any lcore. */
void loops_note_own(struct loops *l, const struct net_ethernet *eth, size_t bytes, unsigned port);

/* The last probe that came back; false: none has since the last call. The main lcore. */
bool loops_take(struct loops *l, struct loops_returned *returned);
