/* Frames addressed to the switch itself: checked on arrival, built for the answer.
 *
 * Untagged Ethernet II, IPv4 without options, ICMP or UDP: every header is at a fixed place, so a checked
 * frame is simply read as a struct frame_udp. Functions over bytes, pure but for frame_use_kernels; all
 * fields in network order.
 */
#ifndef SWAGG_AGGREGATE_FRAME_H
#define SWAGG_AGGREGATE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "base/counters.h"
#include "kernels/kernels.h"

struct frame_udp {
    struct rte_ether_hdr eth;
    struct rte_ipv4_hdr ip;
    struct rte_udp_hdr udp;
    uint8_t payload[];
} __rte_packed __rte_aligned(2);

enum {
    FRAME_HEADER_BYTES = sizeof(struct frame_udp),        /* 42 */
    FRAME_PORT_BYTES = RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN, /* a frame may be this much longer than the MTU */
};

/* A checksum as the device found it that received the frame: only what it has not compared needs to be
 * computed. */
enum frame_found { FRAME_NOT_COMPARED, FRAME_GOOD, FRAME_BAD };

/* What is wrong with a frame whose Ethernet header is whole and says IPv4; DROP_REASONS: nothing. our_ip: the
 * switch's. */
enum drop frame_check_ipv4(const void *frame, size_t bytes, rte_be32_t our_ip, enum frame_found checksum);

/* The same for the UDP part of a frame that passed frame_check_ipv4 and says UDP. A zero checksum is none,
 * whatever was found. */
enum drop frame_check_udp(const void *frame, enum frame_found checksum);

static inline size_t frame_payload_bytes(const struct frame_udp *f)
{
    return rte_be_to_cpu_16(f->udp.dgram_len) - sizeof(f->udp);
}

/* One end of a UDP conversation. */
struct frame_end {
    struct rte_ether_addr mac;
    rte_be16_t port;
    rte_be32_t ip;
};

/* The headers of a frame from one end to another, ready but for what changes from packet to packet. */
struct frame_header {
    uint8_t bytes[FRAME_HEADER_BYTES];
    uint16_t ip_sum;      /* of the IPv4 header without the length, not complemented */
    uint16_t udp_sum;     /* of what goes into the UDP checksum and does not change: addresses, protocol,
                             receiver's port */
    bool without_udp_sum; /* the UDP checksum is 0, which is none; false from frame_header_init */
};

/* What is sent behind them; summed once, however many frames carry it. The bytes stay the caller's. */
struct frame_payload {
    const void *at;
    size_t bytes;
    uint16_t sum;
};

/* Whose ones_sum all checksums of payload here are made with; the scalar one until it is called. Once, at the
 * start, before there are other threads. */
void frame_use_kernels(const struct agg_kernels *k);

/* The one's complement sum of the bytes, taken as 16-bit words in network order, the last padded (RFC 1071).
 */
uint16_t frame_sum(const void *bytes, size_t n);

static inline struct frame_payload frame_payload(const void *at, size_t bytes)
{
    return (struct frame_payload){.at = at, .bytes = bytes, .sum = frame_sum(at, bytes)};
}

void frame_header_init(struct frame_header *h, const struct frame_end *from, const struct frame_end *to);

/* Writes the headers, FRAME_HEADER_BYTES, of a frame with this payload: TTL 64, don't fragment, both
 * checksums right (but for a UDP checksum that there is to be none of). */
void frame_write_headers(void *out, const struct frame_header *h, rte_be16_t from_port,
                         const struct frame_payload *p);

/* The same and the payload behind them. */
void frame_write(void *out, const struct frame_header *h, rte_be16_t from_port,
                 const struct frame_payload *p);

/* The two ends of a checked frame, as its answer sees them: from = the addressed end. */
void frame_answer_ends(const struct frame_udp *f, struct frame_end *from, struct frame_end *to);

#endif
