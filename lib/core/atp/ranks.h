/* Sets of ranks, as the collector has them: bit r % 64 of word r / 64. Pure. */
#ifndef SWAGG_CORE_ATP_RANKS_H
#define SWAGG_CORE_ATP_RANKS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ranks_has(const uint64_t set[], unsigned rank)
{
    return set[rank / 64] >> rank % 64 & 1;
}

/* Word i of the set of all ranks below n. */
static inline uint64_t ranks_below(unsigned n, unsigned i)
{
    return n >= 64 * (i + 1) ? UINT64_MAX : n <= 64 * i ? 0 : (UINT64_C(1) << n % 64) - 1;
}

static inline void ranks_add(uint64_t set[], const uint64_t more[], unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        set[i] |= more[i];
}

static inline unsigned ranks_count(const uint64_t set[], unsigned words)
{
    unsigned n = 0;

    for (unsigned i = 0; i < words; i++)
        n += (unsigned)__builtin_popcountll(set[i]);
    return n;
}

static inline bool ranks_meet(const uint64_t a[], const uint64_t b[], unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

static inline bool ranks_within(const uint64_t set[], const uint64_t all[], unsigned words)
{
    for (unsigned i = 0; i < words; i++)
        if (set[i] & ~all[i])
            return false;
    return true;
}

#endif
