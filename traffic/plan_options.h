/* The options by which the traffic tools are told what the workers of a job send. */
#ifndef SWAGG_TRAFFIC_PLAN_OPTIONS_H
#define SWAGG_TRAFFIC_PLAN_OPTIONS_H

#include "command_line.h"
#include "plan.h"

/* A plan as it is told: the frames' length may stand for the number of elements. */
struct told_plan {
    struct plan plan;
    unsigned frame_bytes; /* 0: plan.elements counts */
};

/* With the defaults of --help. */
extern const struct told_plan told_plan_default;

/* Rows for a struct told_plan; all but --phases, which means something else to each tool. */
struct option_group plan_options(struct told_plan *t);

/* Once all options are read: settles the number of elements. NULL, or what is wrong with the plan. */
const char *told_plan_fault(struct told_plan *t);

#endif
