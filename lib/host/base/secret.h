/* Unpredictable random numbers, from the kernel. */
#pragma once

#include <stdint.h>

#include <sys/random.h>

/* Waits only right after the machine's start, while the kernel has none yet. */
static inline uint64_t secret64(void)
{
    uint64_t x;

    while (getrandom(&x, sizeof(x), 0) != sizeof(x))
        ;
    return x;
}
