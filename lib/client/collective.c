#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "drive.h"
#include "monotonic.h"
#include "request.h"

static int begin_stream(struct swagg_job *job, const struct request *r, const struct sml_call *call,
                        uint64_t now)
{
    const struct swagg_segment *only = r->segments;
    if (!r->is_vector)
        return job->flow->begin(job->stream, call, only->send, only->recv, now);
    struct sml_segment *segments = job->room.segments;
    for (size_t i = 0; i < r->n; i++) {
        const struct swagg_segment *s = &r->segments[i];
        segments[i] = (struct sml_segment){.in = s->send, .out = s->recv, .count = s->count};
    }
    return job->flow->begin_segments(job->stream, call, segments, r->n, now);
}

/* The caller's tensors belong to the stream until end(). */
static int begin(struct swagg_job *job, const struct request *r, const struct sml_call *call, uint64_t now)
{
    int rc = begin_stream(job, r, call, now);
    if (rc == -EOVERFLOW)
        return client_fail(SWAGG_ERR_ARGUMENT, "count is %" PRIu64 ": more than one call can sum, split it",
                           r->count);
    if (rc < 0)
        return client_fail(SWAGG_ERR_ARGUMENT, "the call cannot begin: %s", strerror(-rc));
    job->calling = true;
    job_begin_waits(job, now);
    job_report(job, now);
    return SWAGG_OK;
}

static void end(struct swagg_job *job, const struct sml_call *call, uint64_t began)
{
    const uint64_t now = monotonic_ns();
    job->calls++;
    job->call_ns += now - began;
    job->elements += call->count;
    job->bytes += call->count * agg_element_size(call->type, call->op);
    job->calling = false;
    job_report(job, now);
    job_show(job);
}

static int run(struct swagg_job *job, struct request *r)
{
    if (job->failure)
        return client_fail(job->failure, "%s", job->failure_text);
    int rc = request_check(job, r);
    if (rc < 0)
        return rc;
    struct sml_call call = {.collective = (uint8_t)r->collective,
                            .type = (uint8_t)r->type,
                            .op = (uint8_t)r->op,
                            .root = (uint32_t)r->root,
                            .count = r->count};
    struct watch watch;
    uint64_t now = monotonic_ns();
    watch_start(&watch, job, &call, now);
    spin_begin(&job->spin, watch.chunks, now);
    if ((rc = begin(job, r, &call, now)) == 0 && (rc = drive_call(job, &watch)) == 0)
        end(job, &call, now);
    return rc;
}

static int collective(struct swagg_job *job, struct request *r)
{
    if (!job)
        return client_fail(SWAGG_ERR_ARGUMENT, "job is NULL");
    if (job->owner != getpid())
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "job '%s' was opened by process %d: after a fork, open another", job->options.job,
                           (int)job->owner);
    pthread_mutex_lock(&job->lock);
    int rc = run(job, r);
    bool needed = rc == SWAGG_OK && job->flow->timer(job->stream) != UINT64_MAX;
    pthread_mutex_unlock(&job->lock);
    if (needed) /* others still need this rank: from here on the membership thread sees to it */
        membership_wake(&job->membership);
    return rc;
}

int swagg_allreduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                    enum swagg_op op)
{
    const struct swagg_segment only = {send, recv, count};
    return collective(
        job, &(struct request){
                 .collective = SML_ALLREDUCE, .type = (int)type, .op = (int)op, .segments = &only, .n = 1});
}

int swagg_allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                     enum swagg_type type, enum swagg_op op)
{
    return collective(job, &(struct request){.collective = SML_ALLREDUCE,
                                             .type = (int)type,
                                             .op = (int)op,
                                             .segments = segments,
                                             .n = n,
                                             .is_vector = true});
}

int swagg_reduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                 enum swagg_op op, int root)
{
    const struct swagg_segment only = {send, recv, count};
    return collective(job, &(struct request){.collective = SML_REDUCE,
                                             .type = (int)type,
                                             .op = (int)op,
                                             .root = root,
                                             .segments = &only,
                                             .n = 1});
}

int swagg_numbers_carry(enum swagg_numbers numbers, enum swagg_type type, enum swagg_op op)
{
    return client_format_carries(client_format(numbers), type, op);
}

size_t swagg_element_size(enum swagg_type type, enum swagg_op op)
{
    return agg_element_size((unsigned)type, (unsigned)op);
}
