/* What benchmarks share: the clock, medians, and means to keep the compiler from optimizing work away. */
#pragma once

#include <stdlib.h>
#include <time.h>

enum { REPEATS = 15 }; /* measurements, of which the median counts */

/* So that callgrind sees each function, and the compiler does not treat results as unused. */
#define NOT_INLINED __attribute__((noipa))

static inline double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Makes the compiler assume that every byte at p is read and written here. */
static inline void touch(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of n values, which it sorts. */
static inline double median(double values[], size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
