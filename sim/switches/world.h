/* Plays jobs by several switches, whose links fail and come back. */
#ifndef SWAGG_SIM_SWITCHES_WORLD_H
#define SWAGG_SIM_SWITCHES_WORLD_H

#include "seeds.h"

struct switches_result {
    struct seeds_end end;
    uint64_t events, simulated_ns, succeeded, ranks_failed, lost, back, agreed, frames, dropped;
};

/* The same seed gives the same result and the same trace, which goes there unless it is NULL. */
struct switches_result switches_play(uint64_t seed, FILE *trace);

/* Plays many, and says what happened in them. Prints each failure as it is found. trace: every event, too.
 * False: something failed. */
bool switches_run(uint64_t first, uint64_t count, bool trace);

#endif
