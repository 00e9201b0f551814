#include "perf_types.h"

#include <stdint.h>
#include <string.h>

#define DEFINE_ACCESS(name, element)                                                                         \
    static void set_##name(void *tensor, size_t i, int value)                                                \
    {                                                                                                        \
        ((element *)tensor)[i] = (element)value;                                                             \
    }                                                                                                        \
    static double get_##name(const void *tensor, size_t i)                                                   \
    {                                                                                                        \
        return (double)((const element *)tensor)[i];                                                         \
    }
DEFINE_ACCESS(f32, float)
DEFINE_ACCESS(f64, double)
DEFINE_ACCESS(i32, int32_t)
DEFINE_ACCESS(i64, int64_t)

/* The floats of 16 bits are a float's sign, exponent and first fraction bits; binary16 has an exponent of its
 * own bias. That is all there is to it for integers which the fraction holds. */
enum { BF16_SHIFT = 16, F16_SHIFT = 13, F16_BIAS = 112 << 10 };

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double number_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static void set_bf16(void *tensor, size_t i, int value)
{
    ((uint16_t *)tensor)[i] = (uint16_t)(bits_of((float)value) >> BF16_SHIFT);
}

static double get_bf16(const void *tensor, size_t i)
{
    return number_of((uint32_t)((const uint16_t *)tensor)[i] << BF16_SHIFT);
}

static void set_f16(void *tensor, size_t i, int value)
{
    const uint32_t bits = bits_of((float)value), magnitude = bits & INT32_MAX;

    ((uint16_t *)tensor)[i] =
        (uint16_t)(value == 0 ? 0 : (bits >> 16 & 0x8000) | ((magnitude >> F16_SHIFT) - F16_BIAS));
}

static double get_f16(const void *tensor, size_t i)
{
    const uint32_t bits = ((const uint16_t *)tensor)[i], magnitude = bits & INT16_MAX;

    return magnitude == 0 ? 0 : number_of((bits & 0x8000) << 16 | (magnitude + F16_BIAS) << F16_SHIFT);
}

static const struct perf_type types[] = {
    {"float", SWAGG_F32, 125, set_f32, get_f32}, {"double", SWAGG_F64, 125, set_f64, get_f64},
    {"half", SWAGG_F16, 4, set_f16, get_f16},    {"bfloat16", SWAGG_BF16, 4, set_bf16, get_bf16},
    {"int32", SWAGG_I32, 125, set_i32, get_i32}, {"int64", SWAGG_I64, 125, set_i64, get_i64},
};

const struct perf_type *perf_type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}
