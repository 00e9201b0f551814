/* CRC32C: the Castagnoli polynomial 0x1EDC6F41, bits reflected, as iSCSI and SCTP have it (RFC 3720, section
 * 12.1). Pure and reentrant. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The CRC32C of these bytes appended to others whose CRC32C is crc; crc 0: to none. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);

/* The implementations it chooses from. */
typedef uint32_t crc32c_fn(uint32_t crc, const void *bytes, size_t n);
crc32c_fn crc32c_scalar;
crc32c_fn *crc32c_vector(void); /* NULL where this CPU lacks its instructions */
