#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "drive.h"
#include "monotonic.h"

_Static_assert((int)SWAGG_I32 == AGG_I32 && (int)SWAGG_I64 == AGG_I64 && (int)SWAGG_F32 == AGG_F32 &&
                   (int)SWAGG_F64 == AGG_F64 && (int)SWAGG_SUM == AGG_SUM,
               "the public codes are those of the wire");

/* A call as the caller made it. */
struct request {
    enum sml_collective collective;
    const void *send;
    void *recv;
    size_t count;
    int type, op, root; /* unchecked */
};

static bool overlap(const char *a, const char *b, size_t bytes)
{
    return a != b && a < b + bytes && b < a + bytes;
}

static bool receives(const struct swagg_job *job, const struct request *r)
{
    return r->collective == SML_ALLREDUCE || r->root == job->options.rank;
}

static int check_arguments(const struct swagg_job *job, const struct request *r)
{
    size_t element = r->type > 0 ? agg_type_size((unsigned)r->type) : 0;
    if (element == 0)
        return client_fail(SWAGG_ERR_ARGUMENT, "type %d is none of enum swagg_type", r->type);
    if (r->op != SWAGG_SUM)
        return client_fail(SWAGG_ERR_ARGUMENT, "op %d is none of enum swagg_op", r->op);
    if (r->root < 0 || r->root >= job->options.size)
        return client_fail(SWAGG_ERR_ARGUMENT, "root is %d: it must be 0 to %d", r->root,
                           job->options.size - 1);
    if (r->count > PTRDIFF_MAX / element)
        return client_fail(SWAGG_ERR_ARGUMENT, "count is %zu: so many elements fit no address space",
                           r->count);
    if (r->count > 0 && !r->send)
        return client_fail(SWAGG_ERR_ARGUMENT, "send is NULL and count is not 0");
    if (r->count > 0 && receives(job, r) && !r->recv)
        return client_fail(SWAGG_ERR_ARGUMENT, "recv is NULL and count is not 0");
    if (receives(job, r) && overlap(r->send, r->recv, r->count * element))
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "send and recv overlap: use one buffer for both, or two separate ones");
    return SWAGG_OK;
}

/* The caller's tensors belong to the stream until end(). */
static int begin(struct swagg_job *job, const struct request *r, const struct sml_call *call, uint64_t now)
{
    int rc = sml_stream_begin(job->stream, call, r->send, receives(job, r) ? r->recv : NULL, now);
    if (rc == -EOVERFLOW)
        return client_fail(SWAGG_ERR_ARGUMENT, "count is %zu: more than one call can sum, split it",
                           r->count);
    if (rc < 0)
        return client_fail(SWAGG_ERR_ARGUMENT, "the call cannot begin: %s", strerror(-rc));
    job->calling = true;
    job_report(job, now);
    return SWAGG_OK;
}

static void end(struct swagg_job *job, const struct sml_call *call)
{
    job->calls++;
    job->elements += call->count;
    job->bytes += call->count * agg_type_size(call->type);
    job->calling = false;
    job_report(job, monotonic_ns());
}

static int run(struct swagg_job *job, const struct request *r)
{
    if (job->failure)
        return client_fail(job->failure, "%s", job->failure_text);
    int rc = check_arguments(job, r);
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
    if ((rc = begin(job, r, &call, now)) == 0 && (rc = drive_call(job, &watch)) == 0)
        end(job, &call);
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
    pthread_mutex_lock(&job->lock);
    int rc = run(job, r);
    bool needed = rc == SWAGG_OK && sml_stream_timer(job->stream) != UINT64_MAX;
    pthread_mutex_unlock(&job->lock);
    if (needed) /* others still need this rank: from here on the membership thread sees to it */
        membership_wake(&job->membership);
    return rc;
}

int swagg_allreduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                    enum swagg_op op)
{
    struct request r = {SML_ALLREDUCE, send, recv, count, (int)type, (int)op, 0};
    return collective(job, &r);
}

int swagg_reduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                 enum swagg_op op, int root)
{
    struct request r = {SML_REDUCE, send, recv, count, (int)type, (int)op, root};
    return collective(job, &r);
}

size_t swagg_type_size(enum swagg_type type)
{
    return agg_type_size(type);
}
