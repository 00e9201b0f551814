/* Jobs for captures that are replayed over and over. They are in the configuration: nobody joins or leaves
 * them, and their workers are never considered lost. */
#ifndef SWAGG_CONTROL_REPLAY_H
#define SWAGG_CONTROL_REPLAY_H

#include "aggregate/jobs.h"
#include "config/config.h"

/* They are named replay[0], replay[1], ... as in messages about the configuration, and run as long as the
 * daemon. */
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

/* replays: all zero. To be called before any other job is opened, so that their numbers on the wire are 0, 1,
 * ... in the configuration's order. 0, or -errno after logging; replays_close follows in any case. */
int replays_open(struct replays *replays, struct jobs *jobs, const struct jobs_identity *us,
                 const struct config *cfg);
void replays_close(
    struct replays *replays); /* frees the descriptions; the jobs themselves end with jobs_free */

#endif
