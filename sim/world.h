/* Plays one scenario and judges it. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "nic.h"
#include "oracle.h"
#include "protocol/protocol.h"
#include "scenario.h"

/* What happened in a run. All fields are uint64_t, so that those of many runs are added up as arrays. */
struct world_counts {
    uint64_t events, simulated_ns;
    struct oracle_counts oracle;
    uint64_t faults[FAULTS];     /* that happened */
    uint64_t strangers;          /* messages of theirs */
    uint64_t flooded;            /* messages of floods */
    uint64_t forged;             /* messages */
    uint64_t operated;           /* jobs that the operator ended or drained */
    uint64_t tensors;            /* of static jobs' threads, that had their exact sums */
    uint64_t refused;            /* ranks and jobs, for want of room or by a quota */
    uint64_t waited, over_share; /* frames that waited for their turn, or found no place to */
    uint64_t frames, lost, duplicated, corrupted;
    struct nic_heard heard;            /* by all switches */
    uint64_t kept, referred;           /* frames that a pool kept; frames that referred to those */
    uint64_t reasons[AGG_MAX_REASONS]; /* of the switch's verdicts on data packets */
};

struct world_result {
    bool failed;
    char text[ORACLE_TEXT_MAX]; /* why */
    bool benign, paper;         /* paper: the switch was the paper's */
    struct scenario_parts parts;
    uint64_t succeeded_first, succeeded_last; /* ns: when the first call of a rank did, and the last one */
    struct world_counts n;
};

/* trace: NULL for none. The same seed gives the same result and the same trace. */
struct world_result world_play(uint64_t seed, bool chip, FILE *trace);
/* Frees what the scenario has. */
struct world_result world_play_scenario(struct scenario *scenario, FILE *trace);
