/* The driver's part in a call: begins requests in the streams, in their order, as soon as those have room;
 * makes of a compressed one two calls of the stream; and ends what is done. Compressed ones go alone: each
 * begins when those before it have ended, and those behind it when it has. Called with the job's lock held.
 */
#pragma once

#include "job.h"

/* Begins and ends what may be. SWAGG_OK, or the job's failure. */
int calls_step(struct swagg_job *job);

/* When the oldest call, which does not wait for all of its results (best effort), is to be left; UINT64_MAX:
 * not as things are. */
uint64_t calls_leave_at(struct swagg_job *job);
