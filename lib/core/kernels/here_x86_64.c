#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/kernels_tables.h"

/* Conversions to and from 16-bit floats. clang 14's __builtin_cpu_supports does not know them; "avx2" says
 * that the operating system saves their registers. */
static bool has_f16c(void)
{
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

const struct agg_kernels *agg_kernels_here(unsigned i)
{
    const struct agg_kernels *here[3];
    unsigned n = 0;

    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        here[n++] = &agg_kernels_avx512;
    if (__builtin_cpu_supports("avx2") && has_f16c())
        here[n++] = &agg_kernels_avx2;
    here[n++] = &agg_kernels_scalar;
    return i < n ? here[i] : NULL;
}
