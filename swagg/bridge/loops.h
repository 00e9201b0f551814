/* Signs of a loop behind the ports, which any polling lcore may see and the main lcore acts upon
 * (control/loop_guard.h): a probe of ours that has come back (net/loop_probe.h), and a station that moves
 * between ports all the time (net/moves.h).
 */
#ifndef SWAGG_BRIDGE_LOOPS_H
#define SWAGG_BRIDGE_LOOPS_H

#include "base/limits.h"
#include "bridge/sighting.h"
#include "net/headers.h"

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

#endif
