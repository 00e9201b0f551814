/* Stations that the switch speaks to first, so that it has to ask for their MAC addresses (ARP, RFC 826): the
 * switches above it, or the routers on the way to them. What answers last counts, and counts until another
 * answers: a neighbour that is silent for a while has not moved.
 *
 * Pure: frames and clock are the caller's. Threads: the main lcore adds them before the others start, and
 * asks; any lcore notes what it hears.
 */
#ifndef SWAGG_BRIDGE_NEIGHBOURS_H
#define SWAGG_BRIDGE_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/sighting.h"

enum { NEIGHBOURS_MAX = 8 };

struct neighbour {
    uint32_t ip;      /* network order */
    unsigned network; /* that it is in (port/vlans.h) */
    struct sighting seen;

    /* The main lcore's. */
    uint64_t asked_at; /* ns; 0: never */
};

struct neighbours {
    unsigned n;
    struct neighbour at[NEIGHBOURS_MAX];
};

/* Returns its number; the same for the same address. There must be room. */
unsigned neighbours_add(struct neighbours *n, unsigned network, uint32_t ip);

/* An ARP message with this sender came in by port. False: it is none of them. Any lcore. */
bool neighbours_note(struct neighbours *n, unsigned network, uint32_t ip, const struct net_mac *mac,
                     uint8_t port);

/* Where a neighbour was heard last; false: it has not been heard yet. Any lcore. */
bool neighbours_find(const struct neighbours *n, unsigned number, struct net_mac *mac, uint8_t *port);

/* Those heard on this port are not known any more, and asked for at once. The main lcore. */
void neighbours_lose(struct neighbours *n, uint8_t port);

/* Whether the caller is to ask for it now, on this port, or, if *port is -1, on all: every second as long as
 * it is not known, and now and then after that. now: ns, monotonic. The main lcore. */
bool neighbours_is_due(struct neighbours *n, unsigned number, uint64_t now, int *port);

#endif
