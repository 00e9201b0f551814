#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "await.h"
#include "collective.h"
#include "describe.h"
#include "lanes.h"
#include "local/level.h"
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
struct ask {
    enum xfer_collective collective;
    int type, op, root; /* unchecked */
    const struct swagg_segment *segments;
    size_t n;
    bool is_vector; /* the caller speaks of segments */
    bool is_exact;  /* it is not compressed, whatever the options say */
};

enum { PREFIX_MAX = 48 };

/* How the caller calls the segment: a plain call has none. */
static const char *prefix_of(const struct ask *r, size_t segment, char text[PREFIX_MAX])
{
    text[0] = '\0';
    if (r->is_vector)
        snprintf(text, PREFIX_MAX, "segments[%zu]: ", segment);
    return text;
}

static bool receives(const struct swagg_job *job, const struct ask *r)
{
    return r->collective == XFER_ALLREDUCE || r->root == job->options.rank;
}

static int check_pair(const struct ask *r)
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
static int check_numbers(const struct swagg_job *job, const struct ask *r)
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
static int check_segment(const struct swagg_job *job, const struct ask *r, size_t i, uint64_t count)
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

static int check_segments(const struct swagg_job *job, const struct ask *r, uint64_t *count)
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

static int fail_no_memory(struct swagg_job *job, size_t n)
{
    char text[CTL_TEXT_MAX];
    snprintf(text, sizeof text, "rank %u: no memory for %zu segments", job->options.rank, n);
    job_end(job, SWAGG_ERR_SYSTEM, text);
    return requests_failure(&job->requests);
}

static int fail_overlap(const struct ask *r, const struct overlap_pair *pair)
{
    char prefix[PREFIX_MAX];
    if (pair->one == pair->other)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "%ssend and recv overlap: use one buffer for both, or two separate ones",
                           prefix_of(r, pair->one, prefix));
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "segments[%zu] and segments[%zu] overlap: what one receives must lie apart from the other", pair->one,
        pair->other);
}

static int check_overlaps(struct swagg_job *job, const struct ask *r)
{
    const size_t element = swagg_element_size((enum swagg_type)r->type, (enum swagg_op)r->op);
    struct overlap_pair pair;
    struct overlap_range plain[2], *ranges = plain;
    if (!receives(job, r) || r->n == 0)
        return SWAGG_OK;
    if (r->n > 1 && !(ranges = calloc(2 * r->n, sizeof *ranges)))
        return fail_no_memory(job, r->n);
    const bool overlap = overlap_find(r->segments, r->n, element, ranges, &pair);
    if (ranges != plain)
        free(ranges);
    return overlap ? fail_overlap(r, &pair) : SWAGG_OK;
}

/* How a call is divided among links may change meanwhile, with the job's lock. */
static uint64_t packets_of(struct swagg_job *job, const struct xfer_call *call)
{
    pthread_mutex_lock(&job->lock);
    const uint64_t packets = parts_packets(job, call);
    pthread_mutex_unlock(&job->lock);
    return packets;
}

/* All streams can count so many. A packet carries an element at least, so almost no call is cut up to see. */
static int check_length(struct swagg_job *job, const struct xfer_call *call)
{
    const uint64_t most = UINT64_C(1) << 31;
    if (call->count <= most || packets_of(job, call) <= most)
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "count is %" PRIu64 ": more than one call can sum, split it",
                       call->count);
}

/* Of an older program's struct swagg_post. */
enum { HOW_BYTES_LEAST = offsetof(struct swagg_post, left_out) };

static int check_how(const struct swagg_post *how)
{
    if (!how || (how->struct_size >= HOW_BYTES_LEAST && how->timeout_ms >= 0))
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "%s",
                       how->struct_size < HOW_BYTES_LEAST
                           ? "how.struct_size is not set: begin with SWAGG_POST_DEFAULT"
                           : "how.timeout_ms is negative");
}

int collective_check_root(const struct swagg_job *job, int root)
{
    if (root >= 0 && root < job->options.size)
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "root is %d: it must be 0 to %d", root, job->options.size - 1);
}

/* What the call asks for. SWAGG_OK; SWAGG_ERR_ARGUMENT, with a text that names what is wrong; or
 * SWAGG_ERR_SYSTEM, and the job cannot go on. */
static int check(struct swagg_job *job, const struct ask *r, struct xfer_call *call)
{
    uint64_t count = 0;
    int rc = check_pair(r);
    if (rc < 0 || (rc = check_numbers(job, r)) < 0)
        return rc;
    if ((rc = collective_check_root(job, r->root)) < 0)
        return rc;
    if ((rc = check_segments(job, r, &count)) < 0)
        return rc;
    *call = (struct xfer_call){.collective = (uint8_t)r->collective,
                               .type = (uint8_t)r->type,
                               .op = (uint8_t)r->op,
                               .root = (uint32_t)r->root,
                               .count = count};
    return (rc = check_length(job, call)) < 0 ? rc : check_overlaps(job, r);
}

static int make_room(struct swagg_job *job, struct swagg_request *request, size_t n)
{
    request->segments = n > 1 ? calloc(n, sizeof *request->segments) : &request->only;
    request->n = n;
    return request->segments ? SWAGG_OK : fail_no_memory(job, n);
}

/* A copy of the caller's, for as long as the call lasts, without what this rank does not receive: nothing is
 * written there. */
static void copy_segments(const struct swagg_job *job, struct swagg_request *to, const struct ask *r)
{
    const bool has_sum = receives(job, r);
    for (size_t i = 0; i < r->n; i++) {
        const struct swagg_segment *s = &r->segments[i];
        to->segments[i] =
            (struct xfer_segment){.in = s->send, .out = has_sum ? s->recv : NULL, .count = s->count};
    }
}

/* A field that an older program's struct does not have. */
#define HOW_HAS(how, field)                                                                                  \
    ((how) && (how)->struct_size >= offsetof(struct swagg_post, field) + sizeof(how)->field)

/* Its time begins now; and what the caller says of its buffers. */
static void stamp(struct swagg_job *job, struct swagg_request *request, const struct swagg_post *how)
{
    request->job = job;
    request->began = monotonic_ns();
    request->deadline = request->began + (how && how->timeout_ms ? (uint64_t)how->timeout_ms * NS_PER_MS
                                                                 : job->options.call_timeout_ns);
    request->ready = HOW_HAS(how, ready) ? how->ready : NULL;
}

/* What the caller says of a compressed call's error feedback. */
static void note_feedback(struct swagg_request *request, const struct swagg_post *how)
{
    if (!how)
        return;
    request->how.name = how->name;
    if (HOW_HAS(how, round)) {
        request->how.left_out = how->left_out;
        request->how.round = how->round;
    }
}

/* Into how many streams a tensor of this call goes piece by piece, and its sum comes so; the level within the
 * host takes it as one. 0: it does not. A rank that leaves a reduce early keeps what is not sent yet, so all
 * of it must be there. */
static unsigned places_to_flow(const struct swagg_job *job, const struct swagg_request *r)
{
    const struct client_options *o = &job->options;
    if (level_takes(job, &r->call, r->compressed))
        return 1;
    const bool sums =
        r->call.collective == XFER_ALLREDUCE || (r->call.collective == XFER_REDUCE && !o->buffer_reduces);
    const bool flows = sums && !r->compressed && job->worker->hold && o->format == XFER_FORMAT_TYPED &&
                       o->quorum == 0 && o->compression.patience_ns == 0;
    return flows ? job->part_count * (job->lanes ? job->lanes->n + 1 : 1) : 0;
}

/* What of its tensors is in a GPU's memory is staged in the host's. */
static int stage(struct swagg_job *job, struct swagg_request *r)
{
    const struct staging_call call = {.element = agg_element_size(r->call.type, r->call.op),
                                      .apart = r->call.collective == XFER_REDUCE_SCATTER,
                                      .flows = places_to_flow(job, r),
                                      .ready = r->ready,
                                      .waits = !r->posted};
    const int rc = staging_begin(&job->gpu, r->segments, r->n, &call, &r->staged);
    r->how.where = staging_where(r->staged);
    return rc < 0 ? job_end_here(job) : rc;
}

static const struct swagg_post *how_of(const struct posting *posting)
{
    return posting ? posting->how : NULL;
}

/* Makes a request of the call. */
static int prepare(struct swagg_job *job, const struct ask *r, const struct posting *posting,
                   struct swagg_request *request)
{
    int rc = requests_failure(&job->requests);
    if (rc < 0 || (rc = check(job, r, &request->call)) < 0)
        return rc;
    if ((rc = make_room(job, request, r->n)) < 0)
        return rc;
    copy_segments(job, request, r);
    request->compressed = !r->is_exact && compress_takes(&job->compress, &request->call);
    note_feedback(request, how_of(posting));
    stamp(job, request, how_of(posting));
    return stage(job, request);
}

int collective_check(const struct swagg_job *job, const struct posting *posting)
{
    if (posting && !posting->request)
        return client_fail(SWAGG_ERR_ARGUMENT, "request is NULL");
    if (posting)
        *posting->request = NULL;
    const int rc = job_check_own(job);
    return rc < 0 || !posting ? rc : check_how(posting->how);
}

/* Room for it: a posted one's is the job's. */
static int take(struct swagg_job *job, const struct posting *posting, struct swagg_request **request)
{
    if (!posting || (*request = requests_take(&job->requests)))
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_FULL, "%d calls are posted, and their ends were not asked for",
                       SWAGG_REQUESTS_MAX);
}

/* By the job's level within the host. */
static int go_by_level(struct swagg_job *job, const struct posting *posting, struct swagg_request *request)
{
    const int rc = posting ? level_post(job, request) : await_staged(request, level_call(job, request));
    if (posting && rc == SWAGG_OK)
        *posting->request = request;
    else
        requests_give(&job->requests, request);
    return rc;
}

/* Behind those in flight. It is waited for; or the caller has it, and leaves. */
static int append(struct swagg_job *job, const struct posting *posting, struct swagg_request *request)
{
    if (level_takes(job, &request->call, request->compressed))
        return go_by_level(job, posting, request);
    level_pass(job, request);
    if (!posting)
        return await_call(request);
    const int rc = lanes_append(job, request);
    if (rc < 0) {
        requests_give(&job->requests, request);
        return rc;
    }
    await_push(job);
    *posting->request = request;
    return SWAGG_OK;
}

int collective_begin(struct swagg_job *job, const struct posting *posting, size_t n,
                     struct swagg_request **request)
{
    int rc = take(job, posting, request);
    if (rc == SWAGG_OK && (rc = make_room(job, *request, n)) < 0)
        requests_give(&job->requests, *request);
    return rc;
}

int collective_run(struct swagg_job *job, const struct posting *posting, struct swagg_request *request)
{
    int rc = requests_failure(&job->requests);
    stamp(job, request, how_of(posting));
    if (rc < 0 || (rc = check_length(job, &request->call)) < 0 || (rc = stage(job, request)) < 0) {
        requests_give(&job->requests, request);
        return rc;
    }
    return append(job, posting, request);
}

static int collective(struct swagg_job *job, const struct ask *r, const struct posting *posting)
{
    struct swagg_request own = {0}, *request = &own;
    int rc = collective_check(job, posting);
    if (rc < 0 || (rc = take(job, posting, &request)) < 0)
        return rc;
    if ((rc = prepare(job, r, posting, request)) < 0) {
        requests_give(&job->requests, request);
        return rc;
    }
    return append(job, posting, request);
}

int collective_of_nothing(struct swagg_job *job, enum swagg_type type, enum swagg_op op,
                          const struct posting *posting)
{
    const struct ask r = {.collective = XFER_ALLREDUCE, .type = (int)type, .op = (int)op};
    return collective(job, &r, posting);
}

static int reduce(struct swagg_job *job, enum xfer_collective which, const struct swagg_segment *only,
                  enum swagg_type type, enum swagg_op op, int root, const struct posting *posting)
{
    const struct ask r = {
        .collective = which, .type = (int)type, .op = (int)op, .root = root, .segments = only, .n = 1};
    return collective(job, &r, posting);
}

int swagg_allreduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                    enum swagg_op op)
{
    const struct swagg_segment only = {send, recv, count};
    return reduce(job, XFER_ALLREDUCE, &only, type, op, 0, NULL);
}

int swagg_post_allreduce(struct swagg_job *job, const void *send, void *recv, size_t count,
                         enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                         struct swagg_request **request)
{
    const struct swagg_segment only = {send, recv, count};
    return reduce(job, XFER_ALLREDUCE, &only, type, op, 0, &(const struct posting){how, request});
}

int swagg_reduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                 enum swagg_op op, int root)
{
    const struct swagg_segment only = {send, recv, count};
    return reduce(job, XFER_REDUCE, &only, type, op, root, NULL);
}

int swagg_post_reduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                      enum swagg_op op, int root, const struct swagg_post *how,
                      struct swagg_request **request)
{
    const struct swagg_segment only = {send, recv, count};
    return reduce(job, XFER_REDUCE, &only, type, op, root, &(const struct posting){how, request});
}

static int allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                      enum swagg_type type, enum swagg_op op, const struct posting *posting)
{
    const struct ask r = {.collective = XFER_ALLREDUCE,
                          .type = (int)type,
                          .op = (int)op,
                          .segments = segments,
                          .n = n,
                          .is_vector = true};
    return collective(job, &r, posting);
}

int swagg_allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                     enum swagg_type type, enum swagg_op op)
{
    return allreducev(job, segments, n, type, op, NULL);
}

int swagg_post_allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                          enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                          struct swagg_request **request)
{
    return allreducev(job, segments, n, type, op, &(const struct posting){how, request});
}

int swagg_synchronize(struct swagg_job *job, float *model, size_t count)
{
    const struct swagg_segment only = {model, model, count};
    return collective(job,
                      &(const struct ask){.collective = XFER_ALLREDUCE,
                                          .type = SWAGG_F32,
                                          .op = SWAGG_AVG,
                                          .segments = &only,
                                          .n = 1,
                                          .is_exact = true},
                      NULL);
}

int swagg_name_tensor(struct swagg_job *job, uint64_t name)
{
    const int rc = job_check_own(job);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&job->requests.lock);
    job->requests.name = name;
    pthread_mutex_unlock(&job->requests.lock);
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
