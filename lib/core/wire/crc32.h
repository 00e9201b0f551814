/* CRC-32 of Ethernet and InfiniBand: the polynomial 0x04C11DB7, bits reflected (IEEE 802.3, clause 3.2.9). It
 * is linear, so that of a whole follows from those of its parts: a payload that goes to many needs to be read
 * once. Pure and reentrant. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The CRC of these bytes appended to others whose CRC is crc; crc 0: to none. */
uint32_t crc32_ieee(uint32_t crc, const void *bytes, size_t n);

/* What so many bytes that follow do to the CRC of those before them, for crc32_ieee_join. */
uint32_t crc32_ieee_shift(size_t bytes);

/* The CRC of two parts, each of which has its own; shift: by the bytes of the second. */
uint32_t crc32_ieee_join(uint32_t first, uint32_t second, uint32_t shift);

/* The implementations that it chooses from. */
typedef uint32_t crc32_fn(uint32_t crc, const void *bytes, size_t n);
crc32_fn crc32_ieee_scalar;
crc32_fn *crc32_ieee_vector(void); /* NULL where this CPU lacks its instructions */
