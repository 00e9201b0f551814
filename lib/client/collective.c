#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drive.h"
#include "monotonic.h"
#include "request.h"

/* The segments of a vector call, in the job's room; of another its only one, in *single. */
static struct sml_segment *segments_of(struct swagg_job *job, const struct request *r,
                                       struct sml_segment *single)
{
    struct sml_segment *segments = r->is_vector ? job->room.segments : single;
    for (size_t i = 0; i < r->n; i++) {
        const struct swagg_segment *s = &r->segments[i];
        segments[i] = (struct sml_segment){.in = s->send, .out = s->recv, .count = s->count};
    }
    return segments;
}

/* What the stream says of a call that it should begin. The tensors belong to it, if it does, until the end.
 */
static int begun(struct swagg_job *job, const struct request *r, int rc, uint64_t now)
{
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

static void end(struct swagg_job *job, const struct request *r, bool compressed, uint64_t began)
{
    const uint64_t now = monotonic_ns();
    job->calls++;
    job->call_ns += now - began;
    job->elements += r->count;
    job->bytes += r->count * agg_element_size((unsigned)r->type, (unsigned)r->op);
    job->calling = false;
    job_note_turnout(job, r, compressed);
    job_report(job, now);
    job_show(job);
}

static int run_exact(struct swagg_job *job, const struct request *r, uint64_t now)
{
    const struct sml_call call = {.collective = (uint8_t)r->collective,
                                  .type = (uint8_t)r->type,
                                  .op = (uint8_t)r->op,
                                  .root = (uint32_t)r->root,
                                  .count = r->count};
    struct watch watch;
    struct sml_segment single;
    struct sml_segment *segments = segments_of(job, r, &single);
    watch_start(&watch, job, &call, now);
    spin_begin(&job->spin, watch.chunks, now);
    int rc = parts_begin(job, &call, segments, r->n, now);
    rc = begun(job, r, rc, now);
    return rc < 0 ? rc : drive_call(job, &watch);
}

/* What has not come counts as zeros; the stream sees to it behind this call, for the other ranks. */
static void leave_late_sums(struct swagg_job *job)
{
    const size_t element = sml_element_of(compress_call_indices(&job->compress).type).out;
    uint64_t from = 0, offset;
    size_t bytes;
    if (job->flow->status(job->parts[0].stream) == SML_STREAM_DONE)
        return;
    while (job->flow->lacks(job->parts[0].stream, &from, &offset, &bytes))
        compress_miss(&job->compress, offset / element, bytes / element);
    job->flow->leave(job->parts[0].stream);
}

/* One of the two calls of the stream that a compressed one is. Both have the time that the caller's has.
 * roll: only with a quorum. */
static int run_part(struct swagg_job *job, const struct request *r, const struct sml_call *call,
                    const void *in, void *out, struct sml_roll roll[], uint64_t began)
{
    struct sml_segment only = {.in = in, .out = out, .count = call->count};
    struct watch watch;
    const uint64_t now = monotonic_ns();
    watch_start(&watch, job, call, now);
    watch.deadline -= now - began;
    watch.began = began;
    watch.patience = call->op == SML_LOOK_UP ? job->options.compression.patience_ns : 0;
    spin_begin(&job->spin, watch.chunks, now);
    if (job->terms.quorum)
        job->flow->call_roll(job->parts[0].stream, roll);
    int rc = begun(job, r, parts_begin(job, call, &only, 1, now), now);
    if (rc == 0 && (rc = drive_call(job, &watch)) == 0)
        leave_late_sums(job);
    if (job->terms.quorum)
        job->flow->call_roll(job->parts[0].stream, NULL);
    return rc;
}

static int run_compressed(struct swagg_job *job, const struct request *r, uint64_t now)
{
    struct compress *c = &job->compress;
    struct sml_segment single;
    if (!compress_begin(c, segments_of(job, r, &single), r->is_vector ? r->n : 1, r->op == SWAGG_AVG,
                        job->terms.chunk_bytes)) {
        char text[CTL_TEXT_MAX];
        snprintf(text, sizeof text, "rank %u: no memory to compress %" PRIu64 " floats", job->options.rank,
                 r->count);
        return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
    }
    const struct sml_call norms = compress_call_norms(c), indices = compress_call_indices(c);
    int rc = run_part(job, r, &norms, c->norms, c->norms, c->norm_roll, now);
    if (rc < 0)
        return rc;
    compress_encode(c);
    if ((rc = run_part(job, r, &indices, c->packed, c->sums, c->roll, now)) == 0)
        compress_decode(c, job->terms.quorum ? job->flow->turnout(job->parts[0].stream) : NULL);
    return rc;
}

static int run(struct swagg_job *job, struct request *r)
{
    if (job->failure)
        return client_fail(job->failure, "%s", job->failure_text);
    int rc = request_check(job, r);
    if (rc < 0)
        return rc;
    const uint64_t now = monotonic_ns();
    const bool compressed =
        !r->is_exact && compress_takes(&job->compress, r->collective, r->type, r->op, r->count);
    rc = compressed ? run_compressed(job, r, now) : run_exact(job, r, now);
    if (rc == 0)
        end(job, r, compressed, now);
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
    drive_lock(job);
    int rc = run(job, r);
    drive_unlock(job);
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

int swagg_synchronize(struct swagg_job *job, float *model, size_t count)
{
    const struct swagg_segment only = {model, model, count};
    return collective(job, &(struct request){.collective = SML_ALLREDUCE,
                                             .type = SWAGG_F32,
                                             .op = SWAGG_AVG,
                                             .segments = &only,
                                             .n = 1,
                                             .is_exact = true});
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

int swagg_name_tensor(struct swagg_job *job, uint64_t name)
{
    if (!job)
        return client_fail(SWAGG_ERR_ARGUMENT, "job is NULL");
    pthread_mutex_lock(&job->lock);
    job->compress.name = name;
    pthread_mutex_unlock(&job->lock);
    return SWAGG_OK;
}

int swagg_numbers_carry(enum swagg_numbers numbers, enum swagg_type type, enum swagg_op op)
{
    return client_format_carries(client_format(numbers), type, op);
}

size_t swagg_element_size(enum swagg_type type, enum swagg_op op)
{
    return agg_element_size((unsigned)type, (unsigned)op);
}
