#include "numbers/numbers.h"

#include <math.h>
#include <string.h>

#include "numbers/numbers_loops.h"

static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52; /* of a normal double */
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

struct num_scale num_scale(enum num_wire wire, unsigned ranks, int8_t exponent)
{
    const double most = ranks <= NUM_RANKS_AS_PUBLISHED ? INT32_MAX : 0x1p31 - ranks;

    if (exponent == NUM_NOT_FINITE)
        return (struct num_scale){0, NAN};
    if (wire == NUM_FP16)
        return (struct num_scale){power_of_two(-exponent), power_of_two(exponent)};
    return (struct num_scale){most / ranks * power_of_two(-exponent), ranks / most * power_of_two(exponent)};
}

const struct num_loops *num_loops_for(const struct agg_kernels *kernels)
{
    const struct num_loops *l;

    for (unsigned i = 0; (l = num_loops_here(i)) != NULL; i++)
        if (strcmp(kernels->name, l->name) == 0)
            return l;
    return &num_loops_scalar;
}
