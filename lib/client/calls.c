#include "calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lanes.h"
#include "monotonic.h"
#include "rates.h"
#include "watch.h"

/* A call for the streams, of a request. roll: of compressed ones, with a quorum. SWAGG_OK; -errno: they do
 * not have it. */
static int begin_in_streams(struct swagg_job *job, struct swagg_request *r, const struct xfer_call *call,
                            struct xfer_segment *segments, size_t n, struct xfer_roll *roll)
{
    const uint64_t now = monotonic_ns();
    if (job->terms.quorum)
        job->worker->call_roll(job->parts[0].stream, roll);
    for (unsigned i = 0; i < job->part_count; i++)
        rates_note_begin(&job->parts[i], call, now);
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
    spin_begin(&job->spin, r->part_of_long ? UINT64_MAX : parts_left(job), now);
    job_report(job, now);
    return SWAGG_OK;
}

/* Whether compressed calls go one by one: a stream may end such a call before all of its indices are there.
 */
static bool compresses_alone(const struct swagg_job *job)
{
    return job->terms.quorum || job->options.compression.patience_ns > 0;
}

/* The first of the two calls of the stream that a compressed one is. */
static int begin_norms(struct swagg_job *job, struct swagg_request *r)
{
    struct compress *c = &job->compress;
    struct compress_call *call =
        compress_begin(c, r->segments, r->n, r->call.op == SWAGG_AVG, job->terms.chunk_bytes, &r->how);
    if (!call)
        return -ENOMEM;
    if (compresses_alone(job))
        compress_norm(c, call, UINT64_MAX);
    r->compressing = call;
    r->norms = compress_call_norms(call);
    r->parts[0] = (struct xfer_segment){.in = call->norms, .out = call->norms, .count = r->norms.count};
    const int rc = begin_in_streams(job, r, &r->norms, &r->parts[0], 1, call->norm_roll);
    if (rc < 0) {
        compress_give_up(call);
        return rc;
    }
    r->norms_number = r->number;
    job->compressed[job->compressed[0] ? 1 : 0] = r;
    if (compresses_alone(job))
        return SWAGG_OK;
    job->worker->hold(job->parts[0].stream, r->number, 0);
    job->computing = true;
    return SWAGG_OK;
}

/* The streams do not have it, nor anything that was posted behind it. */
static int refuse(struct swagg_job *job, struct swagg_request *r, int error)
{
    requests_end(&job->requests, r, SWAGG_ERR_ARGUMENT, error);
    return SWAGG_OK;
}

/* Its tensor comes while packets travel. */
static void flow(struct swagg_job *job, struct swagg_request *r)
{
    if (!staging_flows(r->staged))
        return;
    for (unsigned i = 0; i < job->part_count; i++)
        job->worker->hold(job->parts[i].stream, r->number, 0);
    job->flowing = r;
}

/* Behind some calls the ranks agree on how the next ones are divided. */
static int agree_behind(struct swagg_job *job, const struct xfer_call *call)
{
    struct swagg_request *r = rates_due(job, call);
    if (!r)
        return SWAGG_OK;
    rates_spread(job, true);
    job->agreement.packets = parts_packets(job, &r->call);
    const int rc = begin_in_streams(job, r, &r->call, &r->only, 1, NULL);
    rates_spread(job, false);
    return rc < 0 ? job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION,
                                      "the ranks cannot agree on what their links carry")
                  : SWAGG_OK;
}

static int begin(struct swagg_job *job, struct swagg_request *r)
{
    const int rc =
        r->compressed ? begin_norms(job, r) : begin_in_streams(job, r, &r->call, r->segments, r->n, NULL);
    char text[CTL_TEXT_MAX];
    if (rc == SWAGG_OK) {
        flow(job, r);
        requests_begun(&job->requests, r->compressed ? REQUEST_NORMS : REQUEST_STREAMED);
        return agree_behind(job, &r->call);
    }
    if (rc != -ENOMEM)
        return refuse(job, r, -rc);
    snprintf(text, sizeof text, "rank %u: no memory to compress %" PRIu64 " floats", job->options.rank,
             r->call.count);
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

/* The compressed call, if there is one, whose indices are not all there yet: nothing goes before these. */
static struct swagg_request *encoding(const struct swagg_job *job)
{
    for (unsigned i = 0; i < COMPRESS_CALLS; i++) {
        struct swagg_request *r = job->compressed[i];
        if (r && !compress_is_through(r->compressing, &r->compressing->encoded))
            return r;
    }
    return NULL;
}

static bool may_begin(struct swagg_job *job, const struct swagg_request *r)
{
    if (!r || job->flowing || job->shares.agreeing ||
        job->streamed - parts_ended(job) + r->compressed >= SWAGG_REQUESTS_MAX)
        return false;
    const struct swagg_request *oldest = requests_first(&job->requests);
    if (r == oldest)
        return true;
    if (compresses_alone(job))
        return !r->compressed && !oldest->compressed;
    return !encoding(job) && (!r->compressed || compress_has_room(&job->compress));
}

/* What has not come counts as zeros; the stream sees to it behind this call, for the other ranks. */
static void leave_late_sums(struct swagg_job *job)
{
    const size_t element = sml_element_of(job->compressed[0]->streamed.type).out;
    uint64_t from = 0, offset;
    size_t bytes;
    while (job->worker->lacks(job->parts[0].stream, &from, &offset, &bytes))
        compress_miss(job->compressed[0]->compressing, offset / element, bytes / element);
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
    if (r->compressed) {
        compress_end(&job->compress, r->compressing, turnout);
        job->compressed[0] = job->compressed[1];
        job->compressed[1] = NULL;
        turnout = turnout ? &job->compress.turnout : NULL;
    }
    const uint64_t now = monotonic_ns();
    job->calls++;
    job->call_ns += now - job->busy_since;
    job->busy_since = now;
    job->elements += r->call.count;
    job->bytes += r->call.count * agg_element_size(r->call.type, r->call.op);
    job->calling = job->streamed - job->shares.agreeing != r->number + 1;
    if (job->flowing == r) /* other threads' shares may not be there yet */
        job->flowing = NULL;
    job_note_turnout(job, &r->call, turnout);
    job_report(job, now);
    job_show(job);
    job_settle(job);
    requests_end(&job->requests, r, SWAGG_OK, 0);
}

/* Of one that goes alone, when its norms are there. */
static void compute_alone(struct swagg_job *job, struct swagg_request *r)
{
    if (r->state != REQUEST_NORMS || (int32_t)(parts_ended(job) - r->norms_number) <= 0)
        return;
    compress_encode(&job->compress, r->compressing, UINT64_MAX, UINT64_MAX);
    job->computing = true;
}

enum { AT_ONCE = 16384 }; /* floats: some tens of microseconds, for which packets wait */

/* Computes what is next of it, as far as that may be now. */
static void compute(struct swagg_job *job, struct swagg_request *r)
{
    const struct agg_worker *worker = job->worker;
    void *stream = job->parts[0].stream;
    struct compress_call *call = r->compressing;
    const uint64_t before = call->normed.floats + call->encoded.floats + call->decoded.floats;
    uint64_t from; /* the first: there is one place */
    if (!compress_is_through(call, &call->normed)) {
        compress_norm(&job->compress, call, AT_ONCE);
        worker->hold(stream, r->norms_number, call->normed.parts);
    } else if (!compress_is_through(call, &call->encoded)) {
        compress_encode(&job->compress, call, worker->arrived(stream, r->norms_number, &from), AT_ONCE);
        worker->hold(stream, r->number, call->encoded.floats / SML_GROUP);
    } else {
        compress_decode(&job->compress, call, worker->arrived(stream, r->number, &from), AT_ONCE);
    }
    job->computing = call->normed.floats + call->encoded.floats + call->decoded.floats > before;
}

/* Indices first, since the wire waits for them; then the oldest one's sums. */
static void compute_some(struct swagg_job *job)
{
    struct swagg_request *oldest = job->compressed[0], *first = encoding(job);
    job->computing = false;
    if (oldest && compresses_alone(job)) {
        compute_alone(job, oldest);
        return;
    }
    if (first)
        compute(job, first);
    if (oldest && oldest != first && !job->computing)
        compute(job, oldest);
}

/* Whether the second call of the stream may begin, which a compressed one has. */
static bool may_begin_indices(const struct swagg_job *job, const struct swagg_request *r)
{
    const struct compress_call *call = r ? r->compressing : NULL;
    return r && r->state == REQUEST_NORMS &&
           compress_is_through(call, compresses_alone(job) ? &call->encoded : &call->normed);
}

static int begin_indices(struct swagg_job *job, struct swagg_request *r)
{
    const struct compress_call *call = r->compressing;
    const struct xfer_call indices = compress_call_indices(&job->compress, call);
    r->parts[1] = (struct xfer_segment){.in = call->packed, .out = call->sums, .count = indices.count};
    const int rc = begin_in_streams(job, r, &indices, &r->parts[1], 1, call->roll);
    if (rc < 0)
        return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, "a compressed call cannot go on");
    requests_streamed(&job->requests, r);
    if (!compresses_alone(job))
        job->worker->hold(job->parts[0].stream, r->number, 0);
    return SWAGG_OK;
}

/* All results are there, and what is to be made of them. */
static bool is_done(const struct swagg_job *job, const struct swagg_request *r)
{
    if (!r || r->state != REQUEST_STREAMED || (int32_t)(parts_ended(job) - r->number) <= 0)
        return false;
    return lanes_are_through(r) && (!r->compressed || compresses_alone(job) ||
                                    compress_is_through(r->compressing, &r->compressing->decoded));
}

static int fail_staged(struct swagg_job *job)
{
    char text[CTL_TEXT_MAX];
    snprintf(text, sizeof text, "rank %u: %.*s", job->options.rank, CTL_TEXT_MAX - 16, swagg_last_error());
    return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
}

/* Of one that does not flow. 1, 0, or the job's failure. */
static int tensor_is_there(struct swagg_job *job, struct swagg_request *next)
{
    const int rc = !next->staged || staging_flows(next->staged) ? 1 : staging_come(next->staged);
    if (rc == 0 && !job->coming && !job->calling)
        watch_start(&job->watch, job, monotonic_ns());
    job->coming = rc == 0;
    return rc < 0 ? fail_staged(job) : rc;
}

/* What has come of a GPU's tensor may leave, of what each place sums. */
static int let_out(struct swagg_job *job, struct swagg_request *newest)
{
    const size_t element = agg_element_size(newest->call.type, newest->call.op);
    bool all = true;
    if (staging_come(newest->staged) < 0)
        return fail_staged(job);
    for (unsigned i = 0; i < job->part_count; i++) {
        void *stream = job->parts[i].stream;
        uint64_t from;
        job->worker->arrived(stream, newest->number, &from);
        const uint64_t there = staging_there(newest->staged, from * element);
        job->worker->hold(stream, newest->number, there == UINT64_MAX ? there : there / element);
        all = all && there == UINT64_MAX;
    }
    job->flowing = all ? NULL : newest;
    return SWAGG_OK;
}

/* What is summed goes to the GPU. */
static int bring_back(struct swagg_job *job, struct swagg_request *oldest)
{
    const size_t element = agg_element_size(oldest->call.type, oldest->call.op);
    struct staging_span there[SWAGG_SERVERS_MAX];
    for (unsigned i = 0; i < job->part_count; i++) {
        uint64_t from;
        const uint64_t to = job->worker->arrived(job->parts[i].stream, oldest->number, &from);
        there[i] = (struct staging_span){from * element, to == UINT64_MAX ? to : to * element};
    }
    return staging_leave(oldest->staged, oldest->call.share * job->part_count, there, job->part_count) < 0
               ? fail_staged(job)
               : SWAGG_OK;
}

static int move_staged(struct swagg_job *job)
{
    struct swagg_request *oldest = requests_first(&job->requests);
    const int rc = job->flowing ? let_out(job, job->flowing) : SWAGG_OK;
    if (rc < 0 || !oldest || !staging_flows(oldest->staged) || oldest->state != REQUEST_STREAMED)
        return rc;
    return bring_back(job, oldest);
}

/* What the streams are done with is on its way to the GPU when its end is told. */
static int end_next(struct swagg_job *job, struct swagg_request *r)
{
    const int rc = move_staged(job);
    if (rc == SWAGG_OK)
        finish(job, r);
    return rc;
}

int calls_step(struct swagg_job *job)
{
    struct swagg_request *r;
    int rc = move_staged(job);
    const uint64_t leave_at = calls_leave_at(job);
    if (leave_at != UINT64_MAX && leave_at <= monotonic_ns())
        leave_late_sums(job);
    compute_some(job);
    for (unsigned i = 0; i < COMPRESS_CALLS && rc >= 0; i++)
        if (may_begin_indices(job, job->compressed[i]))
            rc = begin_indices(job, job->compressed[i]);
    while (rc >= 0 && is_done(job, r = requests_first(&job->requests)))
        rc = end_next(job, r);
    rc = rc < 0 ? rc : rates_step(job);
    while (rc >= 0 && may_begin(job, r = requests_queued(&job->requests)) &&
           (rc = tensor_is_there(job, r)) > 0)
        rc = begin(job, r);
    return rc;
}
