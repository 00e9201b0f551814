/* How many chunks of a job one rank may have under way at once: additive increase, multiplicative decrease
 * (ATP paper, section 5.4, "Rate Control"). From 50 packets it grows by one with each acknowledgement up to a
 * threshold, then by one with each window; a mark or a loss halves it, once a window, and sets the threshold.
 *
 * Three things are ours. The first fast growth also ends once packets wait in a queue. A loss alone does not
 * take the window below ATP_WINDOW_LOSSY: with fewer chunks under way no three later ones are acknowledged,
 * so each loss would cost a timer; and a chunk of n workers is lost n times as often as a packet, which tells
 * nothing of the queues. Where switches mark, queues that overflow have marked before. And a chunk whose
 * contributions did not all meet in one aggregator, because of another's, is late without any loss. It looks
 * like one until its sum says so (COLLISION); then the window gets back what it had.
 *
 * Pure; positions are the stream's running numbers of chunks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ATP_WINDOW_START = 50, ATP_WINDOW_LEAST = 1, ATP_WINDOW_LOSSY = 8 };

struct atp_congestion {
    uint32_t window; /* packets */
    uint32_t threshold, ceiling;
    uint32_t credit;    /* acknowledgements since the last increase by one */
    uint64_t recovered; /* one past the last chunk that was under way when the window was halved */
    /* What a loss has taken, in case that it was none: */
    uint64_t lost; /* which chunk */
    uint32_t window_before, threshold_before;
    bool regrets;    /* these are meaningful */
    uint64_t halved; /* times; for statistics */
};

void atp_congestion_init(struct atp_congestion *c, uint32_t ceiling);

/* The chunk at this position is acknowledged; next: the first that was never sent. limited: the window was
 * what kept more from being sent. */
void atp_congestion_acknowledged(struct atp_congestion *c, uint64_t position, uint64_t next, bool marked,
                                 bool collided, bool limited);

/* A round trip has taken so long that packets wait in some queue. A host's own is long, and nobody marks what
 * waits there: without this the first window grows until it overflows, and a job that comes later gets
 * little of it. */
void atp_congestion_waits(struct atp_congestion *c);

/* The chunk at this position, or its sum, seems lost. */
void atp_congestion_lost(struct atp_congestion *c, uint64_t position, uint64_t next);
