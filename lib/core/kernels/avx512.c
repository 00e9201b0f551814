#include <immintrin.h>
#include <stdint.h>

#define VECTOR_BYTES 64
#define NAME         "avx512"
#define TABLE        agg_kernels_avx512

typedef uint32_t swapped __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t halves __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef float widened __attribute__((vector_size(VECTOR_BYTES)));

static inline swapped swap_i32(swapped v)
{
    const __m128i reversed = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);

    return (swapped)_mm512_shuffle_epi8((__m512i)v, _mm512_broadcast_i32x4(reversed));
}

static inline swapped widen_U16(halves v)
{
    return (swapped)_mm512_cvtepu16_epi32((__m256i)v);
}

static inline halves narrow_U32(swapped v)
{
    return (halves)_mm512_cvtepi32_epi16((__m512i)v);
}

static inline widened widen_F16(halves v)
{
    return (widened)_mm512_cvtph_ps((__m256i)v);
}

static inline halves narrow_F16(widened v)
{
    return (halves)_mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT);
}

#include "kernels/vector.h"
