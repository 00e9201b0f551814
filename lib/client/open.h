/* How a job comes to be, for who opens one. */
#pragma once

#include "job.h"

/* Opens a job by one protocol. *reason: why the switch has refused it. Without nodes it has no parts. */
int open_job(struct swagg_job **out, const struct client_options *options,
             const struct agg_protocol *protocol, uint64_t deadline, enum ctl_reason *reason);

/* Closes a job's lanes, which it does not have any more, or has not got yet. */
void open_close_lanes(struct lanes *lanes);

/* Gives a job that has just been opened its lanes, if the ranks' terms say so; all ranks come to the same. An
 * error ends the job; that the switch has no room for them is none. */
int open_lanes(struct swagg_job *job, uint64_t deadline);
