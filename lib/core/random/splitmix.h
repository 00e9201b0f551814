/* splitmix64: random numbers that follow from a seed, the same on every machine. The state is one word; any
 * seed will do. Not for secrets. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Every bit of the result depends on every bit of x. 0 stays 0. */
static inline uint64_t splitmix_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static inline uint64_t splitmix_next(uint64_t *state)
{
    return splitmix_mix(*state += UINT64_C(0x9E3779B97F4A7C15));
}

/* As if so many had been drawn. */
static inline void splitmix_skip(uint64_t *state, unsigned numbers)
{
    *state += numbers * UINT64_C(0x9E3779B97F4A7C15);
}

/* A hash of x: the first number of the seed x. */
static inline uint64_t splitmix_hash(uint64_t x)
{
    return splitmix_next(&x);
}

/* A hash of bytes, and of what `hash` is of. */
static inline uint64_t splitmix_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = splitmix_hash(hash ^ ((const uint8_t *)bytes)[i]);
    return hash;
}
