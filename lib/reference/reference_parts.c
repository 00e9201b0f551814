#include "reference_parts.h"

#include <math.h>

const struct half half_binary16 = {11, -24, 15, 65504.0}, half_bfloat16 = {8, -133, 127, 0x1.fep127};

/* 2^exponent, from -1022 to 1023: a double with no other bits than those of its exponent. As a factor it is
 * exact; ldexp is, too, but takes most of a test's time. */
static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;

    memcpy(&power, &bits, sizeof power);
    return power;
}

/* x is less than 2 to this, and not less than half of that; what no half comes near counts as 2^-1022. */
static int exponent_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 0x7ff) - 1022;
}

double half_get(const struct half *h, uint16_t bits)
{
    const int fraction = h->digits - 1, exponent = (bits & 0x7fff) >> fraction;
    const double rest = bits & ((1 << fraction) - 1), sign = bits >> 15 ? -1 : 1;

    if (exponent == 2 * h->bias + 1)
        return rest == 0 ? sign * INFINITY : NAN;
    if (exponent == 0)
        return sign * rest * power_of_two(h->least);
    return sign * (rest + (1 << fraction)) * power_of_two(exponent - 1 + h->least);
}

uint16_t half_put(const struct half *h, double x)
{
    const int fraction = h->digits - 1;
    const uint16_t sign = signbit(x) ? 0x8000 : 0, infinite = (uint16_t)((2 * h->bias + 1) << fraction);

    if (isnan(x))
        return infinite + 1;
    x = fabs(x);
    if (x == 0)
        return sign;
    if (isinf(x))
        return sign | infinite;
    const int exponent = exponent_of(x);
    const int last = exponent - h->digits > h->least ? exponent - h->digits : h->least;
    const double units = nearbyint(x * power_of_two(-last)); /* to nearest even, as the rounding mode is */
    if (units * power_of_two(last) > h->most)
        return sign | infinite;
    /* Carries go into the exponent as they should. */
    return (uint16_t)(sign | (uint16_t)(units + (double)((last - h->least) * (1 << fraction))));
}

unsigned parts_of(unsigned code, unsigned types[2])
{
    const unsigned type = agg_code_type(code), op = agg_code_op(code);

    types[0] = type == AGG_C64 ? AGG_F32 : type == AGG_C128 ? AGG_F64 : type;
    types[1] = op == AGG_MINLOC || op == AGG_MAXLOC ? AGG_I32 : types[0];
    return op >= AGG_MINLOC || types[0] != type ? 2 : 1;
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
