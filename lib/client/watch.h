/* What a call has to do in time: keep its deadline, warn while it waits, update the progress that heartbeats
 * tell. Times are in monotonic ns. Called with the job's lock held. */
#pragma once

#include "job.h"

struct watch {
    struct xfer_call call;
    uint64_t chunks; /* that the call takes */
    uint64_t began, deadline;
    uint64_t warn_after, warn_at; /* without progress; doubles with every warning */
    uint64_t tick_at;             /* watch_tick is due */
    /* without a result for so long the call is done with what it has; 0: it waits for all */
    uint64_t patience;
};

/* Before the call begins in the stream. */
void watch_start(struct watch *w, const struct swagg_job *job, const struct xfer_call *call, uint64_t now);

/* To be called at tick_at or after it. 0, or the status of a call whose time is up. */
int watch_tick(struct watch *w, struct swagg_job *job, uint64_t now);
