/* The implementations behind agg_kernels_get; a table may only be called on a CPU that has its instructions.
 */
#pragma once

#include "kernels/kernels.h"

extern const struct agg_kernels agg_kernels_avx2;   /* AVX2 and F16C */
extern const struct agg_kernels agg_kernels_avx512; /* AVX-512 F and BW */
extern const struct agg_kernels agg_kernels_neon;   /* Advanced SIMD */

/* The tables that this CPU can run, the fastest first and agg_kernels_scalar last; NULL past the end. Defined
 * once for each architecture, in here_*.c. */
const struct agg_kernels *agg_kernels_here(unsigned i);

/* Averages' last steps, for all implementations. */
agg_finish_fn agg_divide_I8, agg_divide_I16, agg_divide_I32, agg_divide_I64, agg_divide_U8, agg_divide_U16,
    agg_divide_U32, agg_divide_U64, agg_divide_F32, agg_divide_F64, agg_divide_C64, agg_divide_C128;

/* As agg_ones_sum_fn, continuing a sum over an even number of bytes before these: `sum` in 64 bits, less than
 * 2^62. */
uint16_t agg_ones_sum_on(uint64_t sum, const void *bytes, size_t n);
