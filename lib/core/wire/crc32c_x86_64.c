/* CRC32C by the instruction of SSE 4.2. */
#include <nmmintrin.h>
#include <string.h>
#include <wmmintrin.h>

#include "wire/crc32c.h"

#define VECTOR __attribute__((target("sse4.2,pclmul")))

static inline uint64_t word_at(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

/* The instruction takes three cycles, but one can begin in each: so three lanes side by side, whose
 * remainders are put together by moving the earlier ones past what follows. Moving past L bytes is
 * multiplying by x^8L; the constants are x^(8L - 33), since the product comes out shifted by one and the
 * instruction shifts by 32. */
enum { LANE = 80 };
static const uint32_t one_lane = 0x39d3b296, two_lanes = 0x878a92a7;

VECTOR static uint64_t past(uint64_t remainder, uint32_t lanes)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)remainder), _mm_cvtsi32_si128((int32_t)lanes), 0);

    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

VECTOR static uint64_t three_lanes(uint64_t sum, const uint8_t *at)
{
    uint64_t second = 0, third = 0;

    for (const uint8_t *end = at + LANE; at < end; at += sizeof(sum)) {
        sum = _mm_crc32_u64(sum, word_at(at));
        second = _mm_crc32_u64(second, word_at(at + LANE));
        third = _mm_crc32_u64(third, word_at(at + 2 * LANE));
    }
    return past(sum, two_lanes) ^ past(second, one_lane) ^ third;
}

VECTOR static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t sum = ~crc;

    for (; n >= 3 * LANE; n -= 3 * LANE, at += 3 * LANE)
        sum = three_lanes(sum, at);
    for (; n >= sizeof(sum); n -= sizeof(sum), at += sizeof(sum))
        sum = _mm_crc32_u64(sum, word_at(at));
    for (; n > 0; n--, at++)
        sum = _mm_crc32_u8((uint32_t)sum, *at);
    return ~(uint32_t)sum;
}

crc32c_fn *crc32c_vector(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") ? by_instruction : NULL;
}
