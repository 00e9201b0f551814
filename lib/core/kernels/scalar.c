/* The reference: one element at a time. The vector kernels must give the same bits, and use these for short
 * ends. */
#include "kernels/kernels_tables.h"
#include "kernels/scalar_numbers.h"
#include "kernels/scalar_pairs.h"

static void convert_I32(void *dst, const void *src, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
        uint32_t x;
        memcpy(&x, (const uint8_t *)src + at, sizeof x);
        store_I32(dst, at, x);
    }
}

void agg_convert_same(void *dst, const void *src, size_t bytes)
{
    memmove(dst, src, bytes);
}

/* The sum of a word's two halves. In a one's complement sum of 16-bit words 2^16 counts as 1, and so does
 * 2^32, so it may replace the word. */
static uint64_t halves(uint64_t word)
{
    return (word & UINT32_MAX) + (word >> 32);
}

uint16_t agg_ones_sum_on(uint64_t sum, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t word = 0;

    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum += halves(word);
    }
    word = 0;
    for (size_t i = 0; i < n; i++) /* the first byte is the lowest */
        word |= (uint64_t)at[i] << 8 * i;
    sum = halves(halves(sum + halves(word)));
    sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t)((sum & UINT16_MAX) + (sum >> 16));
}

static uint16_t ones_sum(const void *bytes, size_t n)
{
    return agg_ones_sum_on(0, bytes, n);
}

const struct agg_kernels agg_kernels_scalar = {
    .name = "scalar",
    .ones_sum = ones_sum,
    .convert = {[AGG_I32] = convert_I32, [AGG_I64... AGG_C128] = agg_convert_same},
    .operations = {AGG_ENTRIES},
};
