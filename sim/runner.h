/* Plays many scenarios on all CPUs and adds up what happened in them. */
#pragma once

#include "world.h"

struct runner_config {
    uint64_t first, count; /* seeds */
    unsigned jobs;         /* processes */
    bool chip;             /* as of scenario_make */
};

/* All fields are uint64_t, as those of struct world_counts. */
struct runner_tally {
    uint64_t scenarios, benign, paper, failed, crashed;
    uint64_t many, tenants, forgers, fixed, operated, quorums, nics; /* scenarios with these parts */
    struct world_counts sum;
};

/* Prints each failure as it is found, with how to replay it. */
struct runner_tally runner_run(const struct runner_config *cfg);

void runner_print(const struct runner_tally *t, double seconds);
