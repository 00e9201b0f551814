/* Frame by frame, in their order: what one frame teaches the bridge, or takes of what a storm may have, is so
 * for the next. */
#include "lcore/receive_classify.h"

static inline void enter(struct burst *b, enum room room, struct facts *f)
{
    b->room[room][b->in[room]++] = f;
}

static void refuse(struct burst *b, struct facts *f, enum drop why)
{
    f->why = (uint8_t)why;
    f->frames = 1;
    enter(b, ROOM_DROP, f);
}

/* To the protocol that a rule names. */
static void aggregate(struct burst *b, struct facts *f, const struct classifier_rule *rule)
{
    f->source = (uint8_t)rule->protocol;
    f->key = &rule->key;
    enter(b, ROOM_AGGREGATE, f);
}

/* The switch's own address in the network that the frame is in; 0: none. */
static inline rte_be32_t own_ip(const struct receive *r, const struct burst *b, const struct facts *f)
{
    return likely(r->vlans == NULL) ? b->rules->ip : r->vlans->vlan[f->network].ip;
}

/* The rule about a UDP port of the switch's; NULL: there is none. */
static inline const struct classifier_rule *own_rule(struct burst *b, rte_be16_t port)
{
    const struct classifier_rule *rule;

    if (likely(b->rule != NULL && port == b->rule_port))
        return b->rule;
    rule = classifier_find(b->rules, classifier_own(port));
    b->rule = rule;
    b->rule_port = port;
    return rule;
}

static inline void classify_own_ipv4(struct receive *r, struct burst *b, struct facts *f, rte_be32_t ip)
{
    const struct frame_udp *packet = facts_udp(f);
    const struct classifier_rule *rule;
    const enum drop why = frame_drops_as(packet, facts_check(f, &r->port[b->port], r->host->ones_sum), ip);

    if (why != DROP_REASONS) {
        refuse(b, f, why);
        return;
    }
    if (packet->ip.next_proto_id == NET_PROTOCOL_ICMP) {
        enter(b, ROOM_HOST, f);
        return;
    }
    rule = own_rule(b, packet->udp.dst_port);
    if (rule == NULL)
        refuse(b, f, DROP_UDP_PORT);
    else if (rule->taker == CLASSIFIER_PROTOCOL)
        aggregate(b, f, rule);
    else
        enter(b, ROOM_CONTROL, f);
}

/* To the switch's own MAC. ip: its address in the frame's network. */
static inline void classify_own(struct receive *r, struct burst *b, struct facts *f, rte_be32_t ip)
{
    if (rte_pktmbuf_linearize(f->m) < 0)
        refuse(b, f, DROP_OVERSIZE); /* does not fit into one buffer */
    else if (f->type == net16(NET_TYPE_IPV4))
        classify_own_ipv4(r, b, f, ip);
    else if (f->type == net16(NET_TYPE_ARP))
        enter(b, ROOM_HOST, f);
    else
        refuse(b, f, DROP_ETHERTYPE);
}

static inline bool has_flows(const struct burst *b)
{
    return b->rules->flows || b->rules->transits;
}

/* The rule about a whole UDP packet to another host; NULL: there is none. Most frames that pass are of no
 * flow, so the checks, which read all of a packet, come last. */
static const struct classifier_rule *flow_of(const struct receive *r, const struct burst *b,
                                             const struct facts *f)
{
    const struct classifier_table *t = b->rules;
    const struct frame_udp *packet = facts_udp(f);
    const struct classifier_rule *rule;

    if (!facts_has_udp(f))
        return NULL;
    rule = classifier_find(t, classifier_flow(f->network, packet->ip.dst_addr, packet->udp.dst_port));
    if (rule == NULL && t->transits)
        rule = classifier_find(t, classifier_to_port(packet->udp.dst_port));
    if (rule == NULL && t->transits)
        rule = classifier_find(t, classifier_from_port(packet->udp.src_port));
    if (rule == NULL || rule->taker != CLASSIFIER_PROTOCOL ||
        facts_check(f, &r->port[b->port], r->host->ones_sum) != NET_OK)
        return NULL;
    return rule;
}

/* The rule about frames of this type to another station, of which a protocol gets copies; NULL: there is
 * none. Of merged frames it gets none, since the engine notes in a frame whose it is, in the place where
 * these say what they are. */
static inline const struct classifier_rule *passing_of(const struct burst *b, const struct facts *f)
{
    if (!b->rules->passings || linux_gso_is_merged(f->m))
        return NULL;
    return classifier_find(
        b->rules, classifier_passing(
                      f->network, &rte_pktmbuf_mtod(f->m, const struct net_ethernet *)->dst_addr, f->type));
}

/* Whether a frame may go to every other port; if there are too many such frames, it is dropped. */
static bool may_flood(struct receive *r, struct burst *b, enum config_storm_kind kind, struct facts *f)
{
    const unsigned frames = linux_gso_frames(f->m);

    f->egress = FACTS_FLOOD;
    if (storm_admits(&r->storm[b->port], kind, frames, r->now))
        return true;
    refuse(b, f, storm_drops_as(kind));
    f->frames = (uint16_t)frames;
    return false;
}

/* To another station. */
static inline void classify_passing(struct receive *r, struct burst *b, struct facts *f)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(f->m, const struct net_ethernet *);
    const struct classifier_rule *flow = has_flows(b) ? flow_of(r, b, f) : NULL,
                                 *copied = flow == NULL ? passing_of(b, f) : NULL;

    if (flow != NULL) {
        aggregate(b, f, flow);
        return;
    }
    if (copied != NULL) { /* both only read it from here on */
        rte_pktmbuf_refcnt_update(f->m, 1);
        aggregate(b, f, copied);
    }
    f->egress = (int16_t)bridge_lookup(bridge_of(r->bridge, f->network), eth->dst_addr.addr_bytes);
    if (f->egress >= 0 || may_flood(r, b, CONFIG_STORM_UNKNOWN, f))
        enter(b, ROOM_BRIDGE, f);
}

/* Between neighbours. A pause frame is about one link, whatever is configured. Others pass without a bound:
 * to lose them in a storm is how networks break. */
static void classify_link_local(struct receive *r, struct burst *b, struct facts *f)
{
    const enum net_link_local what =
        net_link_local(&rte_pktmbuf_mtod(f->m, const struct net_ethernet *)->dst_addr);

    f->egress = FACTS_FLOOD;
    if (what != NET_PAUSE && (r->link_local == CONFIG_LINK_LOCAL_TRANSPARENT ||
                              (r->link_local == CONFIG_LINK_LOCAL_STP && what == NET_BRIDGES)))
        enter(b, ROOM_BRIDGE, f);
    else
        refuse(b, f, DROP_LINK_LOCAL);
}

/* What is sent to a group on a flow (results, to all of a job's ranks) goes to all other ports by the
 * engine's hands, and so is bounded as other multicasts are. */
static void classify_group(struct receive *r, struct burst *b, struct facts *f)
{
    const struct net_mac *to = &rte_pktmbuf_mtod(f->m, const struct net_ethernet *)->dst_addr;
    const struct classifier_rule *flow;

    if (net_is_link_local(to)) {
        classify_link_local(r, b, f);
    } else if (net_is_broadcast(to)) {
        if (f->type == net16(NET_TYPE_ARP))
            enter(b, ROOM_HOST, f); /* others may want to hear it, too */
        if (may_flood(r, b, CONFIG_STORM_BROADCAST, f))
            enter(b, ROOM_BRIDGE, f);
    } else {
        flow = has_flows(b) ? flow_of(r, b, f) : NULL;
        if (!may_flood(r, b, CONFIG_STORM_MULTICAST, f))
            return;
        if (flow != NULL)
            aggregate(b, f, flow);
        else
            enter(b, ROOM_BRIDGE, f);
    }
}

static void note_move(struct receive *r, const struct burst *b, const struct facts *f)
{
    count_event(r->counters, EVENT_MOVED, 1);
    if (net_moves_note(&r->moves, f->from, r->now, r->loops->window))
        sighting_note(&r->loops->mover, &rte_pktmbuf_mtod(f->m, const struct net_ethernet *)->src_addr,
                      (uint8_t)b->port);
}

/* From the switch's own MAC or IP address: what it has sent itself comes back, or somebody else uses it. */
static void refuse_own(struct receive *r, struct burst *b, struct facts *f)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(f->m, const struct net_ethernet *);

    if (f->from == b->own_mac) {
        loops_note_own(r->loops, eth, f->m->data_len, b->port);
        refuse(b, f, DROP_OWN_SOURCE);
    } else {
        sighting_note(r->claim, &eth->src_addr, (uint8_t)b->port);
        refuse(b, f, DROP_OWN_IP);
    }
}

/* A station that is none of the last in this burst. False: the frame is refused. */
static bool learn(struct receive *r, struct burst *b, struct facts *f)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(f->m, const struct net_ethernet *);
    enum bridge_learned learned;

    if (f->from == b->own_mac) {
        refuse_own(r, b, f);
        return false;
    }
    learned = bridge_learn(bridge_of(r->bridge, f->network), eth->src_addr.addr_bytes, (uint8_t)b->port);
    if (learned == BRIDGE_REFUSED) { /* no station can have this address */
        refuse(b, f, DROP_BAD_SOURCE);
        return false;
    }
    if (learned == BRIDGE_EVICTED)
        memset(b->learned, BURST_NOBODY, sizeof(b->learned)); /* it may have been one of them */
    if (learned == BRIDGE_NEW || learned == BRIDGE_EVICTED)
        count_event(r->counters, EVENT_LEARNED, 1);
    else if (learned == BRIDGE_MOVED)
        note_move(r, b, f);
    return true;
}

/* Whether the frame is from a station that may be where it comes from, which the bridge then knows. False: it
 * is refused. ip: the switch's address in the frame's network. */
static inline bool admit_source(struct receive *r, struct burst *b, struct facts *f, rte_be32_t ip)
{
    const uint64_t station = f->from | (uint64_t)f->network << 48;
    uint64_t *learned_before = &b->learned[f->from >> 40 & (BURST_STATIONS - 1)];

    if (unlikely(f->says_ip == ip && ip != 0)) {
        refuse_own(r, b, f);
        return false;
    }
    if (unlikely(station != *learned_before)) {
        if (!learn(r, b, f))
            return false;
        *learned_before = station;
    }
    return true;
}

static inline void classify(struct receive *r, struct burst *b, struct facts *f, struct rte_mbuf *m)
{
    const enum drop why = facts_read(f, m, &r->port[b->port], b->port, r->vlans);
    rte_be32_t ip;

    if (unlikely(why != DROP_REASONS)) {
        refuse(b, f, why);
        return;
    }
    if (unlikely(f->network == VLAN_NONE)) {
        classify_link_local(r, b, f);
        return;
    }
    ip = own_ip(r, b, f);
    if (!admit_source(r, b, f, ip))
        return;
    if (f->to == b->own_mac)
        classify_own(r, b, f, ip);
    else if (facts_is_to_group(f))
        classify_group(r, b, f);
    else
        classify_passing(r, b, f);
}

void classify_burst(struct receive *r, struct burst *b, struct rte_mbuf *const frames[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        classify(r, b, &b->facts[i], frames[i]);
}
