/* The scalar kernels of pairs of a value and an index. */
#pragma once

#include "kernels/operations.h"
#include "kernels/scalar_loops.h"

static inline int32_t signed_swap(int32_t x)
{
    return (int32_t)__builtin_bswap32((uint32_t)x);
}

/* A pair lies in memory like the C struct; what is between value and index is ignored, and stored as zero. */
#define DEFINE_PAIR_KIND(kind, value, index, swap)                                                           \
    typedef struct {                                                                                         \
        value v;                                                                                             \
        index k;                                                                                             \
    } value_##kind;                                                                                          \
    enum { bytes_##kind = sizeof(value_##kind), index_at_##kind = offsetof(value_##kind, k) };               \
                                                                                                             \
    static inline value_##kind load_##kind(const void *chunk, size_t at)                                     \
    {                                                                                                        \
        value_##kind x;                                                                                      \
        memcpy(&x, (const uint8_t *)chunk + at, sizeof x);                                                   \
        return (value_##kind){swap(x.v), swap(x.k)};                                                         \
    }                                                                                                        \
                                                                                                             \
    static inline void store_##kind(void *chunk, size_t at, value_##kind x)                                  \
    {                                                                                                        \
        const value v = swap(x.v);                                                                           \
        const index k = swap(x.k);                                                                           \
        uint8_t *to = (uint8_t *)chunk + at;                                                                 \
        memset(to, 0, bytes_##kind);                                                                         \
        memcpy(to, &v, sizeof v);                                                                            \
        memcpy(to + index_at_##kind, &k, sizeof k);                                                          \
    }

DEFINE_PAIR_KIND(LOC_I16, int16_t, int32_t, SAME)
DEFINE_PAIR_KIND(LOC_I32, int32_t, int32_t, signed_swap)
DEFINE_PAIR_KIND(LOC_I64, int64_t, int32_t, SAME)
DEFINE_PAIR_KIND(LOC_F32, float, int32_t, SAME)
DEFINE_PAIR_KIND(LOC_F64, double, int32_t, SAME)
DEFINE_PAIR_KIND(PAIR_I64, int64_t, int64_t, SAME)
DEFINE_PAIR_KIND(PAIR_F32, float, float, SAME)
DEFINE_PAIR_KIND(PAIR_F64, double, double, SAME)

/* a is what has been folded, b the next contribution. Of equal values the lower index. */
#define DEFINE_PAIR(order, index, type)                                                                      \
    static inline value_##index##_##type combine_##order##index##_##type(value_##index##_##type a,           \
                                                                         value_##index##_##type b)           \
    {                                                                                                        \
        if (FIRST_##order(a.v, b.v))                                                                         \
            return a;                                                                                        \
        if (a.v == b.v && !(b.k < a.k))                                                                      \
            b.k = a.k;                                                                                       \
        return b;                                                                                            \
    }                                                                                                        \
    DEFINE_FOLD(order##index##_##type, index##_##type)                                                       \
    DEFINE_REDUCE(order##index##_##type, index##_##type, AS_IS)
AGG_PAIR_KERNELS(DEFINE_PAIR)
