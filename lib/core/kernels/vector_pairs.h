/* The vector kernels of pairs: the first of two lanes is the value, the second the index. Where a pair in
 * memory is no two lanes of one length, loading makes it so. */
#pragma once

#include "kernels/vector_lanes.h"

typedef int32_t signed32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t signed64 __attribute__((vector_size(VECTOR_BYTES)));

/* An int16 and two bytes of padding, then the index. */
INLINE signed32 from_int16(signed32 v)
{
    return SELECT(signed32, SECOND_MASK_32, v, v << 16 >> 16);
}
INLINE signed32 to_int16(signed32 v)
{
    return (signed32)((words)v & UINT64_C(0xffffffff0000ffff));
}

/* The index, and four bytes of padding. */
INLINE signed64 from_int32(signed64 v)
{
    return SELECT(signed64, SECOND_MASK_64, v << 32 >> 32, v);
}
INLINE signed64 to_int32(signed64 v)
{
    return SELECT(signed64, SECOND_MASK_64, (words)v & UINT32_MAX, v);
}

#define SWAP_BOTH(v)  ((signed32)swap_i32((swapped)(v)))
#define FLOAT_FROM(v) ((LOC_F64_vector)from_int32((signed64)(v)))
#define FLOAT_TO(v)   ((LOC_F64_vector)to_int32((signed64)(v)))

DEFINE_KIND(LOC_I16, int32_t, 8, from_int16, to_int16)
DEFINE_KIND(LOC_I32, int32_t, 8, SWAP_BOTH, SWAP_BOTH)
DEFINE_KIND(LOC_I64, int64_t, 16, from_int32, to_int32)
DEFINE_KIND(LOC_F32, float, 8, SAME, SAME)
DEFINE_KIND(LOC_F64, double, 16, FLOAT_FROM, FLOAT_TO)
DEFINE_KIND(PAIR_I64, int64_t, 16, SAME, SAME)
DEFINE_KIND(PAIR_F32, float, 8, SAME, SAME)
DEFINE_KIND(PAIR_F64, double, 16, SAME, SAME)

/* As the indices compare. */
#define INDEX_LOC_I16(v)  (v)
#define INDEX_LOC_I32(v)  (v)
#define INDEX_LOC_I64(v)  (v)
#define INDEX_LOC_F32(v)  ((signed32)(v))
#define INDEX_LOC_F64(v)  ((signed64)(v))
#define INDEX_PAIR_I64(v) (v)
#define INDEX_PAIR_F32(v) (v)
#define INDEX_PAIR_F64(v) (v)

#define LANE_I16 32
#define LANE_I32 32
#define LANE_F32 32
#define LANE_I64 64
#define LANE_F64 64

/* What holds of the values, for both lanes. */
#define OF_VALUES(lane, mask)  OF_VALUES_(lane, mask)
#define OF_VALUES_(lane, mask) first_lanes_##lane((lanes##lane)(mask))
#define SECOND_MASK(lane)      SECOND_MASK_(lane)
#define SECOND_MASK_(lane)     SECOND_MASK_##lane

/* a is what has been folded, b the next contribution. Of equal values the lower index. */
#define DEFINE_PAIR(order, index, type)                                                                      \
    INLINE index##_##type##_vector combine_##order##index##_##type(index##_##type##_vector a,                \
                                                                   index##_##type##_vector b)                \
    {                                                                                                        \
        const words lower = (words)(INDEX_##index##_##type(b) < INDEX_##index##_##type(a));                  \
        const words first = OF_VALUES(LANE_##type, FIRST_##order(a, b));                                     \
        const words equal = OF_VALUES(LANE_##type, (a) == (b));                                              \
        const words of_a = first | (equal & ~lower & SECOND_MASK(LANE_##type));                              \
        return SELECT(index##_##type##_vector, of_a, a, b);                                                  \
    }                                                                                                        \
    DEFINE_REDUCE(order##index##_##type, index##_##type, order##index, type, AS_IS)                          \
    DEFINE_FOLD(order##index##_##type, index##_##type, order##index, type)
