#include "lcore/receive.h"

#include <rte_prefetch.h>

#include "bridge/forward.h"
#include "capture/pcapng.h"
#include "capture/tap.h"
#include "net/arp.h"
#include "net/check.h"
#include "port/frame.h"
#include "port/impair_mbuf.h"
#include "port/linux/gso.h"

static_assert((int)RECEIVE_BURST <= (int)IMPAIR_BURST_MAX, "a burst goes through the impairments at once");

static void drop(struct receive *r, unsigned port, enum drop reason, struct rte_mbuf *m)
{
    count_drop(r->counters, port, reason, 1);
    rte_pktmbuf_free(m);
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
    enum drop why;

    m->port = (uint16_t)port; /* from here on our number, not the device's */
    why = inbox_put(r->to_control, &r->intake, m, engine_ns(r->engine, r->now));
    if (why != DROP_REASONS)
        drop(r, port, why, m);
}

static enum net_found found_ipv4(const struct receive *r, unsigned port, const struct rte_mbuf *m)
{
    return found(r, port, m, RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_BAD);
}

static enum net_found found_udp(const struct receive *r, unsigned port, const struct rte_mbuf *m)
{
    return found(r, port, m, RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_BAD);
}

static void udp_input(struct receive *r, const struct classifier_table *t, unsigned port, struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    const enum drop why = frame_check_udp(f, found_udp(r, port, m), r->host->ones_sum);
    const struct classifier_rule *rule;

    if (why != DROP_REASONS) {
        drop(r, port, why, m);
        return;
    }
    rule = classifier_find(t, classifier_own(f->udp.dst_port));
    if (rule == NULL)
        drop(r, port, DROP_UDP_PORT, m);
    else if (rule->taker == CLASSIFIER_PROTOCOL)
        engine_steer(r->engine, rule->protocol, &rule->key, port, m);
    else
        to_control(r, port, m);
}

/* The switch's own address in the network that the frame is in; 0: none. */
static rte_be32_t own_ip(const struct receive *r, const struct classifier_table *t, const struct rte_mbuf *m)
{
    return likely(r->vlans == NULL) ? t->ip : r->vlans->vlan[vlan_number(m)].ip;
}

static void ipv4_input(struct receive *r, const struct classifier_table *t, unsigned port, struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    const rte_be32_t own = own_ip(r, t, m);
    const enum drop why =
        own == 0 ? DROP_IP_NOT_OURS : frame_check_ipv4(f, m->data_len, own, found_ipv4(r, port, m));

    if (why != DROP_REASONS)
        drop(r, port, why, m);
    else if (f->ip.next_proto_id == NET_PROTOCOL_UDP)
        udp_input(r, t, port, m);
    else if (f->ip.next_proto_id == NET_PROTOCOL_ICMP)
        host_icmp(r->host, port, m);
    else
        drop(r, port, DROP_IP_PROTOCOL, m);
}

/* A frame to the switch's own MAC. */
static void local_input(struct receive *r, const struct classifier_table *t, unsigned port,
                        struct rte_mbuf *m)
{
    rte_be16_t ether_type = rte_pktmbuf_mtod(m, const struct net_ethernet *)->ether_type;

    if (rte_pktmbuf_linearize(m) < 0) {
        drop(r, port, DROP_OVERSIZE, m); /* does not fit into one buffer */
    } else if (ether_type == net16(NET_TYPE_IPV4)) {
        ipv4_input(r, t, port, m);
    } else if (ether_type == net16(NET_TYPE_ARP)) {
        host_arp(r->host, port, m);
        rte_pktmbuf_free(m);
    } else {
        drop(r, port, DROP_ETHERTYPE, m);
    }
}

/* The rule about a UDP packet to another host; NULL: there is none. */
static const struct classifier_rule *transit_of(const struct classifier_table *t, const struct net_udp *udp)
{
    const struct classifier_rule *rule = classifier_find(t, classifier_to_port(udp->dst_port));

    return rule != NULL ? rule : classifier_find(t, classifier_from_port(udp->src_port));
}

/* The rule about a whole UDP packet to another host; NULL: there is none. Most frames that pass are of no
 * flow, so the checks, which read all of a packet, come last. */
static const struct classifier_rule *flow_of(const struct receive *r, const struct classifier_table *t,
                                             unsigned port, const struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    const struct classifier_rule *rule;

    if (m->data_len < sizeof(*f) || f->eth.ether_type != net16(NET_TYPE_IPV4) ||
        f->ip.next_proto_id != NET_PROTOCOL_UDP || !rte_pktmbuf_is_contiguous(m))
        return NULL;
    rule = classifier_find(t, classifier_flow(vlan_number(m), f->ip.dst_addr, f->udp.dst_port));
    if (rule == NULL && t->transits)
        rule = transit_of(t, &f->udp);
    if (rule == NULL || rule->taker != CLASSIFIER_PROTOCOL ||
        net_check_ipv4(&f->ip, m->data_len - sizeof(f->eth), found_ipv4(r, port, m)) != NET_OK ||
        net_check_udp(&f->ip, &f->udp, found_udp(r, port, m), r->host->ones_sum) != NET_OK)
        return NULL;
    return rule;
}

/* The rule about frames of this type to another station; NULL: nobody gets a copy. */
static const struct classifier_rule *passing_of(const struct classifier_table *t, const struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);

    return classifier_find(t, classifier_passing(vlan_number(m), &eth->dst_addr, eth->ether_type));
}

/* Whether a frame may go to every other port; if there are too many such frames, it is dropped. */
static bool may_flood(struct receive *r, unsigned port, enum config_storm_kind kind, struct rte_mbuf *m)
{
    const unsigned frames = linux_gso_frames(m);

    if (storm_admits(&r->storm[port], kind, frames, r->now))
        return true;
    count_drop(r->counters, port, storm_drops_as(kind), frames);
    rte_pktmbuf_free(m);
    return false;
}

static void flood(struct receive *r, unsigned port, enum config_storm_kind kind, struct rte_mbuf *m)
{
    if (may_flood(r, port, kind, m))
        forward_to_all(r->send, port, m);
}

/* Whether somebody else gets what this frame carries, too: not of what a flow takes out, nor of merged
 * frames, since the engine notes in a frame whose it is, in the place where these say what they are. */
static bool may_copy(const struct classifier_rule *flow, const struct rte_mbuf *m)
{
    return flow == NULL && !linux_gso_is_merged(m);
}

/* What a frame carries is summed, though it may not be touched: both ways only read it from here on. */
static void copy_to_engine(struct receive *r, const struct classifier_rule *rule, unsigned port,
                           struct rte_mbuf *m)
{
    rte_pktmbuf_refcnt_update(m, 1);
    engine_steer(r->engine, rule->protocol, &rule->key, port, m);
}

/* A frame to another station. */
static void passing_input(struct receive *r, const struct classifier_table *t, const struct bridge *stations,
                          unsigned port, struct rte_mbuf *m)
{
    const struct classifier_rule *flow = t->flows || t->transits ? flow_of(r, t, port, m) : NULL;
    const struct classifier_rule *copied = t->passings && may_copy(flow, m) ? passing_of(t, m) : NULL;

    if (copied != NULL)
        copy_to_engine(r, copied, port, m);
    if (flow != NULL)
        engine_steer(r->engine, flow->protocol, &flow->key, port, m);
    else if (!forward_to_known(stations, r->send, port, m))
        flood(r, port, CONFIG_STORM_UNKNOWN, m);
}

/* Between neighbours. A pause frame is about one link, whatever is configured. Others pass without a bound:
 * to lose them in a storm is how networks break. */
static void link_local_input(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);
    const enum net_link_local what = net_link_local(&eth->dst_addr);

    if (what != NET_PAUSE && (r->link_local == CONFIG_LINK_LOCAL_TRANSPARENT ||
                              (r->link_local == CONFIG_LINK_LOCAL_STP && what == NET_BRIDGES)))
        forward_to_all(r->send, port, m);
    else
        drop(r, port, DROP_LINK_LOCAL, m);
}

/* What is sent to a group on a flow (results, to all of a job's ranks) goes to all other ports by the
 * engine's hands, and so is bounded as other multicasts are. */
static void multicast_input(struct receive *r, const struct classifier_table *t, unsigned port,
                            struct rte_mbuf *m)
{
    const struct classifier_rule *flow = t->flows || t->transits ? flow_of(r, t, port, m) : NULL;

    if (flow == NULL)
        flood(r, port, CONFIG_STORM_MULTICAST, m);
    else if (may_flood(r, port, CONFIG_STORM_MULTICAST, m))
        engine_steer(r->engine, flow->protocol, &flow->key, port, m);
}

static void group_input(struct receive *r, const struct classifier_table *t, unsigned port,
                        struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);

    if (net_is_link_local(&eth->dst_addr)) {
        link_local_input(r, port, m);
        return;
    }
    if (!net_is_broadcast(&eth->dst_addr)) {
        multicast_input(r, t, port, m);
        return;
    }
    if (eth->ether_type == net16(NET_TYPE_ARP))
        host_arp(r->host, port, m); /* others may want to hear it, too */
    flood(r, port, CONFIG_STORM_BROADCAST, m);
}

static void moved(struct receive *r, unsigned port, const struct net_mac *station)
{
    uint64_t number = 0;

    memcpy(&number, station, sizeof(*station));
    count_event(r->counters, EVENT_MOVED, 1);
    if (net_moves_note(&r->moves, number, r->now, r->loops->window))
        sighting_note(&r->loops->mover, station, (uint8_t)port);
}

/* False: no station can have this source address. */
static bool learn(struct receive *r, struct bridge *b, unsigned port, const struct net_mac *source)
{
    enum bridge_learned learned = bridge_learn(b, source->addr_bytes, (uint8_t)port);

    if (learned == BRIDGE_NEW || learned == BRIDGE_EVICTED)
        count_event(r->counters, EVENT_LEARNED, 1);
    else if (learned == BRIDGE_MOVED)
        moved(r, port, source);
    return learned != BRIDGE_REFUSED;
}

/* A frame in one of the switch's networks. */
static void network_input(struct receive *r, const struct classifier_table *t, unsigned port,
                          struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);
    struct bridge *stations = bridge_of(r->bridge, vlan_number(m));
    const rte_be32_t own = own_ip(r, t, m);

    if (net_same_mac(&eth->src_addr, &t->mac)) {
        loops_note_own(r->loops, eth, m->data_len, port);
        drop(r, port, DROP_OWN_SOURCE, m);
        return;
    }
    if (own != 0 && arp_or_ipv4_is_from(eth, m->data_len, own)) {
        sighting_note(r->claim, &eth->src_addr, (uint8_t)port);
        drop(r, port, DROP_OWN_IP, m);
        return;
    }
    if (!learn(r, stations, port, &eth->src_addr)) {
        drop(r, port, DROP_BAD_SOURCE, m);
        return;
    }
    if (net_same_mac(&eth->dst_addr, &t->mac))
        local_input(r, t, port, m);
    else if (net_is_group(&eth->dst_addr))
        group_input(r, t, port, m);
    else
        passing_input(r, t, stations, port, m);
}

/* Where ports carry VLANs. What neighbours say to each other is in none of them. False: the frame has been
 * dealt with. */
static bool enter_vlan(struct receive *r, unsigned port, struct rte_mbuf *m)
{
    enum drop why;

    if (net_is_link_local(&rte_pktmbuf_mtod(m, const struct net_ethernet *)->dst_addr)) {
        vlan_put(m, VLAN_NONE);
        link_local_input(r, port, m);
        return false;
    }
    why = vlans_enter(r->vlans, port, m);
    if (why != DROP_REASONS)
        drop(r, port, why, m);
    return why == DROP_REASONS;
}

static void frame_input(struct receive *r, const struct classifier_table *t, unsigned port,
                        struct rte_mbuf *m)
{
    if (m->data_len < sizeof(struct net_ethernet)) {
        drop(r, port, DROP_RUNT, m);
        return;
    }
    if (m->pkt_len > r->port[port].max_frame && !linux_gso_is_merged(m)) {
        drop(r, port, DROP_OVERSIZE, m);
        return;
    }
    if (likely(r->vlans == NULL))
        vlan_put(m, 0);
    else if (!enter_vlan(r, port, m))
        return;
    network_input(r, t, port, m);
}

/* r->full: whether there may be more. */
static unsigned poll_queue(struct receive *r, unsigned p, uint16_t q)
{
    const struct port *port = &r->port[p];
    struct rte_mbuf *received[RECEIVE_BURST], *impaired[IMPAIR_OUT_MAX], **frames = received;
    const struct classifier_table *t = classifier_table(r->classifier);
    struct impair *impair = port_impairments(&port->rx[q]);
    struct tap *tap = port_tap(port);
    const enum drop closed = port_drops_as(port);
    uint16_t n = port->device->receive(port, q, received, RECEIVE_BURST);

    r->full |= n == RECEIVE_BURST;
    count_event(r->counters, EVENT_RECEIVED, linux_gso_count(received, n));
    if (unlikely(closed != DROP_REASONS)) {
        if (impair != NULL)
            impair_mbufs_flush(impair); /* or they are due for ever, and the lcore never naps */
        count_drop(r->counters, p, closed, n);
        rte_pktmbuf_free_bulk(received, n);
        return n;
    }
    if (impair != NULL) {
        n = impair_mbufs(impair, received, n, impaired, r->mbufs, r->now);
        frames = impaired;
    }
    if (unlikely(tap != NULL))
        tap_take(tap, p, PCAPNG_RECEIVED, frames, n, r->now);
    for (unsigned i = 0; i < n; i++)
        rte_prefetch0(rte_pktmbuf_mtod(frames[i], const void *));
    for (unsigned i = 0; i < n; i++)
        frame_input(r, t, p, frames[i]);
    return n;
}

unsigned receive_poll(struct receive *r)
{
    unsigned frames = 0;

    r->full = false;
    for (unsigned i = 0; i < r->queues; i++)
        frames += poll_queue(r, r->queue[i].port, r->queue[i].queue);
    return frames;
}
