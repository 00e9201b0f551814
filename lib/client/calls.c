#include "calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lanes.h"
#include "monotonic.h"
#include "watch.h"

/* A call for the streams, of a request. roll: of compressed ones, with a quorum. SWAGG_OK; -errno: they do
 * not have it. */
static int begin_in_streams(struct swagg_job *job, struct swagg_request *r, const struct xfer_call *call,
                            struct xfer_segment *segments, size_t n, struct xfer_roll *roll)
{
    const uint64_t now = monotonic_ns();
    if (job->terms.quorum)
        job->worker->call_roll(job->parts[0].stream, roll);
    const int rc = parts_begin(job, call, segments, n, now);
    if (rc < 0)
        return rc;
    r->streamed = *call;
    r->number = job->streamed++;
    if (!job->calling) {
        job->busy_since = r->began > job->busy_since ? r->began : job->busy_since;
        job->calling = job->fresh = true;
        watch_start(&job->watch, job, now);
        job_begin_waits(job, now);
    }
    spin_begin(&job->spin, parts_left(job), now);
    job_report(job, now);
    return SWAGG_OK;
}

/* One of the two calls of the stream that a compressed one is. */
static int begin_part(struct swagg_job *job, struct swagg_request *r, const struct xfer_call *call,
                      const void *in, void *out, struct xfer_roll *roll)
{
    r->part = (struct xfer_segment){.in = in, .out = out, .count = call->count};
    return begin_in_streams(job, r, call, &r->part, 1, roll);
}

static int begin_compressed(struct swagg_job *job, struct swagg_request *r)
{
    struct compress *c = &job->compress;
    if (!compress_begin(c, r->segments, r->n, r->call.op == SWAGG_AVG, job->terms.chunk_bytes, &r->how))
        return -ENOMEM;
    const struct xfer_call norms = compress_call_norms(c);
    return begin_part(job, r, &norms, c->norms, c->norms, c->norm_roll);
}

/* The streams do not have it, nor anything that was posted behind it. */
static int refuse(struct swagg_job *job, struct swagg_request *r, int error)
{
    requests_end(&job->requests, r, SWAGG_ERR_ARGUMENT, error);
    return SWAGG_OK;
}

static int begin(struct swagg_job *job, struct swagg_request *r)
{
    const int rc = r->compressed ? begin_compressed(job, r)
                                 : begin_in_streams(job, r, &r->call, r->segments, r->n, NULL);
    char text[CTL_TEXT_MAX];
    if (rc == SWAGG_OK) {
        requests_begun(&job->requests, r->compressed ? REQUEST_NORMS : REQUEST_STREAMED);
        return rc;
    }
    if (rc != -ENOMEM)
        return refuse(job, r, -rc);
    snprintf(text, sizeof text, "rank %u: no memory to compress %" PRIu64 " floats", job->options.rank,
             r->call.count);
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

static bool may_begin(struct swagg_job *job, const struct swagg_request *r)
{
    if (!r)
        return false;
    const struct swagg_request *oldest = requests_first(&job->requests);
    return (r == oldest || (!r->compressed && !oldest->compressed)) &&
           job->streamed - parts_ended(job) < SWAGG_REQUESTS_MAX;
}

/* What has not come counts as zeros; the stream sees to it behind this call, for the other ranks. */
static void leave_late_sums(struct swagg_job *job)
{
    const size_t element = sml_element_of(compress_call_indices(&job->compress).type).out;
    uint64_t from = 0, offset;
    size_t bytes;
    while (job->worker->lacks(job->parts[0].stream, &from, &offset, &bytes))
        compress_miss(&job->compress, offset / element, bytes / element);
    job->worker->leave(job->parts[0].stream);
}

uint64_t calls_leave_at(struct swagg_job *job)
{
    const struct job_part *only = &job->parts[0];
    const uint64_t patience = job->options.compression.patience_ns;
    const struct swagg_request *oldest = patience > 0 ? requests_first(&job->requests) : NULL;
    if (!oldest || oldest->streamed.op != SML_LOOK_UP || only->rejoining ||
        job->worker->status(only->stream) != XFER_RUNNING ||
        job->worker->left(only->stream) > job->terms.slots)
        return UINT64_MAX;
    return job->worker->progress(only->stream) + patience;
}

static void finish(struct swagg_job *job, struct swagg_request *r)
{
    const struct xfer_turnout *turnout =
        job->terms.quorum ? job->worker->turnout(job->parts[0].stream, r->number) : NULL;
    if (r->compressed)
        compress_decode(&job->compress, turnout);
    if (r->compressed && turnout)
        turnout = &job->compress.turnout;
    const uint64_t now = monotonic_ns();
    job->calls++;
    job->call_ns += now - job->busy_since;
    job->busy_since = now;
    job->elements += r->call.count;
    job->bytes += r->call.count * agg_element_size(r->call.type, r->call.op);
    job->calling = job->streamed != r->number + 1;
    job_note_turnout(job, &r->call, turnout);
    job_report(job, now);
    job_show(job);
    requests_end(&job->requests, r, SWAGG_OK, 0);
}

/* The streams are done with what they had of it. */
static int advance(struct swagg_job *job, struct swagg_request *r)
{
    struct compress *c = &job->compress;
    if (r->state == REQUEST_STREAMED) {
        finish(job, r);
        return SWAGG_OK;
    }
    compress_encode(c);
    const struct xfer_call indices = compress_call_indices(c);
    requests_streamed(&job->requests, r);
    const int rc = begin_part(job, r, &indices, c->packed, c->sums, c->roll);
    return rc < 0 ? refuse(job, r, -rc) : SWAGG_OK;
}

static bool is_done(const struct swagg_job *job, const struct swagg_request *r)
{
    return r && r->state != REQUEST_QUEUED && (int32_t)(parts_ended(job) - r->number) > 0 &&
           lanes_are_through(r);
}

int calls_step(struct swagg_job *job)
{
    struct swagg_request *r;
    int rc = SWAGG_OK;
    const uint64_t leave_at = calls_leave_at(job);
    if (leave_at != UINT64_MAX && leave_at <= monotonic_ns())
        leave_late_sums(job);
    while (rc >= 0 && is_done(job, r = requests_first(&job->requests)))
        rc = advance(job, r);
    while (rc >= 0 && may_begin(job, r = requests_queued(&job->requests)))
        rc = begin(job, r);
    return rc;
}
