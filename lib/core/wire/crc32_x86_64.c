/* CRC-32 by multiplication without carries ("Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Gopal et al., Intel, 2009): 64 bytes are folded onto the next 64, in four lanes side by side;
 * then these onto one, and what is left is divided. */
#include <wmmintrin.h>

#include <smmintrin.h>

#include "wire/crc32.h"

#define VECTOR __attribute__((target("sse4.1,pclmul")))

enum { LANE = 16, LANES = 4 };

/* Powers of x modulo the divisor, as the paper has them for reflected bits: past 64 and past 16 bytes, each
 * for the two halves of a lane; past 8; the divisor and its inverse. */
static const uint64_t past_64[2] = {0x154442bd4, 0x1c6e41596}, past_16[2] = {0x1751997d0, 0x0ccaa009e},
                      past_8[2] = {0x163cd6124, 0}, divisor[2] = {0x1db710641, 0x1f7011641};

VECTOR static inline __m128i load(const void *at)
{
    return _mm_loadu_si128(at);
}

VECTOR static inline __m128i fold(__m128i lane, __m128i onto, __m128i past)
{
    return _mm_xor_si128(
        onto, _mm_xor_si128(_mm_clmulepi64_si128(lane, past, 0x00), _mm_clmulepi64_si128(lane, past, 0x11)));
}

/* The remainder of one lane. */
VECTOR static uint32_t divide(__m128i lane)
{
    const __m128i low = _mm_setr_epi32(-1, 0, -1, 0), by = load(divisor);
    __m128i q;

    lane = _mm_xor_si128(_mm_srli_si128(lane, 8), _mm_clmulepi64_si128(lane, load(past_16), 0x10));
    lane = _mm_xor_si128(_mm_srli_si128(lane, 4),
                         _mm_clmulepi64_si128(_mm_and_si128(lane, low), load(past_8), 0x00));
    q = _mm_and_si128(_mm_clmulepi64_si128(_mm_and_si128(lane, low), by, 0x10), low);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(lane, _mm_clmulepi64_si128(q, by, 0x00)), 1);
}

/* The first lane of what begins at `at`, behind bytes whose CRC is crc. */
VECTOR static inline __m128i begin(uint32_t crc, const uint8_t *at)
{
    return _mm_xor_si128(load(at), _mm_cvtsi32_si128((int)~crc));
}

/* Folds all whole blocks of four lanes, one at least, onto one lane. */
VECTOR static __m128i fold_blocks(uint32_t crc, const uint8_t **at, const uint8_t *end)
{
    __m128i lane[LANES] = {begin(crc, *at)};

    for (unsigned l = 1; l < LANES; l++)
        lane[l] = load(*at + l * LANE);
    for (*at += LANES * LANE; end - *at >= LANES * LANE; *at += LANES * LANE)
        for (unsigned l = 0; l < LANES; l++)
            lane[l] = fold(lane[l], load(*at + l * LANE), load(past_64));
    for (unsigned l = 1; l < LANES; l++)
        lane[0] = fold(lane[0], lane[l], load(past_16));
    return lane[0];
}

VECTOR static uint32_t by_folding(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes, *end = at + n;
    __m128i lane;

    if (n < LANE)
        return crc32_ieee_scalar(crc, bytes, n);
    if (n < LANES * LANE) { /* headers, too, are worth it */
        lane = begin(crc, at);
        at += LANE;
    } else {
        lane = fold_blocks(crc, &at, end);
    }
    for (; end - at >= LANE; at += LANE)
        lane = fold(lane, load(at), load(past_16));
    return crc32_ieee_scalar(~divide(lane), at, (size_t)(end - at));
}

crc32_fn *crc32_ieee_vector(void)
{
    return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("pclmul") ? by_folding : NULL;
}
