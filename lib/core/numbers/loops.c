/* The loops, in plain C for the compiler to make vectors of. Built once for each instruction set
 * (meson.build): NAME is that of its kernels, TABLE what the table is called.
 *
 * They multiply in double: a float times a factor rounds once there, so far below the last bit of the result
 * that all instruction sets agree and no integer overflows. Adding 0.0 makes +0 of a sum of -0. */
#include <math.h>

#include "kernels/half.h"
#include "numbers/numbers_loops.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "binary16 travels little endian: swap here");

#define INLINE static inline __attribute__((always_inline))

INLINE float load_f32(const uint8_t *at)
{
    float x;

    memcpy(&x, at, sizeof x);
    return x;
}

INLINE void store_f32(uint8_t *at, float x)
{
    memcpy(at, &x, sizeof x);
}

INLINE uint16_t load_u16(const uint8_t *at)
{
    uint16_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

INLINE float load_f16(const uint8_t *at)
{
    return agg_half_to_float(load_u16(at));
}

INLINE void store_f16(uint8_t *at, float x)
{
    const uint16_t half = agg_float_to_half(x);

    memcpy(at, &half, sizeof half);
}

/* Adding 1.5 * 2^52 moves the integer to the low bits of the double, rounded to nearest even. */
INLINE void store_int32(uint8_t *at, double x)
{
    const double most = INT32_MAX;
    uint64_t bits;
    uint32_t q;

    x = x < most ? x : most;
    x = x > -most ? x : -most;
    x += 0x1.8p52;
    memcpy(&bits, &x, sizeof bits);
    q = __builtin_bswap32((uint32_t)bits);
    memcpy(at, &q, sizeof q);
}

INLINE double load_int32(const uint8_t *at)
{
    uint32_t q;

    memcpy(&q, at, sizeof q);
    return (int32_t)__builtin_bswap32(q);
}

INLINE void store_fp16(uint8_t *at, double x)
{
    store_f16(at, (float)x);
}

INLINE double load_fp16(const uint8_t *at)
{
    return load_f16(at);
}

#define DEFINE_LOOPS(wire, wire_bytes, type, type_bytes)                                                     \
    static void out_##wire##_##type(void *to, const void *from, size_t n, double factor)                     \
    {                                                                                                        \
        uint8_t *restrict w = to;                                                                            \
        const uint8_t *restrict b = from;                                                                    \
                                                                                                             \
        for (size_t i = 0; i < n; i++)                                                                       \
            store_##wire(w + wire_bytes * i, (double)load_##type(b + type_bytes * i) * factor);              \
    }                                                                                                        \
                                                                                                             \
    static void back_##wire##_##type(void *to, const void *from, size_t n, double factor)                    \
    {                                                                                                        \
        uint8_t *restrict b = to;                                                                            \
        const uint8_t *restrict w = from;                                                                    \
                                                                                                             \
        for (size_t i = 0; i < n; i++)                                                                       \
            store_##type(b + type_bytes * i, (float)(load_##wire(w + wire_bytes * i) * factor + 0.0));       \
    }

DEFINE_LOOPS(int32, 4, f32, 4)
DEFINE_LOOPS(int32, 4, f16, 2)
DEFINE_LOOPS(fp16, 2, f32, 4)
DEFINE_LOOPS(fp16, 2, f16, 2)

/* Of a magnitude, the bits of a float without its sign; those of 2^126 begin with 253. */
static int8_t exponent_of(uint32_t magnitude)
{
    const int biased = (int)(magnitude >> 23);

    return (int8_t)(biased < 253 ? biased - 126 : NUM_NOT_FINITE);
}

/* Magnitudes compare as integers do. */
static int8_t exponent_f32(const void *block, size_t n)
{
    const uint8_t *b = block;
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++) {
        const uint32_t x = agg_bits_of_float(load_f32(b + 4 * i)) & 0x7fffffff;
        most = x > most ? x : most;
    }
    return exponent_of(most);
}

static int8_t exponent_f16(const void *block, size_t n)
{
    const uint8_t *b = block;
    uint16_t most = 0;

    for (size_t i = 0; i < n; i++) {
        const uint16_t x = load_u16(b + 2 * i) & 0x7fff;
        most = x > most ? x : most;
    }
    return exponent_of(agg_bits_of_float(agg_half_to_float(most)));
}

const struct num_loops TABLE = {
    .name = NAME,
    .exponent = {[NUM_F32] = exponent_f32, [NUM_F16] = exponent_f16},
    .out = {[NUM_INT32] = {[NUM_F32] = out_int32_f32, [NUM_F16] = out_int32_f16},
            [NUM_FP16] = {[NUM_F32] = out_fp16_f32, [NUM_F16] = out_fp16_f16}},
    .back = {[NUM_INT32] = {[NUM_F32] = back_int32_f32, [NUM_F16] = back_int32_f16},
             [NUM_FP16] = {[NUM_F32] = back_fp16_f32, [NUM_F16] = back_fp16_f16}},
};
