/* The bound of an addition: the barest loop that loads, adds and stores; and how near to it the kernels come
 * that add, without anything else that a packet takes. */
#pragma once

#include <stddef.h>

#include "kernels/kernels.h"

/* In the machine's byte order. Of the types that bench-core measures, of 4 and 8 bytes. */
void bare_loop(enum agg_type type, void *acc, const void *in, size_t bytes);

/* Of a type's kernel, by what it is held against: the bound by the kernel's time, the lowest of all lengths.
 */
struct bound_share {
    double warm, cold;
};

struct bound_shares {
    struct bound_share i32, i32_swapped, f32; /* swapped: the loop in the wire's byte order, as the kernel */
    double i32_ns;                            /* the kernel's time for 1 KiB, warm */
};

/* Prints a table. */
struct bound_shares bound_print(const struct agg_kernels *kernels);
