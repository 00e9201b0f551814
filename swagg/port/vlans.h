/* The networks that a switch keeps apart, which are VLANs (IEEE 802.1Q): which port carries which, and with a
 * tag or without. A network's number here is its place in the configuration. A switch without VLANs has one,
 * number 0, which every port carries, and looks at no tag.
 *
 * A frame's network is found when it is received, and its tag taken out; it stays in the mbuf until a tag is
 * put in where the frame leaves, if the port has it tagged. So nothing in between sees tags.
 *
 * Set before the start, then only read, but for vlans_add.
 */
#pragma once

#include <rte_mbuf.h>

#include "base/counters.h"
#include "config/config.h"
#include "net/vlan.h"

struct vlan {
    uint16_t id;     /* 0: the only network of a switch without VLANs */
    rte_be32_t ip;   /* of the switch in it; 0: none */
    uint64_t ports;  /* bit p: port p carries it ... */
    uint64_t tagged; /* ... with a tag */
};

enum { VLAN_NONE = UINT16_MAX /* the number of a frame that passes by all ports as it is */ };

struct vlans {
    bool aware;                         /* false: there is one network, and tags are not looked at */
    unsigned n;                         /* networks */
    struct vlan vlan[CONFIG_VLANS_MAX]; /* by number */
    /* by port: the number of the network of untagged frames, and 1; 0: none */
    uint8_t untagged[SWAGG_MAX_PORTS];
    uint8_t of_id[NET_VLAN_IDS]; /* number of the network, and 1; 0: none */
};

void vlans_make(struct vlans *v, const struct config *cfg);

/* A port that has come meanwhile, or has another's number now: before anybody receives from it or sends to
 * it, the main lcore. Others may use the struct for other ports. */
void vlans_add(struct vlans *v, unsigned port, const struct config_port *cfg);

/* The number of the network that a frame is in. */
static inline unsigned vlan_number(const struct rte_mbuf *m)
{
    return m->vlan_tci_outer;
}

/* A frame that is made here, and so has no priority in vlan_tci; or one that came without VLANs. */
static inline void vlan_put(struct rte_mbuf *m, unsigned number)
{
    m->vlan_tci_outer = (uint16_t)number;
}

/* A frame that is the answer to another, or takes its place: of the same network and priority. */
static inline void vlan_put_like(struct rte_mbuf *m, const struct rte_mbuf *other)
{
    m->vlan_tci = other->vlan_tci;
    m->vlan_tci_outer = other->vlan_tci_outer;
}

/* A frame has come in by this port, with an Ethernet header in one piece and nobody else's: finds its
 * network, and takes its tag out. DROP_REASONS: done; else it belongs to no network here. */
enum drop vlans_enter(const struct vlans *v, unsigned port, struct rte_mbuf *m);

/* Frames leave by this port: puts their tags in, and frees those of networks that the port does not carry.
 * out: n places. Returns how many are left. Where others refer to a frame, it is copied into a buffer of this
 * pool; *lost: frames for which there was none. */
uint16_t vlans_leave(const struct vlans *v, unsigned port, struct rte_mbuf *const frames[], uint16_t n,
                     struct rte_mbuf *out[], struct rte_mempool *mbufs, unsigned *lost);
