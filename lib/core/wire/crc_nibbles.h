/* A CRC with reflected bits, four at a time: what the CRCs of this room do where the CPU has no instructions
 * for them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* remainder_of: of the sixteen values of four bits. A small table, since it is rarely used. */
static inline uint32_t crc_by_nibbles(const uint32_t remainder_of[16], uint32_t crc, const void *bytes,
                                      size_t n)
{
    const uint8_t *at = bytes;

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ remainder_of[crc & 15];
        crc = crc >> 4 ^ remainder_of[crc & 15];
    }
    return ~crc;
}
