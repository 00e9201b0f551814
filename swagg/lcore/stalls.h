/* Tells when a polling lcore has stood still, for how long and why.
 *
 * The lcore itself measures the pause between two rounds and counts it (EVENT_STALLS, EVENT_STALLED_MS). The
 * main lcore asks the kernel what it has done meanwhile, and writes a line, now and then at most.
 */
#ifndef SWAGG_LCORE_STALLS_H
#define SWAGG_LCORE_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "datapath.h"

enum { STALL_MS = 100 }; /* beyond the longest nap */

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
void stalls_tell(struct stall_watch *w, const struct datapath *dp, uint64_t now);

/* For the lcore, at the beginning of a round: last is that of the one before, now this one's, in TSC cycles.
 */
static inline void stall_note(struct lcore *lc, uint64_t last, uint64_t now)
{
    if (now - last < lc->dp->stall)
        return;
    lcore_count(lc, EVENT_STALLS, 1);
    lcore_count(lc, EVENT_STALLED_MS, (unsigned)((now - last) / lc->dp->cycles_per_ms));
}

#endif
