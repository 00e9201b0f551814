/* Jobs for captures that are replayed over and over: they stand in the configuration, nobody joins or leaves
 * them, and no worker of theirs is ever lost. */
#ifndef SWAGG_CONTROL_REPLAY_H
#define SWAGG_CONTROL_REPLAY_H

#include "aggregate/jobs.h"
#include "config/config.h"

/* Named replay[0], replay[1], ... as the configuration's errors name them; they run from the start to the
 * end. */
struct replay {
    char name[24];
    uint64_t since; /* clock_ns */
    uint8_t number;
    struct jobs_plan plan;
};

struct replays {
    unsigned n;
    struct replay *job;
};

/* replays: all zero. Before any other job is opened, so that their numbers on the wire are 0, 1, ... in the
 * configuration's order. 0, or -errno after logging; replays_close in any case. */
int replays_open(struct replays *replays, struct jobs *jobs, const struct jobs_identity *us,
                 const struct config *cfg);
void replays_close(struct replays *replays); /* the descriptions; the jobs end with jobs_free */

#endif
