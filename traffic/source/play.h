/* The source's loop. Closed: sends every frame once, then each again as soon as its answer has come. Open:
 * sends them in turn, chunk by chunk, at a given rate, whatever comes back. */
#pragma once

#include "source/frames.h"

enum { PLAY_PORTS_MAX = RTE_MAX_ETHPORTS };

/* Counts of the measurement, without the warm-up. */
struct play_counts {
    uint64_t sent;       /* frames that a device took */
    uint64_t answers;    /* that were waited for */
    uint64_t checked;    /* of these, found right */
    uint64_t resent;     /* among sent: there was no answer in time */
    uint64_t unexpected; /* frames that were not waited for: answers that came twice, frames that a switch
                            floods */
    uint64_t rounds, idle_rounds;
    uint64_t cycles, idle_cycles; /* idle: of rounds in which nothing came and nothing left */
};

struct play_port {
    uint16_t id;
    struct rte_mbuf **due; /* in this order; room for twice as many as there are frames, and a burst */
    unsigned n, room;
};

struct play {
    const struct source_options *options;
    struct frames frames;
    struct play_port port[PLAY_PORTS_MAX];
    unsigned ports;
    unsigned worker_at; /* offset in a frame of the 16 bits that identify the worker */
    uint16_t worker_0;  /* their value for the first worker */
    unsigned until_check;
    unsigned next; /* whose turn it is to be sent without an answer, chunk * workers + worker */
    uint64_t offered, offered_from; /* open loop: frames so far, since when */
    struct play_counts count;
    uint64_t now, resend_after, resend_at;
    bool failed; /* and said why */
};

/* On so many ports from this one on, which are open. 0, or -ENOMEM. */
int play_init(struct play *p, const struct source_options *o, unsigned first, unsigned ports);
void play_free(struct play *p);

/* Warms up and measures n jobs side by side; returns early when something is wrong (failed) or stop is set.
 */
void play_run(struct play p[], unsigned n, const volatile bool *stop);
