#include "crossover.h"

#include <stdlib.h>

const size_t crossover_sizes[CROSSOVER_SIZES] = {256, 1024, 4096, 16384, 65536};

/* Of the library's time; the switch must take less, so that chance seldom decides. */
static const double CLEARLY = 0.95;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double seconds[CROSSOVER_ROUNDS])
{
    qsort(seconds, CROSSOVER_ROUNDS, sizeof seconds[0], compare);
    return seconds[CROSSOVER_ROUNDS / 2];
}

enum way crossover_faster(double seconds[WAYS][CROSSOVER_ROUNDS])
{
    return median(seconds[WAY_SWITCH]) < CLEARLY * median(seconds[WAY_LIBRARY]) ? WAY_SWITCH : WAY_LIBRARY;
}

int64_t crossover_from(const enum way best[], unsigned known)
{
    if (known < CROSSOVER_SIZES && crossover_sizes[known] < CROSSOVER_USUAL)
        return CROSSOVER_USUAL;
    size_t from = CROSSOVER_USUAL; /* so far, the sizes that are not known */
    if (crossover_sizes[known - 1] >= CROSSOVER_USUAL)
        from = crossover_sizes[known - 1] * CROSSOVER_STEP;
    /* From the largest size that is known down to the first that is better left to the library. */
    for (unsigned i = known; i-- > 0; from = crossover_sizes[i])
        if (best[i] == WAY_LIBRARY)
            return (int64_t)from;
    return 1;
}
