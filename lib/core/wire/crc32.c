#include "wire/crc32.h"

/* Remainders as they are reflected: the highest bit is x^0. */
#define ONE     UINT32_C(0x80000000)
#define X_TO_8  UINT32_C(0x00800000)
#define DIVISOR UINT32_C(0xedb88320)

uint32_t crc32_ieee(uint32_t crc, const void *bytes, size_t n)
{
    crc32_fn *fastest = crc32_ieee_vector();

    return fastest != NULL ? fastest(crc, bytes, n) : crc32_ieee_scalar(crc, bytes, n);
}

/* The product of two remainders, modulo the divisor. Their bits are anything, so nothing branches on them. */
static uint32_t product(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;

    for (; a != 0; a <<= 1) {
        sum ^= b & -(a >> 31);
        b = b >> 1 ^ (DIVISOR & -(b & 1));
    }
    return sum;
}

/* x^(8 * bytes), by squaring. */
uint32_t crc32_ieee_shift(size_t bytes)
{
    uint32_t shift = ONE, square = X_TO_8;

    for (; bytes != 0; bytes >>= 1) {
        if (bytes & 1)
            shift = product(shift, square);
        square = product(square, square);
    }
    return shift;
}

uint32_t crc32_ieee_join(uint32_t first, uint32_t second, uint32_t shift)
{
    return product(first, shift) ^ second;
}
