#include "port/linux/gso.h"

#include "net/headers.h"

/* Segmentation clears the flag CWR in all segments but the first, even if the sender had set it in all. */
static bool answers_congestion(const struct split *s)
{
    const struct net_tcp *tcp = (const void *)(s->merged.first + s->l4);

    return tcp->tcp_flags & NET_TCP_CWR;
}

bool linux_gso_may_pass(const struct split *s, const struct virtio_net_hdr *how)
{
    switch (how->gso_type) {
    case VIRTIO_NET_HDR_GSO_TCPV4:
        return s->ip == sizeof(struct net_ethernet) && s->identification_by == 1 && !answers_congestion(s);
    case VIRTIO_NET_HDR_GSO_TCPV6:
        return s->ip == sizeof(struct net_ethernet) && !answers_congestion(s);
    default:
        return false;
    }
}

void linux_gso_mark(struct rte_mbuf *m, const struct split *s, const struct virtio_net_hdr *how)
{
    m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
    m->tso_segsz = s->payload;
    m->l2_len = s->ip;
    m->l3_len = (unsigned)(s->l4 - s->ip);
    m->l4_len = (unsigned)(s->header_bytes - s->l4);
    m->hash.usr = how->gso_type;
}

struct virtio_net_hdr linux_gso_describe(const struct rte_mbuf *m)
{
    return (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                   .gso_type = (uint8_t)m->hash.usr,
                                   .hdr_len = (uint16_t)linux_gso_header_bytes(m),
                                   .gso_size = m->tso_segsz,
                                   .csum_start = (uint16_t)(m->l2_len + m->l3_len),
                                   .csum_offset = offsetof(struct net_tcp, cksum)};
}
