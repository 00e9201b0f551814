/* What all operations on all types must give, in plain C, one element at a time and apart from the core's
 * kernels, which this is to check. Elements are in the host's order. */
#ifndef SWAGG_TESTS_REFERENCE_H
#define SWAGG_TESTS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* The next pair that there is; after the last one 0. Begin with 0. */
unsigned reference_next(unsigned code);

/* One of all that there are, each as likely. */
unsigned reference_any(uint64_t *state);

/* out = the n contributions, reduced in the order in which they stand in in[], finished. */
void reference_reduce(unsigned code, void *out, const void *const in[], unsigned n, size_t count);

/* Elements made up out of *state: any bits, with NaN, infinities, both zeros, denormals and extremes among
 * them. Tame ones instead make numbers, and of up to 256 of them (products: a dozen) the same in any order,
 * but for the sign of a zero. */
void reference_fill(unsigned code, uint64_t *state, bool tame, void *elements, size_t count);

/* Equal bits, or NaN where there is NaN. */
bool reference_same(unsigned code, const void *a, const void *b, size_t count);

/* The same, or two zeros. */
bool reference_equal(unsigned code, const void *a, const void *b, size_t count);

#endif
