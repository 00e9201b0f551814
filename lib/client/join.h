/* How a part of a job comes to be: in this order, each step for all parts before the next, so that a rank
 * that cannot reach one of several servers joins at none. Called with the job's lock held; each returns 0 or
 * the job's failure. deadline: monotonic, in ns. */
#ifndef SWAGG_CLIENT_JOIN_H
#define SWAGG_CLIENT_JOIN_H

#include "job.h"

/* Finds the way to the part's place, and opens its transport. */
int join_find(struct job_part *part, uint64_t deadline);

/* Begins to join. */
int join_begin(struct job_part *part, uint64_t deadline);

/* Waits until all ranks have joined at all places; sessions: [part_count], as they are then. */
int join_wait(struct swagg_job *job, struct ctl_session sessions[]);

/* Opens the stream, once all parts have adopted their terms. */
int join_finish(struct job_part *part, const struct ctl_session *session);

#endif
