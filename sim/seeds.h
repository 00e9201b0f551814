/* Plays many scenarios of a kind, each from its seed, and says which fail. */
#pragma once

#include <stdio.h>

#include "oracle.h"

/* What happens in scenarios, and is counted; from SEEDS_OWN on what each kind of them calls so. */
enum { SEEDS_EVENTS, SEEDS_SIMULATED_NS, SEEDS_FRAMES, SEEDS_LOST, SEEDS_OWN, SEEDS_COUNTS = 10 };

/* How a scenario ended. */
struct seeds_end {
    bool failed, benign;
    char text[ORACLE_TEXT_MAX]; /* why it has failed */
    uint64_t digest;            /* of all that mattered, and when */
    uint64_t count[SEEDS_COUNTS];
};

/* By what the judge has found so far, and its simulation; others count their own beside that. */
struct seeds_end seeds_end_of(const struct oracle *o, bool benign, uint64_t digest);

/* The same seed gives the same end and the same trace, which goes there unless it is NULL. */
typedef struct seeds_end seeds_play_fn(uint64_t seed, FILE *trace);

struct seeds_tally {
    uint64_t failed, benign, count[SEEDS_COUNTS]; /* of all */
    double seconds;
};

/* Prints each failure as it is found, and how `swagg-sim COMMAND` shows it again. Some seeds are played
 * twice, which must come to the same. trace: every event, too. */
struct seeds_tally seeds_run(const char *command, seeds_play_fn *play, uint64_t first, uint64_t count,
                             bool trace);
