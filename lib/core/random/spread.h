/* The places of keys in a table of 2^n entries, n up to 24. Addresses in network order differ in their
 * highest bits, and ports in the lowest: of a product no bit depends on any above it in the key, so the upper
 * half is folded in first, and the product's upper bits are taken. Not for keys that others choose. */
#pragma once

#include <stdint.h>

/* 24 bits, of which the caller takes the lowest n. */
static inline uint32_t spread(uint64_t key)
{
    return (uint32_t)((key ^ key >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 40);
}
