/* What running jobs share: turns on busy lcores, by weight; frames that they may keep, to sum in; the quotas
 * of the switch, of a tenant and of a founder's host; and how fast each job is.
 *
 * The switch's frames are divided among the running jobs, by weight, no job gets more than its slots can use,
 * and nobody more than a quota allows. Whenever a job opens or ends, all are divided anew. A job that keeps
 * more than its new part lets go of frames as its slots turn over, and copies meanwhile; only what others
 * have let go of is given out. A part is always left for one more job.
 *
 * Threads: the main lcore's, but for reading.
 */
#pragma once

#include "aggregate/jobs.h"
#include "config/room.h"

/* Takes what jobs may hold from the configuration, which outlives them: pool, tenants. Jobs that run keep
 * what they have. */
void jobs_limit(struct jobs *jobs, const struct config *cfg);

/* The same while there are jobs, when *cfg has changed: tenant[t] is the number that tenant t has now. What
 * running jobs share is divided anew. */
void jobs_follow(struct jobs *jobs, const struct config *cfg, const int tenant[]);

/* The job is this tenant's from now on; -1: nobody's. */
void jobs_set_tenant(struct jobs *jobs, unsigned protocol, uint8_t number, int tenant);

/* How much of what the switch can do is the job's, beside others' weights: its tenant's weight, divided among
 * the tenant's running jobs. At least 1. */
uint32_t jobs_weight(const struct jobs *jobs, const struct switch_job *job);

/* Divides turns and frames among the jobs that run now; the second: frames alone. */
void jobs_share_out(struct jobs *jobs);
void jobs_divide_frames(struct jobs *jobs);

/* How many frames the job keeps now. Any thread. */
uint32_t jobs_kept_frames(const struct switch_job *job);

/* Whether the quotas have room for such a job beside those that run and what is reserved for others. If not,
 * text, unless NULL, says which has none, and who holds that. */
bool jobs_have_room_for(const struct jobs *jobs, const struct room_job *asked, char text[AGG_TEXT_MAX]);

/* The same of such a pool. If not, text, unless NULL, says which has none, and who holds
 * that. */
bool jobs_have_room(const struct jobs *jobs, const struct jobs_plan *plan, const struct agg_footprint *f,
                    char text[AGG_TEXT_MAX]);

/* Looks at all running jobs, once a second has passed since it did so last. To be called often. now: ns, of a
 * monotonic clock. */
void jobs_rates_tick(struct jobs *jobs, uint64_t now);
