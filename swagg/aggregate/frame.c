#include "aggregate/frame.h"

#include <string.h>

#include <netinet/in.h>

/* A single station's: neither "this network", nor the sender itself, nor a group, reserved or all (RFC 6890).
 */
static bool can_be_source(rte_be32_t ip)
{
    const uint8_t first = (uint8_t)(rte_be_to_cpu_32(ip) >> 24);

    return first != 0 && first != 127 && first < 224;
}

/* One's complement addition. */
static uint16_t fold(uint32_t sum)
{
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)((sum & 0xFFFF) + (sum >> 16));
}

static const struct agg_kernels *kernels = &agg_kernels_scalar;

void frame_use_kernels(const struct agg_kernels *k)
{
    kernels = k;
}

uint16_t frame_sum(const void *bytes, size_t n)
{
    return kernels->ones_sum(bytes, n);
}

static bool ip_checksum_holds(const struct rte_ipv4_hdr *ip, enum frame_found checksum)
{
    if (checksum != FRAME_NOT_COMPARED)
        return checksum == FRAME_GOOD;
    return rte_raw_cksum(ip, sizeof(*ip)) == 0xFFFF;
}

enum drop frame_check_ipv4(const void *frame, size_t bytes, rte_be32_t our_ip, enum frame_found checksum)
{
    const struct rte_ipv4_hdr *ip = (const void *)((const uint8_t *)frame + RTE_ETHER_HDR_LEN);
    size_t room = bytes - RTE_ETHER_HDR_LEN, header, total;

    if (room < sizeof(*ip))
        return DROP_IP_SHORT;
    header = rte_ipv4_hdr_len(ip);
    total = rte_be_to_cpu_16(ip->total_length);
    if (ip->version != 4)
        return DROP_IP_VERSION;
    if (header < sizeof(*ip))
        return DROP_IP_HEADER_LENGTH;
    if (total < header)
        return DROP_IP_TOTAL_LENGTH;
    if (total > room)
        return DROP_IP_SHORT;
    if (header > sizeof(*ip))
        return DROP_IP_OPTIONS;
    if (!ip_checksum_holds(ip, checksum))
        return DROP_IP_CHECKSUM;
    if (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK))
        return DROP_IP_FRAGMENT;
    if (!can_be_source(ip->src_addr))
        return DROP_IP_SOURCE;
    if (ip->dst_addr != our_ip)
        return DROP_IP_NOT_OURS;
    return DROP_REASONS;
}

/* Header, data and pseudo header add up to all ones. */
static bool udp_checksum_holds(const struct frame_udp *f, size_t bytes, enum frame_found checksum)
{
    if (checksum != FRAME_NOT_COMPARED)
        return checksum == FRAME_GOOD;
    return fold((uint32_t)frame_sum(&f->udp, bytes) + rte_ipv4_phdr_cksum(&f->ip, 0)) == 0xFFFF;
}

enum drop frame_check_udp(const void *frame, enum frame_found checksum)
{
    const struct frame_udp *f = frame;
    size_t total = rte_be_to_cpu_16(f->ip.total_length) - sizeof(f->ip);

    if (total < sizeof(f->udp) || rte_be_to_cpu_16(f->udp.dgram_len) != total)
        return DROP_UDP_LENGTH;
    if (f->udp.dgram_cksum != 0 && !udp_checksum_holds(f, total, checksum))
        return DROP_UDP_CHECKSUM;
    return DROP_REASONS;
}

void frame_header_init(struct frame_header *h, const struct frame_end *from, const struct frame_end *to)
{
    const uint64_t without_length = RTE_MBUF_F_TX_TCP_SEG; /* what it means to rte_ipv4_phdr_cksum */
    struct frame_udp f = {
        .eth = {.dst_addr = to->mac, .src_addr = from->mac, .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)},
        .ip = {.version_ihl = RTE_IPV4_VHL_DEF,
               .fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
               .time_to_live = 64,
               .next_proto_id = IPPROTO_UDP,
               .src_addr = from->ip,
               .dst_addr = to->ip},
        .udp = {.src_port = from->port, .dst_port = to->port},
    };

    h->without_udp_sum = false;
    h->ip_sum = rte_raw_cksum(&f.ip, sizeof(f.ip));
    h->udp_sum = fold((uint32_t)rte_ipv4_phdr_cksum(&f.ip, without_length) + f.udp.dst_port);
    memcpy(h->bytes, &f, sizeof(h->bytes));
}

void frame_write_headers(void *out, const struct frame_header *h, rte_be16_t from_port,
                         const struct frame_payload *p)
{
    struct frame_udp *f = out;
    rte_be16_t udp_bytes = rte_cpu_to_be_16((uint16_t)(sizeof(f->udp) + p->bytes));
    rte_be16_t ip_bytes = rte_cpu_to_be_16((uint16_t)(sizeof(f->ip) + sizeof(f->udp) + p->bytes));
    /* The UDP length counts twice: in the header and in the pseudo header. */
    uint16_t udp_sum = fold((uint32_t)h->udp_sum + from_port + udp_bytes + udp_bytes + p->sum);

    memcpy(out, h->bytes, sizeof(h->bytes));
    f->ip.total_length = ip_bytes;
    f->ip.hdr_checksum = (rte_be16_t)~fold((uint32_t)h->ip_sum + ip_bytes);
    f->udp.src_port = from_port;
    f->udp.dgram_len = udp_bytes;
    if (!h->without_udp_sum) /* a checksum of 0 would be none */
        f->udp.dgram_cksum = udp_sum == 0xFFFF ? 0xFFFF : (rte_be16_t)~udp_sum;
}

void frame_write(void *out, const struct frame_header *h, rte_be16_t from_port, const struct frame_payload *p)
{
    struct frame_udp *f = out;

    frame_write_headers(out, h, from_port, p);
    memcpy(f->payload, p->at, p->bytes);
}

void frame_answer_ends(const struct frame_udp *f, struct frame_end *from, struct frame_end *to)
{
    *from = (struct frame_end){.mac = f->eth.dst_addr, .ip = f->ip.dst_addr, .port = f->udp.dst_port};
    *to = (struct frame_end){.mac = f->eth.src_addr, .ip = f->ip.src_addr, .port = f->udp.src_port};
}
