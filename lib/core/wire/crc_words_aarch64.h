/* A CRC by the instructions that are optional in ARMv8.0 and always there from ARMv8.1 on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

typedef uint32_t crc_word_fn(uint32_t crc, uint64_t word);
typedef uint32_t crc_byte_fn(uint32_t crc, uint8_t byte);

static inline __attribute__((always_inline)) uint32_t
crc_by_words(uint32_t crc, const void *bytes, size_t n, crc_word_fn *take_word, crc_byte_fn *take_byte)
{
    const uint8_t *at = bytes;
    uint64_t word;

    crc = ~crc;
    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        crc = take_word(crc, word);
    }
    for (; n > 0; n--, at++)
        crc = take_byte(crc, *at);
    return ~crc;
}

static inline bool crc_has_instructions(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
