/* The scalar kernels of numbers: a is what has been folded, b the next contribution. */
#pragma once

#include "kernels/operations.h"
#include "kernels/scalar_loops.h"

/* As a kind's numbers compare. */
#define ORDER_I8(x)  ((int8_t)(x))
#define ORDER_I16(x) ((int16_t)(x))
#define ORDER_I32(x) ((int32_t)(x))
#define ORDER_I64(x) ((int64_t)(x))

/* Where neither is less, one being NaN or both zero, a stays. */
#define DO_MIN(kind, a, b)  (ORDER_##kind(b) < ORDER_##kind(a) ? (b) : (a))
#define DO_MAX(kind, a, b)  (ORDER_##kind(b) > ORDER_##kind(a) ? (b) : (a))
#define DO_LAND(kind, a, b) ((a) && (b))
#define DO_LOR(kind, a, b)  ((a) || (b))
#define DO_LXOR(kind, a, b) (!(a) != !(b))

/* By the formula alone: infinities are not put right afterwards, as C's annex G would. */
#define TIMES_C64(a, b)                                                                                      \
    ((struct complex64){(a).re * (b).re - (a).im * (b).im, (a).re * (b).im + (a).im * (b).re})
#define TIMES_C128(a, b)                                                                                     \
    ((struct complex128){(a).re * (b).re - (a).im * (b).im, (a).re * (b).im + (a).im * (b).re})

#define DEFINE_COMBINE(op, kind)                                                                             \
    static inline value_##kind combine_##op##_##kind(value_##kind a, value_##kind b)                         \
    {                                                                                                        \
        return DO_##op(kind, a, b);                                                                          \
    }

#define DEFINE_NUMBER(op, kind)                                                                              \
    DEFINE_COMBINE(op, kind)                                                                                 \
    DEFINE_FOLD(op##_##kind, kind)                                                                           \
    DEFINE_REDUCE(op##_##kind, kind, AS_IS)
AGG_NUMBER_KERNELS(DEFINE_NUMBER)
AGG_ORDERED_HALVES(DEFINE_NUMBER)

/* What is folded in float32: the accumulator's elements are floats. */
#define DEFINE_START(kind)                                                                                   \
    static void start_##kind(void *acc, const void *in, size_t bytes)                                        \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += bytes_##kind)                                                  \
            store_F32(acc, 2 * at, load_##kind(in, at));                                                     \
    }
DEFINE_START(F16)
DEFINE_START(BF16)

#define DEFINE_WIDE(op, kind)                                                                                \
    DEFINE_COMBINE(op, kind)                                                                                 \
    DEFINE_REDUCE(op##_##kind, kind, CLOSE_##op)                                                             \
                                                                                                             \
    static void fold_##op##_##kind(void *acc, const void *in, size_t bytes)                                  \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += bytes_##kind)                                                  \
            store_F32(acc, 2 * at, combine_##op##_##kind(load_F32(acc, 2 * at), load_##kind(in, at)));       \
    }                                                                                                        \
                                                                                                             \
    static void finish_##op##_##kind(void *out, const void *acc, unsigned n, size_t bytes)                   \
    {                                                                                                        \
        (void)n;                                                                                             \
        for (size_t at = 0; at < bytes; at += bytes_##kind)                                                  \
            store_##kind(out, at, CLOSE_##op(load_F32(acc, 2 * at), n));                                     \
    }
AGG_WIDE_KERNELS(DEFINE_WIDE)
