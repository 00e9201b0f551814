#include "net/check.h"

#include "net/sum.h"

static bool ip_checksum_holds(const struct net_ipv4 *ip, enum net_found checksum)
{
    if (checksum != NET_NOT_COMPARED)
        return checksum == NET_GOOD;
    return net_ipv4_sum(ip) == NET_SUM_RIGHT;
}

enum net_fault net_check_ipv4(const struct net_ipv4 *ip, size_t room, enum net_found checksum)
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
    if (!ip_checksum_holds(ip, checksum))
        return NET_IP_CHECKSUM;
    if (ip->fragment_offset & net16(NET_IPV4_MORE_FRAGMENTS | NET_IPV4_OFFSET_MASK))
        return NET_IP_FRAGMENT;
    return NET_OK;
}

static bool udp_checksum_holds(const struct net_ipv4 *ip, const struct net_udp *udp, enum net_found checksum,
                               agg_ones_sum_fn *ones_sum)
{
    if (checksum != NET_NOT_COMPARED)
        return checksum == NET_GOOD;
    return net_udp_sum(ip, udp, ones_sum) == NET_SUM_RIGHT;
}

enum net_fault net_check_udp(const struct net_ipv4 *ip, const struct net_udp *udp, enum net_found checksum,
                             agg_ones_sum_fn *ones_sum)
{
    const size_t total = net16(ip->total_length) - sizeof(*ip);

    if (total < sizeof(*udp) || net16(udp->dgram_len) != total)
        return NET_UDP_LENGTH;
    if (udp->dgram_cksum != 0 && !udp_checksum_holds(ip, udp, checksum, ones_sum))
        return NET_UDP_CHECKSUM;
    return NET_OK;
}
