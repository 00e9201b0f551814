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

enum drop frame_check_ipv4(const void *frame, size_t bytes, uint32_t our_ip, enum net_found checksum)
{
    const struct frame_udp *f = frame;
    const enum net_fault fault = net_check_ipv4(&f->ip, bytes - sizeof(f->eth), checksum);

    if (fault != NET_OK)
        return drop_of[fault];
    if (!net_ipv4_is_station(f->ip.src_addr))
        return DROP_IP_SOURCE;
    return f->ip.dst_addr == our_ip ? DROP_REASONS : DROP_IP_NOT_OURS;
}

enum drop frame_check_udp(const void *frame, enum net_found checksum, agg_ones_sum_fn *ones_sum)
{
    const struct frame_udp *f = frame;

    return drop_of[net_check_udp(&f->ip, &f->udp, checksum, ones_sum)];
}
