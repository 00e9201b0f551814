/* Frames on their way out of an lcore, gathered by port. A port's frames are sent once a round; with `delay`,
 * when a burst is full, when the first has waited that long, or when there is nothing else to do.
 *
 * A port that this lcore sends to itself gets its burst directly; frames for others cross by the port's ring.
 * What the device or the ring does not take is dropped (tx_full, ring_full): a switch does not wait.
 *
 * Threads: a struct send is one lcore's. There is nothing to close; flush it at the end.
 */
#pragma once

#include <stdint.h>

#include "base/counters.h"
#include "port/port.h"
#include "port/vlans.h"

enum { SEND_BURST = 64, SEND_TO_ALL = SWAGG_MAX_PORTS /* no port's number */ };

struct send {
    /* Set before the start, then only read. */
    const struct port *port; /* [SWAGG_MAX_PORTS] */
    struct counters *counters;
    struct rte_mempool *mbufs; /* for the duplicates that impairments make, and copies with tags */
    const struct vlans *vlans; /* NULL: the switch has none */

    /* Changed by its thread alone, while no frame waits. */
    uint64_t ports;                 /* bit p: there is a port p; frames to others are dropped */
    uint64_t own;                   /* bit p: sends to port p ... */
    uint8_t queue[SWAGG_MAX_PORTS]; /* ... by this queue */
    uint64_t for_others; /* ports for which it sends what other lcores have: those whose queue 0 it has */
    uint64_t delay; /* TSC cycles that a frame may wait for others to the same port while there is work */

    uint64_t impaired; /* atomic, the main lcore may change it: those of own with impairments, which may hold
                          back frames to be sent later */
    uint64_t now;      /* TSC at the start of this round; the loop sets it */
    uint64_t waiting;  /* bit p: there are frames for port p */
    struct send_waiting {
        uint16_t n;
        uint64_t since; /* TSC, of the first frame's round */
        struct rte_mbuf *frame[SEND_BURST];
    } to[SWAGG_MAX_PORTS];
};

/* For send_put: sends what waits for this port; drops a frame to a port that there is not. */
void send_port(struct send *s, unsigned port);
void send_nowhere(struct send *s, unsigned port, struct rte_mbuf *frame);

/* Takes the frame over. Inline, since every frame that leaves passes here. */
static inline void send_put(struct send *s, unsigned port, struct rte_mbuf *frame)
{
    struct send_waiting *to = &s->to[port];

    if (unlikely((s->ports & RTE_BIT64(port)) == 0)) {
        send_nowhere(s, port, frame);
        return;
    }
    if (to->n == 0) {
        to->since = s->now;
        s->waiting |= RTE_BIT64(port);
    }
    to->frame[to->n++] = frame;
    if (unlikely(to->n == SEND_BURST))
        send_port(s, port);
}

/* The same to every port but one, or SEND_TO_ALL; the frame is shared between them by reference count. */
void send_flood(struct send *s, unsigned except, struct rte_mbuf *frame);

/* Sends everything that waits, and what impairments of this lcore's ports have held back long enough. */
void send_flush(struct send *s);

/* The same, but frames that may still wait for others are kept. */
void send_flush_due(struct send *s);

/* Takes the frames that other lcores have for this lcore's ports; returns how many. */
unsigned send_collect(struct send *s);

/* Whether there are any. */
bool send_is_wanted(const struct send *s);
