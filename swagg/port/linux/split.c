#include "port/linux/split.h"

#include <string.h>

#include <rte_common.h>

enum { TAGS_MAX = 2, ETHER_TYPE_AT = offsetof(struct net_ethernet, ether_type) };

static uint16_t get16(const void *at)
{
    const unaligned_uint16_t *value = at;

    return net16(*value);
}

static uint16_t ip_type(const struct split *s)
{
    return get16(s->merged.first + s->ip - sizeof(uint16_t));
}

/* Past the tags that the kernel has left in the frame. */
static size_t find_ip(const uint8_t *frame, size_t bytes)
{
    size_t at = ETHER_TYPE_AT;

    for (unsigned tags = 0; tags < TAGS_MAX && at + sizeof(struct net_tag) + sizeof(uint16_t) <= bytes;
         tags++) {
        const uint16_t type = get16(frame + at);

        if (type != NET_TYPE_TAG && type != NET_TYPE_OUTER_TAG)
            break;
        at += sizeof(struct net_tag);
    }
    return at + sizeof(uint16_t);
}

/* Where the layer 4 header of this protocol begins; 0: the headers before it are not as expected. */
static size_t find_ipv4_payload(struct split *s, size_t bytes, uint8_t protocol)
{
    const struct net_ipv4 *ip = (const void *)(s->merged.first + s->ip);
    size_t header;

    if (bytes < s->ip + sizeof(*ip))
        return 0;
    header = net_ipv4_header_bytes(ip);
    if (ip->version_ihl >> 4 != 4 || header < sizeof(*ip) || ip->next_proto_id != protocol ||
        net16(ip->total_length) != bytes - s->ip)
        return 0;
    s->identification = net16(ip->packet_id);
    /* A sender that forbids fragmentation may leave the identification 0; in all other merged frames it
     * counts up. A count that passes 0 just here looks like the former, and that field then says nothing. */
    s->identification_by = s->identification != 0 || !(ip->fragment_offset & net16(NET_IPV4_DONT_FRAGMENT));
    return s->ip + header;
}

static size_t find_ipv6_payload(const struct split *s, size_t bytes, uint8_t protocol)
{
    const struct net_ipv6 *ip = (const void *)(s->merged.first + s->ip);
    const size_t at = s->ip + sizeof(*ip);

    return bytes >= at && ip->proto == protocol && net16(ip->payload_len) == bytes - at ? at : 0;
}

static size_t find_l4(struct split *s, size_t bytes, uint8_t protocol)
{
    switch (ip_type(s)) {
    case NET_TYPE_IPV4:
        return find_ipv4_payload(s, bytes, protocol);
    case NET_TYPE_IPV6:
        return find_ipv6_payload(s, bytes, protocol);
    default:
        return 0;
    }
}

static size_t l4_header_bytes(const struct split *s, size_t bytes, uint8_t protocol)
{
    const struct net_tcp *tcp = (const void *)(s->merged.first + s->l4);

    if (protocol == NET_PROTOCOL_UDP)
        return sizeof(struct net_udp);
    return bytes < s->l4 + sizeof(*tcp) ? 0 : (size_t)(tcp->data_off >> 4) * 4;
}

/* The protocol whose segments were merged; 0: unknown. */
static uint8_t protocol_of(const struct virtio_net_hdr *how)
{
    switch (how->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
    case VIRTIO_NET_HDR_GSO_TCPV4:
    case VIRTIO_NET_HDR_GSO_TCPV6:
        return NET_PROTOCOL_TCP;
    case LINUX_GSO_UDP:
        return NET_PROTOCOL_UDP;
    default:
        return 0;
    }
}

/* The kernel tells which header has the checksum that is to be completed: if it is not the first layer 4
 * header, there is a tunnel. */
bool split_init(struct split *s, const struct virtio_net_hdr *how, const struct split_message *merged,
                agg_ones_sum_fn *ones_sum)
{
    const uint8_t protocol = protocol_of(how);
    const size_t bytes = merged->bytes;
    size_t header, payload;

    *s = (struct split){.merged = *merged,
                        .payload = how->gso_size,
                        .answers_congestion = how->gso_type & VIRTIO_NET_HDR_GSO_ECN,
                        .ones_sum = ones_sum};
    if (protocol == 0 || how->gso_size == 0 || !(how->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
        bytes < sizeof(struct net_ethernet))
        return false;
    s->ip = (uint16_t)find_ip(merged->first, bytes);
    s->l4 = (uint16_t)find_l4(s, bytes, protocol);
    if (s->l4 == 0 || s->l4 != how->csum_start)
        return false;
    header = l4_header_bytes(s, bytes, protocol);
    if (header < (protocol == NET_PROTOCOL_TCP ? sizeof(struct net_tcp) : sizeof(struct net_udp)) ||
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
static uint16_t write_ipv4(const struct split *s, unsigned i, struct net_ipv4 *ip, size_t bytes,
                           uint8_t protocol)
{
    const size_t header = net_ipv4_header_bytes(ip);

    ip->total_length = net16(bytes);
    ip->packet_id = net16(s->identification + i * s->identification_by);
    ip->hdr_checksum = 0;
    ip->hdr_checksum = (uint16_t)~s->ones_sum(ip, header);
    return net_ipv4_pseudo_sum(ip, protocol, bytes - header);
}

static uint16_t write_ipv6(struct net_ipv6 *ip, size_t bytes, uint8_t protocol)
{
    ip->payload_len = net16(bytes - sizeof(*ip));
    return net_ipv6_pseudo_sum(ip, protocol, bytes - sizeof(*ip));
}

/* The checksum of a segment, whose checksum field is 0, and its pseudo header. */
static uint16_t sum_l4(const struct split *s, uint16_t pseudo_header, const void *l4, size_t bytes)
{
    return net_fold((uint32_t)pseudo_header + s->ones_sum(l4, bytes));
}

static void write_udp(const struct split *s, struct net_udp *udp, uint16_t pseudo_header, size_t bytes)
{
    udp->dgram_len = net16(bytes);
    udp->dgram_cksum = 0;
    udp->dgram_cksum = net_udp_checksum(sum_l4(s, pseudo_header, udp, bytes));
}

/* Flags that end a burst or a connection (PSH, FIN) are in the last segment alone. */
static void write_tcp(const struct split *s, unsigned i, struct net_tcp *tcp, uint16_t pseudo_header,
                      size_t bytes)
{
    if (i > 0 && s->answers_congestion)
        tcp->tcp_flags &= (uint8_t)~NET_TCP_CWR;
    if (i + 1 < s->frames)
        tcp->tcp_flags &= (uint8_t) ~(NET_TCP_FIN | NET_TCP_PSH);
    tcp->sent_seq = net32(net32(tcp->sent_seq) + i * s->payload);
    tcp->cksum = 0;
    tcp->cksum = (uint16_t)~sum_l4(s, pseudo_header, tcp, bytes);
}

uint16_t split_frame(const struct split *s, unsigned i, void *frame)
{
    const uint16_t payload = i + 1 < s->frames ? s->payload : s->last_payload;
    const uint16_t bytes = s->header_bytes + payload;
    uint8_t *out = frame;
    uint16_t pseudo_header;
    const bool is_ipv4 = ip_type(s) == NET_TYPE_IPV4;
    const bool is_udp = s->header_bytes - s->l4 == sizeof(struct net_udp);
    const uint8_t protocol = is_udp ? NET_PROTOCOL_UDP : NET_PROTOCOL_TCP;

    memcpy(out, s->merged.first, s->header_bytes);
    copy(&s->merged, out + s->header_bytes, s->header_bytes + (size_t)i * s->payload, payload);
    pseudo_header = is_ipv4 ? write_ipv4(s, i, (void *)(out + s->ip), bytes - s->ip, protocol)
                            : write_ipv6((void *)(out + s->ip), bytes - s->ip, protocol);
    if (is_udp)
        write_udp(s, (void *)(out + s->l4), pseudo_header, bytes - s->l4);
    else
        write_tcp(s, i, (void *)(out + s->l4), pseudo_header, bytes - s->l4);
    return bytes;
}
