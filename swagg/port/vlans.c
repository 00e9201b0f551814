#include "port/vlans.h"

#include <string.h>

static void carry(struct vlans *v, unsigned port, uint32_t id, bool tagged)
{
    struct vlan *vlan = &v->vlan[v->of_id[id] - 1];

    __atomic_or_fetch(&vlan->ports, RTE_BIT64(port), __ATOMIC_RELAXED);
    if (tagged)
        __atomic_or_fetch(&vlan->tagged, RTE_BIT64(port), __ATOMIC_RELAXED);
}

void vlans_add(struct vlans *v, unsigned port, const struct config_port *cfg)
{
    if (!v->aware)
        return;
    v->untagged[port] = 0;
    for (unsigned i = 0; i < v->n; i++) {
        __atomic_and_fetch(&v->vlan[i].ports, ~RTE_BIT64(port), __ATOMIC_RELAXED);
        __atomic_and_fetch(&v->vlan[i].tagged, ~RTE_BIT64(port), __ATOMIC_RELAXED);
    }
    if (cfg->vlan != 0) {
        carry(v, port, cfg->vlan, false);
        v->untagged[port] = v->of_id[cfg->vlan];
    }
    for (unsigned i = 0; i < cfg->trunk_count; i++)
        carry(v, port, cfg->trunk[i], true);
}

void vlans_make(struct vlans *v, const struct config *cfg)
{
    *v = (struct vlans){.aware = cfg->vlans > 0, .n = RTE_MAX(cfg->vlans, 1u)};
    if (!v->aware) {
        v->vlan[0] = (struct vlan){.ip = cfg->has_ip ? cfg->ip : 0, .ports = UINT64_MAX};
        return;
    }
    for (unsigned i = 0; i < v->n; i++) {
        v->vlan[i] = (struct vlan){.id = (uint16_t)cfg->vlan[i].id, .ip = cfg->vlan[i].ip};
        v->of_id[cfg->vlan[i].id] = (uint8_t)(i + 1);
    }
    for (unsigned p = 0; p < cfg->ports; p++)
        vlans_add(v, p, &cfg->port[p]);
}

/* The network of a frame by this port, and 1; 0: the port carries none for it. */
static unsigned network_of(const struct vlans *v, unsigned port, const struct net_vlan *says)
{
    const unsigned number = says->found == NET_TAGGED ? v->of_id[says->tci & NET_TCI_ID] : v->untagged[port];

    if (says->found == NET_TAGGED && number != 0 && !(v->vlan[number - 1].tagged & RTE_BIT64(port)))
        return 0;
    return number;
}

enum drop vlans_enter(const struct vlans *v, unsigned port, struct rte_mbuf *m)
{
    const struct net_vlan says = net_vlan_of(rte_pktmbuf_mtod(m, const struct net_ethernet *), m->data_len);
    unsigned number;

    if (says.found == NET_TAG_SHORT)
        return DROP_RUNT;
    if (says.found > NET_TAGGED)
        return DROP_VLAN_TAG;
    number = network_of(v, port, &says);
    if (number == 0)
        return says.found == NET_TAGGED ? DROP_VLAN_ID : DROP_VLAN_UNTAGGED;
    if (says.has_tag) {
        net_untag(rte_pktmbuf_mtod(m, void *));
        rte_pktmbuf_adj(m, sizeof(struct net_tag));
    }
    m->vlan_tci = says.tci;
    m->vlan_tci_outer = (uint16_t)(number - 1);
    return DROP_REASONS;
}

/* The frame with its tag; NULL: no buffer is free, and the frame is gone. */
static struct rte_mbuf *with_tag(struct rte_mbuf *m, uint16_t id, struct rte_mempool *mbufs)
{
    if (rte_mbuf_refcnt_read(m) > 1 || !RTE_MBUF_DIRECT(m)) {
        struct rte_mbuf *copy = rte_pktmbuf_copy(m, mbufs, 0, UINT32_MAX);

        rte_pktmbuf_free(m);
        m = copy;
    }
    if (m == NULL)
        return NULL;
    m->ol_flags = 0; /* what devices make of frames without a tag (port/linux/tx.h) */
    net_tag(rte_pktmbuf_prepend(m, sizeof(struct net_tag)), (uint16_t)((m->vlan_tci & ~NET_TCI_ID) | id));
    return m;
}

uint16_t vlans_leave(const struct vlans *v, unsigned port, struct rte_mbuf *const frames[], uint16_t n,
                     struct rte_mbuf *out[], struct rte_mempool *mbufs, unsigned *lost)
{
    uint16_t left = 0;

    *lost = 0;

    for (uint16_t i = 0; i < n; i++) {
        static const struct vlan none = {.ports = UINT64_MAX};
        const unsigned number = vlan_number(frames[i]);
        const struct vlan *vlan = number == VLAN_NONE ? &none : &v->vlan[number];
        struct rte_mbuf *m = frames[i];

        if (!(vlan->ports & RTE_BIT64(port))) {
            rte_pktmbuf_free(m);
            continue;
        }
        if (vlan->tagged & RTE_BIT64(port))
            m = with_tag(m, vlan->id, mbufs);
        if (m == NULL)
            ++*lost;
        else
            out[left++] = m;
    }
    return left;
}
