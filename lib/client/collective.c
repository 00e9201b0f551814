#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "describe.h"
#include "drive.h"
#include "monotonic.h"
#include "overlap.h"

#define SAME_CODE(name)                                                                                      \
    _Static_assert((int)SWAGG_##name == (int)AGG_##name, "the public codes are those of the wire")
SAME_CODE(I32);
SAME_CODE(I64);
SAME_CODE(F32);
SAME_CODE(F64);
SAME_CODE(I8);
SAME_CODE(I16);
SAME_CODE(U8);
SAME_CODE(U16);
SAME_CODE(U32);
SAME_CODE(U64);
SAME_CODE(BOOL);
SAME_CODE(F16);
SAME_CODE(BF16);
SAME_CODE(C64);
SAME_CODE(C128);
SAME_CODE(SUM);
SAME_CODE(PROD);
SAME_CODE(MIN);
SAME_CODE(MAX);
SAME_CODE(LAND);
SAME_CODE(LOR);
SAME_CODE(LXOR);
SAME_CODE(BAND);
SAME_CODE(BOR);
SAME_CODE(BXOR);
SAME_CODE(AVG);
SAME_CODE(MINLOC);
SAME_CODE(MAXLOC);
SAME_CODE(MINPAIR);
SAME_CODE(MAXPAIR);

/* A call as the caller made it. */
struct request {
    enum xfer_collective collective;
    int type, op, root; /* unchecked */
    const struct swagg_segment *segments;
    size_t n;
    bool is_vector; /* the caller speaks of segments */
    bool is_exact;  /* it is not compressed, whatever the options say */
};

enum { PREFIX_MAX = 48 };

/* How the caller calls the segment: a plain call has none. */
static const char *prefix_of(const struct request *r, size_t segment, char text[PREFIX_MAX])
{
    text[0] = '\0';
    if (r->is_vector)
        snprintf(text, PREFIX_MAX, "segments[%zu]: ", segment);
    return text;
}

static bool receives(const struct swagg_job *job, const struct request *r)
{
    return r->collective == XFER_ALLREDUCE || r->root == job->options.rank;
}

static int check_pair(const struct request *r)
{
    if (r->type <= 0 || r->type >= AGG_TYPES)
        return client_fail(SWAGG_ERR_ARGUMENT, "type %d is none of enum swagg_type", r->type);
    if (r->op <= 0 || r->op >= AGG_OPS)
        return client_fail(SWAGG_ERR_ARGUMENT, "op %d is none of enum swagg_op", r->op);
    const enum swagg_type type = (enum swagg_type)r->type;
    const enum swagg_op op = (enum swagg_op)r->op;
    if (swagg_element_size(type, op) == 0)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "there is no %s of %s: swagg_element_size() tells which operations a type has",
                           describe_op(op), describe_type(type, op));
    return SWAGG_OK;
}

/* Integers with a scale are for sums of floats. */
static int check_numbers(const struct swagg_job *job, const struct request *r)
{
    const enum xfer_format format = job->options.format;
    if (client_format_carries(format, (enum swagg_type)r->type, (enum swagg_op)r->op))
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "a job with options.numbers = %s has no %s of %s, but sum and avg of f32 and f16%s: open "
        "one with SWAGG_NUMBERS_NATIVE for others",
        format == XFER_FORMAT_INT32 ? "SWAGG_NUMBERS_INT32" : "SWAGG_NUMBERS_FP16",
        describe_op((enum swagg_op)r->op), describe_type((enum swagg_type)r->type, (enum swagg_op)r->op),
        format == XFER_FORMAT_INT32 ? ", and sum of int32" : "");
}

/* count: of the segments before it. */
static int check_segment(const struct swagg_job *job, const struct request *r, size_t i, uint64_t count)
{
    const struct swagg_segment *s = &r->segments[i];
    const size_t element = swagg_element_size((enum swagg_type)r->type, (enum swagg_op)r->op);
    char prefix[PREFIX_MAX];
    if (s->count > (PTRDIFF_MAX - count * element) / element)
        return client_fail(SWAGG_ERR_ARGUMENT, "%scount is %zu: so many elements fit no address space",
                           prefix_of(r, i, prefix), s->count);
    if (s->count > 0 && !s->send)
        return client_fail(SWAGG_ERR_ARGUMENT, "%ssend is NULL and count is not 0", prefix_of(r, i, prefix));
    if (s->count > 0 && receives(job, r) && !s->recv)
        return client_fail(SWAGG_ERR_ARGUMENT, "%srecv is NULL and count is not 0", prefix_of(r, i, prefix));
    return SWAGG_OK;
}

static int check_segments(const struct swagg_job *job, const struct request *r, uint64_t *count)
{
    if (r->n > 0 && !r->segments)
        return client_fail(SWAGG_ERR_ARGUMENT, "segments is NULL and n is not 0");
    for (size_t i = 0; i < r->n; i++) {
        int rc = check_segment(job, r, i, *count);
        if (rc < 0)
            return rc;
        *count += r->segments[i].count;
    }
    return SWAGG_OK;
}

static int check_overlaps(const struct swagg_job *job, const struct request *r)
{
    const size_t element = swagg_element_size((enum swagg_type)r->type, (enum swagg_op)r->op);
    struct overlap_pair pair;
    char prefix[PREFIX_MAX];
    struct overlap_range plain[2];
    if (!receives(job, r))
        return SWAGG_OK;
    if (!overlap_find(r->segments, r->n, element, r->is_vector ? job->room.ranges : plain, &pair))
        return SWAGG_OK;
    if (pair.one == pair.other)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "%ssend and recv overlap: use one buffer for both, or two separate ones",
                           prefix_of(r, pair.one, prefix));
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "segments[%zu] and segments[%zu] overlap: what one receives must lie apart from the other", pair.one,
        pair.other);
}

/* What the call asks for. SWAGG_OK; SWAGG_ERR_ARGUMENT, with a text that names what is wrong; or
 * SWAGG_ERR_SYSTEM, and the job cannot go on. */
static int check(struct swagg_job *job, const struct request *r, struct xfer_call *call)
{
    uint64_t count = 0;
    int rc = check_pair(r);
    if (rc < 0 || (rc = check_numbers(job, r)) < 0)
        return rc;
    if (r->root < 0 || r->root >= job->options.size)
        return client_fail(SWAGG_ERR_ARGUMENT, "root is %d: it must be 0 to %d", r->root,
                           job->options.size - 1);
    if ((rc = check_segments(job, r, &count)) < 0 || (r->is_vector && (rc = job_make_room(job, r->n)) < 0))
        return rc;
    *call = (struct xfer_call){.collective = (uint8_t)r->collective,
                               .type = (uint8_t)r->type,
                               .op = (uint8_t)r->op,
                               .root = (uint32_t)r->root,
                               .count = count};
    return check_overlaps(job, r);
}

/* The segments of a vector call, in the job's room; of another its only one, in *single. */
static struct xfer_segment *segments_of(struct swagg_job *job, const struct request *r,
                                        struct xfer_segment *single)
{
    struct xfer_segment *segments = r->is_vector ? job->room.segments : single;
    for (size_t i = 0; i < r->n; i++) {
        const struct swagg_segment *s = &r->segments[i];
        segments[i] = (struct xfer_segment){.in = s->send, .out = s->recv, .count = s->count};
    }
    return segments;
}

/* What has not come counts as zeros; the stream sees to it behind this call, for the other ranks. */
static void leave_late_sums(struct swagg_job *job)
{
    const size_t element = sml_element_of(compress_call_indices(&job->compress).type).out;
    uint64_t from = 0, offset;
    size_t bytes;
    if (job->worker->status(job->parts[0].stream) == XFER_DONE)
        return;
    while (job->worker->lacks(job->parts[0].stream, &from, &offset, &bytes))
        compress_miss(&job->compress, offset / element, bytes / element);
    job->worker->leave(job->parts[0].stream);
}
/* One of the two calls of the stream that a compressed one is. Both have the time that the caller's has.
 * roll: only with a quorum. */
static int run_part(struct swagg_job *job, const struct xfer_call *call, const void *in, void *out,
                    struct xfer_roll roll[], uint64_t began)
{
    struct xfer_segment only = {.in = in, .out = out, .count = call->count};
    const struct drive_order order = {.call = call,
                                      .segments = &only,
                                      .n = 1,
                                      .began = began,
                                      .patience =
                                          call->op == SML_LOOK_UP ? job->options.compression.patience_ns : 0};
    if (job->terms.quorum)
        job->worker->call_roll(job->parts[0].stream, roll);
    int rc = drive_call(job, &order);
    if (rc == 0)
        leave_late_sums(job);
    if (job->terms.quorum)
        job->worker->call_roll(job->parts[0].stream, NULL);
    return rc;
}

static int run_compressed(struct swagg_job *job, const struct drive_order *o)
{
    struct compress *c = &job->compress;
    if (!compress_begin(c, o->segments, o->n, o->call->op == SWAGG_AVG, job->terms.chunk_bytes)) {
        char text[CTL_TEXT_MAX];
        snprintf(text, sizeof text, "rank %u: no memory to compress %" PRIu64 " floats", job->options.rank,
                 o->call->count);
        return job_fail_and_tell(job, SWAGG_ERR_SYSTEM, CTL_APPLICATION, text);
    }
    const struct xfer_call norms = compress_call_norms(c), indices = compress_call_indices(c);
    int rc = run_part(job, &norms, c->norms, c->norms, c->norm_roll, o->began);
    if (rc < 0)
        return rc;
    compress_encode(c);
    if ((rc = run_part(job, &indices, c->packed, c->sums, c->roll, o->began)) == 0)
        compress_decode(c, job->terms.quorum ? job_last_turnout(job) : NULL);
    return rc;
}

static void end(struct swagg_job *job, const struct xfer_call *call, bool compressed, uint64_t began)
{
    const uint64_t now = monotonic_ns();
    job->calls++;
    job->call_ns += now - began;
    job->elements += call->count;
    job->bytes += call->count * agg_element_size(call->type, call->op);
    job->calling = false;
    job_note_turnout(job, call, compressed);
    job_report(job, now);
    job_show(job);
}

static int run(struct swagg_job *job, const struct request *r)
{
    struct xfer_call call;
    struct xfer_segment single;
    if (job->failure)
        return client_fail(job->failure, "%s", job->failure_text);
    int rc = check(job, r, &call);
    if (rc < 0)
        return rc;
    const struct drive_order order = {
        .call = &call, .segments = segments_of(job, r, &single), .n = r->n, .began = monotonic_ns()};
    const bool compressed = !r->is_exact && compress_takes(&job->compress, &call);
    rc = compressed ? run_compressed(job, &order) : drive_call(job, &order);
    if (rc == 0)
        end(job, &call, compressed, order.began);
    return rc;
}

static int collective(struct swagg_job *job, const struct request *r)
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
        job, &(const struct request){
                 .collective = XFER_ALLREDUCE, .type = (int)type, .op = (int)op, .segments = &only, .n = 1});
}

int swagg_allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                     enum swagg_type type, enum swagg_op op)
{
    return collective(job, &(const struct request){.collective = XFER_ALLREDUCE,
                                                   .type = (int)type,
                                                   .op = (int)op,
                                                   .segments = segments,
                                                   .n = n,
                                                   .is_vector = true});
}

int swagg_synchronize(struct swagg_job *job, float *model, size_t count)
{
    const struct swagg_segment only = {model, model, count};
    return collective(job, &(const struct request){.collective = XFER_ALLREDUCE,
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
    return collective(job, &(const struct request){.collective = XFER_REDUCE,
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
