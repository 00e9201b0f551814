/* What the pool of a running job has noted of its ranks (protocol/delays.h): who is late, how much each one
 * sends, what of it is lost, and for whom all wait. Any thread, while the job cannot end.
 *
 * running: NULL if the job does not run. above: ranks that come by a switch above are in it, of whom nothing
 * is noted here, so that all is 0.
 */
#pragma once

#include "protocol/jobs.h"
#include "views/declared.h"

/* A rank's counts and delays, and the histogram as far as it goes. Nothing where none are noted. */
void arrivals_of_rank(struct rank_view *row, const struct agg_job *running, bool above, uint16_t rank);

/* Of all these ranks together: their counts, and the rank that was latest on average. */
void arrivals_of_job(struct job_view *shown, const struct agg_job *running, bool above, uint16_t ranks);

/* Of all ranks below size those that a slot lacks. */
struct view_ranks arrivals_lacked_by(const struct agg_slot_view *slot, uint16_t size);

/* Whoever every chunk lacks that has begun holds up the job: who is dead, or stopped, or slow at this moment.
 * In a pipeline that flows there is seldom such a rank. */
struct view_ranks arrivals_awaited(const struct agg_job *running, uint16_t size);
