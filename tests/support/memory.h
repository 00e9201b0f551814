/* Memory for tests, which abort if there is none. */
#ifndef SWAGG_TESTS_MEMORY_H
#define SWAGG_TESTS_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed, on cache lines of its own, as pools and registries need it; freed by free(). Aborts if there is
 * none. */
static inline void *memory_of(size_t bytes)
{
    const size_t room = bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, room);

    if (memory == NULL) {
        fprintf(stderr, "no memory: %zu bytes\n", bytes);
        abort();
    }
    return memset(memory, 0, room);
}

#endif
