#include <stddef.h>

#include "kernels/kernels_tables.h"

const struct agg_kernels *agg_kernels_here(unsigned i)
{
    const struct agg_kernels *here[3];
    unsigned n = 0;

    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        here[n++] = &agg_kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"))
        here[n++] = &agg_kernels_avx2;
    here[n++] = &agg_kernels_scalar;
    return i < n ? here[i] : NULL;
}
