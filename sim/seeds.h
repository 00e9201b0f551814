/* Plays many scenarios of a kind, each from its seed, and says which fail. */
#ifndef SWAGG_SIM_SEEDS_H
#define SWAGG_SIM_SEEDS_H

#include <stdio.h>

#include "oracle.h"

/* How a scenario ended. */
struct seeds_end {
    bool failed, benign;
    char text[ORACLE_TEXT_MAX]; /* why it has failed */
    uint64_t digest;            /* of all that mattered, and when */
};

/* The trace goes there unless it is NULL; what is counted is added to sum, unless that is. */
typedef struct seeds_end seeds_play_fn(uint64_t seed, FILE *trace, void *sum);

struct seeds_tally {
    uint64_t failed, benign;
    double seconds;
};

/* Prints each failure as it is found, and how `swagg-sim COMMAND` shows it again. Some seeds are played
 * twice, which must come to the same. trace: every event, too. */
struct seeds_tally seeds_run(const char *command, seeds_play_fn *play, void *sum, uint64_t first,
                             uint64_t count, bool trace);

#endif
