/* The tables of THC ("THC: Accelerating Distributed Deep Learning Using Tensor Homomorphic Compression", Li
 * et al., 2024, sections 4.2 and 5.3, appendix B): what each index that a worker sends stands for.
 *
 * A table has 2^bits values, integers 0 = T(0) < T(1) < ... = granularity. Value v stands for the number -t +
 * 2 t v / granularity, where t is the bound that a standard normal number exceeds, up or down, with
 * probability `fraction`: beyond it numbers are clamped. A number between two neighbouring values becomes one
 * of them at random, so that its mean stays. The sum of n workers' values needs no decoding, and fits b bits
 * if granularity * n < 2^b.
 *
 * Pure and reentrant. The same numbers give the same table, bit for bit, on every machine.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { THC_MOST_BITS = 4, THC_MOST_VALUES = 1 << THC_MOST_BITS, THC_MOST_GRANULARITY = 255 };

/* The least fraction: further out than its bound nothing is left in double precision. */
#define THC_LEAST_FRACTION 0x1p-40

struct thc_table {
    uint8_t bits;                   /* of an index, 1..THC_MOST_BITS */
    uint8_t granularity;            /* 2^bits - 1 .. THC_MOST_GRANULARITY */
    double fraction;                /* that is clamped, THC_LEAST_FRACTION..1, 1 not included */
    uint8_t value[THC_MOST_VALUES]; /* by index; those beyond 2^bits are 0 */
};

/* Whether bits, granularity and fraction are within their ranges. */
bool thc_table_can(const struct thc_table *t);

/* Fills in the values with the least thc_table_error; of several such tables, the one whose first values are
 * least. bits, granularity and fraction are the caller's, and thc_table_can holds. */
void thc_table_solve(struct thc_table *t);

/* The same with values as evenly spaced as integers can be. With the granularity 2^bits - 1, index and value
 * are the same: uniform THC (algorithm 1). */
void thc_table_space_evenly(struct thc_table *t);

/* The bound t. */
double thc_table_bound(const struct thc_table *t);

/* What the squared error of a standard normal number is in the mean, without what clamping adds: the integral
 * over the density between -t and t (section 5.3). */
double thc_table_error(const struct thc_table *t);

/* The largest granularity for which the sum of so many workers' values always fits this many bits (8 or 16);
 * at most THC_MOST_GRANULARITY. 0: none does. */
unsigned thc_granularity_for(unsigned workers, unsigned sum_bits);
