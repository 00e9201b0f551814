#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "describe.h"
#include "drive.h"
#include "monotonic.h"

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

static int check_pair(const struct request *r)
{
    if (r->type <= 0 || r->type >= AGG_TYPES)
        return client_fail(SWAGG_ERR_ARGUMENT, "type %d is none of enum swagg_type", r->type);
    if (r->op <= 0 || r->op >= AGG_OPS)
        return client_fail(SWAGG_ERR_ARGUMENT, "op %d is none of enum swagg_op", r->op);
    if (agg_element_size((unsigned)r->type, (unsigned)r->op) == 0)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "there is no %s of %s: swagg_element_size() tells which operations a type has",
                           describe_op((unsigned)r->op), describe_type((unsigned)r->type));
    return SWAGG_OK;
}

static int check_arguments(const struct swagg_job *job, const struct request *r)
{
    int rc = check_pair(r);
    if (rc < 0)
        return rc;
    size_t element = agg_element_size((unsigned)r->type, (unsigned)r->op);
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
    job->bytes += call->count * agg_element_size(call->type, call->op);
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

size_t swagg_element_size(enum swagg_type type, enum swagg_op op)
{
    return agg_element_size((unsigned)type, (unsigned)op);
}
