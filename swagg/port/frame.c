#include "port/frame.h"

static const enum drop drop_of[] = {
    [NET_OK] = DROP_REASONS,
    [NET_IP_SHORT] = DROP_IP_SHORT,
    [NET_IP_VERSION] = DROP_IP_VERSION,
    [NET_IP_HEADER_LENGTH] = DROP_IP_HEADER_LENGTH,
    [NET_IP_OPTIONS] = DROP_IP_OPTIONS,
    [NET_IP_TOTAL_LENGTH] = DROP_IP_TOTAL_LENGTH,
    [NET_IP_CHECKSUM] = DROP_IP_CHECKSUM,
    [NET_IP_FRAGMENT] = DROP_IP_FRAGMENT,
    [NET_UDP_LENGTH] = DROP_UDP_LENGTH,
    [NET_UDP_CHECKSUM] = DROP_UDP_CHECKSUM,
};

/* Whose a packet is counts more than what is wrong with the datagram in it. */
enum drop frame_drops_as(const void *frame, enum net_fault fault, uint32_t our_ip)
{
    const struct frame_udp *f = frame;

    if (our_ip == 0)
        return DROP_IP_NOT_OURS;
    if (fault != NET_OK && fault < NET_UDP_LENGTH)
        return drop_of[fault];
    if (!net_ipv4_is_station(f->ip.src_addr))
        return DROP_IP_SOURCE;
    if (f->ip.dst_addr != our_ip)
        return DROP_IP_NOT_OURS;
    if (f->ip.next_proto_id != NET_PROTOCOL_UDP && f->ip.next_proto_id != NET_PROTOCOL_ICMP)
        return DROP_IP_PROTOCOL;
    return drop_of[fault];
}
