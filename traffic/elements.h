/* Elements of gradient packets, in the order of the wire: made up, judged and shown. They do not go through
 * the core's kernels, since they are to check them. A code is a pair of a type and an operation (kernels.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

enum { ELEMENT_BYTES_MAX = 16 };

/* A worker's chunk; it depends on the arguments only. Elements are so small, and floats so coarse, that the
 * result is exact in any order, of products up to PRODUCT_WORKERS_MAX factors. */
enum { PRODUCT_WORKERS_MAX = 12 };
void elements_invent(uint8_t code, uint64_t seed, unsigned worker, uint32_t tag, uint8_t *wire, size_t count);

/* The result of the n workers' elements, in their order. */
void elements_reduce(uint8_t code, uint8_t *wire, const uint8_t *const in[], unsigned n, size_t count);

/* Whether an element is what a switch may make of those, in whatever order it takes them. */
bool element_is_result(uint8_t code, const uint8_t *wire, const uint8_t *const in[], unsigned n);

/* As reference_print. */
int element_print(char *text, size_t bytes, uint8_t code, const uint8_t *wire);
