#include "reference_parts.h"

#include <math.h>
#include <string.h>

unsigned integer_bytes(unsigned type)
{
    static const unsigned bytes[AGG_TYPES] = {
        [AGG_I8] = 1,  [AGG_I16] = 2, [AGG_I32] = 4, [AGG_I64] = 8, [AGG_U8] = 1,
        [AGG_U16] = 2, [AGG_U32] = 4, [AGG_U64] = 8, [AGG_BOOL] = 1};
    return bytes[type];
}

bool integer_is_signed(unsigned type)
{
    return type == AGG_I8 || type == AGG_I16 || type == AGG_I32 || type == AGG_I64;
}

uint64_t integer_get(unsigned type, const void *p)
{
    unsigned bits = 8 * integer_bytes(type);
    uint64_t x = 0;

    memcpy(&x, p, integer_bytes(type));
    if (integer_is_signed(type) && bits < 64 && x >> (bits - 1))
        x |= UINT64_MAX << bits;
    return x;
}

void integer_put(unsigned type, void *p, uint64_t x)
{
    memcpy(p, &x, integer_bytes(type));
}

const struct half half_binary16 = {11, -24, 15, 65504.0}, half_bfloat16 = {8, -133, 127, 0x1.fep127};

double half_get(const struct half *h, uint16_t bits)
{
    const int fraction = h->digits - 1, exponent = (bits & 0x7fff) >> fraction;
    const double rest = bits & ((1 << fraction) - 1), sign = bits >> 15 ? -1 : 1;

    if (exponent == 2 * h->bias + 1)
        return rest == 0 ? sign * INFINITY : NAN;
    if (exponent == 0)
        return sign * ldexp(rest, h->least);
    return sign * ldexp(rest + (1 << fraction), exponent - 1 + h->least);
}

uint16_t half_put(const struct half *h, double x)
{
    const int fraction = h->digits - 1;
    const uint16_t sign = signbit(x) ? 0x8000 : 0, infinite = (uint16_t)((2 * h->bias + 1) << fraction);
    int exponent;

    if (isnan(x))
        return infinite + 1;
    x = fabs(x);
    if (x == 0)
        return sign;
    frexp(x, &exponent);
    int last = exponent - h->digits > h->least ? exponent - h->digits : h->least;
    double units = nearbyint(ldexp(x, -last)); /* to nearest even, as the thread's rounding mode is */
    if (isinf(x) || ldexp(units, last) > h->most)
        return sign | infinite;
    /* Carries go into the exponent as they should. */
    return (uint16_t)(sign | (uint16_t)(units + (double)((last - h->least) * (1 << fraction))));
}

unsigned parts_of(unsigned code, unsigned types[2])
{
    const unsigned type = code & 15, op = code >> 4;

    types[0] = type == AGG_C64 ? AGG_F32 : type == AGG_C128 ? AGG_F64 : type;
    types[1] = op == AGG_MINLOC || op == AGG_MAXLOC ? AGG_I32 : types[0];
    return op >= AGG_MINLOC || types[0] != type ? 2 : 1;
}

size_t part_bytes(unsigned type)
{
    return half_is(type) ? 2 : type == AGG_F32 ? 4 : type == AGG_F64 ? 8 : integer_bytes(type);
}

long double part_get(unsigned type, const void *p)
{
    uint16_t half;
    float f;
    double d;

    switch (type) {
    case AGG_F16:
    case AGG_BF16:
        memcpy(&half, p, sizeof half);
        return (long double)half_get(half_of(type), half);
    case AGG_F32:
        memcpy(&f, p, sizeof f);
        return (long double)f;
    case AGG_F64:
        memcpy(&d, p, sizeof d);
        return (long double)d;
    default:
        return integer_is_signed(type) ? (long double)(int64_t)integer_get(type, p)
                                       : (long double)integer_get(type, p);
    }
}
