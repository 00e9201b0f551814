/* The vector kernels of the floating-point types of 16 bits: computed in float32, half a vector of a chunk at
 * a time. What is left at the end of an accumulator is the scalar kernels'. */
#ifndef SWAGG_CORE_KERNELS_VECTOR_HALVES_H
#define SWAGG_CORE_KERNELS_VECTOR_HALVES_H

#include "kernels/vector_numbers.h"

/* To nearest even; NaN stays NaN, and becomes a quiet one. */
INLINE halves narrow_BF16(F32_vector v)
{
    const U32_vector bits = (U32_vector)v;
    const U32_vector rounded = bits + 0x7fff + (bits >> 16 & 1);
    const U32_vector whole = SELECT(U32_vector, v == v, rounded, bits | 0x400000);

    return __builtin_convertvector(whole >> 16, halves);
}

INLINE F32_vector widen_BF16(halves v)
{
    return (F32_vector)(__builtin_convertvector(v, U32_vector) << 16);
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

#endif
