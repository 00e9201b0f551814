/* The vector kernels of the floating-point types of 16 bits. Sums and products are computed in float32, half
 * a vector of a chunk at a time; what is left at the end of an accumulator is the scalar kernels'. The least
 * and the greatest are found without: the bits compare as the numbers do, once their sign is seen to. */
#pragma once

#include "kernels/vector_numbers.h"

/* To nearest even; NaN stays NaN, and becomes a quiet one. */
INLINE halves narrow_BF16(F32_vector v)
{
    const U32_vector bits = (U32_vector)v;
    const U32_vector rounded = bits + 0x7fff + (bits >> 16 & 1);
    const U32_vector whole = SELECT(U32_vector, v == v, rounded, bits | 0x400000);

    return narrow_U32(whole >> 16);
}

INLINE F32_vector widen_BF16(halves v)
{
    return (F32_vector)(widen_U16(v) << 16);
}

#define DEFINE_HALF_KIND(kind)                                                                               \
    typedef F32_vector kind##_vector;                                                                        \
    enum { element_##kind = sizeof(uint16_t), step_##kind = sizeof(halves) };                                \
                                                                                                             \
    INLINE F32_vector load_##kind(const void *chunk, size_t at)                                              \
    {                                                                                                        \
        halves v;                                                                                            \
        memcpy(&v, (const uint8_t *)chunk + at, sizeof v);                                                   \
        return widen_##kind(v);                                                                              \
    }                                                                                                        \
                                                                                                             \
    INLINE void store_##kind(void *chunk, size_t at, F32_vector x)                                           \
    {                                                                                                        \
        halves v = narrow_##kind(x);                                                                         \
        memcpy((uint8_t *)chunk + at, &v, sizeof v);                                                         \
    }                                                                                                        \
                                                                                                             \
    static void start_##kind(void *acc, const void *in, size_t bytes)                                        \
    {                                                                                                        \
        size_t at = 0;                                                                                       \
        for (; at + step_##kind <= bytes; at += step_##kind)                                                 \
            store_F32(acc, 2 * at, load_##kind(in, at));                                                     \
        agg_kernels_scalar.operations[AGG_SUM << 4 | AGG_##kind].start(                                      \
            (uint8_t *)acc + 2 * at, (const uint8_t *)in + at, bytes - at);                                  \
    }
DEFINE_HALF_KIND(F16)
DEFINE_HALF_KIND(BF16)

#define DEFINE_WIDE(op, kind)                                                                                \
    DEFINE_COMBINE(op, kind)                                                                                 \
    DEFINE_REDUCE(op##_##kind, kind, op, kind, CLOSE_##op)                                                   \
                                                                                                             \
    static void fold_##op##_##kind(void *acc, const void *in, size_t bytes)                                  \
    {                                                                                                        \
        size_t at = 0;                                                                                       \
        for (; at + step_##kind <= bytes; at += step_##kind)                                                 \
            store_F32(acc, 2 * at, combine_##op##_##kind(load_F32(acc, 2 * at), load_##kind(in, at)));       \
        agg_kernels_scalar.operations[AGG_##op << 4 | AGG_##kind].fold(                                      \
            (uint8_t *)acc + 2 * at, (const uint8_t *)in + at, bytes - at);                                  \
    }                                                                                                        \
                                                                                                             \
    static void finish_##op##_##kind(void *out, const void *acc, unsigned n, size_t bytes)                   \
    {                                                                                                        \
        size_t at = 0;                                                                                       \
        for (; at + step_##kind <= bytes; at += step_##kind)                                                 \
            store_##kind(out, at, CLOSE_##op(load_F32(acc, 2 * at), n));                                     \
        agg_kernels_scalar.operations[AGG_##op << 4 | AGG_##kind].finish(                                    \
            (uint8_t *)out + at, (const uint8_t *)acc + 2 * at, n, bytes - at);                              \
    }

INLINE I16_signed magnitude_of_halves(U16_vector v)
{
    return (I16_signed)(v & 0x7fff);
}

/* Integers in the order of the numbers, the two zeros equal. */
INLINE I16_signed order_of_halves(U16_vector v)
{
    const I16_signed sign = (I16_signed)v >> 15; /* 0 or -1 */

    return (magnitude_of_halves(v) ^ sign) - sign;
}

enum { INFINITY_F16 = 0x7c00, INFINITY_BF16 = 0x7f80 }; /* the magnitudes of NaN are greater */

/* Where neither is first, one being NaN or both zero, a stays. */
#define DEFINE_ORDERED_HALF(op, type)                                                                        \
    INLINE U16_vector combine_##op##_##type(U16_vector a, U16_vector b)                                      \
    {                                                                                                        \
        const I16_signed numbers =                                                                           \
            (magnitude_of_halves(a) <= INFINITY_##type) & (magnitude_of_halves(b) <= INFINITY_##type);       \
        const I16_signed first = FIRST_##op(order_of_halves(b), order_of_halves(a));                         \
        return SELECT(U16_vector, first & numbers, b, a);                                                    \
    }                                                                                                        \
    DEFINE_REDUCE(op##_##type, U16, op, type, AS_IS)                                                         \
    DEFINE_FOLD(op##_##type, U16, op, type)
