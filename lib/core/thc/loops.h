/* The loops of THC over blocks of floats and indices: plain C that is compiled for each instruction set. All
 * have the same bits as the scalar ones. Callers: codec.h.
 *
 * n is a multiple of THC_GROUP. Floats may lie at any address. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "thc/table.h"

enum { THC_GROUP = 64 };

/* What a table means for a number: by the index of the last table value at or below its place between 0 and
 * the granularity, or of the last but one for the granularity itself. */
struct thc_steps {
    float granularity;
    /* of each value between the first and the last: 129 less than it, the largest place below, as a byte with
     * a sign; for a group at once. Of those that there are not: 127, which is below nothing */
    int8_t below[THC_MOST_VALUES - 2][THC_GROUP];
    float value[THC_MOST_VALUES];   /* of an index: the table value */
    float by_step[THC_MOST_VALUES]; /* 2^24 / (the next table value - that one) */
};

struct thc_loops {
    const char *name;

    /* x[i] = -x[i] where the random bit of i is set. */
    void (*flip)(float *x, size_t n, uint64_t seed);
    /* x = H x * scale, H the Hadamard matrix of n rows; n is a power of two. */
    void (*hadamard)(float *x, size_t n, float scale);
    /* The root of the sum of squares. */
    float (*norm)(const float *x, size_t n);
    /* The places of x * factor, clamped, between 0 and the granularity are rounded at random to table values,
     * whose indices are packed: of each THC_GROUP numbers, `bits` * 8 bytes (see codec.h). */
    void (*quantise)(uint8_t *packed, const float *x, size_t n, unsigned bits, const struct thc_steps *steps,
                     float factor, uint32_t key);
    /* sums[i] += the table value of index i. Sums of 16 bits are little endian on every host. */
    void (*add8)(uint8_t *sums, const uint8_t *packed, size_t n, unsigned bits, const uint8_t *values);
    void (*add16)(uint16_t *sums, const uint8_t *packed, size_t n, unsigned bits, const uint8_t *values);
    /* x[i] = (sums[i] - middle) * factor. */
    void (*decode8)(float *x, const uint8_t *sums, size_t n, float middle, float factor);
    void (*decode16)(float *x, const uint16_t *sums, size_t n, float middle, float factor);
    /* x[i] -= (the table value of index i - middle) * factor. */
    void (*subtract)(float *x, const uint8_t *packed, size_t n, unsigned bits, const uint8_t *values,
                     float middle, float factor);
};

extern const struct thc_loops thc_loops_scalar; /* the reference, for every CPU */
extern const struct thc_loops thc_loops_avx2;
extern const struct thc_loops thc_loops_avx512;
extern const struct thc_loops thc_loops_neon;

struct agg_kernels;

/* Those for the instructions that these kernels use. */
const struct thc_loops *thc_loops_for(const struct agg_kernels *kernels);

/* Those of this architecture, whether its CPU can run them or not; NULL past the end. One file for each
 * architecture (here_*.c) has it. */
const struct thc_loops *thc_loops_here(unsigned i);
