#include "mpitcp/neutral.h"

#include <stdbool.h>

#include "kernels/kernels.h"

/* Numbers of each type as little endian bits: of which x + zero is x (for floats only -0.0 is that, since 0.0
 * + -0.0 is 0.0), one, the greatest and the least. */
static const struct number {
    uint8_t type, bytes;
    bool is_float;
    uint64_t zero, one, greatest, least;
} numbers[] = {
    {AGG_F32, 4, true, 0x80000000, 0x3f800000, 0x7f800000, 0xff800000},
    {AGG_F64, 8, true, UINT64_C(1) << 63, UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff0000000000000),
     UINT64_C(0xfff0000000000000)},
    {AGG_I8, 1, false, 0, 1, INT8_MAX, 0x80},
    {AGG_U8, 1, false, 0, 1, UINT8_MAX, 0},
    {AGG_I16, 2, false, 0, 1, INT16_MAX, 0x8000},
    {AGG_U16, 2, false, 0, 1, UINT16_MAX, 0},
    {AGG_I32, 4, false, 0, 1, INT32_MAX, 0x80000000},
    {AGG_U32, 4, false, 0, 1, UINT32_MAX, 0},
    {AGG_I64, 8, false, 0, 1, INT64_MAX, UINT64_C(1) << 63},
    {AGG_U64, 8, false, 0, 1, UINT64_MAX, 0},
};

static bool neutral_of(const struct number *n, unsigned op, uint64_t *value)
{
    switch (op) {
    case AGG_SUM:
        *value = n->zero;
        return true;
    case AGG_PROD:
        *value = n->one;
        return true;
    case AGG_MIN:
        *value = n->greatest;
        return true;
    case AGG_MAX:
        *value = n->least;
        return true;
    case AGG_BAND:
        *value = UINT64_MAX;
        return !n->is_float;
    case AGG_BOR:
    case AGG_BXOR:
        *value = 0;
        return !n->is_float;
    default:
        return false;
    }
}

/* int32's kernels are for its order on SwitchML's wire; what does not depend on the sign is uint32's, too. */
static bool kernel_of(unsigned type, unsigned op, uint8_t *code)
{
    const bool signless = op != AGG_MIN && op != AGG_MAX;

    *code = agg_code(type == AGG_I32 ? AGG_U32 : type, op);
    return type != AGG_I32 || signless;
}

size_t mtp_neutral(unsigned type, unsigned op, uint8_t element[MTP_ELEMENT_MAX], uint8_t *code)
{
    uint64_t value;

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const struct number *n = &numbers[i];

        if (n->type != type || !neutral_of(n, op, &value) || !kernel_of(type, op, code))
            continue;
        for (unsigned b = 0; b < n->bytes; b++)
            element[b] = (uint8_t)(value >> 8 * b);
        return n->bytes;
    }
    return 0;
}
