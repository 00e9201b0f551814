#include "request.h"

#include <stdio.h>

#include "describe.h"
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
    return r->collective == SML_ALLREDUCE || r->root == job->options.rank;
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
    const enum sml_format format = job->options.format;
    if (client_format_carries(format, (enum swagg_type)r->type, (enum swagg_op)r->op))
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "a job with options.numbers = %s has no %s of %s, but sum and avg of f32 and f16%s: open "
        "one with SWAGG_NUMBERS_NATIVE for others",
        format == SML_FORMAT_INT32 ? "SWAGG_NUMBERS_INT32" : "SWAGG_NUMBERS_FP16",
        describe_op((enum swagg_op)r->op), describe_type((enum swagg_type)r->type, (enum swagg_op)r->op),
        format == SML_FORMAT_INT32 ? ", and sum of int32" : "");
}

static int check_segment(const struct request *r, size_t i, size_t element, bool receives)
{
    const struct swagg_segment *s = &r->segments[i];
    char prefix[PREFIX_MAX];
    if (s->count > (PTRDIFF_MAX - r->count * element) / element)
        return client_fail(SWAGG_ERR_ARGUMENT, "%scount is %zu: so many elements fit no address space",
                           prefix_of(r, i, prefix), s->count);
    if (s->count > 0 && !s->send)
        return client_fail(SWAGG_ERR_ARGUMENT, "%ssend is NULL and count is not 0", prefix_of(r, i, prefix));
    if (s->count > 0 && receives && !s->recv)
        return client_fail(SWAGG_ERR_ARGUMENT, "%srecv is NULL and count is not 0", prefix_of(r, i, prefix));
    return SWAGG_OK;
}

static int check_segments(const struct swagg_job *job, struct request *r, size_t element)
{
    if (r->n > 0 && !r->segments)
        return client_fail(SWAGG_ERR_ARGUMENT, "segments is NULL and n is not 0");
    r->count = 0;
    for (size_t i = 0; i < r->n; i++) {
        int rc = check_segment(r, i, element, receives(job, r));
        if (rc < 0)
            return rc;
        r->count += r->segments[i].count;
    }
    return SWAGG_OK;
}

static int check_overlaps(const struct swagg_job *job, const struct request *r, size_t element)
{
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

int request_check(struct swagg_job *job, struct request *r)
{
    int rc = check_pair(r);
    if (rc < 0 || (rc = check_numbers(job, r)) < 0)
        return rc;
    size_t element = agg_element_size((unsigned)r->type, (unsigned)r->op);
    if (r->root < 0 || r->root >= job->options.size)
        return client_fail(SWAGG_ERR_ARGUMENT, "root is %d: it must be 0 to %d", r->root,
                           job->options.size - 1);
    if ((rc = check_segments(job, r, element)) < 0 || (r->is_vector && (rc = job_make_room(job, r->n)) < 0))
        return rc;
    return check_overlaps(job, r, element);
}
