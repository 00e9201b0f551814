/* UDP datagrams in untagged Ethernet frames, IPv4 without options: every header is at a fixed place. The
 * headers from one end to another are prepared once; lengths, the sender's port and the sum of the payload
 * are filled in for each packet. Pure and reentrant; all fields in network order.
 */
#pragma once

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

/* What the headers of all frames with a payload say of it, and the sender's port; in network order. */
struct frame_fields {
    uint16_t ip_bytes, udp_bytes, from_port;
    uint16_t udp_sum; /* of that which goes into the UDP checksum */
};

static inline struct frame_fields frame_fields(uint16_t from_port, const struct frame_payload *p)
{
    const uint16_t udp_bytes = net16(sizeof(struct net_udp) + p->bytes);

    return (struct frame_fields){
        .ip_bytes = net16(sizeof(struct net_ipv4) + sizeof(struct net_udp) + p->bytes),
        .udp_bytes = udp_bytes,
        .from_port = from_port,
        /* the UDP length counts twice: in the header and in the pseudo header */
        .udp_sum = net_fold((uint32_t)from_port + udp_bytes + udp_bytes + p->sum),
    };
}

/* Writes the headers, FRAME_HEADER_BYTES, of a frame with such a payload, with both checksums
 * (without_udp_sum: with that of IPv4). Inline, since every answer has them. */
static inline void frame_write_fields(void *out, const struct frame_header *h, const struct frame_fields *p)
{
    struct frame_udp *f = out;

    memcpy(out, h->bytes, sizeof(h->bytes));
    f->ip.total_length = p->ip_bytes;
    f->ip.hdr_checksum = (uint16_t)~net_sum_of_two(h->ip_sum, p->ip_bytes);
    f->udp.src_port = p->from_port;
    f->udp.dgram_len = p->udp_bytes;
    if (!h->without_udp_sum)
        f->udp.dgram_cksum = net_udp_checksum(net_sum_of_two(h->udp_sum, p->udp_sum));
}

/* The same of one frame. Does not read the bytes of the payload. */
static inline void frame_write_headers(void *out, const struct frame_header *h, uint16_t from_port,
                                       const struct frame_payload *p)
{
    const struct frame_fields fields = frame_fields(from_port, p);

    frame_write_fields(out, h, &fields);
}

/* The same and the payload behind them. */
void frame_write(void *out, const struct frame_header *h, uint16_t from_port, const struct frame_payload *p);

/* The two ends of a checked frame, as its answer sees them: from = the addressed end. */
void frame_answer_ends(const struct frame_udp *f, struct frame_end *from, struct frame_end *to);
