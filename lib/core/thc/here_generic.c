#include "thc/loops.h"

const struct thc_loops *thc_loops_here(unsigned i)
{
    return i == 0 ? &thc_loops_scalar : NULL;
}
