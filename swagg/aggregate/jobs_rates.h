/* How fast jobs are: what of their members' contributions counted, per second. Threads: the main lcore's, but
 * for reading. */
#ifndef SWAGG_AGGREGATE_JOBS_RATES_H
#define SWAGG_AGGREGATE_JOBS_RATES_H

#include "aggregate/jobs.h"

/* Looks at all running jobs, once a second has passed since it did so last. To be called often. now: ns, of a
 * monotonic clock. */
void jobs_rates_tick(struct jobs *jobs, uint64_t now);

#endif
