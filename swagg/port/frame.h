/* Frames addressed to the switch itself, checked on arrival: faults under the names that operators see.
 * Layouts and building: net/udp_frame.h.
 */
#pragma once

#include "base/counters.h"
#include "net/check.h"
#include "net/udp_frame.h"

enum {
    FRAME_PORT_BYTES = sizeof(struct net_ethernet) + sizeof(struct net_tag)
}; /* a frame may be longer than the MTU by */

/* What the device that received a frame says of its checksums. */
struct frame_found {
    enum net_found ip, udp;
};

/* What is wrong with a frame that has a whole Ethernet header with type IPv4: with the packet, and if its
 * protocol is UDP, with the datagram. ones_sum: from any struct agg_kernels. */
static inline enum net_fault frame_check(const void *frame, size_t bytes, const struct frame_found *found,
                                         agg_ones_sum_fn *ones_sum)
{
    const struct frame_udp *f = frame;
    const enum net_fault fault = net_check_ipv4(&f->ip, bytes - sizeof(f->eth), found->ip);

    if (fault != NET_OK || f->ip.next_proto_id != NET_PROTOCOL_UDP)
        return fault;
    return net_check_udp(&f->ip, &f->udp, found->udp, ones_sum);
}

/* What a frame with this fault is dropped as; of NET_OK DROP_REASONS: it is not. */
extern const enum drop frame_drop_of[];

/* Why such a frame to the switch itself, in which frame_check has found this, goes no further; DROP_REASONS:
 * it does, and its protocol is UDP or ICMP. our_ip: the switch's; 0: it has none. Whose a packet is counts
 * more than what is wrong with the datagram in it. */
static inline enum drop frame_drops_as(const void *frame, enum net_fault fault, uint32_t our_ip)
{
    const struct frame_udp *f = frame;

    if (our_ip == 0)
        return DROP_IP_NOT_OURS;
    if (fault != NET_OK && fault < NET_UDP_LENGTH)
        return frame_drop_of[fault];
    if (!net_ipv4_is_station(f->ip.src_addr))
        return DROP_IP_SOURCE;
    if (f->ip.dst_addr != our_ip)
        return DROP_IP_NOT_OURS;
    if (f->ip.next_proto_id != NET_PROTOCOL_UDP && f->ip.next_proto_id != NET_PROTOCOL_ICMP)
        return DROP_IP_PROTOCOL;
    return frame_drop_of[fault];
}
