/* Stations that move from port to port too often: what a loop in the network looks like to a switch, for
 * copies of a station's frames come by several ports. A moved host or a virtual machine moves once.
 *
 * Pure; one thread. Times are in any unit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    NET_MOVES_ENTRIES = 64,    /* stations that are watched at a time */
    NET_MOVES_SUSPICIOUS = 32, /* moves of one station within a window */
};

struct net_moves {
    struct {
        uint64_t station;
        uint64_t since; /* its window began */
        uint32_t moves; /* since then */
    } entry[NET_MOVES_ENTRIES];
};

/* A station (any number but 0) has come up on another port. True if it has now moved so often within a
 * window, once a window. */
bool net_moves_note(struct net_moves *m, uint64_t station, uint64_t now, uint64_t window);
