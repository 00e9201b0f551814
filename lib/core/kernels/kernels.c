#include "kernels/kernels.h"

#include <string.h>

#include "kernels/kernels_tables.h"
#include "kernels/operations.h"

size_t agg_element_size(unsigned type, unsigned op)
{
#define BYTES(op, type, bytes, kernel) [AGG_##op << 4 | AGG_##type] = bytes,
    static const uint8_t sizes[AGG_CODES] = {AGG_OPERATIONS(BYTES, BYTES, BYTES)};
#undef BYTES

    return type < AGG_TYPES && op < AGG_OPS ? sizes[agg_code(type, op)] : 0;
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
