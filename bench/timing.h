/* What the parts of bench-core share: the clock, medians, and what keeps the compiler from leaving work out.
 */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

enum { REPEATS = 15 }; /* measurements, of which the median counts */

/* So that callgrind can tell functions apart, and no result counts as unused. */
#define NOT_INLINED __attribute__((noipa))

static inline double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The compiler must take every byte at p as used and changed. */
static inline void touch(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline double median(double values[REPEATS])
{
    qsort(values, REPEATS, sizeof *values, by_value);
    return values[REPEATS / 2];
}

#endif
