/* Elements of gradient packets, one at a time, in plain C: for making captures and checking sums. It does not
 * use the core's kernels, since it is to check them. */
#ifndef SWAGG_TRAFFIC_ELEMENTS_H
#define SWAGG_TRAFFIC_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

struct element_type {
    const char *name; /* "int32", ... */
    size_t bytes;
    bool is_float;
};

/* The names of all types and operations; "?" for what is none. */
const char *element_type_name(unsigned type);
const char *element_op_name(unsigned op);

/* Those whose elements can be made, shown and checked here, by sums; NULL: none of them. */
const struct element_type *element_type(unsigned type);
/* By name; 0: unknown. */
unsigned element_type_named(const char *name);

/* An element, with its exact value. */
union element {
    int64_t i;
    double f;
};
union element element_read(unsigned type, const uint8_t *p);
void element_write(unsigned type, uint8_t *p, union element e);

/* The index-th element of a worker's chunk; it depends on the arguments only. Elements are so small, and
 * floats so coarse, that the sum of 256 workers is exact in any order. */
union element element_invent(unsigned type, uint64_t seed, unsigned worker, uint32_t tag, unsigned index);

/* Is sum the sum of the n numbers at in[]? Integers wrap like the type. Floats may be rounded after each
 * addition, in any order. */
bool element_is_sum(unsigned type, union element sum, const union element in[], unsigned n);

/* Into text, as short as possible. */
int element_print(char *text, size_t bytes, unsigned type, union element e);

#endif
