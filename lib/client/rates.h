/* How ranks agree on what each link carries, and which is there again (links/shares.h): a call of the job's
 * own, in its streams. With the job's lock. */
#pragma once

#include "job.h"

/* The job has its streams, and its ranks know how, or not. */
void rates_open(struct swagg_job *job);

/* A call begins in the part's stream: before it does. And results may have come there. */
void rates_note_begin(struct job_part *part, const struct xfer_call *call, uint64_t now);
void rates_note_results(struct job_part *part);

/* A call has begun. The one by which ranks agree behind it, which is to begin now, or NULL. Until it is over
 * (struct shares: agreeing) nothing else may begin. */
struct swagg_request *rates_due(struct swagg_job *job, const struct xfer_call *call);

/* The same begins in the streams, and has begun: so that each place carries all of it. */
void rates_spread(struct swagg_job *job, bool whole);

/* Takes what ranks have agreed on, once it is there. SWAGG_OK, or the job's failure. */
int rates_step(struct swagg_job *job);
