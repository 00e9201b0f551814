#include "port/linux/run.h"

#include <string.h>

#include "net/sum.h"
#include "port/linux/gso.h"

enum {
    RUN_MAX = 64,          /* segments that every kernel takes */
    RUN_BYTES_MAX = 65000, /* of payload: a run has one IPv4 header, whose length field has 16 bits */
};

static const struct frame_udp *udp_of(const struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, const struct frame_udp *);
}

/* The same in all headers but for the UDP checksum, so of the same length, too. */
static bool same_headers(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
    return memcmp(udp_of(a), udp_of(b), offsetof(struct frame_udp, udp.dgram_cksum)) == 0;
}

struct run run_find(struct rte_mbuf *const frames[], unsigned n, uint64_t mergeable)
{
    struct run run = {.length = 1};

    if (!(frames[0]->ol_flags & mergeable))
        return run;
    n = RTE_MIN(n, (unsigned)RUN_MAX);
    n = RTE_MIN(n, RUN_BYTES_MAX / frames[0]->pkt_len);
    while (run.length < n && frames[run.length]->ol_flags & mergeable &&
           same_headers(frames[0], frames[run.length]))
        run.length++;
    if (run.length > 1) {
        run.header_bytes = FRAME_HEADER_BYTES;
        run.payload = (uint16_t)frame_payload_bytes(udp_of(frames[0]));
    }
    return run;
}

/* Writes headers with the lengths of the whole run; the kernel derives every frame's from them. */
void run_write_prelude(struct run_prelude *p, const struct run *run, struct rte_mbuf *const frames[])
{
    struct net_ipv4 *ip = &p->headers.ip;
    size_t udp_bytes;

    p->how = (struct virtio_net_hdr){.gso_type = VIRTIO_NET_HDR_GSO_NONE};
    if (run->length == 1)
        return;
    memcpy(&p->headers, udp_of(frames[0]), run->header_bytes);
    udp_bytes = sizeof(p->headers.udp) + (size_t)run->payload * run->length;
    ip->total_length = net16(sizeof(*ip) + udp_bytes);
    ip->hdr_checksum = 0;
    ip->hdr_checksum = (uint16_t)~net_ipv4_sum(ip);
    p->headers.udp.dgram_len = net16(udp_bytes);
    p->headers.udp.dgram_cksum = net_ipv4_pseudo_sum(ip, NET_PROTOCOL_UDP, udp_bytes);
    p->how = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                     .gso_type = LINUX_GSO_UDP,
                                     .gso_size = run->payload,
                                     .hdr_len = run->header_bytes,
                                     .csum_start = sizeof(p->headers.eth) + sizeof(*ip),
                                     .csum_offset = offsetof(struct net_udp, dgram_cksum)};
}
