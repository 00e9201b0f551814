#include "port/linux/split.h"

#include <string.h>

#include <netinet/in.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "aggregate/frame.h"
#include "port/linux/gso.h"

enum { TAGS_MAX = 2, ETHER_TYPE_AT = offsetof(struct rte_ether_hdr, ether_type) };

static uint16_t get16(const void *at)
{
    const unaligned_uint16_t *value = at;

    return rte_be_to_cpu_16(*value);
}

static uint16_t ip_type(const struct split *s)
{
    return get16(s->merged.first + s->ip - sizeof(uint16_t));
}

/* Past the tags that the kernel has left in the frame. */
static size_t find_ip(const uint8_t *frame, size_t bytes)
{
    size_t at = ETHER_TYPE_AT;

    for (unsigned tags = 0; tags < TAGS_MAX && at + RTE_VLAN_HLEN + sizeof(uint16_t) <= bytes; tags++) {
        const uint16_t type = get16(frame + at);

        if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
            break;
        at += RTE_VLAN_HLEN;
    }
    return at + sizeof(uint16_t);
}

/* Where a frame's layer 4 begins, of this protocol; 0: the headers are not what they should be. */
static size_t find_ipv4_payload(struct split *s, size_t bytes, uint8_t protocol)
{
    const struct rte_ipv4_hdr *ip = (const void *)(s->merged.first + s->ip);
    size_t header;

    if (bytes < s->ip + sizeof(*ip))
        return 0;
    header = rte_ipv4_hdr_len(ip);
    if (ip->version != 4 || header < sizeof(*ip) || ip->next_proto_id != protocol ||
        rte_be_to_cpu_16(ip->total_length) != bytes - s->ip)
        return 0;
    s->identification = rte_be_to_cpu_16(ip->packet_id);
    /* Who never fragments may use no identification; all else that is merged counts them. */
    s->identification_by = s->identification != 0 || !(ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_DF_FLAG));
    return s->ip + header;
}

static size_t find_ipv6_payload(const struct split *s, size_t bytes, uint8_t protocol)
{
    const struct rte_ipv6_hdr *ip = (const void *)(s->merged.first + s->ip);
    const size_t at = s->ip + sizeof(*ip);

    return bytes >= at && ip->proto == protocol && rte_be_to_cpu_16(ip->payload_len) == bytes - at ? at : 0;
}

static size_t find_l4(struct split *s, size_t bytes, uint8_t protocol)
{
    switch (ip_type(s)) {
    case RTE_ETHER_TYPE_IPV4:
        return find_ipv4_payload(s, bytes, protocol);
    case RTE_ETHER_TYPE_IPV6:
        return find_ipv6_payload(s, bytes, protocol);
    default:
        return 0;
    }
}

static size_t l4_header_bytes(const struct split *s, size_t bytes, uint8_t protocol)
{
    const struct rte_tcp_hdr *tcp = (const void *)(s->merged.first + s->l4);

    if (protocol == IPPROTO_UDP)
        return sizeof(struct rte_udp_hdr);
    return bytes < s->l4 + sizeof(*tcp) ? 0 : (size_t)(tcp->data_off >> 4) * 4;
}

/* The protocol that is merged; 0: none that is known. */
static uint8_t protocol_of(const struct virtio_net_hdr *how)
{
    switch (how->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
    case VIRTIO_NET_HDR_GSO_TCPV4:
    case VIRTIO_NET_HDR_GSO_TCPV6:
        return IPPROTO_TCP;
    case LINUX_GSO_UDP:
        return IPPROTO_UDP;
    default:
        return 0;
    }
}

/* The kernel says where the checksum begins that is to be completed: if that is not in the first layer 4
 * header, there is a tunnel. */
bool split_init(struct split *s, const struct virtio_net_hdr *how, const struct split_message *merged)
{
    const uint8_t protocol = protocol_of(how);
    const size_t bytes = merged->bytes;
    size_t header, payload;

    *s = (struct split){.merged = *merged,
                        .payload = how->gso_size,
                        .answers_congestion = how->gso_type & VIRTIO_NET_HDR_GSO_ECN};
    if (protocol == 0 || how->gso_size == 0 || !(how->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
        bytes < sizeof(struct rte_ether_hdr))
        return false;
    s->ip = (uint16_t)find_ip(merged->first, bytes);
    s->l4 = (uint16_t)find_l4(s, bytes, protocol);
    if (s->l4 == 0 || s->l4 != how->csum_start)
        return false;
    header = l4_header_bytes(s, bytes, protocol);
    if (header < (protocol == IPPROTO_TCP ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr)) ||
        bytes <= s->l4 + header)
        return false;
    s->header_bytes = (uint16_t)(s->l4 + header);
    payload = bytes - s->header_bytes;
    s->frames = (unsigned)((payload + s->payload - 1) / s->payload);
    s->last_payload = (uint16_t)(payload - (size_t)(s->frames - 1) * s->payload);
    return true;
}

/* Bytes of the message from an offset on. */
static void copy(const struct split_message *m, uint8_t *out, size_t from, size_t bytes)
{
    const size_t first = from >= m->first_bytes ? 0 : RTE_MIN(bytes, m->first_bytes - from);

    if (first > 0)
        memcpy(out, m->first + from, first);
    if (first < bytes)
        memcpy(out + first, m->rest + (from + first - m->first_bytes), bytes - first);
}

/* Returns the sum of the pseudo header. */
static uint16_t write_ipv4(const struct split *s, unsigned i, struct rte_ipv4_hdr *ip, size_t bytes)
{
    ip->total_length = rte_cpu_to_be_16((uint16_t)bytes);
    ip->packet_id = rte_cpu_to_be_16((uint16_t)(s->identification + i * s->identification_by));
    ip->hdr_checksum = 0;
    ip->hdr_checksum = (uint16_t)~frame_sum(ip, rte_ipv4_hdr_len(ip));
    return rte_ipv4_phdr_cksum(ip, 0);
}

static uint16_t write_ipv6(struct rte_ipv6_hdr *ip, size_t bytes)
{
    ip->payload_len = rte_cpu_to_be_16((uint16_t)(bytes - sizeof(*ip)));
    return rte_ipv6_phdr_cksum(ip, 0);
}

/* Of a part of a packet with headers that end in these bytes; the sum does not count its own place. */
static uint16_t checksum(uint16_t pseudo_header, const void *l4, size_t bytes)
{
    uint32_t sum = (uint32_t)pseudo_header + frame_sum(l4, bytes);

    return (uint16_t) ~((sum & UINT16_MAX) + (sum >> 16));
}

static void write_udp(struct rte_udp_hdr *udp, uint16_t pseudo_header, size_t bytes)
{
    udp->dgram_len = rte_cpu_to_be_16((uint16_t)bytes);
    udp->dgram_cksum = 0;
    udp->dgram_cksum = checksum(pseudo_header, udp, bytes);
    if (udp->dgram_cksum == 0) /* which would be none */
        udp->dgram_cksum = UINT16_MAX;
}

/* What ends a burst or a connection is in the last segment alone. */
static void write_tcp(const struct split *s, unsigned i, struct rte_tcp_hdr *tcp, uint16_t pseudo_header,
                      size_t bytes)
{
    if (i > 0 && s->answers_congestion)
        tcp->tcp_flags &= (uint8_t)~RTE_TCP_CWR_FLAG;
    if (i + 1 < s->frames)
        tcp->tcp_flags &= (uint8_t) ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG);
    tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + i * s->payload);
    tcp->cksum = 0;
    tcp->cksum = checksum(pseudo_header, tcp, bytes);
}

uint16_t split_frame(const struct split *s, unsigned i, void *frame)
{
    const uint16_t payload = i + 1 < s->frames ? s->payload : s->last_payload;
    const uint16_t bytes = s->header_bytes + payload;
    uint8_t *out = frame;
    uint16_t pseudo_header;
    const bool is_ipv4 = ip_type(s) == RTE_ETHER_TYPE_IPV4;
    const bool is_udp = s->header_bytes - s->l4 == sizeof(struct rte_udp_hdr);

    memcpy(out, s->merged.first, s->header_bytes);
    copy(&s->merged, out + s->header_bytes, s->header_bytes + (size_t)i * s->payload, payload);
    pseudo_header = is_ipv4 ? write_ipv4(s, i, (void *)(out + s->ip), bytes - s->ip)
                            : write_ipv6((void *)(out + s->ip), bytes - s->ip);
    if (is_udp)
        write_udp((void *)(out + s->l4), pseudo_header, bytes - s->l4);
    else
        write_tcp(s, i, (void *)(out + s->l4), pseudo_header, bytes - s->l4);
    return bytes;
}
