/* From which size on the switch is faster than Open MPI's own collectives, by the times that both took. Pure:
 * what is measured, and when to stop, measure.h.
 *
 * Open MPI is kept unless the switch is clearly faster. Sizes for which too little is known go the way that
 * is usual: to the switch from CROSSOVER_USUAL on. */
#ifndef SHIM_CROSSOVER_H
#define SHIM_CROSSOVER_H

#include <stddef.h>
#include <stdint.h>

/* Below this a round trip through the switch was not reliably faster than Open MPI's few TCP messages. */
enum { CROSSOVER_USUAL = 8192 };

enum { CROSSOVER_SIZES = 5, CROSSOVER_ROUNDS = 5 };

/* The bytes that are measured, ascending; each is CROSSOVER_STEP times the one before. */
enum { CROSSOVER_STEP = 4 };
extern const size_t crossover_sizes[CROSSOVER_SIZES];

/* The two ways that a collective can go. */
enum way { WAY_LIBRARY, WAY_SWITCH, WAYS };

/* The bytes from which on each collective goes to the switch. Of all that are larger than the largest size
 * measured it is the switch's: there the rate of the links counts, which it needs least of. */
struct crossover {
    int64_t allreduce, reduce;
};

/* Which way a size should go. In each round both ways took turns: seconds[WAY][ROUND], of the slowest rank.
 * Sorts the times. */
enum way crossover_faster(double seconds[WAYS][CROSSOVER_ROUNDS]);

/* The bytes from which on all sizes should go to the switch, by what is best for the `known` smallest of
 * crossover_sizes. At least 1: all should. */
int64_t crossover_from(const enum way best[], unsigned known);

#endif
