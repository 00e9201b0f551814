/* Fields and checksums of packets, byte by byte as in the RFCs, for comparison with faster code. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint16_t get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void put16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static inline void put32(uint8_t *p, uint32_t value)
{
    put16(p, value >> 16);
    put16(p + 2, value & 0xFFFF);
}

/* RFC 1071; not folded. */
static inline uint32_t sum_of(const uint8_t *p, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
    return sum;
}

static inline uint16_t checksum(uint32_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}
