/* The lcore of a switch that cannot keep up: frames of jobs wait in lines, by job, and are served in turns
 * (share/turns.h), as swagg/aggregate/fair.c does. And a check of what turns promise: while the same jobs
 * wait, no job is served more or less than its weight says, but for four turns and two frames. */
#pragma once

#include "link.h"
#include "protocol/jobs.h"
#include "share/turns.h"

enum { BUSY_PLACES = 256, BUSY_FRAME_BYTES = 256, BUSY_TURN_BYTES = 1 << 16 };

struct busy_config {
    struct sim *sim;
    uint64_t ns_per_kb; /* of frames and BUSY_FRAME_BYTES each; 0: it keeps up, and nothing waits */
    void (*serve)(void *ctx, struct frame *frame); /* takes over the frame */
    uint32_t (*quantum)(void *ctx, unsigned flow); /* bytes of a turn, at least 1 */
    void *ctx;
};

struct busy {
    struct busy_config cfg;
    struct share_turns turns;
    struct busy_line {
        struct frame_line frames;
        uint64_t served; /* since the same jobs wait */
    } line[AGG_JOBS];
    unsigned held;
    unsigned flow;         /* that was served last */
    uint64_t stint;        /* counts from the last time that all was dropped */
    bool serving;          /* the event of the next frame is scheduled */
    uint64_t waited, lost; /* frames */
    const char *broken;    /* the first promise that was; NULL: none */
};

void busy_init(struct busy *b, const struct busy_config *cfg);

/* Takes over a frame of this flow, to serve it now or later; or drops it, if the flow has its share of the
 * places. */
void busy_put(struct busy *b, unsigned flow, struct frame *frame);

/* The weights of jobs have changed. */
void busy_reweigh(struct busy *b);

/* Drops all frames that wait. */
void busy_drop(struct busy *b);
