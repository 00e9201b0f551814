#include <arm_neon.h>

#define VECTOR_BYTES 16
#define NAME         "neon"
#define TABLE        agg_kernels_neon

typedef uint32_t swapped __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t halves __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef float widened __attribute__((vector_size(VECTOR_BYTES)));

static inline swapped swap_i32(swapped v)
{
    return (swapped)vrev32q_u8((uint8x16_t)v);
}

static inline swapped widen_U16(halves v)
{
    return (swapped)vmovl_u16((uint16x4_t)v);
}

static inline halves narrow_U32(swapped v)
{
    return (halves)vmovn_u32((uint32x4_t)v);
}

static inline widened widen_F16(halves v)
{
    return (widened)vcvt_f32_f16((float16x4_t)v);
}

static inline halves narrow_F16(widened v)
{
    return (halves)vcvt_f16_f32((float32x4_t)v);
}

#include "kernels/vector.h"
