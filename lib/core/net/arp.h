/* ARP for IPv4 on Ethernet, untagged (RFC 826, RFC 5227). Pure and reentrant. */
#pragma once

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

/* The IPv4 address that a frame says it is from: as the source of an IPv4 packet, or as the sender in ARP; 0:
 * it says none. Looks at its first 42 bytes, and needs an Ethernet header at least. Inline, since every
 * received frame is asked. */
static inline uint32_t arp_or_ipv4_sender(const struct net_ethernet *eth, size_t bytes)
{
    const struct frame_arp *arp = (const void *)eth;
    const struct net_ipv4 *ip = (const void *)(eth + 1);

    if (eth->ether_type == net16(NET_TYPE_IPV4))
        return bytes >= sizeof(*eth) + sizeof(*ip) ? ip->src_addr : 0;
    if (eth->ether_type != net16(NET_TYPE_ARP) || bytes < sizeof(*arp) ||
        arp->arp.protocol != net16(NET_TYPE_IPV4) || arp->arp.hardware_bytes != sizeof(struct net_mac))
        return 0;
    return arp->arp.sender_ip;
}
