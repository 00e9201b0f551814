/* How a job comes to be, for who opens one. */
#pragma once

#include "job.h"

/* Opens a job by one protocol. *reason: why the switch has refused it. Without nodes it has no parts. */
int open_job(struct swagg_job **out, const struct client_options *options,
             const struct agg_protocol *protocol, uint64_t deadline, enum ctl_reason *reason);
