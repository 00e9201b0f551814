/* A CRC of 32 bits as it is defined, by long division, a bit at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* polynomial: with its bits reversed. */
static inline uint32_t crc_by_definition(uint32_t polynomial, const uint8_t *bytes, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
    }
    return ~crc;
}
