/* Checked reading of IPv4 and UDP: what is wrong with a packet, by name. Pure and reentrant. */
#ifndef SWAGG_CORE_NET_CHECK_H
#define SWAGG_CORE_NET_CHECK_H

#include "kernels/kernels.h"
#include "net/headers.h"

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

/* room: bytes from ip to the frame's end; the packet may be shorter. */
enum net_fault net_check_ipv4(const struct net_ipv4 *ip, size_t room, enum net_found checksum);

/* udp: what follows an IPv4 header that net_check_ipv4 has passed and whose protocol is UDP. A checksum of
 * zero means that there is none, whatever the device says. */
enum net_fault net_check_udp(const struct net_ipv4 *ip, const struct net_udp *udp, enum net_found checksum,
                             agg_ones_sum_fn *ones_sum);

#endif
