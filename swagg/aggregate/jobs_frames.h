/* How many frames each job may keep, to sum in: the switch's are divided among the running jobs, by weight,
 * no job gets more than its slots can use, and nobody more than a quota allows. Whenever a job opens or ends,
 * all are divided anew. A job that keeps more than its new part lets go of frames as its slots turn over, and
 * copies meanwhile; only what others have let go of is given out. A part is always left for one more job.
 *
 * Threads: the main lcore's.
 */
#ifndef SWAGG_AGGREGATE_JOBS_FRAMES_H
#define SWAGG_AGGREGATE_JOBS_FRAMES_H

#include "aggregate/jobs.h"

void jobs_divide_frames(struct jobs *jobs);

/* How many frames the job keeps now. Any thread. */
uint32_t jobs_kept_frames(const struct job *job);

#endif
