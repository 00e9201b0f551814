/* The reference: one element at a time. The vector kernels must give the same bits, and use these for short
 * ends. */
#include <string.h>

#include "kernels/kernels_tables.h"

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
    static void add_##name(void *acc, const void *in, size_t bytes)                                          \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += sizeof(element))                                               \
            store_##name(acc, at, load_##name(acc, at) + load_##name(in, at));                               \
    }                                                                                                        \
                                                                                                             \
    static void sum_##name(void *out, const void *const in[], unsigned n, size_t bytes)                      \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += sizeof(element)) {                                             \
            element x = load_##name(in[0], at);                                                              \
            for (unsigned i = 1; i < n; i++)                                                                 \
                x += load_##name(in[i], at);                                                                 \
            store_##name(out, at, x);                                                                        \
        }                                                                                                    \
    }

DEFINE_KERNELS(i32, uint32_t, __builtin_bswap32, __builtin_bswap32)
DEFINE_KERNELS(i64, uint64_t, SAME, SAME)
DEFINE_KERNELS(f32, float, SAME, SAME)
DEFINE_KERNELS(f64, double, SAME, SAME)

static void convert_i32(void *dst, const void *src, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
        uint32_t x;
        memcpy(&x, (const uint8_t *)src + at, sizeof x);
        store_i32(dst, at, x);
    }
}

void agg_convert_same(void *dst, const void *src, size_t bytes)
{
    memmove(dst, src, bytes);
}

/* A 64-bit word's two halves, the way its 16-bit words are summed: 2^16 is 1 to a one's complement sum, and
 * so is 2^32.
 */
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
    .add = {[AGG_I32] = add_i32, [AGG_I64] = add_i64, [AGG_F32] = add_f32, [AGG_F64] = add_f64},
    .sum = {[AGG_I32] = sum_i32, [AGG_I64] = sum_i64, [AGG_F32] = sum_f32, [AGG_F64] = sum_f64},
    .convert = {[AGG_I32] = convert_i32,
                [AGG_I64] = agg_convert_same,
                [AGG_F32] = agg_convert_same,
                [AGG_F64] = agg_convert_same},
};
