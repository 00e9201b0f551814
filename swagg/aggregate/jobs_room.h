/* Whether there is room for a job: the quotas of the switch, of its tenant and of its founder's host.
 *
 * Threads: the main lcore's.
 */
#ifndef SWAGG_AGGREGATE_JOBS_ROOM_H
#define SWAGG_AGGREGATE_JOBS_ROOM_H

#include "aggregate/jobs.h"

/* Whether the quotas have room for such a pool. If not, text, unless NULL, says which has none, and who holds
 * that. */
bool jobs_have_room(const struct jobs *jobs, const struct jobs_plan *plan, const struct agg_footprint *f,
                    char text[AGG_TEXT_MAX]);

#endif
