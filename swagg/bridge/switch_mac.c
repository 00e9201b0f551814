#include "bridge/switch_mac.h"

/* FNV-1a. */
static uint64_t hash(uint64_t h, const struct rte_ether_addr *a)
{
    for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++)
        h = (h ^ a->addr_bytes[i]) * UINT64_C(0x100000001B3);
    return h;
}

void switch_mac_derive(struct rte_ether_addr *mac, const struct rte_ether_addr of_port[], unsigned ports)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);

    do {
        h = hash(h, &of_port[0]);
        for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++)
            mac->addr_bytes[i] = (uint8_t)(h >> 8 * (i + 2));
        mac->addr_bytes[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
        mac->addr_bytes[0] |= RTE_ETHER_LOCAL_ADMIN_ADDR;
    } while (switch_mac_find(mac, of_port, ports) >= 0);
}

int switch_mac_find(const struct rte_ether_addr *mac, const struct rte_ether_addr of_port[], unsigned ports)
{
    for (unsigned p = 0; p < ports; p++)
        if (rte_is_same_ether_addr(mac, &of_port[p]))
            return (int)p;
    return -1;
}
