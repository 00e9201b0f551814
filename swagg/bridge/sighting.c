#include "bridge/sighting.h"

#include <string.h>

#include "net/loop_probe.h"

/* The word: MAC address, port, and a bit that is set, so that it is not 0. */
void sighting_note(struct sighting *s, const struct net_mac *station, uint8_t port)
{
    uint64_t word = 0;

    memcpy(&word, station->addr_bytes, sizeof(struct net_mac));
    __atomic_store_n(&s->word, word | (uint64_t)port << 48 | UINT64_C(1) << 63, __ATOMIC_RELAXED);
}

static bool unpack(uint64_t word, struct net_mac *station, uint8_t *port)
{
    memcpy(station->addr_bytes, &word, sizeof(struct net_mac));
    *port = (uint8_t)(word >> 48 & 0x7F);
    return word != 0;
}

bool sighting_take(struct sighting *s, struct net_mac *station, uint8_t *port)
{
    return unpack(__atomic_exchange_n(&s->word, 0, __ATOMIC_RELAXED), station, port);
}

bool sighting_look(const struct sighting *s, struct net_mac *station, uint8_t *port)
{
    return unpack(__atomic_load_n(&s->word, __ATOMIC_RELAXED), station, port);
}

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
