#include "control/known.h"

#include <string.h>

#include "random/splitmix.h"

void ctl_known_init(struct ctl_known *k, uint64_t seed)
{
    memset(k, 0, sizeof *k);
    k->seed = seed;
}

/* Never 0. */
static uint64_t number_of(const struct ctl_known *k, uint64_t incarnation, const struct ctl_endpoint *from)
{
    uint64_t where =
        from == NULL ? UINT64_MAX : (uint64_t)from->network << 48 | (uint64_t)from->udp_port << 32 | from->ip;
    return splitmix_hash(splitmix_hash(incarnation ^ k->seed) ^ where) | 1;
}

/* The two bits of a number. */
static unsigned bit_of(uint64_t number, unsigned i)
{
    return (unsigned)(number >> (8 + 28 * i)) % CTL_KNOWN_BITS;
}

void ctl_known_begin(struct ctl_known *k)
{
    uint64_t *set = k->set[!k->shown];
    for (unsigned i = 0; i < CTL_KNOWN_WORDS; i++)
        __atomic_store_n(&set[i], 0, __ATOMIC_RELAXED);
}

void ctl_known_add(struct ctl_known *k, uint64_t incarnation, const struct ctl_endpoint *from)
{
    uint64_t *set = k->set[!k->shown], number = number_of(k, incarnation, from);
    for (unsigned i = 0; i < 2; i++) {
        unsigned bit = bit_of(number, i);
        __atomic_store_n(&set[bit / 64], set[bit / 64] | UINT64_C(1) << bit % 64, __ATOMIC_RELAXED);
    }
}

void ctl_known_show(struct ctl_known *k)
{
    __atomic_store_n(&k->shown, !k->shown, __ATOMIC_RELEASE);
}

uint64_t ctl_known_find(const struct ctl_known *k, uint64_t incarnation, const struct ctl_endpoint *from)
{
    const uint64_t *set = k->set[__atomic_load_n(&k->shown, __ATOMIC_ACQUIRE)];
    uint64_t number = number_of(k, incarnation, from);
    for (unsigned i = 0; i < 2; i++) {
        unsigned bit = bit_of(number, i);
        if ((__atomic_load_n(&set[bit / 64], __ATOMIC_RELAXED) >> bit % 64 & 1) == 0)
            return 0;
    }
    return number;
}
