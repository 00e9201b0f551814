#include "kernel_run.h"

#include <string.h>

#include <netinet/in.h>

enum {
    RUN_MAX = 64,          /* segments that every kernel takes */
    RUN_BYTES_MAX = 65000, /* of payload: a run has one IPv4 header, whose length field has 16 bits */
};

static const struct frame_udp *udp_of(const struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, const struct frame_udp *);
}

static const struct frame_tcp *tcp_of(const struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, const struct frame_tcp *);
}

/* The same in all headers but for the UDP checksum, so of the same length, too. */
static bool same_headers(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
    return memcmp(udp_of(a), udp_of(b), offsetof(struct frame_udp, udp.dgram_cksum)) == 0;
}

static void find_udp(struct run *run, struct rte_mbuf *const frames[], unsigned n, uint64_t flag)
{
    run->header_bytes = FRAME_HEADER_BYTES;
    run->payload = (uint16_t)frame_payload_bytes(udp_of(frames[0]));
    n = RTE_MIN(n, RUN_BYTES_MAX / frames[0]->pkt_len);
    while (run->length < n && frames[run->length]->ol_flags & flag &&
           same_headers(frames[0], frames[run->length]))
        run->length++;
}

static uint16_t tcp_header_bytes(const struct frame_tcp *f)
{
    return (uint16_t)(offsetof(struct frame_tcp, tcp) + (f->tcp.data_off >> 4) * 4);
}

/* TCP over IPv4 with payload, neither IPv4 options nor a fragment. */
static bool begins_tcp(const struct rte_mbuf *m)
{
    const struct frame_tcp *f = tcp_of(m);

    return m->data_len > sizeof(*f) && f->eth.ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
           f->ip.version_ihl == RTE_IPV4_VHL_DEF && f->ip.next_proto_id == IPPROTO_TCP &&
           (f->ip.fragment_offset | RTE_BE16(RTE_IPV4_HDR_DF_FLAG)) == RTE_BE16(RTE_IPV4_HDR_DF_FLAG) &&
           tcp_header_bytes(f) >= sizeof(*f) && tcp_header_bytes(f) < m->data_len;
}

/* Has the frame the headers that segmentation gives it, as number i of a run? The TCP checksum aside. */
static bool has_headers(const struct rte_mbuf *m, const struct run *run, const struct frame_tcp *first,
                        unsigned i)
{
    const struct frame_tcp *f = tcp_of(m);
    union run_headers expected;
    struct frame_tcp *e = &expected.tcp;

    if (!rte_pktmbuf_is_contiguous(m) || m->data_len <= run->header_bytes ||
        m->data_len > run->header_bytes + run->payload)
        return false;
    memcpy(&expected, first, run->header_bytes);
    e->ip.total_length = rte_cpu_to_be_16((uint16_t)(m->data_len - sizeof(f->eth)));
    e->ip.packet_id = rte_cpu_to_be_16((uint16_t)(rte_be_to_cpu_16(first->ip.packet_id) + i));
    e->ip.hdr_checksum = 0;
    e->ip.hdr_checksum = rte_ipv4_cksum(&e->ip);
    e->tcp.sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(first->tcp.sent_seq) + i * run->payload);
    e->tcp.tcp_flags |= f->tcp.tcp_flags & RTE_TCP_PSH_FLAG;
    e->tcp.cksum = f->tcp.cksum;
    return memcmp(e, f, run->header_bytes) == 0;
}

/* A shorter segment ends a run, and so does one with a flag that segmentation leaves to the first or the
 * last. */
static bool may_go_on(const struct rte_mbuf *m, const struct run *run)
{
    return m->data_len == run->header_bytes + run->payload && tcp_of(m)->tcp.tcp_flags == RTE_TCP_ACK_FLAG;
}

/* The checksum is the one that would be computed. All ones, the other zero, hold as well but never are. */
static bool tcp_checksum_holds(const struct rte_mbuf *m)
{
    const struct frame_tcp *f = tcp_of(m);
    uint32_t sum = frame_sum(&f->tcp, m->data_len - offsetof(struct frame_tcp, tcp));

    return (sum + rte_ipv4_phdr_cksum(&f->ip, 0)) % UINT16_MAX == 0 && f->tcp.cksum != UINT16_MAX;
}

static void find_tcp(struct run *run, struct rte_mbuf *const frames[], unsigned n)
{
    const struct frame_tcp *first = tcp_of(frames[0]);
    unsigned alike = 0;

    run->header_bytes = tcp_header_bytes(first);
    run->payload = (uint16_t)(frames[0]->data_len - run->header_bytes);
    n = RTE_MIN(n, (unsigned)RUN_BYTES_MAX / run->payload);
    for (bool goes_on = true; goes_on && alike < n && has_headers(frames[alike], run, first, alike); alike++)
        goes_on = may_go_on(frames[alike], run);
    if (alike < 2) /* nothing to compare checksums for */
        return;
    run->length = 0;
    while (run->length < alike && tcp_checksum_holds(frames[run->length]))
        run->length++;
}

struct run run_find(struct rte_mbuf *const frames[], unsigned n, const struct run_allowed *allowed)
{
    const struct run one = {.kind = RUN_OF_ONE, .length = 1};
    struct run run = one;

    n = RTE_MIN(n, (unsigned)RUN_MAX);
    if (frames[0]->ol_flags & allowed->udp) {
        run.kind = RUN_UDP;
        find_udp(&run, frames, n, allowed->udp);
    } else if (allowed->tcp && n > 1 && begins_tcp(frames[0])) {
        run.kind = RUN_TCP;
        find_tcp(&run, frames, n);
    }
    return run.length > 1 ? run : one;
}

static size_t payload_bytes(const struct run *run, const struct rte_mbuf *last)
{
    return (size_t)run->payload * (run->length - 1) + last->pkt_len - run->header_bytes;
}

/* Lengths of the whole, and the last frame's flags; the kernel starts every frame's checksums from these. */
void run_write_prelude(struct run_prelude *p, const struct run *run, struct rte_mbuf *const frames[])
{
    const struct rte_mbuf *last = frames[run->length - 1];
    struct frame_udp *udp = &p->headers.udp;
    struct frame_tcp *tcp = &p->headers.tcp;
    struct rte_ipv4_hdr *ip = &udp->ip;
    size_t ip_bytes;

    p->how = (struct virtio_net_hdr){.gso_type = (uint8_t)run->kind};
    if (run->kind == RUN_OF_ONE)
        return;
    memcpy(&p->headers, udp_of(frames[0]), run->header_bytes);
    ip_bytes = run->header_bytes - sizeof(udp->eth) + payload_bytes(run, last);
    ip->total_length = rte_cpu_to_be_16((uint16_t)ip_bytes);
    ip->hdr_checksum = 0;
    ip->hdr_checksum = rte_ipv4_cksum(ip);
    p->how.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    p->how.gso_size = run->payload;
    p->how.hdr_len = run->header_bytes;
    p->how.csum_start = sizeof(udp->eth) + sizeof(*ip);
    if (run->kind == RUN_UDP) {
        p->how.csum_offset = offsetof(struct rte_udp_hdr, dgram_cksum);
        udp->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(ip_bytes - sizeof(*ip)));
        udp->udp.dgram_cksum = rte_ipv4_phdr_cksum(ip, 0);
    } else {
        p->how.csum_offset = offsetof(struct rte_tcp_hdr, cksum);
        tcp->tcp.tcp_flags = tcp_of(last)->tcp.tcp_flags;
        tcp->tcp.cksum = rte_ipv4_phdr_cksum(ip, 0);
    }
}
