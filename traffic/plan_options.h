/* The options of the traffic tools that say what the workers of a job send. */
#pragma once

#include "command_line.h"
#include "plan.h"

/* By the type of the field: enum xfer_format. */
option_reader option_format;

/* A plan as given by options: the length of frames may stand for the number of elements, and the type may be
 * left to the format (0). */
struct told_plan {
    struct plan plan;
    unsigned frame_bytes; /* 0: plan.elements is used */
};

/* With the defaults of --help. */
extern const struct told_plan told_plan_default;

/* Rows for a struct told_plan; without --phases, whose meaning differs between the tools. */
struct option_group plan_options(struct told_plan *t);

/* To be called when all options were read: completes the plan. NULL, or what is wrong with the
 * plan. */
const char *told_plan_fault(struct told_plan *t);
