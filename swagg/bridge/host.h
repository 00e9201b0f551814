/* The switch as a host on its own network: it has a MAC and an IP, answers ARP and ping. */
#pragma once

#include "net/mac.h"
#include "net/sum.h"
#include "port/facts.h"
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

/* The host's room: ARP and ICMP that came in by this port. Answers ARP requests for the switch's IP and echo
 * requests, and notes where neighbours are. Takes over what is for the switch's MAC; of ARP to everybody it
 * hears what the bridge passes on. The IPv4 packets have passed frame_check. */
void host_receive(const struct host *h, unsigned port, struct facts *const burst[], unsigned n);

/* On this port, asks whether another station has the switch's IP address (an ARP probe), and tells all
 * stations the switch's MAC address (an ARP announcement), in case they remember another. */
void host_announce(const struct host *h, unsigned port);

/* Sends a loop probe (net/loop_probe.h) with this number on this port. */
void host_probe(const struct host *h, unsigned port, uint64_t number);

/* Asks, on this port and in this network, which station has that address. */
void host_ask(const struct host *h, unsigned port, unsigned network, rte_be32_t ip);
