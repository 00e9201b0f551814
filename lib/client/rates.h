/* How much of a call each of several switches sums: as much as its link carries. Every rank measures how fast
 * sums of long calls come by each link. Behind some of these, the same on all ranks, they agree on the least
 * that any rank has measured, by a call of their own; what follows waits for that, and is divided by it.
 * Without measures, or while they hardly differ from what was agreed last, nothing changes.
 *
 * Where numbers are scaled, so that no least of words can be had, nothing is measured.
 *
 * By the same call they agree on which of the switches that they do without is there again (standby.h). Each
 * place carries all of it, so a rank needs the result from one of them alone, and none waits at a place that
 * another has moved because of it.
 *
 * With the job's lock. */
#pragma once

#include "job.h"

/* The job has its streams, and its ranks know how, or not. */
void rates_open(struct swagg_job *job);

/* A call begins in the part's stream: before it does. And results may have come there. */
void rates_note_begin(struct job_part *part, const struct xfer_call *call, uint64_t now);
void rates_note_results(struct job_part *part);

/* A call has begun. The one by which ranks agree behind it, which is to begin now, or NULL. Until it is over
 * (struct rates: agreeing) nothing else may begin. */
struct swagg_request *rates_due(struct swagg_job *job, const struct xfer_call *call);

/* The same begins in the streams, and has begun: so that each place carries all of it. */
void rates_spread(struct swagg_job *job, bool whole);

/* Takes what ranks have agreed on, once it is there. SWAGG_OK, or the job's failure. */
int rates_step(struct swagg_job *job);
