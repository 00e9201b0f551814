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
