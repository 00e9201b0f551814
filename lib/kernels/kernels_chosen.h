/* The instruction set that a program adds with: the fastest of its CPU, or the one that SWAGG_KERNELS names,
 * to measure or to test what a lesser CPU would do. */
#pragma once

#include "kernels/kernels.h"

enum { KERNELS_WHY = 256 };

/* NULL: this CPU has none of that name; why says so, and which it has. Not while another thread calls setenv.
 */
const struct agg_kernels *kernels_chosen(char why[KERNELS_WHY]);

/* For programs that have nothing to clean up: says why, and exits with 2. */
const struct agg_kernels *kernels_or_exit(void);
