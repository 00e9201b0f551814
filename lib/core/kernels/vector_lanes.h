/* Vectors as pairs of lanes, the first and the second of two: of 32 or of 64 bits. */
#ifndef SWAGG_CORE_KERNELS_VECTOR_LANES_H
#define SWAGG_CORE_KERNELS_VECTOR_LANES_H

#include "kernels/vector_loops.h"

typedef uint32_t lanes32 __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t lanes64 __attribute__((vector_size(VECTOR_BYTES)));

/* Which lane of the vector comes to which place; constants, of which a vector takes its length. */
static const uint32_t first32[] = {0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14};
static const uint32_t second32[] = {1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15};
static const uint32_t other32[] = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14};
static const uint64_t first64[] = {0, 0, 2, 2, 4, 4, 6, 6};
static const uint64_t second64[] = {1, 1, 3, 3, 5, 5, 7, 7};
static const uint64_t other64[] = {1, 0, 3, 2, 5, 4, 7, 6};
static const uint64_t seconds64[] = {0, -1, 0, -1, 0, -1, 0, -1};
_Static_assert(sizeof first32 >= VECTOR_BYTES && sizeof first64 >= VECTOR_BYTES, "a vector's length");

INLINE lanes32 pattern32(const uint32_t *pattern)
{
    lanes32 v;

    memcpy(&v, pattern, sizeof v);
    return v;
}

INLINE lanes64 pattern64(const uint64_t *pattern)
{
    lanes64 v;

    memcpy(&v, pattern, sizeof v);
    return v;
}

#define FIRST_LANES_32  pattern32(first32)
#define SECOND_LANES_32 pattern32(second32)
#define OTHER_LANES_32  pattern32(other32)
#define FIRST_LANES_64  pattern64(first64)
#define SECOND_LANES_64 pattern64(second64)
#define OTHER_LANES_64  pattern64(other64)

/* Ones in the second lanes. */
#define SECOND_MASK_32 ((words){0} + UINT64_C(0xffffffff00000000))
#define SECOND_MASK_64 pattern64(seconds64)

#endif
