#include <stddef.h>

#include "kernels/kernels_tables.h"

/* Advanced SIMD is part of the architecture. */
const struct agg_kernels *agg_kernels_here(unsigned i)
{
    static const struct agg_kernels *const here[] = {&agg_kernels_neon, &agg_kernels_scalar};

    return i < sizeof here / sizeof here[0] ? here[i] : NULL;
}
