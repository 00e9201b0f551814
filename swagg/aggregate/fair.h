/* Jobs that share an lcore which has more to do than it can: each is served in proportion to its weight. A
 * frame is served as it comes if its job may be served now (share/turns.h); else it waits here, in its job's
 * line, instead of in the ports' rings, where frames of all jobs stand in one line. There is room for so
 * many; a job may have twice as many waiting as places are left (Choudhury and Hahne, "Dynamic Queue Length
 * Thresholds for Shared-Memory Packet Switches"), so that one that floods leaves places to others.
 *
 * Threads: an lcore's own.
 */
#pragma once

#include <rte_mbuf.h>

#include "share/turns.h"

enum {
    FAIR_PLACES = 1024,     /* of an lcore's part of the packet buffers (datapath.c) */
    FAIR_FRAME_BYTES = 256, /* what a frame costs beside its bytes, in bytes */
    /* The quantum of the job with the greatest weight, in frames of the longest that any job has: some
     * bursts, so that jobs do not wait whose frames come at the same rate, but many at once. */
    FAIR_TURN_FRAMES = 256,
};

struct fair {
    unsigned held; /* frames that wait */
    struct share_turns turns;
    struct {
        uint32_t n;
        uint16_t first, last; /* places; valid while n > 0 */
    } line[SHARE_FLOWS];
    unsigned next_line, lines;     /* of those with frames, as they are looked at in turn: */
    uint16_t line_of[SHARE_FLOWS]; /* `lines` flows from next_line on, round about */
    uint16_t unused;               /* the first place without a frame; valid while held < FAIR_PLACES */
    struct {
        struct rte_mbuf *frame;
        uint16_t next;
    } place[FAIR_PLACES];
};

void fair_init(struct fair *f);

/* What it takes to serve a frame, in bytes. */
static inline uint32_t fair_cost(const struct rte_mbuf *m)
{
    return m->pkt_len + FAIR_FRAME_BYTES;
}

/* Whether this frame of the flow is to be served now; then it counts as served. quantum: bytes of a turn of
 * the flow's. */
static inline bool fair_pass(struct fair *f, unsigned flow, uint32_t quantum, const struct rte_mbuf *m)
{
    if (!share_turns_ask(&f->turns, flow, quantum) || f->line[flow].n > 0)
        return false;
    share_turns_serve(&f->turns, flow, fair_cost(m));
    return true;
}

/* Takes over a frame of this flow, to wait; false: the flow has its share of the places, and the frame is the
 * caller's. */
bool fair_put(struct fair *f, unsigned flow, struct rte_mbuf *m);

/* The flow whose line is to be looked at; there must be one (held > 0). */
static inline unsigned fair_flow(const struct fair *f)
{
    return f->line_of[f->next_line];
}

/* Takes the frames out of that line that are to be served now, at most n; then it is another line's turn.
 * Returns how many; they count as served. quantum: as above. */
unsigned fair_take(struct fair *f, uint32_t quantum, struct rte_mbuf *frames[], unsigned n);
