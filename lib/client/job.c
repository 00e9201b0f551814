#include "job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "describe.h"
#include "monotonic.h"

int job_fail(struct swagg_job *job, int status, const char *format, ...)
{
    char text[CLIENT_TEXT_MAX - 2 * CTL_NAME_MAX]; /* leaves room for the job's name */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    job->failure = status;
    snprintf(job->failure_text, sizeof job->failure_text, "job '%s': %s", job->options.job, text);
    return client_fail(status, "%s", job->failure_text);
}

int job_fail_and_tell(struct swagg_job *job, int status, enum ctl_reason reason, const char *text)
{
    membership_abort(&job->membership, reason, job->options.rank, text);
    return job_fail(job, status, "%s", text);
}

static int failure_status(const struct swagg_job *job, const struct ctl_failure *f)
{
    switch (f->reason) {
    case CTL_RANK_LOST:
    case CTL_RANK_LEFT:
        return SWAGG_ERR_LOST;
    case CTL_MISMATCH:
        return SWAGG_ERR_MISMATCH;
    case CTL_DEADLINE:
        return f->rank == job->options.rank ? SWAGG_ERR_DEADLINE : SWAGG_ERR_ABORTED;
    case CTL_CANNOT_RESUME:
    case CTL_APPLICATION:
        return SWAGG_ERR_ABORTED;
    default:
        return SWAGG_ERR_REFUSED;
    }
}

int job_fail_session(struct swagg_job *job, const struct ctl_session *session)
{
    const struct ctl_failure *f = &session->failure;
    char call[DESCRIBE_CALL_MAX];
    job->reason = (enum ctl_reason)f->reason;
    if (!job->stream || !job->flow->buffered(job->stream))
        return job_fail(job, failure_status(job, f), "%s", f->text);
    return job_fail(job, failure_status(job, f), "%s; %s, from which rank %u had returned, was not complete",
                    f->text, describe_call(&job->options.names, job->flow->oldest_call(job->stream), call),
                    job->options.rank);
}

int job_fail_fds_closed(struct swagg_job *job, const char *what)
{
    char text[CTL_TEXT_MAX];
    snprintf(text, sizeof text,
             "rank %u: this program has closed the job's %s: a program that closes descriptors it did not "
             "open must do so "
             "before swagg_open",
             job->options.rank, what);
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

int job_adopt_terms(struct swagg_job *job, const struct ctl_session *session)
{
    job->terms = job->flow->terms(&session->ready.terms); /* which the session has accepted */
    if (job->options.compression.on && !job->terms.compressed)
        return job_fail(job, SWAGG_ERR_REFUSED,
                        "the switch %s cannot sum compressed calls, it is too old: update it, or leave "
                        "options.compression at SWAGG_COMPRESSION_NONE",
                        job->place->text);
    if (job->options.quorum && !job->terms.quorum)
        return job_fail(job, SWAGG_ERR_REFUSED,
                        "the switch %s cannot sum by a quorum, it is too old: update it, or leave "
                        "options.quorum and options.quorum_percent at 0",
                        job->place->text);
    job->generation = session->generation;
    const struct ctl_ready *r = &session->ready;
    int rc = job->transport->ops->set_ports(job->transport, r->data_port, r->data_ports);
    if (rc < 0)
        return job_fail(job, SWAGG_ERR_SYSTEM, "cannot address the %s's UDP ports %u..%u: %s",
                        job->place->what, r->data_port, r->data_port + r->data_ports - 1, strerror(-rc));
    return SWAGG_OK;
}

struct flow_config job_flow_config(const struct swagg_job *job, const struct ctl_session *session,
                                   const struct keys_shared *shared)
{
    return (struct flow_config){.options = &job->options,
                                .granted = &session->ready.terms,
                                .shared = shared,
                                .kernels = job->kernels,
                                .job = session->ready.job};
}

int job_make_room(struct swagg_job *job, size_t n)
{
    if (n <= job->room.n)
        return SWAGG_OK;
    free(job->room.segments);
    free(job->room.ranges);
    job->room.segments = calloc(n, sizeof *job->room.segments);
    job->room.ranges = calloc(2 * n, sizeof *job->room.ranges);
    job->room.n = n;
    if (job->room.segments && job->room.ranges)
        return SWAGG_OK;
    char text[CTL_TEXT_MAX];
    snprintf(text, sizeof text, "rank %u: no memory for %zu segments", job->options.rank, n);
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

void job_report(struct swagg_job *job, uint64_t now)
{
    bool waiting = job->calling || job->flow->buffered(job->stream);
    struct sml_stream_stats stats;
    job->flow->stats(job->stream, &stats);
    struct ctl_heartbeat progress = {.calls = job->flow->completed(job->stream),
                                     .waiting = waiting,
                                     .progress = job->flow->oldest(job->stream),
                                     .window = stats.window,
                                     .resumed = job->resumed,
                                     .retransmitted = stats.retransmitted};
    if (waiting)
        progress.stalled_ms = (uint32_t)((now - job->flow->progress(job->stream)) / NS_PER_MS);
    membership_progress(&job->membership, &progress, waiting && !job->rejoining);
}

void swagg_abort(struct swagg_job *job, const char *why)
{
    char text[CTL_TEXT_MAX];
    if (!job || job->owner != getpid())
        return;
    pthread_mutex_lock(&job->lock);
    snprintf(text, sizeof text, "rank %u aborted: %s", job->options.rank, why ? why : "no reason given");
    if (!job->failure)
        job_fail_and_tell(job, SWAGG_ERR_ABORTED, CTL_APPLICATION, text);
    pthread_mutex_unlock(&job->lock);
}
