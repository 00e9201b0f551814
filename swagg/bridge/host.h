/* The switch as a host on its own network: it has a MAC and an IP, answers ARP and ping. */
#ifndef SWAGG_BRIDGE_HOST_H
#define SWAGG_BRIDGE_HOST_H

struct lcore;
struct rte_mbuf;

/* Answers an ARP request for the switch's IP. m stays the caller's. */
void host_arp(struct lcore *lc, unsigned port, const struct rte_mbuf *m);

/* Asks everybody behind this port who has the switch's IP, too, and tells them the switch's MAC: an ARP probe
 * and a gratuitous ARP, for those who remember another. */
void host_announce(struct lcore *lc, unsigned port);

/* Takes a frame over that passed frame_check_ipv4 and says ICMP: an echo request goes back, others are
 * dropped. */
void host_icmp(struct lcore *lc, unsigned port, struct rte_mbuf *m);

#endif
