/* The switch of the SwitchML paper (support/paper_switch.h) as a protocol that the simulated switch carries
 * in the place of ours: a job's terms are agreed with our registry, and its data packets are the paper's. So
 * a worker must do with what any SwitchML switch does.
 *
 * What that switch cannot do, as published, is kept out of the scenarios that have it (scenario.c):
 *
 *   - a job of one worker comes to no end (its count never is a first contribution's);
 *   - a duplicate that is late by two phases is added to the wrong chunk, so links keep their order;
 *   - it knows nothing of calls, so ranks that call different things are not told;
 *   - it forgets a job when it restarts, and takes no results back, so the job fails.
 */
#pragma once

#include "paper_switch.h"
#include "protocol/protocol.h"

/* For plain jobs in the format int32 of 2 to PAPER_WORKERS workers and at most PAPER_SLOTS slots. What it
 * does not understand it drops as SML_DROP_BAD_KIND. */
struct agg_protocol paper_protocol(void);
