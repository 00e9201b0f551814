#include "bridge/loops.h"

#include "net/loop_probe.h"

enum { ANY = 1 << 16 }; /* in the word, so that it is not 0 */

void loops_note_own(struct loops *l, const struct net_ethernet *eth, size_t bytes, unsigned port)
{
    uint64_t number;

    if (!loop_probe_read(eth, bytes, &number))
        return;
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        if (l->number[p] == number)
            __atomic_store_n(&l->returned, ANY | p << 8 | port, __ATOMIC_RELAXED);
}

bool loops_take(struct loops *l, struct loops_returned *returned)
{
    const uint64_t word = __atomic_exchange_n(&l->returned, 0, __ATOMIC_RELAXED);

    *returned = (struct loops_returned){.left = word >> 8 & 0xFF, .at = word & 0xFF};
    return word != 0;
}
