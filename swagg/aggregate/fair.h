/* Frames of jobs that wait for an lcore that has more to do than it can: by job, served in turn, each job in
 * proportion to its weight (share/turns.h). The frames wait here instead of in the ports' rings, where those
 * of all jobs stand in one line. There is room for so many; a job may have twice as many waiting as places
 * are left (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches"), so
 * that one that floods leaves places to others.
 *
 * Threads: an lcore's own.
 */
#ifndef SWAGG_AGGREGATE_FAIR_H
#define SWAGG_AGGREGATE_FAIR_H

#include <rte_mbuf.h>

#include "share/turns.h"

enum {
    FAIR_PLACES = 1024,        /* of an lcore's part of the packet buffers (datapath_memory.c) */
    FAIR_FRAME_BYTES = 256,    /* what a frame costs beside its bytes, in bytes */
    FAIR_TURN_BYTES = 1 << 16, /* the quantum of the job with the greatest weight */
};

struct fair {
    unsigned held; /* frames that wait */
    struct share_turns turns;
    struct {
        uint32_t n;
        uint16_t first, last; /* places; valid while n > 0 */
    } queue[SHARE_FLOWS];
    uint16_t unused; /* the first place without a frame; valid while held < FAIR_PLACES */
    struct {
        struct rte_mbuf *frame;
        uint16_t next, cost; /* cost: in bytes, of serving it */
    } place[FAIR_PLACES];
};

void fair_init(struct fair *f);

/* Takes over a frame of this flow; false: the flow has its share of the places, and the frame is the
 * caller's. */
bool fair_put(struct fair *f, unsigned flow, struct rte_mbuf *m);

/* The flow whose turn it is; there must be one (held > 0). */
static inline unsigned fair_flow(const struct fair *f)
{
    return share_turns_first(&f->turns);
}

/* Takes out frames of that flow, as its turn allows, at most n; returns how many. quantum: bytes of a whole
 * turn. May return 0: another flow's turn has come. */
unsigned fair_take(struct fair *f, uint32_t quantum, struct rte_mbuf *frames[], unsigned n);

#endif
