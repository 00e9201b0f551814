#include "bridge/sighting.h"

#include <string.h>

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
