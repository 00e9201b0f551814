#include "wire/transfer.h"

#include <string.h>

#include "wire/bytes.h"

static const char *const format_names[XFER_FORMATS] = {
    [XFER_FORMAT_TYPED] = "typed", [XFER_FORMAT_INT32] = "int32", [XFER_FORMAT_FP16] = "fp16"};

const char *xfer_format_name(enum xfer_format format)
{
    return format_names[format];
}

enum xfer_format xfer_format_named(const char *name)
{
    enum xfer_format f = 0;

    while (f < XFER_FORMATS && strcmp(format_names[f], name) != 0)
        f++;
    return f;
}

const char *xfer_checksum_name(enum xfer_checksum checksum)
{
    static const char *const names[] = {
        [XFER_CHECKSUM_NONE] = "none", [XFER_CHECKSUM_CRC32C] = "crc32c", [XFER_CHECKSUM_KEYED] = "keyed"};

    return names[checksum];
}

const char *xfer_checksum_mark(enum xfer_checksum checksum)
{
    static const char *const words[] = {
        [XFER_CHECKSUM_NONE] = "", [XFER_CHECKSUM_CRC32C] = " CRC32C", [XFER_CHECKSUM_KEYED] = " keyed"};

    return words[checksum];
}

static const struct {
    const char *name, *root;
} collectives[] = {
    [0] = {"unknown collective", NULL},
    [XFER_ALLREDUCE] = {"allreduce", NULL},
    [XFER_REDUCE] = {"reduce", "to rank"},
    [XFER_NORMS] = {"norms", NULL},
    [XFER_BROADCAST] = {"broadcast", "from rank"},
    [XFER_ALLGATHER] = {"allgather", NULL},
    [XFER_REDUCE_SCATTER] = {"reduce_scatter", NULL},
    [XFER_BARRIER] = {"barrier", NULL},
    [XFER_GATHER] = {"gather", "to rank"},
    [XFER_SCATTER] = {"scatter", "from rank"},
};

static uint8_t known(uint8_t collective)
{
    return collective < sizeof collectives / sizeof *collectives ? collective : 0;
}

const char *xfer_collective_name(uint8_t collective)
{
    return collectives[known(collective)].name;
}

const char *xfer_collective_root(uint8_t collective)
{
    return collectives[known(collective)].root;
}

enum { COUNT_BITS = 48 };

void xfer_build_call(uint8_t out[XFER_CALL_BYTES], const struct xfer_call *c)
{
    put_be32(out, c->seq);
    out[4] = c->collective;
    out[5] = c->type;
    out[6] = c->op;
    out[7] = 0;
    put_be32(out + 8, c->root);
    put_be64(out + 12, (uint64_t)c->label << COUNT_BITS | c->count);
}

bool xfer_parse_call(struct xfer_call *c, const uint8_t *body, size_t bytes)
{
    if (bytes < XFER_CALL_BYTES)
        return false;
    *c = (struct xfer_call){
        .seq = get_be32(body),
        .collective = body[4],
        .type = body[5],
        .op = body[6],
        .root = get_be32(body + 8),
        .count = get_be64(body + 12) & ((UINT64_C(1) << COUNT_BITS) - 1),
        .label = get_be16(body + 12),
    };
    return true;
}

bool xfer_call_equal(const struct xfer_call *a, const struct xfer_call *b)
{
    return a->seq == b->seq && a->collective == b->collective && a->type == b->type && a->op == b->op &&
           a->root == b->root && a->count == b->count && a->label == b->label;
}

void xfer_build_mismatch(uint8_t out[XFER_MISMATCH_BYTES], const struct xfer_mismatch *m)
{
    put_be16(out, m->your_rank);
    put_be16(out + 2, m->peer_rank);
    put_be32(out + 4, m->your_tag);
    put_be32(out + 8, m->peer_tag);
    out[12] = m->your_e0;
    out[13] = m->peer_e0;
    out[14] = m->opening;
    out[15] = 0;
    put_be16(out + 16, m->your_bytes);
    put_be16(out + 18, m->peer_bytes);
    xfer_build_call(out + 20, &m->yours);
    xfer_build_call(out + 20 + XFER_CALL_BYTES, &m->peers);
}

bool xfer_parse_mismatch(struct xfer_mismatch *m, const uint8_t *body, size_t bytes)
{
    if (bytes != XFER_MISMATCH_BYTES)
        return false;
    *m = (struct xfer_mismatch){
        .your_rank = get_be16(body),
        .peer_rank = get_be16(body + 2),
        .your_tag = get_be32(body + 4),
        .peer_tag = get_be32(body + 8),
        .your_e0 = body[12],
        .peer_e0 = body[13],
        .opening = body[14] != 0,
        .your_bytes = get_be16(body + 16),
        .peer_bytes = get_be16(body + 18),
    };
    return xfer_parse_call(&m->yours, body + 20, XFER_CALL_BYTES) &&
           xfer_parse_call(&m->peers, body + 20 + XFER_CALL_BYTES, XFER_CALL_BYTES);
}
