/* Draws for tests and the simulator. The generator's state is one word, and its first value the seed, which
 * decides everything. Parts with generators of their own do not influence one another's numbers. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "random/splitmix.h"

enum { PPM = 1000000 };

/* The seed of a test, which it prints: SWAGG_TEST_SEED from the environment, or else the given one. */
static inline uint64_t rng_seed(uint64_t otherwise)
{
    const char *given = getenv("SWAGG_TEST_SEED");
    uint64_t chosen = given != NULL ? strtoull(given, NULL, 0) : otherwise;

    printf("seed %" PRIu64 " ", chosen);
    return chosen;
}

static inline uint64_t rng_next(uint64_t *rng)
{
    return splitmix_next(rng);
}

/* A generator of its own for a part. */
static inline uint64_t rng_fork(uint64_t *rng)
{
    return rng_next(rng);
}

/* In [0, n), n > 0. */
static inline uint64_t rng_below(uint64_t *rng, uint64_t n)
{
    return rng_next(rng) % n;
}

/* In [low, high]. */
static inline uint64_t rng_between(uint64_t *rng, uint64_t low, uint64_t high)
{
    return low + rng_below(rng, high - low + 1);
}

/* True with a probability in millionths. */
static inline bool rng_chance(uint64_t *rng, uint32_t ppm)
{
    return ppm != 0 && rng_below(rng, PPM) < ppm;
}

/* In [low, high], every order of magnitude as likely as the next. low > 0. */
static inline uint64_t rng_magnitude(uint64_t *rng, uint64_t low, uint64_t high)
{
    unsigned doublings = 0;

    while (low << doublings < high)
        doublings++;
    uint64_t from = low << rng_below(rng, doublings + 1u), to = from * 2 - 1;
    return rng_between(rng, from < high ? from : high, to < high ? to : high);
}
