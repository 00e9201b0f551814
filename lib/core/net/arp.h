/* ARP for IPv4 on Ethernet, untagged (RFC 826, RFC 5227). Pure and reentrant. */
#ifndef SWAGG_CORE_NET_ARP_H
#define SWAGG_CORE_NET_ARP_H

#include "net/headers.h"

struct frame_arp {
    struct net_ethernet eth;
    struct net_arp arp;
} NET_PACKED;

/* Whether a frame whose type is ARP is complete, and about IPv4 on Ethernet. */
bool arp_check(const struct frame_arp *f, size_t bytes);

/* Writes the answer to a request that arp_check has passed: the station mac has the address. out may be
 * request. */
void arp_answer(struct frame_arp *out, const struct frame_arp *request, const struct net_mac *mac);

/* Writes a request to everybody on the link. sender_ip 0: a probe, which asks who has target_ip and enters
 * nobody's cache; sender_ip == target_ip: an announcement of one's own address. */
void arp_ask(struct frame_arp *out, const struct net_mac *mac, uint32_t sender_ip, uint32_t target_ip);

/* Whether a frame says that it is from this IPv4 address: as the source of an IPv4 packet, or as the sender
 * in ARP. Looks at its first 42 bytes, and needs an Ethernet header at least. */
bool arp_or_ipv4_is_from(const struct net_ethernet *eth, size_t bytes, uint32_t ip);

#endif
