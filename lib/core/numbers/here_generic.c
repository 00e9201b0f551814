#include "numbers/numbers_loops.h"

const struct num_loops *num_loops_here(unsigned i)
{
    return i == 0 ? &num_loops_scalar : NULL;
}
