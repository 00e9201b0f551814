#include "atp_numbers.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "random.h"
#include "transfer/blocks.h"

static const struct {
    uint8_t type, op;
} kinds[] = {
    {AGG_I32, AGG_SUM}, {AGG_F32, AGG_SUM},  {AGG_I64, AGG_SUM}, {AGG_U8, AGG_MAX},  {AGG_F64, AGG_MIN},
    {AGG_F16, AGG_SUM}, {AGG_U32, AGG_BXOR}, {AGG_I32, AGG_SUM}, {AGG_I16, AGG_BOR},
};

enum { KINDS = sizeof kinds / sizeof *kinds, VALUES = 8 };

/* What numbers that are scaled to int32 may lack. */
static const double ROUNDING = 1.0 / 1024;

struct xfer_call atp_numbers_call(uint64_t seed, unsigned call, unsigned workers, unsigned most,
                                  enum xfer_format format)
{
    uint64_t x = splitmix_hash(seed + call);
    const bool reduce = x >> 32 & 1;

    while (xfer_has_exponents(format) &&
           !xfer_blocks_carry(format, kinds[x % KINDS].type, kinds[x % KINDS].op))
        x++;

    return (struct xfer_call){.seq = call,
                              .collective = reduce ? XFER_REDUCE : XFER_ALLREDUCE,
                              .type = kinds[x % KINDS].type,
                              .op = kinds[x % KINDS].op,
                              .root = reduce ? (uint32_t)(x >> 33) % workers : 0,
                              .count = splitmix_hash(x) % (most + 1u)};
}

static unsigned value(const struct xfer_call *call, uint64_t seed, unsigned rank, uint64_t i)
{
    return (unsigned)(splitmix_hash(seed ^ (uint64_t)call->seq << 40 ^ (uint64_t)rank << 32 ^ i) % VALUES);
}

static uint16_t half_of(unsigned v)
{
    static const uint16_t halves[VALUES] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};

    return halves[v];
}

/* Of a whole number below 2048. */
static int64_t of_half(uint16_t h)
{
    return h == 0 ? 0 : (1024 + (h & 1023)) >> (25 - (h >> 10));
}

static void put(uint8_t type, void *at, uint64_t i, unsigned v)
{
    switch (type) {
    case AGG_I32:
    case AGG_U32:
        ((uint32_t *)at)[i] = v;
        return;
    case AGG_I64:
        ((int64_t *)at)[i] = v;
        return;
    case AGG_F32:
        ((float *)at)[i] = (float)v;
        return;
    case AGG_F64:
        ((double *)at)[i] = v;
        return;
    case AGG_F16:
        ((uint16_t *)at)[i] = half_of(v);
        return;
    case AGG_I16:
        ((uint16_t *)at)[i] = (uint16_t)v;
        return;
    default:
        ((uint8_t *)at)[i] = (uint8_t)v;
    }
}

static double get(uint8_t type, const void *at, uint64_t i)
{
    switch (type) {
    case AGG_I32:
    case AGG_U32:
        return ((const int32_t *)at)[i];
    case AGG_I64:
        return (double)((const int64_t *)at)[i];
    case AGG_F32:
        return ((const float *)at)[i];
    case AGG_F64:
        return ((const double *)at)[i];
    case AGG_F16:
        return (double)of_half(((const uint16_t *)at)[i]);
    case AGG_I16:
        return ((const int16_t *)at)[i];
    default:
        return ((const uint8_t *)at)[i];
    }
}

static int64_t combine(uint8_t op, int64_t a, int64_t b)
{
    switch (op) {
    case AGG_MIN:
        return a < b ? a : b;
    case AGG_MAX:
        return a > b ? a : b;
    case AGG_BXOR:
        return a ^ b;
    case AGG_BOR:
        return a | b;
    default:
        return a + b;
    }
}

void atp_numbers_fill(const struct xfer_call *call, uint64_t seed, unsigned rank, void *in)
{
    for (uint64_t i = 0; i < call->count; i++)
        put(call->type, in, i, value(call, seed, rank, i));
}

bool atp_numbers_hold(const struct xfer_call *call, uint64_t seed, unsigned workers, enum xfer_format format,
                      const void *out, uint64_t *at)
{
    const double rounding = format == XFER_FORMAT_INT32 && call->type == AGG_F32 ? ROUNDING : 0;

    for (uint64_t i = 0; i < call->count; i++) {
        int64_t expected = value(call, seed, 0, i);
        for (unsigned rank = 1; rank < workers; rank++)
            expected = combine(call->op, expected, value(call, seed, rank, i));
        *at = i;
        if (!(fabs(get(call->type, out, i) - (double)expected) <= rounding))
            return false;
    }
    return true;
}
