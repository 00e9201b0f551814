/* CRC-32 by instructions. */
#include <arm_acle.h>

#include "wire/crc32.h"
#include "wire/crc_words_aarch64.h"

static inline uint32_t take_word(uint32_t crc, uint64_t word)
{
    return __crc32d(crc, word);
}

static inline uint32_t take_byte(uint32_t crc, uint8_t byte)
{
    return __crc32b(crc, byte);
}

static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t n)
{
    return crc_by_words(crc, bytes, n, take_word, take_byte);
}

crc32_fn *crc32_ieee_vector(void)
{
    return crc_has_instructions() ? by_instruction : NULL;
}
