#include <immintrin.h>
#include <stdint.h>

#define VECTOR_BYTES 32
#define NAME         "avx2"
#define TABLE        agg_kernels_avx2

typedef uint32_t swapped __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t halves __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef float widened __attribute__((vector_size(VECTOR_BYTES)));

static inline swapped swap_i32(swapped v)
{
    const __m128i reversed = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);

    return (swapped)_mm256_shuffle_epi8((__m256i)v, _mm256_broadcastsi128_si256(reversed));
}

static inline swapped widen_U16(halves v)
{
    return (swapped)_mm256_cvtepu16_epi32((__m128i)v);
}

static inline halves narrow_U32(swapped v)
{
    const __m256i both = _mm256_packus_epi32((__m256i)v, (__m256i)v); /* of each half, twice */

    return (halves)_mm256_castsi256_si128(_mm256_permute4x64_epi64(both, 0x08));
}

static inline widened widen_F16(halves v)
{
    return (widened)_mm256_cvtph_ps((__m128i)v);
}

static inline halves narrow_F16(widened v)
{
    return (halves)_mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT);
}

#include "kernels/vector.h"
