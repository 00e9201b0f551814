#include "describe.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernels/kernels.h"

static const char *type_name(unsigned type)
{
    static const char *const names[AGG_TYPES] = {
        [AGG_I32] = "i32", [AGG_I64] = "i64", [AGG_F32] = "f32", [AGG_F64] = "f64"};
    return type < AGG_TYPES && names[type] ? names[type] : "unknown type";
}

static const char *op_name(unsigned op)
{
    return op == AGG_SUM ? "sum" : "unknown operation";
}

const char *describe_call(const struct sml_call *call, char text[DESCRIBE_CALL_MAX])
{
    const char *type = type_name(call->type), *op = op_name(call->op);
    if (call->collective == SML_REDUCE)
        snprintf(text, DESCRIBE_CALL_MAX, "reduce of %" PRIu64 " %s (%s) to rank %" PRIu32, call->count, type,
                 op, call->root);
    else
        snprintf(text, DESCRIBE_CALL_MAX, "allreduce of %" PRIu64 " %s (%s)", call->count, type, op);
    return text;
}

/* Only the element codes and tags are known: the ranks were in the midst of their calls. */
static void describe_chunks(const struct sml_mismatch *m, char text[DESCRIBE_MISMATCH_MAX])
{
    snprintf(text, DESCRIBE_MISMATCH_MAX,
             "rank %u sent chunk %" PRIu32 " of %s (%s), rank %u sent chunk %" PRIu32 " of %s (%s)",
             m->your_rank, m->your_tag, type_name(m->your_e0 & 15), op_name(m->your_e0 >> 4), m->peer_rank,
             m->peer_tag, type_name(m->peer_e0 & 15), op_name(m->peer_e0 >> 4));
}

const char *describe_mismatch(const struct sml_mismatch *m, char text[DESCRIBE_MISMATCH_MAX])
{
    char yours[DESCRIBE_CALL_MAX], peers[DESCRIBE_CALL_MAX];
    if (!m->opening) {
        describe_chunks(m, text);
        return text;
    }
    /* What the calls look like may be the same, and only their number differ: then that is what to say. */
    int used = snprintf(text, DESCRIBE_MISMATCH_MAX, "rank %u called %s, rank %u called %s", m->your_rank,
                        describe_call(&m->yours, yours), m->peer_rank, describe_call(&m->peers, peers));
    if (m->yours.seq != m->peers.seq)
        snprintf(text + used, (size_t)(DESCRIBE_MISMATCH_MAX - used), " (calls %" PRIu32 " and %" PRIu32 ")",
                 m->yours.seq, m->peers.seq);
    return text;
}
