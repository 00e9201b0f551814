/* How a tensor of any length is cut into blocks for the codec: as many of the usual length as fit, then ever
 * shorter ones, each a power of two, down to THC_LEAST_BLOCK. Only the last may have numbers that fill it up:
 * fewer than THC_LEAST_BLOCK zeros. So the cost of filling up is bounded, however long the usual block is.
 * Pure and reentrant. */
#pragma once

#include "thc/codec.h"

struct thc_part {
    uint64_t at;    /* of its first float in the tensor: a multiple of THC_LEAST_BLOCK */
    uint32_t block; /* floats, with those that fill it up */
    uint32_t used;  /* floats of the tensor */
};

/* Floats with those that fill the last block up. */
static inline uint64_t thc_filled(uint64_t floats)
{
    return (floats + THC_LEAST_BLOCK - 1) / THC_LEAST_BLOCK * THC_LEAST_BLOCK;
}

/* The block that begins at `at` < thc_filled(floats), where an earlier one ended. most: of the codec. */
static inline struct thc_part thc_part_at(uint64_t floats, uint32_t most, uint64_t at)
{
    const uint64_t rest = thc_filled(floats) - at, left = floats - at;
    struct thc_part p = {.at = at, .block = most};

    while (p.block > rest)
        p.block /= 2;
    p.used = (uint32_t)(left < p.block ? left : p.block);
    return p;
}

/* How many blocks there are. */
static inline uint64_t thc_parts(uint64_t floats, uint32_t most)
{
    const uint64_t filled = thc_filled(floats), rest = filled % most / THC_LEAST_BLOCK;

    return filled / most + (uint64_t)__builtin_popcountll(rest);
}
