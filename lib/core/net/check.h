/* Checked reading of IPv4 and UDP: what is wrong with a packet, by name. Pure and reentrant; inline, as it is
 * asked about every packet. */
#pragma once

#include "kernels/kernels.h"
#include "net/headers.h"
#include "net/sum.h"

/* NET_OK, or the first thing that is wrong. */
enum net_fault {
    NET_OK,
    NET_IP_SHORT,         /* the frame ends within the header, or before the packet's total length */
    NET_IP_VERSION,       /* not 4 */
    NET_IP_HEADER_LENGTH, /* claims fewer than 20 bytes */
    NET_IP_OPTIONS,       /* nothing here reads them */
    NET_IP_TOTAL_LENGTH,  /* less than the header */
    NET_IP_CHECKSUM,
    NET_IP_FRAGMENT,
    NET_UDP_LENGTH, /* contradicts the IPv4 length */
    NET_UDP_CHECKSUM,
};

/* What the device that received the frame says of a checksum. One that it has not compared is computed here.
 */
enum net_found { NET_NOT_COMPARED, NET_GOOD, NET_BAD };

static inline bool net_ip_checksum_holds(const struct net_ipv4 *ip, enum net_found checksum)
{
    if (checksum != NET_NOT_COMPARED)
        return checksum == NET_GOOD;
    return net_ipv4_sum(ip) == NET_SUM_RIGHT;
}

/* room: bytes from ip to the frame's end; the packet may be shorter. */
static inline enum net_fault net_check_ipv4(const struct net_ipv4 *ip, size_t room, enum net_found checksum)
{
    size_t header, total;

    if (room < sizeof(*ip))
        return NET_IP_SHORT;
    header = net_ipv4_header_bytes(ip);
    total = net16(ip->total_length);
    if (ip->version_ihl >> 4 != 4)
        return NET_IP_VERSION;
    if (header < sizeof(*ip))
        return NET_IP_HEADER_LENGTH;
    if (total < header)
        return NET_IP_TOTAL_LENGTH;
    if (total > room)
        return NET_IP_SHORT;
    if (header > sizeof(*ip))
        return NET_IP_OPTIONS;
    if (!net_ip_checksum_holds(ip, checksum))
        return NET_IP_CHECKSUM;
    if (ip->fragment_offset & net16(NET_IPV4_MORE_FRAGMENTS | NET_IPV4_OFFSET_MASK))
        return NET_IP_FRAGMENT;
    return NET_OK;
}

/* Whether, checksums aside, this is a UDP datagram in an IPv4 packet, with which net_check_ipv4 and
 * net_check_udp find nothing wrong. room: as there, for both headers at least. What they read field by field
 * is one word here, from the version to the fragment's offset. */
static inline bool net_is_plain_udp(const struct net_ipv4 *ip, size_t room)
{
    const uint64_t fixed = UINT64_C(0xFF) | (uint64_t)net16(NET_IPV4_MORE_FRAGMENTS | NET_IPV4_OFFSET_MASK)
                                                << 48;
    const struct net_udp *udp = (const void *)(ip + 1);
    uint64_t word;

    if (room < sizeof(*ip) + sizeof(*udp))
        return false;
    memcpy(&word, ip, sizeof(word));
    const size_t total = net16(word >> 16), bytes = net16(udp->dgram_len);

    return (word & fixed) == NET_IPV4_PLAIN && ip->next_proto_id == NET_PROTOCOL_UDP && total <= room &&
           bytes >= sizeof(*udp) && bytes + sizeof(*ip) == total;
}

static inline bool net_udp_checksum_holds(const struct net_ipv4 *ip, const struct net_udp *udp,
                                          enum net_found checksum, agg_ones_sum_fn *ones_sum)
{
    if (checksum != NET_NOT_COMPARED)
        return checksum == NET_GOOD;
    return net_udp_sum(ip, udp, ones_sum) == NET_SUM_RIGHT;
}

/* udp: what follows an IPv4 header that net_check_ipv4 has passed and whose protocol is UDP. A checksum of
 * zero means that there is none, whatever the device says. */
static inline enum net_fault net_check_udp(const struct net_ipv4 *ip, const struct net_udp *udp,
                                           enum net_found checksum, agg_ones_sum_fn *ones_sum)
{
    const size_t total = net16(ip->total_length) - sizeof(*ip);

    if (total < sizeof(*udp) || net16(udp->dgram_len) != total)
        return NET_UDP_LENGTH;
    if (udp->dgram_cksum != 0 && !net_udp_checksum_holds(ip, udp, checksum, ones_sum))
        return NET_UDP_CHECKSUM;
    return NET_OK;
}
