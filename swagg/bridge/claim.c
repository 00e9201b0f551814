#include "bridge/claim.h"

#include <string.h>

#include <rte_arp.h>
#include <rte_ip.h>

static bool arp_names(const struct rte_arp_hdr *arp, size_t bytes, rte_be32_t ip)
{
    return bytes >= sizeof(*arp) && arp->arp_protocol == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
           arp->arp_hlen == RTE_ETHER_ADDR_LEN && arp->arp_data.arp_sip == ip;
}

bool claim_in_frame(const void *frame, size_t bytes, rte_be32_t ip)
{
    const struct rte_ether_hdr *eth = frame;
    const void *inside = eth + 1;

    bytes -= sizeof(*eth);
    if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
        return bytes >= sizeof(struct rte_ipv4_hdr) && ((const struct rte_ipv4_hdr *)inside)->src_addr == ip;
    return eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_ARP) && arp_names(inside, bytes, ip);
}

/* The address, the port, and a bit that says that there is something. */
void claim_note(struct claim *c, const struct rte_ether_addr *station, uint8_t port)
{
    uint64_t word = 0;

    memcpy(&word, station->addr_bytes, RTE_ETHER_ADDR_LEN);
    __atomic_store_n(&c->word, word | (uint64_t)port << 48 | UINT64_C(1) << 63, __ATOMIC_RELAXED);
}

bool claim_take(struct claim *c, struct rte_ether_addr *station, uint8_t *port)
{
    const uint64_t word = __atomic_exchange_n(&c->word, 0, __ATOMIC_RELAXED);

    memcpy(station->addr_bytes, &word, RTE_ETHER_ADDR_LEN);
    *port = (uint8_t)(word >> 48);
    return word != 0;
}
