#include "bridge/host.h"

#include "bridge/neighbours.h"
#include "net/arp.h"
#include "net/icmp.h"
#include "net/loop_probe.h"
#include "port/frame.h"

/* An empty buffer for a frame to this port; NULL: none is free, which is counted. */
static struct rte_mbuf *make(const struct host *h, unsigned port)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(h->mbufs);

    if (m == NULL)
        count_drop(h->counters, port, DROP_NO_MBUF, 1);
    return m;
}

/* Whoever's the frame is. */
static void hear_arp(const struct host *h, unsigned port, const struct rte_mbuf *m)
{
    const struct frame_arp *request = rte_pktmbuf_mtod(m, const struct frame_arp *);
    const rte_be32_t own = host_ip(h, vlan_number(m));
    struct rte_mbuf *reply;
    bool to_us, neighbour;

    if (!arp_check(request, m->data_len)) {
        count_drop(h->counters, port, DROP_ARP_MALFORMED, 1);
        return;
    }
    to_us = net_same_mac(&request->eth.dst_addr, &h->mac);
    neighbour =
        h->neighbours != NULL &&
        neighbours_note(h->neighbours, vlan_number(m), request->arp.sender_ip, &request->arp.sender_mac,
                        (uint8_t)port, to_us && request->arp.operation == net16(NET_ARP_REPLY));
    if (request->arp.operation != net16(NET_ARP_REQUEST) || own == 0 || request->arp.target_ip != own) {
        if (!neighbour && to_us)
            count_drop(h->counters, port, DROP_ARP_IGNORED, 1);
        return;
    }
    reply = make(h, port);
    if (reply == NULL)
        return;
    vlan_put_like(reply, m);
    arp_answer((void *)rte_pktmbuf_append(reply, sizeof(*request)), request, &h->mac);
    count_event(h->counters, EVENT_ARP_REPLIES, 1);
    send_put(h->send, port, reply);
}

/* Broadcasts an ARP request on a port. from: the sender's address in it (arp_ask). */
static void put_arp(const struct host *h, unsigned port, unsigned network, rte_be32_t from, rte_be32_t target)
{
    struct rte_mbuf *m = make(h, port);

    if (m == NULL)
        return;
    vlan_put(m, network);
    arp_ask((void *)rte_pktmbuf_append(m, sizeof(struct frame_arp)), &h->mac, from, target);
    send_put(h->send, port, m);
}

/* Another station with this address answers the probe, whose sender address is 0 (RFC 5227); few answer an
 * announcement. */
static void announce(const struct host *h, unsigned port, unsigned network)
{
    if (host_ip(h, network) == 0)
        return;
    put_arp(h, port, network, 0, host_ip(h, network));
    put_arp(h, port, network, host_ip(h, network), host_ip(h, network));
}

void host_ask(const struct host *h, unsigned port, unsigned network, rte_be32_t ip)
{
    put_arp(h, port, network, host_ip(h, network), ip);
}

static void probe(const struct host *h, unsigned port, unsigned network, uint64_t number)
{
    struct rte_mbuf *m = make(h, port);

    if (m == NULL)
        return;
    vlan_put(m, network);
    loop_probe_write(rte_pktmbuf_append(m, NET_LOOP_PROBE_BYTES), &h->mac, number);
    send_put(h->send, port, m);
}

static unsigned networks(const struct host *h)
{
    return h->vlans == NULL ? 1 : h->vlans->n;
}

/* Where ports carry VLANs, those frames go no further whose VLAN the port does not carry. */
void host_announce(const struct host *h, unsigned port)
{
    for (unsigned i = 0; i < networks(h); i++)
        announce(h, port, i);
}

void host_probe(const struct host *h, unsigned port, uint64_t number)
{
    for (unsigned i = 0; i < networks(h); i++)
        probe(h, port, i, number);
}

/* Takes it over. An echo request is answered, others are dropped. */
static void answer_icmp(const struct host *h, unsigned port, struct rte_mbuf *m)
{
    struct frame_icmp *f = rte_pktmbuf_mtod(m, struct frame_icmp *);
    const enum icmp_found found = icmp_check(f, h->ones_sum);

    if (found != ICMP_ECHO_REQUEST) {
        count_drop(h->counters, port, found == ICMP_MALFORMED ? DROP_ICMP_MALFORMED : DROP_ICMP_IGNORED, 1);
        rte_pktmbuf_free(m);
        return;
    }
    icmp_answer(f, &h->mac, f->ip.dst_addr, h->ones_sum);
    count_event(h->counters, EVENT_ECHO_REPLIES, 1);
    send_put(h->send, port, m);
}

void host_receive(const struct host *h, unsigned port, struct facts *const burst[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct rte_mbuf *m = burst[i]->m;

        if (burst[i]->type == net16(NET_TYPE_IPV4)) {
            answer_icmp(h, port, m);
            continue;
        }
        hear_arp(h, port, m);
        if (!facts_is_to_group(burst[i]))
            rte_pktmbuf_free(m);
    }
}
