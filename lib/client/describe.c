#include "describe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/kernels.h"
#include "switchml/elements.h"
#include "transfer/parts.h"
#include "version.h"

const char *describe_type(enum swagg_type type, enum swagg_op op)
{
    (void)op; /* elements of pairs are known by the operation */
    return agg_type_name(type);
}

const char *describe_op(enum swagg_op op)
{
    return agg_op_name(op);
}

const char *describe_trouble(int error, char text[DESCRIBE_TROUBLE_MAX])
{
    text[0] = '\0';
    if (error != 0)
        snprintf(text, DESCRIBE_TROUBLE_MAX, "; this host's last error on the way there: %s (errno %d)",
                 strerror(error), error);
    return text;
}

static const char *describe_compressed(const struct xfer_call *call, char text[DESCRIBE_CALL_MAX])
{
    if (call->collective == XFER_NORMS)
        snprintf(text, DESCRIBE_CALL_MAX, "a compressed allreduce (of %" PRIu64 " blocks)", call->count);
    else
        snprintf(text, DESCRIBE_CALL_MAX, "a compressed allreduce of %" PRIu64 " float32 (%sto %u bits)",
                 sml_numbers(call->count, call->root), call->root & SML_MEANS ? "avg, " : "",
                 sml_index_bits(call->type));
    return text;
}

const char *describe_call(const struct describe_names *names, const struct xfer_call *call,
                          char text[DESCRIBE_CALL_MAX])
{
    if (call->collective == XFER_NORMS || call->op == SML_LOOK_UP)
        return describe_compressed(call, text);
    const enum swagg_op code = (enum swagg_op)call->op;
    const char *type = names->type((enum swagg_type)call->type, code), *op = names->op(code);
    const char *name = xfer_collective_name(call->collective), *root = xfer_collective_root(call->collective);
    char part[24] = "";
    int used;
    if (call->label != 0)
        snprintf(part, sizeof part, ", part of call %04x", call->label);
    if (call->collective == XFER_BARRIER)
        used = snprintf(text, DESCRIBE_CALL_MAX, "%s", name);
    else if (xfer_copies(call->collective))
        used = snprintf(text, DESCRIBE_CALL_MAX, "%s of %" PRIu64 " bytes", name, call->count);
    else
        used = snprintf(text, DESCRIBE_CALL_MAX, "%s of %" PRIu64 " %s (%s%s)", name, call->count, type, op,
                        part);
    if (root != NULL && used < DESCRIBE_CALL_MAX)
        snprintf(text + used, (size_t)(DESCRIBE_CALL_MAX - used), " %s %" PRIu32, root, call->root);
    if (xfer_has_blocks(call->collective) && used < DESCRIBE_CALL_MAX)
        snprintf(text + used, (size_t)(DESCRIBE_CALL_MAX - used), ", blocks %08" PRIx32, call->root);
    return text;
}

/* What a rank called, if its opening packet is known, or else what it sent. */
static void describe_side(const struct describe_names *names, unsigned rank, const struct xfer_call *call,
                          unsigned e0, unsigned bytes, enum xfer_format format,
                          char text[DESCRIBE_CALL_MAX + 32])
{
    char called[DESCRIBE_CALL_MAX];
    const enum swagg_op op = (enum swagg_op)agg_code_op(e0);
    if (call->collective)
        snprintf(text, DESCRIBE_CALL_MAX + 32, "rank %u called %s", rank, describe_call(names, call, called));
    else if (xfer_has_exponents(format))
        snprintf(text, DESCRIBE_CALL_MAX + 32, "rank %u sent %u bytes", rank, bytes);
    else if (e0 != 0 && sml_looks_up((uint8_t)e0))
        snprintf(text, DESCRIBE_CALL_MAX + 32, "rank %u sent %u bytes of a compressed allreduce", rank,
                 bytes);
    else
        snprintf(text, DESCRIBE_CALL_MAX + 32, "rank %u sent %u bytes of %s (%s)", rank, bytes,
                 names->type((enum swagg_type)agg_code_type(e0), op), names->op(op));
}

const char *describe_mismatch(const struct describe_names *names, const struct xfer_mismatch *m,
                              enum xfer_format format, char text[DESCRIBE_MISMATCH_MAX])
{
    char yours[DESCRIBE_CALL_MAX + 32], peers[DESCRIBE_CALL_MAX + 32];
    describe_side(names, m->your_rank, &m->yours, m->your_e0, m->your_bytes, format, yours);
    describe_side(names, m->peer_rank, &m->peers, m->peer_e0, m->peer_bytes, format, peers);
    /* If the two calls look the same, they differ in their number: one rank is a call ahead. */
    int used = snprintf(text, DESCRIBE_MISMATCH_MAX, "%s, %s", yours, peers);
    if (describe_knows_calls(m) && m->yours.seq != m->peers.seq)
        snprintf(text + used, (size_t)(DESCRIBE_MISMATCH_MAX - used),
                 " (their calls %" PRIu32 " and %" PRIu32 ")", m->yours.seq, m->peers.seq);
    return text;
}

static _Thread_local char last_error[CLIENT_TEXT_MAX];

int client_fail(int status, const char *format, ...)
{
    /* The arguments may point into last_error itself. */
    char text[CLIENT_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(last_error, sizeof last_error, "%s", text);
    return status;
}

const char *swagg_last_error(void)
{
    return last_error;
}

const char *swagg_strerror(int status)
{
    switch (status) {
    case SWAGG_OK:
        return "success";
    case SWAGG_ERR_ARGUMENT:
        return "bad argument";
    case SWAGG_ERR_NO_SWITCH:
        return "no switch";
    case SWAGG_ERR_REFUSED:
        return "refused by the switch";
    case SWAGG_ERR_DEADLINE:
        return "deadline passed";
    case SWAGG_ERR_MISMATCH:
        return "ranks called different collectives";
    case SWAGG_ERR_LOST:
        return "a peer is gone";
    case SWAGG_ERR_ABORTED:
        return "a peer gave up";
    case SWAGG_ERR_SYSTEM:
        return "system call failed";
    case SWAGG_ERR_FULL:
        return "too many calls are posted";
    case SWAGG_IN_PROGRESS:
        return "in progress";
    default:
        return "unknown status";
    }
}

void logger_write(const struct logger *l, enum swagg_log_level level, const char *format, ...)
{
    if (!l->log)
        return;
    char line[CLIENT_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    l->log(l->ctx, level, line);
}

const char *swagg_version(void)
{
    return build_version;
}
