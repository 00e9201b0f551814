#include "port/facts.h"

#include "net/arp.h"
#include "port/linux/gso.h"

/* Where ports carry VLANs. */
static enum drop find_network(const struct vlans *vlans, unsigned port, struct rte_mbuf *m)
{
    if (!net_is_link_local(&rte_pktmbuf_mtod(m, const struct net_ethernet *)->dst_addr))
        return vlans_enter(vlans, port, m);
    vlan_put(m, VLAN_NONE);
    return DROP_REASONS;
}

static inline enum drop admit(const struct port *port, unsigned number, const struct vlans *vlans,
                              struct rte_mbuf *m)
{
    if (m->data_len < sizeof(struct net_ethernet))
        return DROP_RUNT;
    if (m->pkt_len > port->max_frame && !linux_gso_is_merged(m))
        return DROP_OVERSIZE;
    if (unlikely(vlans != NULL))
        return find_network(vlans, number, m);
    vlan_put(m, 0);
    return DROP_REASONS;
}

/* Addresses and type are 14 bytes, which are read as two words, of which the second has the type at its end.
 */
static inline void read_ethernet(struct facts *f)
{
    const uint8_t *frame = rte_pktmbuf_mtod(f->m, const uint8_t *);
    uint64_t to, from;

    memcpy(&to, frame, sizeof(to));
    memcpy(&from, frame + sizeof(struct net_mac), sizeof(from));
    f->to = to & FACTS_MAC;
    f->from = from & FACTS_MAC;
    f->type = (uint16_t)(from >> 48);
}

void facts_read(struct facts facts[], struct rte_mbuf *const frames[], unsigned n, const struct port *port,
                unsigned number, const struct vlans *vlans)
{
    for (unsigned i = 0; i < n; i++) {
        struct facts *f = &facts[i];

        f->m = frames[i];
        f->frames = 1;
        f->why = (uint8_t)admit(port, number, vlans, f->m);
        if (f->why != DROP_REASONS)
            continue;
        f->network = (uint16_t)vlan_number(f->m);
        read_ethernet(f);
        f->says_ip = arp_or_ipv4_sender(rte_pktmbuf_mtod(f->m, const void *), f->m->data_len);
    }
}

/* What the device says of a checksum, if its port compares checksums. ..._NONE means: the checksum in the
 * frame is not right, but the data is known to be intact. */
static enum net_found found(const struct port *port, const struct rte_mbuf *m, uint64_t mask, uint64_t bad)
{
    const uint64_t flags = m->ol_flags & port->rx_checksums & mask;

    if (flags == 0)
        return NET_NOT_COMPARED;
    return flags == bad ? NET_BAD : NET_GOOD;
}

enum net_fault facts_check(const struct facts *f, const struct port *port, agg_ones_sum_fn *ones_sum)
{
    const struct frame_found by_device = {
        .ip = found(port, f->m, RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_BAD),
        .udp = found(port, f->m, RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_BAD)};

    return frame_check(facts_udp(f), f->m->data_len, &by_device, ones_sum);
}
