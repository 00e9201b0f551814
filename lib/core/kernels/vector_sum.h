/* The one's complement sum in vectors. */
#pragma once

#include "kernels/vector_loops.h"

/* Adds a vector of the packet to two sums: of its 64-bit words, modulo 2^64, and of their upper halves. */
INLINE void sum_halves(words *whole, words *upper, const uint8_t *at)
{
    words w;

    memcpy(&w, at, sizeof w);
    *whole += w;
    *upper += w >> 32;
}

/* The sum of the lower halves is the sum of the words minus 2^32 times that of the upper halves. It is less
 * than 2^64, so it is exact although the sum of the words is not. */
INLINE uint64_t sum_lanes(words whole, words upper)
{
    const words both = upper + (whole - (upper << 32));
    uint64_t sum = 0;

    for (size_t i = 0; i < VECTOR_BYTES / sizeof sum; i++)
        sum += both[i];
    return sum;
}

/* Two sums side by side, since an addition waits for the one before. */
static uint16_t ones_sum(const void *bytes, size_t n)
{
    words whole[2] = {{0}}, upper[2] = {{0}};
    const uint8_t *at = bytes;

    for (; n >= 2 * VECTOR_BYTES; n -= 2 * VECTOR_BYTES, at += 2 * VECTOR_BYTES) {
        sum_halves(&whole[0], &upper[0], at);
        sum_halves(&whole[1], &upper[1], at + VECTOR_BYTES);
    }
    if (n >= VECTOR_BYTES) {
        sum_halves(&whole[0], &upper[0], at);
        n -= VECTOR_BYTES;
        at += VECTOR_BYTES;
    }
    return agg_ones_sum_on(sum_lanes(whole[0] + whole[1], upper[0] + upper[1]), at, n);
}
