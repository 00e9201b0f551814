/* Random numbers that nobody can foretell, from the kernel. */
#ifndef SWAGG_BASE_SECRET_H
#define SWAGG_BASE_SECRET_H

#include <stdint.h>

#include <sys/random.h>

/* Waits only while the kernel has none yet, right after the machine's start. */
static inline uint64_t secret64(void)
{
    uint64_t x;

    while (getrandom(&x, sizeof(x), 0) != sizeof(x))
        ;
    return x;
}

#endif
