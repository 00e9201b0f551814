/* Ethernet, 802.1Q, ARP, IPv4, IPv6, ICMP, UDP and TCP headers as they lie in a frame.
 *
 * All fields are in network order; net16 and net32 translate. The structures are packed and have no
 * alignment, so that a pointer to any byte of a frame may be read as one. They say nothing about lengths:
 * net/check.h does.
 */
#pragma once

#include <stddef.h>

#include "net/mac.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "net16 and net32 swap bytes");

/* Between the host's byte order and the network's, in either direction. Constant for a constant. */
#define net16(x) ((uint16_t)__builtin_bswap16((uint16_t)(x)))
#define net32(x) ((uint32_t)__builtin_bswap32((uint32_t)(x)))

#define NET_PACKED __attribute__((packed))

enum {
    NET_TYPE_IPV4 = 0x0800,
    NET_TYPE_ARP = 0x0806,
    NET_TYPE_TAG = 0x8100, /* IEEE 802.1Q ... */
    NET_TYPE_IPV6 = 0x86DD,
    NET_TYPE_OUTER_TAG = 0x88A8, /* ... and outside of another tag (QinQ) */
};

enum { NET_PROTOCOL_ICMP = 1, NET_PROTOCOL_TCP = 6, NET_PROTOCOL_UDP = 17 };

struct net_ethernet {
    struct net_mac dst_addr, src_addr;
    uint16_t ether_type;
} NET_PACKED;

/* Stands between the addresses and the type, once or more often; its own type comes first. */
struct net_tag {
    uint16_t type, control;
} NET_PACKED;

enum { NET_ARP_ETHERNET = 1, NET_ARP_REQUEST = 1, NET_ARP_REPLY = 2 };

/* ARP for IPv4 on Ethernet: hardware, protocol and the two lengths must say so. */
struct net_arp {
    uint16_t hardware, protocol;
    uint8_t hardware_bytes, protocol_bytes;
    uint16_t operation;
    struct net_mac sender_mac;
    uint32_t sender_ip;
    struct net_mac target_mac;
    uint32_t target_ip;
} NET_PACKED;

enum {
    NET_IPV4_PLAIN = 0x45, /* version_ihl of a header without options */
    NET_IPV4_DONT_FRAGMENT = 0x4000,
    NET_IPV4_MORE_FRAGMENTS = 0x2000,
    NET_IPV4_OFFSET_MASK = 0x1FFF,
};

struct net_ipv4 {
    uint8_t version_ihl, type_of_service;
    uint16_t total_length, packet_id, fragment_offset;
    uint8_t time_to_live, next_proto_id;
    uint16_t hdr_checksum;
    uint32_t src_addr, dst_addr;
} NET_PACKED;

struct net_ipv6 {
    uint32_t vtc_flow;
    uint16_t payload_len;
    uint8_t proto, hop_limits;
    uint8_t src_addr[16], dst_addr[16];
} NET_PACKED;

enum { NET_ICMP_ECHO_REPLY = 0, NET_ICMP_ECHO_REQUEST = 8 };

struct net_icmp_echo {
    uint8_t type, code;
    uint16_t checksum, identifier, sequence;
} NET_PACKED;

struct net_udp {
    uint16_t src_port, dst_port, dgram_len, dgram_cksum;
} NET_PACKED;

enum { NET_TCP_FIN = 0x01, NET_TCP_PSH = 0x08, NET_TCP_CWR = 0x80 };

struct net_tcp {
    uint16_t src_port, dst_port;
    uint32_t sent_seq, recv_ack;
    uint8_t data_off, tcp_flags;
    uint16_t rx_win, cksum, tcp_urp;
} NET_PACKED;

_Static_assert(sizeof(struct net_ethernet) == 14, "IEEE 802.3");
_Static_assert(sizeof(struct net_tag) == 4, "IEEE 802.1Q");
_Static_assert(sizeof(struct net_arp) == 28 && offsetof(struct net_arp, target_ip) == 24, "RFC 826");
_Static_assert(sizeof(struct net_ipv4) == 20 && offsetof(struct net_ipv4, src_addr) == 12, "RFC 791");
_Static_assert(sizeof(struct net_ipv6) == 40 && offsetof(struct net_ipv6, src_addr) == 8, "RFC 8200");
_Static_assert(sizeof(struct net_icmp_echo) == 8, "RFC 792");
_Static_assert(sizeof(struct net_udp) == 8, "RFC 768");
_Static_assert(sizeof(struct net_tcp) == 20 && offsetof(struct net_tcp, cksum) == 16, "RFC 9293");

/* The length that a header states, unchecked; less than sizeof(struct net_ipv4) is an error. */
static inline size_t net_ipv4_header_bytes(const struct net_ipv4 *ip)
{
    return (ip->version_ihl & 0x0Fu) * 4;
}

/* Whether it can be the address of one station: not 0.0.0.0/8, loopback, multicast, reserved or broadcast
 * (RFC 6890). */
static inline bool net_ipv4_is_station(uint32_t address)
{
    const uint8_t first = (uint8_t)(net32(address) >> 24);

    return first != 0 && first != 127 && first < 224;
}
