/* Random numbers for property tests: the seed decides everything and is printed. SWAGG_TEST_SEED=N replays a
 * run. */
#ifndef SWAGG_TESTS_RNG_H
#define SWAGG_TESTS_RNG_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint64_t rng_seed(uint64_t otherwise)
{
    const char *given = getenv("SWAGG_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : otherwise;

    printf("seed %" PRIu64 " ", seed);
    return seed;
}

/* splitmix64 */
static inline uint64_t rng_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 .. n - 1 */
static inline uint32_t rng_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((rng_next(state) >> 32) * n >> 32);
}

#endif
