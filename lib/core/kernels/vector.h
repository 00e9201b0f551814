/* The kernels on vectors of VECTOR_BYTES. Included once by each implementation, which first defines
 *
 *     VECTOR_BYTES         a multiple of 16
 *     swap_i32(v)          v, a vector of uint32_t, with the bytes of each element reversed
 *     NAME, TABLE          what the table is called, for people and for the linker
 *
 * and is compiled for its instruction set. If a length is no multiple of the vector, the last vector overlaps
 * the one before it. It is computed first, before the output overwrites what it reads, so that nothing is
 * added twice. In the same way, if the output is not aligned, the first vector overlaps the second, so that
 * all others are stored aligned.
 */
#include <stdbool.h>
#include <string.h>

#include "kernels/kernels_tables.h"
#include "kernels/operations.h"

#define INLINE static inline __attribute__((always_inline))

/* Vectors summed side by side, to hide the latency of an addition behind those of the others. */
enum { BLOCK = 4 };

#define SAME(v) (v)

/* Unsigned arithmetic for the integers: they wrap. */
#define DEFINE_KERNELS(name, element, swap)                                                                  \
    typedef element name##_vector __attribute__((vector_size(VECTOR_BYTES)));                                \
                                                                                                             \
    INLINE name##_vector load_##name(const void *chunk, size_t at)                                           \
    {                                                                                                        \
        name##_vector v;                                                                                     \
        memcpy(&v, (const uint8_t *)chunk + at, sizeof v);                                                   \
        return swap(v);                                                                                      \
    }                                                                                                        \
                                                                                                             \
    INLINE void store_##name(void *chunk, size_t at, name##_vector v)                                        \
    {                                                                                                        \
        v = swap(v);                                                                                         \
        memcpy((uint8_t *)chunk + at, &v, sizeof v);                                                         \
    }                                                                                                        \
                                                                                                             \
    INLINE void sum_vectors_##name(name##_vector *x, size_t width, const void *const in[], unsigned n,       \
                                   size_t at)                                                                \
    {                                                                                                        \
        for (size_t j = 0; j < width; j++)                                                                   \
            x[j] = load_##name(in[0], at + j * VECTOR_BYTES);                                                \
        for (unsigned i = 1; i < n; i++)                                                                     \
            for (size_t j = 0; j < width; j++)                                                               \
                x[j] += load_##name(in[i], at + j * VECTOR_BYTES);                                           \
    }                                                                                                        \
                                                                                                             \
    INLINE void sum_all_##name(void *out, const void *const in[], unsigned n, size_t bytes)                  \
    {                                                                                                        \
        size_t before = -(uintptr_t)out % VECTOR_BYTES; /* it is aligned */                                  \
        size_t at = before % sizeof(element) == 0 ? before : 0;                                              \
        const bool overlaps = at > 0;                                                                        \
        name##_vector x[BLOCK], first, last;                                                                 \
                                                                                                             \
        if (overlaps)                                                                                        \
            sum_vectors_##name(&first, 1, in, n, 0);                                                         \
        sum_vectors_##name(&last, 1, in, n, bytes - VECTOR_BYTES);                                           \
        for (; at + BLOCK * VECTOR_BYTES < bytes; at += BLOCK * VECTOR_BYTES) {                              \
            sum_vectors_##name(x, BLOCK, in, n, at);                                                         \
            for (size_t j = 0; j < BLOCK; j++)                                                               \
                store_##name(out, at + j * VECTOR_BYTES, x[j]);                                              \
        }                                                                                                    \
        for (; at + VECTOR_BYTES < bytes; at += VECTOR_BYTES) {                                              \
            sum_vectors_##name(x, 1, in, n, at);                                                             \
            store_##name(out, at, x[0]);                                                                     \
        }                                                                                                    \
        if (overlaps)                                                                                        \
            store_##name(out, 0, first);                                                                     \
        store_##name(out, bytes - VECTOR_BYTES, last);                                                       \
    }                                                                                                        \
                                                                                                             \
    static void reduce_SUM_##name(void *out, const void *const in[], unsigned n, size_t bytes)               \
    {                                                                                                        \
        if (bytes < VECTOR_BYTES)                                                                            \
            agg_kernels_scalar.operations[AGG_SUM << 4 | AGG_##name].reduce(out, in, n, bytes);              \
        else                                                                                                 \
            sum_all_##name(out, in, n, bytes);                                                               \
    }                                                                                                        \
                                                                                                             \
    static void fold_SUM_##name(void *acc, const void *in, size_t bytes)                                     \
    {                                                                                                        \
        const void *const both[] = {acc, in};                                                                \
                                                                                                             \
        if (bytes < VECTOR_BYTES)                                                                            \
            agg_kernels_scalar.operations[AGG_SUM << 4 | AGG_##name].fold(acc, in, bytes);                   \
        else                                                                                                 \
            sum_all_##name(acc, both, 2, bytes);                                                             \
    }

DEFINE_KERNELS(I32, uint32_t, swap_i32)
DEFINE_KERNELS(I64, uint64_t, SAME)
DEFINE_KERNELS(F32, float, SAME)
DEFINE_KERNELS(F64, double, SAME)

static void convert_I32(void *dst, const void *src, size_t bytes)
{
    if (bytes < VECTOR_BYTES) {
        agg_kernels_scalar.convert[AGG_I32](dst, src, bytes);
        return;
    }
    I32_vector last = load_I32(src, bytes - VECTOR_BYTES);
    for (size_t at = 0; at + VECTOR_BYTES < bytes; at += VECTOR_BYTES) {
        I32_vector v = load_I32(src, at);
        memcpy((uint8_t *)dst + at, &v, sizeof v);
    }
    memcpy((uint8_t *)dst + bytes - VECTOR_BYTES, &last, sizeof last);
}

typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));

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

const struct agg_kernels TABLE = {
    .name = NAME,
    .ones_sum = ones_sum,
    .convert = {[AGG_I32] = convert_I32, [AGG_I64... AGG_C128] = agg_convert_same},
    .operations = {AGG_OPERATIONS(AGG_OPERATION)},
};
