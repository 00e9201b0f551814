/* How a call travels where packets have exponents (docs/protocol.md, "SwitchML's numbers"): the tensor is cut
 * into blocks, and packet i of a call carries the numbers of block i - lead and the exponent of block i. So
 * the exponent that all ranks scale a block by has come back before the block leaves. Pure. */
#ifndef SWAGG_CORE_SWITCHML_BLOCKS_H
#define SWAGG_CORE_SWITCHML_BLOCKS_H

#include <stdbool.h>

#include "numbers/numbers.h"
#include "switchml/segments.h"
#include "wire/switchml.h"

struct sml_blocks {
    size_t element;  /* bytes that one takes in the tensor */
    size_t on_wire;  /* ... and in a packet */
    uint64_t block;  /* elements of one block, but for the last */
    uint64_t blocks; /* at least 1: an empty tensor has one of no elements */
    uint64_t lead; /* by how many packets an exponent is ahead; 0: the numbers are integers, and have none */
};

/* The code (kernels.h) of what a packet of a format carries; e0: its byte 8. */
static inline uint8_t sml_elements_code(enum sml_format format, uint8_t e0)
{
    switch (format) {
    case SML_FORMAT_INT32:
        return agg_code(AGG_I32, AGG_SUM);
    case SML_FORMAT_FP16:
        return agg_code(AGG_F16, AGG_SUM);
    default:
        return e0;
    }
}

/* Whether a format with exponents carries such calls. */
bool sml_blocks_carry(enum sml_format format, unsigned type, unsigned op);

/* Of a call that is carried. */
struct sml_blocks sml_blocks_of(enum sml_format format, size_t chunk_bytes, uint32_t slots,
                                const struct sml_call *call);

/* How many packets that takes. */
static inline uint64_t sml_blocks_packets(const struct sml_blocks *b)
{
    return b->blocks + b->lead;
}

/* The bytes of the tensor that packet i carries; none: *bytes is 0. */
void sml_blocks_span(const struct sml_blocks *b, uint64_t count, uint64_t i, uint64_t *offset, size_t *bytes);

/* The loops for a call's numbers, and what they multiply by. */
struct sml_scale {
    const struct num_loops *loops;
    enum num_wire wire;
    enum num_type type;
    struct num_scale factor;
    bool of_sums; /* that are handed back: see num_out_sums */
};

struct sml_scale sml_scale_of(const struct num_loops *loops, enum sml_format format,
                              const struct sml_call *call, unsigned ranks, int8_t exponent);

/* The same for the call's sums, which a rank hands back: numbers of which all make these sums again. */
void sml_scale_sums(struct sml_scale *s, const struct sml_call *call, unsigned ranks);

/* The exponent of the elements. bytes > 0 */
int8_t sml_blocks_exponent(const struct num_loops *loops, const struct sml_call *call,
                           const struct sml_pieces *p);

/* As sml_pieces_gather and sml_pieces_scatter, scaled. */
void sml_scale_gather(const struct sml_scale *s, const struct sml_pieces *p, void *wire);
void sml_scale_scatter(const struct sml_scale *s, const struct sml_pieces *p, const void *wire);

#endif
