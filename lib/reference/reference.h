/* What all operations on all types must give, in plain C, one element at a time and apart from the core's
 * kernels, which this is to check: for tests, and for tools that check a switch. Elements are in the host's
 * order. Pure and reentrant; rounding is the calling thread's floating-point environment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

enum {
    REFERENCE_MAX = 1024,       /* contributions */
    REFERENCE_ELEMENT_MAX = 16, /* bytes of an element */
};

/* The next pair that there is; after the last one 0. Begin with 0. */
unsigned reference_next(unsigned code);

/* One of all that there are, each as likely. */
unsigned reference_any(uint64_t *state);

/* out = the n contributions, reduced in the order in which they stand in in[], finished. */
void reference_reduce(unsigned code, void *out, const void *const in[], unsigned n, size_t count);

/* Whether one element may be what a switch makes of these n contributions, in whatever order it takes them:
 * the very bits where order does not matter, else within what rounding does to a sum or product, and a
 * choice among the contributions where NaN is one of them. */
bool reference_allows(unsigned code, const void *result, const void *const in[], unsigned n);

/* Elements made up out of *state: any bits, with NaN, infinities, both zeros, denormals and extremes among
 * them. Tame ones instead make numbers, and of up to 1,024 of them (products: a dozen) the same in any order,
 * but for the sign of a zero. */
void reference_fill(unsigned code, uint64_t *state, bool tame, void *elements, size_t count);

/* An element as text, as short as its type's digits allow: 1.5, (1.5,-2) of a complex number, 1.5@3 of a
 * pair. As snprintf. */
int reference_print(unsigned code, const void *element, char *text, size_t bytes);

/* Equal bits, or NaN where there is NaN. */
bool reference_same(unsigned code, const void *a, const void *b, size_t count);

/* The same, or two zeros. */
bool reference_equal(unsigned code, const void *a, const void *b, size_t count);
