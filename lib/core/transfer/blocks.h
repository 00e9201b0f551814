/* How a call travels where packets have exponents (docs/protocol.md, "SwitchML's numbers"): the tensor is cut
 * into blocks, and packet i of a call carries the numbers of block i - lead and the exponent of block i. So
 * the exponent that all ranks scale a block by has come back before the block leaves. Pure. */
#pragma once

#include <stdbool.h>

#include "numbers/numbers.h"
#include "transfer/segments.h"
#include "wire/transfer.h"

struct xfer_blocks {
    size_t element;  /* bytes that one takes in the tensor */
    size_t on_wire;  /* ... and in a packet */
    uint64_t block;  /* elements of one block, but for the last */
    uint64_t blocks; /* at least 1: an empty tensor has one of no elements */
    uint64_t lead; /* by how many packets an exponent is ahead; 0: the numbers are integers, and have none */
};

/* The code (kernels.h) of what a packet of a format carries; e0: its byte 8. */
static inline uint8_t xfer_elements_code(enum xfer_format format, uint8_t e0)
{
    switch (format) {
    case XFER_FORMAT_INT32:
        return agg_code(AGG_I32, AGG_SUM);
    case XFER_FORMAT_FP16:
        return agg_code(AGG_F16, AGG_SUM);
    default:
        return e0;
    }
}

/* Whether a format with exponents carries such calls. */
bool xfer_blocks_carry(enum xfer_format format, unsigned type, unsigned op);

/* Of a call that is carried. */
struct xfer_blocks xfer_blocks_of(enum xfer_format format, size_t chunk_bytes, uint32_t slots,
                                  const struct xfer_call *call);

/* How many packets that takes. */
static inline uint64_t xfer_blocks_packets(const struct xfer_blocks *b)
{
    return b->blocks + b->lead;
}

/* The bytes of the tensor that packet i carries; none: *bytes is 0. */
void xfer_blocks_span(const struct xfer_blocks *b, uint64_t count, uint64_t i, uint64_t *offset,
                      size_t *bytes);

/* The loops for a call's numbers, and what they multiply by. */
struct xfer_scale {
    const struct num_loops *loops;
    enum num_wire wire;
    enum num_type type;
    struct num_scale factor;
    bool of_sums; /* that are handed back: see num_out_sums */
};

struct xfer_scale xfer_scale_of(const struct num_loops *loops, enum xfer_format format,
                                const struct xfer_call *call, unsigned ranks, int8_t exponent);

/* The same for the call's sums, which a rank hands back: numbers of which all make these sums again. */
void xfer_scale_sums(struct xfer_scale *s, const struct xfer_call *call, unsigned ranks);

/* The exponent of the elements. bytes > 0 */
int8_t xfer_blocks_exponent(const struct num_loops *loops, const struct xfer_call *call,
                            const struct xfer_pieces *p);

/* As xfer_pieces_gather and xfer_pieces_scatter, scaled. */
void xfer_scale_gather(const struct xfer_scale *s, const struct xfer_pieces *p, void *wire);
void xfer_scale_scatter(const struct xfer_scale *s, const struct xfer_pieces *p, const void *wire);
