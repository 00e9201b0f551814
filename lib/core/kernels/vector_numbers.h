/* The vector kernels of numbers: a is what has been folded, b the next contribution. */
#pragma once

#include "kernels/vector_lanes.h"

/* Unsigned arithmetic for the integers: they wrap. */
DEFINE_KIND(I8, uint8_t, 1, SAME, SAME)
DEFINE_KIND(I16, uint16_t, 2, SAME, SAME)
DEFINE_KIND(I32, uint32_t, 4, swap_i32, swap_i32)
DEFINE_KIND(I64, uint64_t, 8, SAME, SAME)
DEFINE_KIND(U8, uint8_t, 1, SAME, SAME)
DEFINE_KIND(U16, uint16_t, 2, SAME, SAME)
DEFINE_KIND(U32, uint32_t, 4, SAME, SAME)
DEFINE_KIND(U64, uint64_t, 8, SAME, SAME)
DEFINE_KIND(F32, float, 4, SAME, SAME)
DEFINE_KIND(F64, double, 8, SAME, SAME)
DEFINE_KIND(C64, float, 8, SAME, SAME)
DEFINE_KIND(C128, double, 16, SAME, SAME)

typedef int8_t I8_signed __attribute__((vector_size(VECTOR_BYTES)));
typedef int16_t I16_signed __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t I32_signed __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t I64_signed __attribute__((vector_size(VECTOR_BYTES)));

/* As a kind's numbers compare. */
#define ORDER_I8(v)  ((I8_signed)(v))
#define ORDER_I16(v) ((I16_signed)(v))
#define ORDER_I32(v) ((I32_signed)(v))
#define ORDER_I64(v) ((I64_signed)(v))

/* Where neither is less, one being NaN or both zero, a stays. */
#define DO_MIN(kind, a, b) SELECT(kind##_vector, ORDER_##kind(b) < ORDER_##kind(a), b, a)
#define DO_MAX(kind, a, b) SELECT(kind##_vector, ORDER_##kind(b) > ORDER_##kind(a), b, a)
/* Comparing gives lanes of ones. */
#define DO_LAND(kind, a, b) ((kind##_vector)(((a) != 0) & ((b) != 0)) & 1)
#define DO_LOR(kind, a, b)  ((kind##_vector)(((a) | (b)) != 0) & 1)
#define DO_LXOR(kind, a, b) ((kind##_vector)(((a) != 0) ^ ((b) != 0)) & 1)

/* Lanes are real and imaginary parts in turn: re a * b in both parts, im a * b with b's parts changed. */
#define DEFINE_TIMES(kind, lane)                                                                             \
    INLINE kind##_vector TIMES_##kind(kind##_vector a, kind##_vector b)                                      \
    {                                                                                                        \
        const kind##_vector re = LANES(a, lane, FIRST_OF) * b;                                               \
        const kind##_vector im = LANES(a, lane, SECOND_OF) * LANES(b, lane, OTHER_OF);                       \
        return SELECT(kind##_vector, SECOND_MASK_##lane, re + im, re - im);                                  \
    }
DEFINE_TIMES(C64, 32)
DEFINE_TIMES(C128, 64)

#define DEFINE_COMBINE(op, kind)                                                                             \
    INLINE kind##_vector combine_##op##_##kind(kind##_vector a, kind##_vector b)                             \
    {                                                                                                        \
        return DO_##op(kind, a, b);                                                                          \
    }

#define DEFINE_NUMBER(op, kind)                                                                              \
    DEFINE_COMBINE(op, kind)                                                                                 \
    DEFINE_REDUCE(op##_##kind, kind, op, kind, AS_IS)                                                        \
    DEFINE_FOLD(op##_##kind, kind, op, kind)
