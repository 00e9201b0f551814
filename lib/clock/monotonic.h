/* Time by a clock that nobody sets: in nanoseconds, as the core takes it. */
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_US     UINT64_C(1000)
#define NS_PER_MS     UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

static inline uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

static inline double monotonic_seconds(void)
{
    return (double)monotonic_ns() / 1e9;
}

/* The time from `since` to `now`; 0 if `since` is later, as it may be if another thread read the clock after
 * this one. */
static inline uint64_t ns_between(uint64_t since, uint64_t now)
{
    return now > since ? now - since : 0;
}

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What is left of a patience (ns) after a wait, from `began` to `now`, that was to take `most`: it counts for
 * no longer, since while the machine stands still nobody can be heard. */
static inline uint64_t patience_left(uint64_t patience, uint64_t most, uint64_t began, uint64_t now)
{
    return patience - earlier(ns_between(began, now), most);
}

/* From now until then, for ppoll; zero if then has passed. */
static inline struct timespec timespec_until(uint64_t then, uint64_t now)
{
    uint64_t left = then > now ? then - now : 0;
    return (struct timespec){.tv_sec = (time_t)(left / NS_PER_SECOND),
                             .tv_nsec = (long)(left % NS_PER_SECOND)};
}
