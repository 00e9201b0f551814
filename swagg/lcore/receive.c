#include "lcore/receive.h"

#include <rte_prefetch.h>

#include "base/frame.h"
#include "bridge/forward.h"
#include "impair/impair_mbuf.h"
#include "net/arp.h"
#include "port/linux/gso.h"
#include "wire/control.h"
#include "wire/switchml.h"

static_assert((int)RECEIVE_BURST <= (int)IMPAIR_BURST_MAX, "a burst goes through the impairments at once");

static void drop(struct receive *r, unsigned port, enum drop reason, struct rte_mbuf *m)
{
    count_drop(r->counters, port, reason, 1);
    rte_pktmbuf_free(m);
}

static bool is_data_port(rte_be16_t udp_port)
{
    uint16_t port = rte_be_to_cpu_16(udp_port);

    return port >= SML_PORT_FIRST && port <= SML_PORT_LAST;
}

/* What the device says of a checksum, if its port compares checksums. ..._NONE means: the checksum in the
 * frame is not right, but the data is known to be intact. */
static enum net_found found(const struct receive *r, unsigned port, const struct rte_mbuf *m, uint64_t mask,
                            uint64_t bad)
{
    const uint64_t flags = m->ol_flags & r->port[port].rx_checksums & mask;

    if (flags == 0)
        return NET_NOT_COMPARED;
    return flags == bad ? NET_BAD : NET_GOOD;
}

static void to_control(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    m->port = (uint16_t)port; /* from here on our number, not the device's */
    if (!inbox_put(r->to_control, port, m))
        drop(r, port, DROP_CONTROL_FULL, m);
}

static void udp_input(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    enum net_found checksum = found(r, port, m, RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_BAD);
    enum drop why = frame_check_udp(f, checksum, r->host->ones_sum);

    if (why != DROP_REASONS)
        drop(r, port, why, m);
    else if (is_data_port(f->udp.dst_port))
        engine_steer(r->engine, AGG_PROTOCOL_SWITCHML, port, m);
    else if (f->udp.dst_port == RTE_BE16(CTL_PORT))
        to_control(r, port, m);
    else
        drop(r, port, DROP_UDP_PORT, m);
}

static void ipv4_input(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    enum net_found checksum = found(r, port, m, RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_BAD);
    enum drop why =
        r->host->ip == 0 ? DROP_IP_NOT_OURS : frame_check_ipv4(f, m->data_len, r->host->ip, checksum);

    if (why != DROP_REASONS)
        drop(r, port, why, m);
    else if (f->ip.next_proto_id == NET_PROTOCOL_UDP)
        udp_input(r, port, m);
    else if (f->ip.next_proto_id == NET_PROTOCOL_ICMP)
        host_icmp(r->host, port, m);
    else
        drop(r, port, DROP_IP_PROTOCOL, m);
}

/* A frame to the switch's own MAC. */
static void local_input(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    rte_be16_t ether_type = rte_pktmbuf_mtod(m, const struct net_ethernet *)->ether_type;

    if (rte_pktmbuf_linearize(m) < 0) {
        drop(r, port, DROP_OVERSIZE, m); /* does not fit into one buffer */
    } else if (ether_type == net16(NET_TYPE_IPV4)) {
        ipv4_input(r, port, m);
    } else if (ether_type == net16(NET_TYPE_ARP)) {
        host_arp(r->host, port, m);
        rte_pktmbuf_free(m);
    } else {
        drop(r, port, DROP_ETHERTYPE, m);
    }
}

static void group_input(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);

    if (net_is_link_local(&eth->dst_addr)) {
        drop(r, port, DROP_LINK_LOCAL, m);
        return;
    }
    if (eth->ether_type == net16(NET_TYPE_ARP) && net_is_broadcast(&eth->dst_addr))
        host_arp(r->host, port, m); /* others may want to hear it, too */
    forward_to_all(r->send, port, m);
}

/* False: no station can have this source address. */
static bool learn(struct receive *r, unsigned port, const struct net_mac *source)
{
    enum bridge_learned learned = bridge_learn(r->bridge, source->addr_bytes, (uint8_t)port);

    if (learned == BRIDGE_NEW || learned == BRIDGE_EVICTED)
        count_event(r->counters, EVENT_LEARNED, 1);
    else if (learned == BRIDGE_MOVED)
        count_event(r->counters, EVENT_MOVED, 1);
    return learned != BRIDGE_REFUSED;
}

static void frame_input(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);

    if (m->data_len < sizeof(*eth)) {
        drop(r, port, DROP_RUNT, m);
        return;
    }
    if (m->pkt_len > r->port[port].max_frame && !linux_gso_is_merged(m)) {
        drop(r, port, DROP_OVERSIZE, m);
        return;
    }
    if (net_same_mac(&eth->src_addr, &r->host->mac)) {
        drop(r, port, DROP_OWN_SOURCE, m);
        return;
    }
    if (r->host->ip != 0 && arp_or_ipv4_is_from(eth, m->data_len, r->host->ip)) {
        claim_note(r->claim, &eth->src_addr, (uint8_t)port);
        drop(r, port, DROP_OWN_IP, m);
        return;
    }
    if (!learn(r, port, &eth->src_addr)) {
        drop(r, port, DROP_BAD_SOURCE, m);
        return;
    }
    if (net_same_mac(&eth->dst_addr, &r->host->mac))
        local_input(r, port, m);
    else if (net_is_group(&eth->dst_addr))
        group_input(r, port, m);
    else
        forward(r->bridge, r->send, port, m);
}

static unsigned poll_queue(struct receive *r, unsigned p, uint16_t q)
{
    const struct port *port = &r->port[p];
    struct rte_mbuf *received[RECEIVE_BURST], *impaired[IMPAIR_OUT_MAX], **frames = received;
    uint16_t n = port->device->receive(port, q, received, RECEIVE_BURST);

    count_event(r->counters, EVENT_RECEIVED, linux_gso_count(received, n));
    if (port->rx[q].impaired) {
        n = impair_mbufs(&port->rx[q].impair, received, n, impaired, r->mbufs, r->now);
        frames = impaired;
    }
    for (unsigned i = 0; i < n; i++)
        rte_prefetch0(rte_pktmbuf_mtod(frames[i], const void *));
    for (unsigned i = 0; i < n; i++)
        frame_input(r, p, frames[i]);
    return n;
}

int receive_queue_of(const struct receive *r, unsigned port)
{
    for (unsigned i = 0; i < r->queues; i++)
        if (r->queue[i].port == port)
            return r->queue[i].queue;
    return -1;
}

unsigned receive_poll(struct receive *r)
{
    unsigned frames = 0;

    for (unsigned i = 0; i < r->queues; i++)
        frames += poll_queue(r, r->queue[i].port, r->queue[i].queue);
    return frames;
}
