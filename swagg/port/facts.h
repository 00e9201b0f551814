/* What is known of a received frame: read once, into a record beside it, in an array beside the burst.
 * Whoever decides where a frame goes, and whoever gets it, asks the record, one cache line, and not the
 * frame.
 *
 * A frame whose network is known begins with its Ethernet header, without a tag; all headers of IPv4 and UDP
 * are at fixed places behind it (net/udp_frame.h). Whether they are sound costs a pass over the payload, so
 * frame_check looks only at what the switch takes for itself (lcore/receive.c).
 *
 * Threads: a burst's lcore.
 */
#pragma once

#include "net/arp.h"
#include "port/frame.h"
#include "port/linux/gso.h"
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

    /* What the classifier adds. */
    uint8_t why;                     /* enum drop, if it is dropped */
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

/* Where ports carry VLANs: finds the network of a frame, and takes its tag out. */
enum drop facts_find_network(const struct vlans *vlans, unsigned port, struct rte_mbuf *m);

static inline enum drop facts_admit(const struct port *port, unsigned number, const struct vlans *vlans,
                                    struct rte_mbuf *m)
{
    if (m->data_len < sizeof(struct net_ethernet))
        return DROP_RUNT;
    if (unlikely(m->pkt_len > port->max_frame) && !linux_gso_is_merged(m))
        return DROP_OVERSIZE;
    if (unlikely(vlans != NULL))
        return facts_find_network(vlans, number, m);
    vlan_put(m, 0);
    return DROP_REASONS;
}

/* A frame that has come in by this port of the switch's: finds its network, takes its tag out, and fills in
 * the record but for what the classifier adds. vlans NULL: the switch has none. Why it goes no further;
 * DROP_REASONS: it does; else the record has nothing but the frame. Inline, since every frame is read.
 *
 * Addresses and type are 14 bytes, which are read as two words, of which the second has the type at its end.
 */
static inline enum drop facts_read(struct facts *f, struct rte_mbuf *m, const struct port *port,
                                   unsigned number, const struct vlans *vlans)
{
    const enum drop why = facts_admit(port, number, vlans, m);
    const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
    uint64_t to, from;

    f->m = m;
    if (unlikely(why != DROP_REASONS))
        return why;
    memcpy(&to, frame, sizeof(to));
    memcpy(&from, frame + sizeof(struct net_mac), sizeof(from));
    f->to = to & FACTS_MAC;
    f->from = from & FACTS_MAC;
    f->type = (uint16_t)(from >> 48);
    f->network = (uint16_t)vlan_number(m);
    f->says_ip = arp_or_ipv4_sender((const void *)frame, m->data_len);
    return DROP_REASONS;
}

/* What is wrong with the IPv4 packet that it is, and with the datagram in it. A checksum that the port's
 * device has compared is not computed. The frame lies in one piece. */
enum net_fault facts_find_fault(const struct facts *f, const struct port *port, agg_ones_sum_fn *ones_sum);

/* The same; nearly always it is UDP, its device has found the checksums right, and nothing is wrong. Inline,
 * since every frame to the switch is asked. */
static inline enum net_fault facts_check(const struct facts *f, const struct port *port,
                                         agg_ones_sum_fn *ones_sum)
{
    const uint64_t compared =
        f->m->ol_flags & port->rx_checksums & (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);

    if (likely(compared == (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)) &&
        likely(net_is_plain_udp(&facts_udp(f)->ip, f->m->data_len - sizeof(struct net_ethernet))))
        return NET_OK;
    return facts_find_fault(f, port, ones_sum);
}
