/* Which points the curves of ATP have. */
#pragma once

#include "curves/point.h"

enum {
    PLAN_POINTS_MAX = 256,
    PLAN_ROOM = 65536, /* aggregators that are enough for all */
    PLAN_ONES = 16,    /* ... for one job: with as many chunks under way it fills its link */
    PLAN_RACKS = 4,
    PLAN_WINDOW = 1024,
    PLAN_WINDOW_JOBS = 64,
    PLAN_WINDOW_LATE = 32, /* with so many one job fills its link though hosts nap */
};

/* Fills in the points; returns how many. small: of few workers and jobs. */
unsigned plan_points(struct point points[PLAN_POINTS_MAX], bool small);

/* Chunks by which a point is measured: fewer where each takes more packets. */
uint64_t plan_chunks(const struct point *p, bool small);
