#include "port/facts.h"

enum drop facts_find_network(const struct vlans *vlans, unsigned port, struct rte_mbuf *m)
{
    if (!net_is_link_local(&rte_pktmbuf_mtod(m, const struct net_ethernet *)->dst_addr))
        return vlans_enter(vlans, port, m);
    vlan_put(m, VLAN_NONE);
    return DROP_REASONS;
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

enum net_fault facts_find_fault(const struct facts *f, const struct port *port, agg_ones_sum_fn *ones_sum)
{
    const struct frame_found by_device = {
        .ip = found(port, f->m, RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_BAD),
        .udp = found(port, f->m, RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_BAD)};

    return frame_check(facts_udp(f), f->m->data_len, &by_device, ones_sum);
}
