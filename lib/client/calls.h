/* The driver's part in a call: begins requests in the streams, in their order, as soon as those have room;
 * makes of a compressed one two calls of the stream; and ends what is done. Called with the job's lock held.
 *
 * Of a compressed one norms, indices and sums are computed a little at a time, while packets travel: what a
 * block has become leaves as soon as it is there, and a sum is decoded as it comes. What is behind it begins
 * when all of its indices are there, so the next one's norms travel behind these. The streams have the same
 * calls in the same order, whatever the timing. With a quorum, and where sums are not waited for (best
 * effort), compressed ones go alone: each begins when those before it have ended, and those behind it when it
 * has, and is computed as a whole. */
#pragma once

#include "job.h"

/* Begins and ends what may be, and computes a little (job->computing). SWAGG_OK, or the job's failure. */
int calls_step(struct swagg_job *job);

/* When the oldest call, which does not wait for all of its results (best effort), is to be left; UINT64_MAX:
 * not as things are. */
uint64_t calls_leave_at(struct swagg_job *job);
