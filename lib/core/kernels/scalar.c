/* The reference: one element at a time. The vector kernels must give the same bits, and use these for short
 * ends. */
#include <string.h>

#include "kernels/kernels_tables.h"
#include "kernels/operations.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "native types travel little endian: swap here");

/* Unsigned arithmetic for the integers: they wrap. */
#define SAME(x) (x)

#define DEFINE_KERNELS(name, element, to_host, to_wire)                                                      \
    static inline element load_##name(const void *chunk, size_t at)                                          \
    {                                                                                                        \
        element x;                                                                                           \
        memcpy(&x, (const uint8_t *)chunk + at, sizeof x);                                                   \
        return to_host(x);                                                                                   \
    }                                                                                                        \
                                                                                                             \
    static inline void store_##name(void *chunk, size_t at, element x)                                       \
    {                                                                                                        \
        x = to_wire(x);                                                                                      \
        memcpy((uint8_t *)chunk + at, &x, sizeof x);                                                         \
    }                                                                                                        \
                                                                                                             \
    static void fold_SUM_##name(void *acc, const void *in, size_t bytes)                                     \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += sizeof(element))                                               \
            store_##name(acc, at, load_##name(acc, at) + load_##name(in, at));                               \
    }                                                                                                        \
                                                                                                             \
    static void reduce_SUM_##name(void *out, const void *const in[], unsigned n, size_t bytes)               \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += sizeof(element)) {                                             \
            element x = load_##name(in[0], at);                                                              \
            for (unsigned i = 1; i < n; i++)                                                                 \
                x += load_##name(in[i], at);                                                                 \
            store_##name(out, at, x);                                                                        \
        }                                                                                                    \
    }

DEFINE_KERNELS(I32, uint32_t, __builtin_bswap32, __builtin_bswap32)
DEFINE_KERNELS(I64, uint64_t, SAME, SAME)
DEFINE_KERNELS(F32, float, SAME, SAME)
DEFINE_KERNELS(F64, double, SAME, SAME)

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
    .operations = {AGG_OPERATIONS(AGG_OPERATION)},
};
