/* Sets of a job's ranks. In memory rank r is bit r % 64 of word r / 64, and a set has ranks_words() of them.
 * In packets it travels as a map: rank r is bit r % 8 of byte r / 8, ranks_map_bytes() in all. Any rank that
 * is asked about must be below the number that set or map was made for.
 *
 * A set is changed by one thread. ranks_add, ranks_remove and ranks_clear write whole words, so that others
 * (telemetry) may read it a word at a time meanwhile, with relaxed loads. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t ranks_words(unsigned ranks)
{
    return (ranks + 63u) / 64;
}

static inline bool ranks_has(const uint64_t set[], unsigned rank)
{
    return set[rank / 64] >> rank % 64 & 1;
}

static inline void ranks_add(uint64_t set[], unsigned rank)
{
    __atomic_store_n(&set[rank / 64], set[rank / 64] | UINT64_C(1) << rank % 64, __ATOMIC_RELAXED);
}

static inline void ranks_remove(uint64_t set[], unsigned rank)
{
    __atomic_store_n(&set[rank / 64], set[rank / 64] & ~(UINT64_C(1) << rank % 64), __ATOMIC_RELAXED);
}

static inline void ranks_clear(uint64_t set[], size_t words)
{
    for (size_t i = 0; i < words; i++)
        __atomic_store_n(&set[i], 0, __ATOMIC_RELAXED);
}

static inline void ranks_unite(uint64_t set[], const uint64_t more[], size_t words)
{
    for (size_t i = 0; i < words; i++)
        set[i] |= more[i];
}

/* Word i of the set of all ranks below n. */
static inline uint64_t ranks_below(unsigned n, unsigned i)
{
    return n >= 64 * (i + 1) ? UINT64_MAX : n <= 64 * i ? 0 : (UINT64_C(1) << n % 64) - 1;
}

static inline unsigned ranks_count(const uint64_t set[], size_t words)
{
    unsigned n = 0;

    for (size_t i = 0; i < words; i++)
        n += (unsigned)__builtin_popcountll(set[i]);
    return n;
}

static inline bool ranks_none(const uint64_t set[], size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (set[i] != 0)
            return false;
    return true;
}

static inline bool ranks_meet(const uint64_t a[], const uint64_t b[], size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

static inline bool ranks_within(const uint64_t set[], const uint64_t all[], size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (set[i] & ~all[i])
            return false;
    return true;
}

static inline size_t ranks_map_bytes(unsigned ranks)
{
    return (ranks + 7u) / 8;
}

static inline bool ranks_map_has(const uint8_t map[], unsigned rank)
{
    return map[rank / 8] >> rank % 8 & 1;
}

static inline void ranks_map_add(uint8_t map[], unsigned rank)
{
    map[rank / 8] |= (uint8_t)(1 << rank % 8);
}

/* A set of so many ranks as a map; returns its bytes. */
static inline size_t ranks_map_write(uint8_t map[], const uint64_t set[], unsigned ranks)
{
    const size_t bytes = ranks_map_bytes(ranks);

    for (size_t i = 0; i < bytes; i++)
        map[i] = (uint8_t)(set[i / 8] >> i % 8 * 8);
    return bytes;
}

/* Fills in those of so many ranks that a map lacks, at most max, and returns their number. */
static inline unsigned ranks_map_lacks(const uint8_t map[], unsigned ranks, uint16_t lacking[], unsigned max)
{
    unsigned n = 0;

    for (unsigned rank = 0; rank < ranks && n < max; rank++)
        if (!ranks_map_has(map, rank))
            lacking[n++] = (uint16_t)rank;
    return n;
}
