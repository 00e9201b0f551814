/* What is known of a received frame: read once, for the whole burst, into a record beside it, in an array
 * beside the burst. Whoever decides where a frame goes, and whoever gets it, asks the record, one cache line,
 * and not the frame.
 *
 * A frame whose network is known begins with its Ethernet header, without a tag; all headers of IPv4 and UDP
 * are at fixed places behind it (net/udp_frame.h). Whether they are sound costs a pass over the payload, so
 * frame_check looks only at what the switch takes for itself (lcore/receive.c).
 *
 * Threads: a burst's lcore.
 */
#pragma once

#include "port/frame.h"
#include "port/port.h"
#include "port/vlans.h"

struct agg_key_field;

struct facts {
    struct rte_mbuf *m;
    uint64_t to, from; /* MAC addresses, the first byte lowest */
    uint32_t says_ip;  /* the sender's address, as IPv4 or ARP says; network order; 0: it says none */
    uint16_t type;     /* network order */
    uint16_t network;  /* (port/vlans.h); VLAN_NONE: what neighbours say to each other is in none, where
                          ports carry VLANs */
    uint8_t why;       /* enum drop: it goes no further; DROP_REASONS: it does */

    /* What the classifier adds. */
    uint8_t source;                  /* whose packet it is, as the engine numbers its sources */
    int16_t egress;                  /* the port that it is to leave by; FACTS_FLOOD: all but its own */
    uint16_t frames;                 /* how many it stands for, if it is dropped */
    const struct agg_key_field *key; /* by what its source deals packets to shards */
};
static_assert(sizeof(struct facts) <= RTE_CACHE_LINE_SIZE, "one cache line");

#define FACTS_MAC UINT64_C(0xFFFFFFFFFFFF) /* the bits of an address */

enum { FACTS_FLOOD = -1 };

/* A MAC address as the record has it. */
static inline uint64_t facts_mac(const struct net_mac *a)
{
    uint64_t word = 0;

    memcpy(&word, a, sizeof(*a)); /* little endian: the lower six bytes */
    return word;
}

static inline bool facts_is_to_group(const struct facts *f)
{
    return f->to & 1;
}

/* The frame as UDP over IPv4. */
static inline const struct frame_udp *facts_udp(const struct facts *f)
{
    return rte_pktmbuf_mtod(f->m, const struct frame_udp *);
}

/* Whether it has these headers, in one piece with all that follows. They may be wrong. */
static inline bool facts_has_udp(const struct facts *f)
{
    return f->type == net16(NET_TYPE_IPV4) && f->m->data_len >= sizeof(struct frame_udp) &&
           facts_udp(f)->ip.next_proto_id == NET_PROTOCOL_UDP && rte_pktmbuf_is_contiguous(f->m);
}

/* Frames that have come in by this port of the switch's, n of them: finds their networks, and takes tags out.
 * vlans NULL: the switch has none. */
void facts_read(struct facts facts[], struct rte_mbuf *const frames[], unsigned n, const struct port *port,
                unsigned number, const struct vlans *vlans);

/* What the device says of a checksum, if its port compares checksums. ..._NONE means: the checksum in the
 * frame is not right, but the data is known to be intact. */
static inline enum net_found facts_found(const struct port *port, const struct rte_mbuf *m, uint64_t mask,
                                         uint64_t bad)
{
    const uint64_t flags = m->ol_flags & port->rx_checksums & mask;

    if (flags == 0)
        return NET_NOT_COMPARED;
    return flags == bad ? NET_BAD : NET_GOOD;
}

/* What is wrong with the IPv4 packet that it is, and with the datagram in it. A checksum that the port's
 * device has compared is not computed. The frame lies in one piece. Inline, since every frame to the switch
 * is asked. */
static inline enum net_fault facts_check(const struct facts *f, const struct port *port,
                                         agg_ones_sum_fn *ones_sum)
{
    const struct frame_found by_device = {
        .ip = facts_found(port, f->m, RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_BAD),
        .udp = facts_found(port, f->m, RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_BAD)};

    return frame_check(facts_udp(f), f->m->data_len, &by_device, ones_sum);
}
