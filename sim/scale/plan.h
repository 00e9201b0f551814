/* Which trees, links and losses `swagg-sim scale` plays, and what each switch has for it. */
#pragma once

#include "scale/tree.h"

enum {
    PLAN_TREES = 2,
    PLAN_SPEEDS_MAX = 4,
    PLAN_LOSSES_MAX = 3,
    PLAN_LCORES_MAX = 64, /* of a switch, as of the daemon (lib/host/base/limits.h) */
};

struct plan {
    struct scale_tree tree[PLAN_TREES];
    unsigned speeds, losses;
    unsigned gbps[PLAN_SPEEDS_MAX];
    uint32_t loss_ppm[PLAN_LOSSES_MAX];           /* the first: none */
    uint64_t chunks[PLAN_TREES][PLAN_LOSSES_MAX]; /* of the tensor */
    unsigned main_speed;                          /* the one that figures are of, by its place in gbps */
};

extern const struct plan plan_whole, plan_small;

/* What is run for one point. Frames of 1,516 bytes below 100 Gb/s, of 9,016 from there on; as many lcores as
 * a switch needs to keep up, and a tenth more, but at most PLAN_LCORES_MAX; slots for four times what is on
 * its way when nothing waits, and for what passes while one worker's timer has to tell it of a loss. */
struct scale_config plan_config(const struct plan *p, unsigned tree, unsigned speed, unsigned loss,
                                const struct costs *costs);

/* The least that a ring allreduce of the same tensor takes over the same links in the same frames: 2 (n - 1)
 * steps, one after the other; each sends an n-th of the tensor over two cables at least. */
double plan_ring_s(const struct scale_config *cfg);
