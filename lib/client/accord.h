/* What ranks agree on while a job is opened, by calls of its own that are nobody's. Caller's thread. */
#pragma once

#include "job.h"

/* Sums floats over all ranks, by the job as it is. SWAGG_OK, or the job's failure. */
int accord_sum(struct swagg_job *job, float *floats, size_t n);

/* Whether all is well on all ranks; on this one it is not if there is a reason why, or it is "". 1; 0, and
 * the log says what is the case then; or the job's failure. */
int accord_all_well(struct swagg_job *job, const char *why, const char *otherwise);

/* What was summed up to here is in no total. */
void accord_forget(struct swagg_job *job);
