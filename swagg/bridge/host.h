/* The switch as a host on its own network: it has a MAC and an IP, answers ARP and ping. */
#ifndef SWAGG_BRIDGE_HOST_H
#define SWAGG_BRIDGE_HOST_H

#include "net/mac.h"
#include "net/sum.h"
#include "port/send.h"

struct neighbours;

/* What an lcore needs to answer for the switch. */
struct host {
    struct net_mac mac;
    rte_be32_t ip;             /* 0: none; where ports carry VLANs, that of the first */
    const struct vlans *vlans; /* NULL: the switch has none */
    struct rte_mempool *mbufs;
    agg_ones_sum_fn *ones_sum; /* for checksums */
    struct send *send;
    struct counters *counters;
    struct neighbours *neighbours; /* those whose MAC addresses the switch has to know */
};

/* The switch's address in this network (port/vlans.h); 0: none. */
static inline rte_be32_t host_ip(const struct host *h, unsigned network)
{
    return h->vlans == NULL ? h->ip : h->vlans->vlan[network].ip;
}

/* Answers an ARP request for the switch's IP, and notes where neighbours are. m stays the caller's. */
void host_arp(const struct host *h, unsigned port, const struct rte_mbuf *m);

/* On this port, asks whether another station has the switch's IP address (an ARP probe), and tells all
 * stations the switch's MAC address (an ARP announcement), in case they remember another. */
void host_announce(const struct host *h, unsigned port);

/* Sends a loop probe (net/loop_probe.h) with this number on this port. */
void host_probe(const struct host *h, unsigned port, uint64_t number);

/* Asks, on this port and in this network, which station has that address. */
void host_ask(const struct host *h, unsigned port, unsigned network, rte_be32_t ip);

/* Takes over a frame that has passed frame_check_ipv4 and whose protocol is ICMP. An echo request is
 * answered, others are dropped. */
void host_icmp(const struct host *h, unsigned port, struct rte_mbuf *m);

#endif
