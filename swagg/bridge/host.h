/* The switch as a host on its own network: it has a MAC and an IP, answers ARP and ping. */
#ifndef SWAGG_BRIDGE_HOST_H
#define SWAGG_BRIDGE_HOST_H

#include "net/mac.h"
#include "net/sum.h"
#include "port/send.h"

/* What an lcore answers in the switch's name with. */
struct host {
    struct net_mac mac;
    rte_be32_t ip; /* 0: none */
    struct rte_mempool *mbufs;
    agg_ones_sum_fn *ones_sum; /* what checksums are made with */
    struct send *send;
    struct counters *counters;
};

/* Answers an ARP request for the switch's IP. m stays the caller's. */
void host_arp(const struct host *h, unsigned port, const struct rte_mbuf *m);

/* Asks everybody behind this port who has the switch's IP, too, and tells them the switch's MAC: an ARP probe
 * and a gratuitous ARP, for those who remember another. */
void host_announce(const struct host *h, unsigned port);

/* Takes a frame over that passed frame_check_ipv4 and says ICMP: an echo request goes back, others are
 * dropped. */
void host_icmp(const struct host *h, unsigned port, struct rte_mbuf *m);

#endif
