/* Random numbers that a seed decides (splitmix64). Parts of the simulation draw from generators of their own,
 * so that a change in one does not shift the others. */
#ifndef SWAGG_SIM_RNG_H
#define SWAGG_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

enum { PPM = 1000000 };

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A generator of its own for a part of the simulation. */
static inline struct rng rng_fork(struct rng *r)
{
    return (struct rng){rng_next(r)};
}

/* In [0, n), n > 0. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

/* In [low, high]. */
static inline uint64_t rng_between(struct rng *r, uint64_t low, uint64_t high)
{
    return low + rng_below(r, high - low + 1);
}

/* True with a probability in millionths. */
static inline bool rng_chance(struct rng *r, uint32_t ppm)
{
    return ppm != 0 && rng_below(r, PPM) < ppm;
}

/* In [low, high], every order of magnitude as likely as the next. low > 0. */
static inline uint64_t rng_magnitude(struct rng *r, uint64_t low, uint64_t high)
{
    unsigned doublings = 0;

    while (low << doublings < high)
        doublings++;
    uint64_t from = low << rng_below(r, doublings + 1u), to = from * 2 - 1;
    return rng_between(r, from < high ? from : high, to < high ? to : high);
}

#endif
