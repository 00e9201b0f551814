#include <arm_neon.h>

#define VECTOR_BYTES 16
#define NAME         "neon"
#define TABLE        agg_kernels_neon

typedef uint32_t swapped __attribute__((vector_size(VECTOR_BYTES)));

static inline swapped swap_i32(swapped v)
{
    return (swapped)vrev32q_u8((uint8x16_t)v);
}

#include "kernels/vector.h"
