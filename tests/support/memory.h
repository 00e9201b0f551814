/* Memory for tests, which abort if there is none. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline size_t memory_lines(size_t bytes)
{
    return bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
}

/* On cache lines of its own, freed by free(), and with anything in it: for pools, streams and registries,
 * which clear what has to be clear. Most of a pool is never touched; who touched all of it would have the
 * kernel, and a sanitizer, find memory for it. */
static inline void *room_of(size_t bytes)
{
    const size_t room = memory_lines(bytes);
    void *memory = aligned_alloc(64, room);

    if (memory == NULL) {
        fprintf(stderr, "no memory: %zu bytes\n", bytes);
        abort();
    }
    return memory;
}

/* Zeroed. */
static inline void *memory_of(size_t bytes)
{
    return memset(room_of(bytes), 0, memory_lines(bytes));
}
