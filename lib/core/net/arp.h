/* ARP for IPv4 on Ethernet, untagged (RFC 826, RFC 5227). Pure and reentrant. */
#ifndef SWAGG_CORE_NET_ARP_H
#define SWAGG_CORE_NET_ARP_H

#include "net/headers.h"

struct frame_arp {
    struct net_ethernet eth;
    struct net_arp arp;
} NET_PACKED;

/* Whether a frame whose Ethernet header says ARP is whole and about IPv4 on Ethernet. */
bool arp_check(const struct frame_arp *f, size_t bytes);

/* The answer to a request that arp_check has passed: the address that it asks for is at this station. out may
 * be request. */
void arp_answer(struct frame_arp *out, const struct frame_arp *request, const struct net_mac *mac);

/* A request to everybody on the link. sender_ip 0: a probe, "who has this address?", which fills no caches;
 * the address itself: an announcement, "I have it". */
void arp_ask(struct frame_arp *out, const struct net_mac *mac, uint32_t sender_ip, uint32_t target_ip);

/* Whether a frame of at least an Ethernet header names this address as its sender's: as the source of an IPv4
 * packet, or in ARP. What is in its first 42 bytes counts. */
bool arp_or_ipv4_is_from(const struct net_ethernet *eth, size_t bytes, uint32_t ip);

#endif
