/* The tables of loops that there are; one may only be called on a CPU that has its instructions. */
#pragma once

#include "numbers/numbers.h"

extern const struct num_loops num_loops_scalar; /* the reference, for every CPU */
extern const struct num_loops num_loops_avx2;
extern const struct num_loops num_loops_avx512;
extern const struct num_loops num_loops_neon;

/* Those of this architecture, whether its CPU can run them or not; NULL past the end. One file for each
 * architecture (here_*.c) has it. */
const struct num_loops *num_loops_here(unsigned i);
