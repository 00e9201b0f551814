#include "bridge/switch_mac.h"

enum { GROUP = 1, LOCALLY_ADMINISTERED = 2 }; /* bits of an address's first byte */

/* FNV-1a. */
static uint64_t hash(uint64_t h, const struct net_mac *a)
{
    for (unsigned i = 0; i < sizeof(struct net_mac); i++)
        h = (h ^ a->addr_bytes[i]) * UINT64_C(0x100000001B3);
    return h;
}

void switch_mac_derive(struct net_mac *mac, const struct net_mac of_port[], unsigned ports)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);

    do {
        h = hash(h, &of_port[0]);
        for (unsigned i = 0; i < sizeof(struct net_mac); i++)
            mac->addr_bytes[i] = (uint8_t)(h >> 8 * (i + 2));
        mac->addr_bytes[0] &= (uint8_t)~GROUP;
        mac->addr_bytes[0] |= LOCALLY_ADMINISTERED;
    } while (switch_mac_find(mac, of_port, ports) >= 0);
}

int switch_mac_find(const struct net_mac *mac, const struct net_mac of_port[], unsigned ports)
{
    for (unsigned p = 0; p < ports; p++)
        if (net_same_mac(mac, &of_port[p]))
            return (int)p;
    return -1;
}
