/* Buffers for kernels to write into at any alignment. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "random.h"

enum { SCRATCH_MOST = 700, SCRATCH_SLACK = 64, SCRATCH_ROOM = SCRATCH_MOST + 2 * SCRATCH_SLACK };

/* A scratch buffer whose bytes outside [skew, skew + bytes) must survive. */
struct scratch {
    uint8_t mem[SCRATCH_ROOM], before[SCRATCH_ROOM];
};

static inline uint8_t *scratch_start(struct scratch *s, uint64_t *rng, size_t skew, const uint8_t *content,
                                     size_t bytes)
{
    memmove(s->mem + skew, content, bytes);
    for (size_t i = 0; i < skew; i++)
        s->mem[i] = (uint8_t)rng_next(rng);
    for (size_t i = skew + bytes; i < SCRATCH_ROOM; i++)
        s->mem[i] = (uint8_t)rng_next(rng);
    memcpy(s->before, s->mem, SCRATCH_ROOM);
    return s->mem + skew;
}

static inline bool scratch_intact(const struct scratch *s, size_t skew, size_t bytes)
{
    size_t end = skew + bytes;

    return memcmp(s->mem, s->before, skew) == 0 &&
           memcmp(s->mem + end, s->before + end, SCRATCH_ROOM - end) == 0;
}
