/* UDP datagrams in untagged Ethernet frames, IPv4 without options: every header is at a fixed place. The
 * headers from one end to another are prepared once; lengths, the sender's port and the sum of the payload
 * are filled in for each packet. Pure and reentrant; all fields in network order.
 */
#ifndef SWAGG_CORE_NET_UDP_FRAME_H
#define SWAGG_CORE_NET_UDP_FRAME_H

#include "kernels/kernels.h"
#include "net/headers.h"
#include "net/sum.h"

/* For reading: only a frame that net_check_ipv4 and net_check_udp have passed. */
struct frame_udp {
    struct net_ethernet eth;
    struct net_ipv4 ip;
    struct net_udp udp;
    uint8_t payload[];
} NET_PACKED;

enum { FRAME_HEADER_BYTES = sizeof(struct frame_udp) };

_Static_assert(FRAME_HEADER_BYTES == 42, "nothing between the headers");

static inline size_t frame_payload_bytes(const struct frame_udp *f)
{
    return net16(f->udp.dgram_len) - sizeof(f->udp);
}

/* One end of a UDP conversation. */
struct frame_end {
    struct net_mac mac;
    uint16_t port;
    uint32_t ip;
};

/* The headers of a frame from one end to another, ready but for what changes from packet to packet. */
struct frame_header {
    uint8_t bytes[FRAME_HEADER_BYTES];
    uint16_t ip_sum;      /* of the IPv4 header without the length, not complemented */
    uint16_t udp_sum;     /* of what goes into the UDP checksum and does not change: addresses, protocol,
                             receiver's port */
    bool without_udp_sum; /* send 0, "no UDP checksum"; frame_header_init sets false */
};

/* The payload behind the headers; summed once, however many frames carry it. The bytes stay the caller's. */
struct frame_payload {
    const void *at;
    size_t bytes;
    uint16_t sum; /* agg_kernels.ones_sum of them */
};

static inline struct frame_payload frame_payload(const void *at, size_t bytes, agg_ones_sum_fn *ones_sum)
{
    return (struct frame_payload){.at = at, .bytes = bytes, .sum = ones_sum(at, bytes)};
}

/* TTL 64, don't fragment. The port of `from` is not used: each packet has its own. */
void frame_header_init(struct frame_header *h, const struct frame_end *from, const struct frame_end *to);

/* Writes the headers, FRAME_HEADER_BYTES, of a frame with this payload, with both checksums (without_udp_sum:
 * with that of IPv4). Does not read the bytes of the payload. Inline, since every answer has them. */
static inline void frame_write_headers(void *out, const struct frame_header *h, uint16_t from_port,
                                       const struct frame_payload *p)
{
    struct frame_udp *f = out;
    uint16_t udp_bytes = net16(sizeof(f->udp) + p->bytes);
    uint16_t ip_bytes = net16(sizeof(f->ip) + sizeof(f->udp) + p->bytes);
    /* The UDP length counts twice: in the header and in the pseudo header. */
    uint16_t udp_sum = net_fold((uint32_t)h->udp_sum + from_port + udp_bytes + udp_bytes + p->sum);

    memcpy(out, h->bytes, sizeof(h->bytes));
    f->ip.total_length = ip_bytes;
    f->ip.hdr_checksum = (uint16_t)~net_fold((uint32_t)h->ip_sum + ip_bytes);
    f->udp.src_port = from_port;
    f->udp.dgram_len = udp_bytes;
    if (!h->without_udp_sum)
        f->udp.dgram_cksum = net_udp_checksum(udp_sum);
}

/* The same and the payload behind them. */
void frame_write(void *out, const struct frame_header *h, uint16_t from_port, const struct frame_payload *p);

/* The two ends of a checked frame, as its answer sees them: from = the addressed end. */
void frame_answer_ends(const struct frame_udp *f, struct frame_end *from, struct frame_end *to);

#endif
