/* Closing a job; first the other ranks get what they may still need from this one. */
#include <stdlib.h>
#include <unistd.h>

#include "drive.h"
#include "monotonic.h"

enum { LEAVE_WITHIN_MS = 1000, LOOK_EVERY_MS = 10 };

/* Buffered reduces still need this rank. If one fails, only the log can tell: there is no later call. */
static void complete_reduces(struct swagg_job *job)
{
    struct watch watch;
    drive_lock(job);
    if (!job->failure && parts_buffered(job)) {
        watch_start(&watch, job, job->flow->oldest_call(job->parts[0].stream), monotonic_ns());
        if (drive_buffered(job, &watch) < 0)
            logger_write(&job->options.log, SWAGG_LOG_ERROR, "%s", job->failure_text);
    }
    drive_unlock(job);
}

/* Waits while this holds of any part, at most until then. */
static void wait_while(struct swagg_job *job, bool (*holds)(struct job_part *part), uint64_t until)
{
    for (unsigned i = 0; i < job->part_count; i++)
        while (holds(&job->parts[i]) && monotonic_ns() < until)
            waker_wait(&job->waker, monotonic_ns() + LOOK_EVERY_MS * NS_PER_MS);
}

static bool is_aborting(struct job_part *part)
{
    return part->membership_is_open && membership_is_aborting(&part->membership);
}

static bool is_leaving(struct job_part *part)
{
    return part->membership_is_open && membership_is_leaving(&part->membership);
}

/* Others may still need what this rank holds, if the switch has just restarted. */
static void leave(struct swagg_job *job)
{
    const bool is_whole = job->parts[job->part_count - 1].stream != NULL;
    if (is_whole)
        complete_reduces(job);
    const uint64_t until = monotonic_ns() + LEAVE_WITHIN_MS * NS_PER_MS;
    if (is_whole)
        wait_while(job, drive_is_needed, until);
    /* An abort is repeated until the switch has heard it; LEAVE would end that, or overtake it, and the peers
     * would hear that this rank left, and not why. */
    wait_while(job, is_aborting, until);
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->parts[i].membership_is_open)
            membership_leave(&job->parts[i].membership);
    wait_while(job, is_leaving, until);
}

/* A part's thread looks at all parts: what it may find of them stays until none of these threads is left. */
static void stop_threads(struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->parts[i].membership_is_open)
            membership_stop(&job->parts[i].membership);
}

static void close_part(struct job_part *part)
{
    if (part->membership_is_open && part->job->owner == getpid())
        membership_close(&part->membership);
    else if (part->membership_is_open)
        membership_abandon(&part->membership);
    if (part->transport)
        part->transport->ops->close(part->transport);
    free(part->stream_memory);
}

void swagg_close(struct swagg_job *job)
{
    if (!job)
        return;
    if (job->owner == getpid()) {
        leave(job);
        stop_threads(job);
    }
    for (unsigned i = 0; i < job->part_count; i++)
        close_part(&job->parts[i]);
    waker_close(&job->waker);
    free(job->parts);
    pthread_mutex_destroy(&job->lock);
    pthread_mutex_destroy(&job->between);
    pthread_mutex_destroy(&job->shown.lock);
    waits_close(&job->waits);
    compress_close(&job->compress);
    free(job->room.segments);
    free(job->room.ranges);
    free(job);
}
