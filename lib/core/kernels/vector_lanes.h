/* Vectors as pairs of lanes, the first and the second of two: of 32 or of 64 bits. */
#pragma once

#include "kernels/vector_loops.h"

typedef uint32_t lanes32 __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t lanes64 __attribute__((vector_size(VECTOR_BYTES)));

/* Which lane of the vector comes to which place: of each two the first twice, the second twice, or both in
 * the other order. */
#define FIRST_OF(i)  i, i
#define SECOND_OF(i) i + 1, i + 1
#define OTHER_OF(i)  i + 1, i

#define LANES_2(of)  of(0)
#define LANES_4(of)  LANES_2(of), of(2)
#define LANES_8(of)  LANES_4(of), of(4), of(6)
#define LANES_16(of) LANES_8(of), of(8), of(10), of(12), of(14)

#if VECTOR_BYTES == 64
#define LANES_32(of) LANES_16(of)
#define LANES_64(of) LANES_8(of)
#elif VECTOR_BYTES == 32
#define LANES_32(of) LANES_8(of)
#define LANES_64(of) LANES_4(of)
#else
#define LANES_32(of) LANES_4(of)
#define LANES_64(of) LANES_2(of)
#endif
_Static_assert(VECTOR_BYTES == 16 || VECTOR_BYTES == 32 || VECTOR_BYTES == 64, "a list of lanes above");

#define LANES(v, lane, of) __builtin_shufflevector(v, v, LANES_##lane(of))

INLINE words first_lanes_32(lanes32 v)
{
    return (words)LANES(v, 32, FIRST_OF);
}

INLINE words first_lanes_64(lanes64 v)
{
    return (words)LANES(v, 64, FIRST_OF);
}

/* Ones in the second lanes. */
#define SECOND_MASK_32 ((words){0} + UINT64_C(0xffffffff00000000))
#define ZERO_ONE(i)    0, 1
#define SECOND_MASK_64 LANES(((lanes64){0, -1}), 64, ZERO_ONE)
