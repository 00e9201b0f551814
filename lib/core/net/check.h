/* Checked reading of IPv4 and UDP: what is wrong with a packet, by name. Pure and reentrant. */
#ifndef SWAGG_CORE_NET_CHECK_H
#define SWAGG_CORE_NET_CHECK_H

#include "kernels/kernels.h"
#include "net/headers.h"

/* NET_OK, or the first thing that is wrong. */
enum net_fault {
    NET_OK,
    NET_IP_SHORT,         /* ends within the header, or before the total length */
    NET_IP_VERSION,       /* not 4 */
    NET_IP_HEADER_LENGTH, /* claims fewer than 20 bytes */
    NET_IP_OPTIONS,       /* which nobody here reads */
    NET_IP_TOTAL_LENGTH,  /* less than the header */
    NET_IP_CHECKSUM,
    NET_IP_FRAGMENT,
    NET_UDP_LENGTH, /* contradicts the IPv4 length */
    NET_UDP_CHECKSUM,
};

/* A checksum as the device found it that received the frame: only what it has not compared needs to be
 * computed. */
enum net_found { NET_NOT_COMPARED, NET_GOOD, NET_BAD };

/* ip: `room` bytes up to the frame's end, which may be longer than the packet. */
enum net_fault net_check_ipv4(const struct net_ipv4 *ip, size_t room, enum net_found checksum);

/* udp: what follows an IPv4 header that net_check_ipv4 has passed and that says UDP. A zero checksum is none,
 * whatever was found. */
enum net_fault net_check_udp(const struct net_ipv4 *ip, const struct net_udp *udp, enum net_found checksum,
                             agg_ones_sum_fn *ones_sum);

#endif
