#include "net/icmp.h"

#include "net/sum.h"

static size_t icmp_bytes(const struct frame_icmp *f)
{
    return net16(f->ip.total_length) - sizeof(f->ip);
}

enum icmp_found icmp_check(const struct frame_icmp *f, agg_ones_sum_fn *ones_sum)
{
    const size_t bytes = icmp_bytes(f);

    if (bytes < sizeof(f->icmp) || ones_sum(&f->icmp, bytes) != NET_SUM_RIGHT)
        return ICMP_MALFORMED;
    return f->icmp.type == NET_ICMP_ECHO_REQUEST && f->icmp.code == 0 ? ICMP_ECHO_REQUEST : ICMP_OTHER;
}

void icmp_answer(struct frame_icmp *f, const struct net_mac *mac, uint32_t ip, agg_ones_sum_fn *ones_sum)
{
    f->eth.dst_addr = f->eth.src_addr;
    f->eth.src_addr = *mac;
    f->ip.dst_addr = f->ip.src_addr;
    f->ip.src_addr = ip;
    f->ip.time_to_live = 64;
    f->ip.hdr_checksum = 0;
    f->ip.hdr_checksum = (uint16_t)~net_ipv4_sum(&f->ip);
    f->icmp.type = NET_ICMP_ECHO_REPLY;
    f->icmp.checksum = 0;
    f->icmp.checksum = (uint16_t)~ones_sum(&f->icmp, icmp_bytes(f));
}
