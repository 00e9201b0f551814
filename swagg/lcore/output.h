/* Frames on their way out of an lcore: gathered by port, sent once a round, or when a burst is full, its
 * first frame has waited for datapath.tx_delay, or there is nothing else to do.
 *
 * A port that this lcore sends to itself gets its burst directly; frames for others cross by the port's ring.
 * What the device or the ring does not take is dropped (tx_full, ring_full): a switch does not wait.
 */
#ifndef SWAGG_LCORE_OUTPUT_H
#define SWAGG_LCORE_OUTPUT_H

#include <stdint.h>

#include "config/placement.h"

struct lcore;
struct rte_mbuf;

enum { OUTPUT_BURST = 64 };

struct output {
    uint64_t waiting; /* bit p: there are frames for port p */
    struct {
        uint16_t n;
        uint64_t since; /* TSC, of the first frame's round */
        struct rte_mbuf *frame[OUTPUT_BURST];
    } port[SWAGG_MAX_PORTS];
};

/* Takes the frame over. */
void output_put(struct lcore *lc, unsigned port, struct rte_mbuf *frame);

/* The same to every port but one; the frame is shared between them by reference count. */
void output_flood(struct lcore *lc, unsigned except, struct rte_mbuf *frame);

/* Sends everything that waits, and what impairments of this lcore's ports have held back long enough. */
void output_flush(struct lcore *lc);

/* The same, but a port's frames that may wait do. */
void output_flush_due(struct lcore *lc);

/* Takes up what other lcores have for this lcore's ports; returns how many frames. */
unsigned output_collect(struct lcore *lc);

#endif
