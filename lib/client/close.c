/* Closing a job; first the other ranks get what they may still need from this one. */
#include <stdlib.h>
#include <unistd.h>

#include "drive.h"
#include "monotonic.h"

enum { LEAVE_WITHIN_MS = 1000 };

/* Buffered reduces still need this rank. If one fails, only the log can tell: there is no later call. */
static void complete_reduces(struct swagg_job *job)
{
    struct watch watch;
    pthread_mutex_lock(&job->lock);
    if (!job->failure && job->flow->buffered(job->stream)) {
        watch_start(&watch, job, job->flow->oldest_call(job->stream), monotonic_ns());
        if (drive_buffered(job, &watch) < 0)
            logger_write(&job->options.log, SWAGG_LOG_ERROR, "%s", job->failure_text);
    }
    pthread_mutex_unlock(&job->lock);
}

/* Others may still need what this rank holds, if the switch has just restarted. */
static void leave(struct swagg_job *job)
{
    if (job->stream)
        complete_reduces(job);
    uint64_t until = monotonic_ns() + LEAVE_WITHIN_MS * NS_PER_MS;
    while (job->stream && drive_is_needed(job) && monotonic_ns() < until)
        membership_wait(&job->membership, monotonic_ns() + 10 * NS_PER_MS);
    membership_leave(&job->membership, until);
    membership_close(&job->membership);
}

void swagg_close(struct swagg_job *job)
{
    if (!job)
        return;
    if (job->membership_is_open && job->owner == getpid())
        leave(job);
    else if (job->membership_is_open)
        membership_abandon(&job->membership);
    if (job->transport)
        job->transport->ops->close(job->transport);
    pthread_mutex_destroy(&job->lock);
    pthread_mutex_destroy(&job->shown.lock);
    waits_close(&job->waits);
    compress_close(&job->compress);
    free(job->room.segments);
    free(job->room.ranges);
    free(job->stream_memory);
    free(job);
}
