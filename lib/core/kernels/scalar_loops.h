/* The form of the scalar kernels: one element at a time. A kind is how an element lies in a chunk and what is
 * computed with; a kernel K is combine_K, which makes one of two. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/combine.h"
#include "kernels/half.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "native types travel little endian: swap here");

/* memory: how it lies there; host: what is computed with. */
#define DEFINE_KIND(kind, memory, host, to_host, to_wire)                                                    \
    typedef host value_##kind;                                                                               \
    enum { bytes_##kind = sizeof(memory) };                                                                  \
                                                                                                             \
    static inline host load_##kind(const void *chunk, size_t at)                                             \
    {                                                                                                        \
        memory x;                                                                                            \
        memcpy(&x, (const uint8_t *)chunk + at, sizeof x);                                                   \
        return to_host(x);                                                                                   \
    }                                                                                                        \
                                                                                                             \
    static inline void store_##kind(void *chunk, size_t at, host v)                                          \
    {                                                                                                        \
        memory x = to_wire(v);                                                                               \
        memcpy((uint8_t *)chunk + at, &x, sizeof x);                                                         \
    }

/* Unsigned arithmetic for the integers: they wrap. */
DEFINE_KIND(I8, uint8_t, uint32_t, SAME, SAME)
DEFINE_KIND(I16, uint16_t, uint32_t, SAME, SAME)
DEFINE_KIND(I32, uint32_t, uint32_t, __builtin_bswap32, __builtin_bswap32)
DEFINE_KIND(I64, uint64_t, uint64_t, SAME, SAME)
DEFINE_KIND(U8, uint8_t, uint32_t, SAME, SAME)
DEFINE_KIND(U16, uint16_t, uint32_t, SAME, SAME)
DEFINE_KIND(U32, uint32_t, uint32_t, SAME, SAME)
DEFINE_KIND(U64, uint64_t, uint64_t, SAME, SAME)
DEFINE_KIND(F32, float, float, SAME, SAME)
DEFINE_KIND(F64, double, double, SAME, SAME)
DEFINE_KIND(F16, uint16_t, float, agg_half_to_float, agg_float_to_half)
DEFINE_KIND(BF16, uint16_t, float, agg_bf16_to_float, agg_float_to_bf16)

struct complex64 {
    float re, im;
};
struct complex128 {
    double re, im;
};
DEFINE_KIND(C64, struct complex64, struct complex64, SAME, SAME)
DEFINE_KIND(C128, struct complex128, struct complex128, SAME, SAME)

#define DEFINE_FOLD(kernel, kind)                                                                            \
    static void fold_##kernel(void *acc, const void *in, size_t bytes)                                       \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += bytes_##kind)                                                  \
            store_##kind(acc, at, combine_##kernel(load_##kind(acc, at), load_##kind(in, at)));              \
    }

/* close(x, n): what is done to the result of n inputs. */
#define DEFINE_REDUCE(kernel, kind, close)                                                                   \
    static void reduce_##kernel(void *out, const void *const in[], unsigned n, size_t bytes)                 \
    {                                                                                                        \
        for (size_t at = 0; at < bytes; at += bytes_##kind) {                                                \
            value_##kind x = load_##kind(in[0], at);                                                         \
            for (unsigned i = 1; i < n; i++)                                                                 \
                x = combine_##kernel(x, load_##kind(in[i], at));                                             \
            store_##kind(out, at, close(x, n));                                                              \
        }                                                                                                    \
    }
