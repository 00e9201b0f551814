#include "bridge/claim.h"

#include <string.h>

/* The word: MAC address, port, and a bit that is set, so that it is not 0. */
void claim_note(struct claim *c, const struct net_mac *station, uint8_t port)
{
    uint64_t word = 0;

    memcpy(&word, station->addr_bytes, sizeof(struct net_mac));
    __atomic_store_n(&c->word, word | (uint64_t)port << 48 | UINT64_C(1) << 63, __ATOMIC_RELAXED);
}

bool claim_take(struct claim *c, struct net_mac *station, uint8_t *port)
{
    const uint64_t word = __atomic_exchange_n(&c->word, 0, __ATOMIC_RELAXED);

    memcpy(station->addr_bytes, &word, sizeof(struct net_mac));
    *port = (uint8_t)(word >> 48);
    return word != 0;
}
