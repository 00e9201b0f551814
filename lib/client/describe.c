#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

const char *describe_trouble(int error, char text[DESCRIBE_TROUBLE_MAX])
{
    text[0] = '\0';
    if (error != 0)
        snprintf(text, DESCRIBE_TROUBLE_MAX, "; this host's last error on the way there: %s (errno %d)",
                 strerror(error), error);
    return text;
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

/* What a rank called, if its opening packet told, or else what it sent. */
static void describe_side(unsigned rank, const struct sml_call *call, unsigned e0, unsigned bytes,
                          char text[DESCRIBE_CALL_MAX + 32])
{
    char called[DESCRIBE_CALL_MAX];
    if (call->collective)
        snprintf(text, DESCRIBE_CALL_MAX + 32, "rank %u called %s", rank, describe_call(call, called));
    else
        snprintf(text, DESCRIBE_CALL_MAX + 32, "rank %u sent %u bytes of %s (%s)", rank, bytes,
                 type_name(e0 & 15), op_name(e0 >> 4));
}

const char *describe_mismatch(const struct sml_mismatch *m, char text[DESCRIBE_MISMATCH_MAX])
{
    char yours[DESCRIBE_CALL_MAX + 32], peers[DESCRIBE_CALL_MAX + 32];
    describe_side(m->your_rank, &m->yours, m->your_e0, m->your_bytes, yours);
    describe_side(m->peer_rank, &m->peers, m->peer_e0, m->peer_bytes, peers);
    /* Calls that look alike differ in their number: one rank is a call ahead. */
    int used = snprintf(text, DESCRIBE_MISMATCH_MAX, "%s, %s", yours, peers);
    if (describe_knows_calls(m) && m->yours.seq != m->peers.seq)
        snprintf(text + used, (size_t)(DESCRIBE_MISMATCH_MAX - used),
                 " (their calls %" PRIu32 " and %" PRIu32 ")", m->yours.seq, m->peers.seq);
    return text;
}
