#include "transfer/blocks.h"

static enum num_type type_of(const struct xfer_call *call)
{
    return call->type == AGG_F32 ? NUM_F32 : NUM_F16;
}

static enum num_wire wire_of(enum xfer_format format)
{
    return format == XFER_FORMAT_INT32 ? NUM_INT32 : NUM_FP16;
}

bool xfer_blocks_carry(enum xfer_format format, unsigned type, unsigned op)
{
    if (type == AGG_I32)
        return format == XFER_FORMAT_INT32 && op == AGG_SUM;
    return (type == AGG_F32 || type == AGG_F16) && (op == AGG_SUM || op == AGG_AVG);
}

struct xfer_blocks xfer_blocks_of(enum xfer_format format, size_t chunk_bytes, uint32_t slots,
                                  const struct xfer_call *call)
{
    const bool integers = call->type == AGG_I32;
    struct xfer_blocks b = {
        .element = integers ? sizeof(int32_t) : num_type_bytes(type_of(call)),
        .on_wire = num_wire_bytes(wire_of(format)),
    };

    b.block = chunk_bytes / b.on_wire;
    b.blocks = call->count == 0 ? 1 : (call->count - 1) / b.block + 1;
    if (!integers && call->count > 0)
        b.lead = b.blocks < slots ? b.blocks : slots;
    return b;
}

void xfer_blocks_span(const struct xfer_blocks *b, uint64_t count, uint64_t i, uint64_t *offset,
                      size_t *bytes)
{
    const uint64_t first = (i - b->lead) * b->block, rest = count - first;

    *offset = 0;
    *bytes = 0;
    if (i < b->lead || i - b->lead >= b->blocks)
        return;
    *offset = first * b->element;
    *bytes = (size_t)(rest < b->block ? rest : b->block) * b->element;
}

struct xfer_scale xfer_scale_of(const struct num_loops *loops, enum xfer_format format,
                                const struct xfer_call *call, unsigned ranks, int8_t exponent)
{
    struct xfer_scale s = {.loops = loops,
                           .wire = wire_of(format),
                           .type = type_of(call),
                           .factor = num_scale(wire_of(format), ranks, exponent)};

    if (call->op == AGG_AVG)
        s.factor.back /= ranks;
    return s;
}

void xfer_scale_sums(struct xfer_scale *s, const struct xfer_call *call, unsigned ranks)
{
    s->of_sums = true;
    if (call->op == AGG_AVG)
        s->factor.out *= ranks;
}

int8_t xfer_blocks_exponent(const struct num_loops *loops, const struct xfer_call *call,
                            const struct xfer_pieces *p)
{
    const enum num_type type = type_of(call);
    struct xfer_pieces rest = *p;
    int8_t most = NUM_NO_BLOCK;

    for (;; xfer_pieces_pass(&rest)) {
        const size_t bytes = xfer_pieces_first(&rest);
        const int8_t e = loops->exponent[type](xfer_pieces_at(&rest), bytes / num_type_bytes(type));

        most = e > most ? e : most;
        if (xfer_pieces_whole(&rest))
            return most;
    }
}

void xfer_scale_gather(const struct xfer_scale *s, const struct xfer_pieces *p, void *wire)
{
    struct xfer_pieces rest = *p;
    uint8_t *to = wire;

    for (;; xfer_pieces_pass(&rest)) {
        const size_t n = xfer_pieces_first(&rest) / num_type_bytes(s->type);

        if (s->of_sums)
            num_out_sums(s->loops, s->wire, s->type, to, xfer_pieces_at(&rest), n, &s->factor);
        else
            s->loops->out[s->wire][s->type](to, xfer_pieces_at(&rest), n, s->factor.out);
        if (xfer_pieces_whole(&rest))
            return;
        to += n * num_wire_bytes(s->wire);
    }
}

void xfer_scale_scatter(const struct xfer_scale *s, const struct xfer_pieces *p, const void *wire)
{
    num_back_fn *back = s->loops->back[s->wire][s->type];
    struct xfer_pieces rest = *p;
    const uint8_t *from = wire;

    for (;; xfer_pieces_pass(&rest)) {
        const size_t n = xfer_pieces_first(&rest) / num_type_bytes(s->type);

        back(xfer_pieces_out(&rest), from, n, s->factor.back);
        if (xfer_pieces_whole(&rest))
            return;
        from += n * num_wire_bytes(s->wire);
    }
}
