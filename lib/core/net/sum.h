/* Internet checksums (RFC 1071): one's complement sums of 16-bit words as they lie in memory, and their
 * complements.
 *
 * A sum made of words in network order is itself in network order, whatever the host's order: it is stored as
 * it is. Sums of parts of a packet add up in 32 bits, then net_fold; all parts but the last must have an even
 * length. What is checked includes its checksum and must give NET_SUM_RIGHT. Long payloads are summed by
 * agg_kernels.ones_sum, short headers here.
 */
#pragma once

#include "kernels/kernels.h"
#include "net/headers.h"

enum { NET_SUM_RIGHT = 0xFFFF };

/* One's complement addition of the two halves. */
static inline uint16_t net_fold(uint32_t sum)
{
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)((sum & 0xFFFF) + (sum >> 16));
}

/* Of two sums. */
static inline uint16_t net_sum_of_two(uint16_t a, uint16_t b)
{
    const uint32_t sum = (uint32_t)a + b;

    return (uint16_t)(sum + (sum >> 16));
}

/* Of a header without options. */
static inline uint16_t net_ipv4_sum(const struct net_ipv4 *ip)
{
    uint32_t word[sizeof(*ip) / 4];
    uint64_t sum = 0;

    memcpy(word, ip, sizeof(word));
    for (unsigned i = 0; i < sizeof(word) / sizeof(word[0]); i++)
        sum += word[i];
    return net_fold(net_fold((uint32_t)sum) + (uint32_t)(sum >> 32));
}

/* Of the pseudo header before so many bytes of this protocol: addresses, protocol, length. */
static inline uint16_t net_ipv4_pseudo_sum(const struct net_ipv4 *ip, uint8_t protocol, size_t bytes)
{
    const uint64_t sum = (uint64_t)ip->src_addr + ip->dst_addr + net16(protocol) + net16(bytes);

    return net_fold(net_fold((uint32_t)sum) + (uint32_t)(sum >> 32));
}

static inline uint16_t net_ipv6_pseudo_sum(const struct net_ipv6 *ip, uint8_t protocol, size_t bytes)
{
    uint32_t word[2 * sizeof(ip->src_addr) / 4];
    uint64_t sum = net16(protocol) + net32(bytes);

    memcpy(word, ip->src_addr, sizeof(word));
    for (unsigned i = 0; i < sizeof(word) / sizeof(word[0]); i++)
        sum += word[i];
    return net_fold(net_fold((uint32_t)sum) + (uint32_t)(sum >> 32));
}

/* Header, data and pseudo header of a UDP datagram, as long as its header says; whole. */
static inline uint16_t net_udp_sum(const struct net_ipv4 *ip, const struct net_udp *udp,
                                   agg_ones_sum_fn *ones_sum)
{
    const uint16_t bytes = net16(udp->dgram_len);

    return net_fold((uint32_t)ones_sum(udp, bytes) + net_ipv4_pseudo_sum(ip, NET_PROTOCOL_UDP, bytes));
}

/* A UDP checksum from the sum of all that it covers. 0 would say that there is none. */
static inline uint16_t net_udp_checksum(uint16_t sum)
{
    return sum == 0xFFFF ? 0xFFFF : (uint16_t)~sum;
}
