#include "kernels/kernels.h"

#include <string.h>

#include "kernels/tables.h"

size_t agg_type_size(unsigned type)
{
    static const uint8_t sizes[AGG_TYPES] = {[AGG_I32] = 4, [AGG_I64] = 8, [AGG_F32] = 4, [AGG_F64] = 8};

    return type < AGG_TYPES ? sizes[type] : 0;
}

/* The i-th implementation, fastest first; NULL where this CPU lacks its instructions. */
enum { IMPLEMENTATIONS = 3 };

static const struct agg_kernels *implementation(unsigned i)
{
    switch (i) {
    case 0:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") ? &agg_kernels_avx512
                                                                                       : NULL;
    case 1:
        return __builtin_cpu_supports("avx2") ? &agg_kernels_avx2 : NULL;
    default:
        return &agg_kernels_scalar;
    }
}

const struct agg_kernels *agg_kernels_get(const char *name)
{
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = implementation(i);
        if (k != NULL && strcmp(name, k->name) == 0)
            return k;
    }
    return NULL;
}

const struct agg_kernels *agg_kernels_best(void)
{
    const struct agg_kernels *best = NULL;

    for (unsigned i = 0; best == NULL; i++)
        best = implementation(i);
    return best;
}
