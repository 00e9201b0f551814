/* Logs that a polling lcore has stood still, for how long and why. The lcore itself measures the pause
 * between two rounds and counts it (EVENT_STALLS, EVENT_STALLED_MS). The main lcore asks the kernel what the
 * lcore's thread did meanwhile, and writes a line, not too often.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lcore/lcore.h"

/* What the kernel has counted of a thread (schedstat). */
struct stall_times {
    uint64_t ran_ns;
    uint64_t waited_ns; /* for a CPU that other threads had */
};

/* False: the kernel does not tell. Any thread. */
bool stall_times(const struct lcore *lc, struct stall_times *times);

struct stall_watch {
    struct stall_seen {
        uint64_t rounds;        /* when last looked at */
        uint64_t stalls, ms;    /* that were logged ... */
        uint64_t told_at;       /* ... at this time, ns; 0: never */
        struct stall_times was; /* before the first stall that was not logged */
    } lcore[SWAGG_MAX_LCORES];
};

/* Looks at all polling lcores. To be called by the main lcore. now: ns. */
void stalls_tell(struct stall_watch *w, struct lcore *const lcore[], unsigned lcores, uint64_t now);
