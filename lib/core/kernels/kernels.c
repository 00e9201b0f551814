#include "kernels/kernels.h"

#include <string.h>

#include "kernels/kernels_tables.h"

size_t agg_type_size(unsigned type)
{
    static const uint8_t sizes[AGG_TYPES] = {[AGG_I32] = 4, [AGG_I64] = 8, [AGG_F32] = 4, [AGG_F64] = 8};

    return type < AGG_TYPES ? sizes[type] : 0;
}

const struct agg_kernels *agg_kernels_get(const char *name)
{
    const struct agg_kernels *k;

    for (unsigned i = 0; (k = agg_kernels_here(i)) != NULL; i++)
        if (strcmp(name, k->name) == 0)
            return k;
    return NULL;
}

const struct agg_kernels *agg_kernels_best(void)
{
    return agg_kernels_here(0);
}
