/* The floating-point types of 16 bits to float and back, to nearest even, without branches, so that loops of
 * them become vectors. NaN stays NaN, and on its way back becomes a quiet one. */
#pragma once

#include <stdint.h>
#include <string.h>

static inline float agg_float_of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t agg_bits_of_float(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float agg_half_to_float(uint16_t half)
{
    const uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    /* The exponents' biases differ by 112. A denormal half has no denormal float on the way: there are
     * threads that take those for zeros. */
    const uint32_t normal = magnitude + (UINT32_C(112) << 23);
    const uint32_t denormal = agg_bits_of_float(agg_float_of_bits(magnitude | 0x38800000) - 0x1p-14f);
    const uint32_t finite = magnitude < 0x00800000 ? denormal : normal;
    const uint32_t not_finite = magnitude | 0x7f800000;

    return agg_float_of_bits((magnitude < 0x0f800000 ? finite : not_finite) | sign);
}

static inline uint16_t agg_float_to_half(float x)
{
    const uint32_t bits = agg_bits_of_float(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    /* Beside 0.5 the last bit that a float has is 2^-24, the smallest half: the addition rounds. */
    const uint32_t denormal = agg_bits_of_float(agg_float_of_bits(magnitude) + 0.5f) - 0x3f000000;
    uint32_t half = magnitude < 0x38800000 ? denormal : normal;

    half = magnitude < 0x477ff000 ? half : 0x7c00; /* rounds to 2^16 */
    half = magnitude <= 0x7f800000 ? half : 0x7e00;
    return (uint16_t)(half | sign);
}

/* bfloat16: the upper half of a float. */
static inline float agg_bf16_to_float(uint16_t half)
{
    return agg_float_of_bits((uint32_t)half << 16);
}

static inline uint16_t agg_float_to_bf16(float x)
{
    const uint32_t bits = agg_bits_of_float(x), rounded = bits + 0x7fff + (bits >> 16 & 1);

    return (uint16_t)((bits & 0x7fffffff) <= 0x7f800000 ? rounded >> 16 : bits >> 16 | 0x40);
}
