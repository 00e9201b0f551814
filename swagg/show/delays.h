/* What the pool of a running job has noted of its ranks (protocol/delays.h): who is late, and how much each
 * one sends. Any thread, while the job cannot end: under the registrar's lock. */
#pragma once

#include "aggregate/jobs.h"
#include "views/declared.h"

/* A rank's counts and delays, and the histogram as far as it goes. Nothing where none are noted. running:
 * NULL if the job does not run. */
void delays_of_rank(struct rank_view *row, const struct switch_job *running, uint16_t rank);

/* Of all these ranks together: their counts, and the rank that was latest on average. */
void delays_of_job(struct job_view *shown, const struct switch_job *running, uint16_t ranks);
