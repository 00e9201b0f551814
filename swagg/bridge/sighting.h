/* A station that any lcore has seen on a port and that the main lcore wants to know of: one that uses the
 * switch's IP address, by mistake or to get the workers' gradients; one that moves between ports all the
 * time (loops.h); or a neighbour (neighbours.h). Only the last one is kept.
 */
#ifndef SWAGG_BRIDGE_SIGHTING_H
#define SWAGG_BRIDGE_SIGHTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

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

#endif
