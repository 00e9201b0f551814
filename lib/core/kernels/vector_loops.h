/* The form of the vector kernels. A kind is how elements lie in a chunk and in a vector; a kernel K is
 * combine_K, which makes one vector of two.
 *
 * If a length is no multiple of the vector, the last vector overlaps the one before it. It is computed first,
 * before the output overwrites what it reads, so that nothing is folded twice. In the same way, if the output
 * is not aligned, the first vector overlaps the second, so that all others are stored aligned.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "kernels/combine.h"
#include "kernels/kernels_tables.h"
#include "kernels/operations.h"

#define INLINE static inline __attribute__((always_inline))

/* Vectors folded side by side, to hide the latency of an operation behind those of the others. */
enum { BLOCK = 4 };

/* For bits, whatever they mean. */
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));

/* Bits of x where mask has ones, of y elsewhere; all of VECTOR_BYTES. */
#define SELECT(type, mask, x, y) ((type)(((words)(mask) & (words)(x)) | (~(words)(mask) & (words)(y))))

/* element: bytes that must stay together, for alignment. */
#define DEFINE_KIND(kind, lane, element, from_wire, to_wire)                                                 \
    typedef lane kind##_vector __attribute__((vector_size(VECTOR_BYTES)));                                   \
    enum { element_##kind = (element), step_##kind = VECTOR_BYTES };                                         \
                                                                                                             \
    INLINE kind##_vector load_##kind(const void *chunk, size_t at)                                           \
    {                                                                                                        \
        kind##_vector v;                                                                                     \
        memcpy(&v, (const uint8_t *)chunk + at, sizeof v);                                                   \
        return from_wire(v);                                                                                 \
    }                                                                                                        \
                                                                                                             \
    INLINE void store_##kind(void *chunk, size_t at, kind##_vector v)                                        \
    {                                                                                                        \
        v = to_wire(v);                                                                                      \
        memcpy((uint8_t *)chunk + at, &v, sizeof v);                                                         \
    }

/* Kinds say as well how much of a chunk makes a vector: step_.
 * close(x, n): what is done to the result of n inputs. Chunks shorter than a vector: by the scalar
 * kernel of op and type. */
#define DEFINE_REDUCE(kernel, kind, op, type, close)                                                         \
    INLINE void gather_##kernel(kind##_vector *x, size_t width, const void *const in[], unsigned n,          \
                                size_t at)                                                                   \
    {                                                                                                        \
        for (size_t j = 0; j < width; j++)                                                                   \
            x[j] = load_##kind(in[0], at + j * step_##kind);                                                 \
        for (unsigned i = 1; i < n; i++)                                                                     \
            for (size_t j = 0; j < width; j++)                                                               \
                x[j] = combine_##kernel(x[j], load_##kind(in[i], at + j * step_##kind));                     \
        for (size_t j = 0; j < width; j++)                                                                   \
            x[j] = close(x[j], n);                                                                           \
    }                                                                                                        \
                                                                                                             \
    INLINE void reduce_all_##kernel(void *out, const void *const in[], unsigned n, size_t bytes)             \
    {                                                                                                        \
        size_t before = -(uintptr_t)out % step_##kind; /* it is aligned */                                   \
        size_t at = before % element_##kind == 0 ? before : 0;                                               \
        const bool overlaps = at > 0;                                                                        \
        kind##_vector x[BLOCK], first, last;                                                                 \
                                                                                                             \
        if (overlaps)                                                                                        \
            gather_##kernel(&first, 1, in, n, 0);                                                            \
        gather_##kernel(&last, 1, in, n, bytes - step_##kind);                                               \
        for (; at + BLOCK * step_##kind < bytes; at += BLOCK * step_##kind) {                                \
            gather_##kernel(x, BLOCK, in, n, at);                                                            \
            for (size_t j = 0; j < BLOCK; j++)                                                               \
                store_##kind(out, at + j * step_##kind, x[j]);                                               \
        }                                                                                                    \
        for (; at + step_##kind < bytes; at += step_##kind) {                                                \
            gather_##kernel(x, 1, in, n, at);                                                                \
            store_##kind(out, at, x[0]);                                                                     \
        }                                                                                                    \
        if (overlaps)                                                                                        \
            store_##kind(out, 0, first);                                                                     \
        store_##kind(out, bytes - step_##kind, last);                                                        \
    }                                                                                                        \
                                                                                                             \
    static void reduce_##kernel(void *out, const void *const in[], unsigned n, size_t bytes)                 \
    {                                                                                                        \
        if (bytes < step_##kind)                                                                             \
            agg_kernels_scalar.operations[AGG_##op << 4 | AGG_##type].reduce(out, in, n, bytes);             \
        else                                                                                                 \
            reduce_all_##kernel(out, in, n, bytes);                                                          \
    }

#define DEFINE_FOLD(kernel, kind, op, type)                                                                  \
    static void fold_##kernel(void *acc, const void *in, size_t bytes)                                       \
    {                                                                                                        \
        const void *const both[] = {acc, in};                                                                \
                                                                                                             \
        if (bytes < step_##kind)                                                                             \
            agg_kernels_scalar.operations[AGG_##op << 4 | AGG_##type].fold(acc, in, bytes);                  \
        else                                                                                                 \
            reduce_all_##kernel(acc, both, 2, bytes);                                                        \
    }
