/* Tells when a polling lcore has stood still, for how long and why.
 *
 * The lcore itself measures the pause between two rounds and counts it (EVENT_STALLS, EVENT_STALLED_MS). The
 * main lcore asks the kernel what it has done meanwhile, and writes a line, now and then at most.
 */
#ifndef SWAGG_LCORE_STALLS_H
#define SWAGG_LCORE_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "lcore/lcore.h"

/* What the kernel has counted of a thread (schedstat). */
struct stall_times {
    uint64_t ran_ns;
    uint64_t waited_ns; /* for a CPU, which others had */
};

/* False: the kernel does not tell. Any thread. */
bool stall_times(const struct lcore *lc, struct stall_times *times);

struct stall_watch {
    struct stall_seen {
        uint64_t rounds;        /* when last looked at */
        uint64_t stalls, ms;    /* as far as has been told ... */
        uint64_t told_at;       /* ... at this time, ns; 0: never */
        struct stall_times was; /* before the first that has not been told */
    } lcore[SWAGG_MAX_LCORES];
};

/* A look at all polling lcores. The main lcore's. now: ns. */
void stalls_tell(struct stall_watch *w, struct lcore *const lcore[], unsigned lcores, uint64_t now);

#endif
