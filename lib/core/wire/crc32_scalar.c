#include "wire/crc32.h"

#include "wire/crc_nibbles.h"

static const uint32_t remainder_of[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t crc32_ieee_scalar(uint32_t crc, const void *bytes, size_t n)
{
    return crc_by_nibbles(remainder_of, crc, bytes, n);
}
