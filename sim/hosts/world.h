/* Plays jobs whose ranks share hosts: the real board in the memory of each, and rails through the real
 * switch. */
#ifndef SWAGG_SIM_HOSTS_WORLD_H
#define SWAGG_SIM_HOSTS_WORLD_H

#include "hosts/scenario.h"
#include "oracle.h"

struct hosts_result {
    bool failed, benign;
    char text[ORACLE_TEXT_MAX]; /* why */
    uint64_t digest;            /* of all that ranks did, and when */
    uint64_t events, simulated_ns, succeeded, ranks_failed, deaths, restarts, resumed, frames, lost;
};

/* The same seed gives the same result and the same trace, which goes there unless it is NULL. */
struct hosts_result hosts_play(uint64_t seed, FILE *trace);

#endif
