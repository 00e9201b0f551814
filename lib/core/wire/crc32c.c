#include "wire/crc32c.h"

#include "wire/crc_nibbles.h"

static const uint32_t remainder_of[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c_scalar(uint32_t crc, const void *bytes, size_t n)
{
    return crc_by_nibbles(remainder_of, crc, bytes, n);
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
    crc32c_fn *fastest = crc32c_vector();

    return fastest != NULL ? fastest(crc, bytes, n) : crc32c_scalar(crc, bytes, n);
}
