/* The implementations behind agg_kernels_get; a table may only be called on a CPU that has its instructions.
 */
#ifndef SWAGG_CORE_KERNELS_TABLES_H
#define SWAGG_CORE_KERNELS_TABLES_H

#include "kernels/kernels.h"

extern const struct agg_kernels agg_kernels_scalar;
extern const struct agg_kernels agg_kernels_avx2;   /* AVX2 */
extern const struct agg_kernels agg_kernels_avx512; /* AVX-512 F and BW */

agg_convert_fn agg_convert_same; /* for types that travel in the host's order */

#endif
