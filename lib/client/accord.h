/* What ranks agree on while a job is opened, by calls of its own that are nobody's. Caller's thread. */
#pragma once

#include "job.h"

/* Sums floats over all ranks, by the job as it is. SWAGG_OK, or the job's failure. */
int accord_sum(struct swagg_job *job, float *floats, size_t n);

/* Whether all ranks say that all is well: 1 or 0, or the job's failure. */
int accord_all_well(struct swagg_job *job, bool well);

/* What was summed up to here is in no total. */
void accord_forget(struct swagg_job *job);
