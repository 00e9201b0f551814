#include "bridge/host.h"

#include <rte_arp.h>
#include <rte_icmp.h>

#include "aggregate/frame.h"
#include "datapath.h"

struct frame_arp {
    struct rte_ether_hdr eth;
    struct rte_arp_hdr arp;
} __rte_packed __rte_aligned(2);

struct frame_icmp {
    struct rte_ether_hdr eth;
    struct rte_ipv4_hdr ip;
    struct rte_icmp_hdr icmp;
} __rte_packed __rte_aligned(2);

static bool is_ipv4_on_ethernet(const struct rte_arp_hdr *arp)
{
    return arp->arp_hardware == RTE_BE16(RTE_ARP_HRD_ETHER) &&
           arp->arp_protocol == RTE_BE16(RTE_ETHER_TYPE_IPV4) && arp->arp_hlen == RTE_ETHER_ADDR_LEN &&
           arp->arp_plen == sizeof(rte_be32_t);
}

static void build_arp_reply(struct frame_arp *reply, const struct frame_arp *request,
                            const struct rte_ether_addr *mac)
{
    const struct rte_arp_ipv4 *asked = &request->arp.arp_data;

    *reply = *request;
    reply->eth.dst_addr = asked->arp_sha;
    reply->eth.src_addr = *mac;
    reply->arp.arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY);
    reply->arp.arp_data = (struct rte_arp_ipv4){
        .arp_sha = *mac, .arp_sip = asked->arp_tip, .arp_tha = asked->arp_sha, .arp_tip = asked->arp_sip};
}

void host_arp(const struct host *h, unsigned port, const struct rte_mbuf *m)
{
    const struct frame_arp *request = rte_pktmbuf_mtod(m, const struct frame_arp *);
    struct rte_mbuf *reply;

    if (m->data_len < sizeof(*request) || !is_ipv4_on_ethernet(&request->arp)) {
        count_drop(h->counters, port, DROP_ARP_MALFORMED, 1);
        return;
    }
    if (request->arp.arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST) || h->ip == 0 ||
        request->arp.arp_data.arp_tip != h->ip) {
        if (rte_is_same_ether_addr(&request->eth.dst_addr, &h->mac))
            count_drop(h->counters, port, DROP_ARP_IGNORED, 1);
        return;
    }
    reply = rte_pktmbuf_alloc(h->mbufs);
    if (reply == NULL) {
        count_drop(h->counters, port, DROP_NO_MBUF, 1);
        return;
    }
    build_arp_reply((void *)rte_pktmbuf_append(reply, sizeof(*request)), request, &h->mac);
    count_event(h->counters, EVENT_ARP_REPLIES, 1);
    send_put(h->send, port, reply);
}

/* ARP about the switch's address, to everybody behind the port. from: the address that says so of itself. */
static void put_arp(const struct host *h, unsigned port, rte_be32_t from)
{
    const struct rte_ether_addr all = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    struct rte_mbuf *m = rte_pktmbuf_alloc(h->mbufs);

    if (m == NULL) {
        count_drop(h->counters, port, DROP_NO_MBUF, 1);
        return;
    }
    *(struct frame_arp *)rte_pktmbuf_append(m, sizeof(struct frame_arp)) = (struct frame_arp){
        .eth = {.dst_addr = all, .src_addr = h->mac, .ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP)},
        .arp = {.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
                .arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
                .arp_hlen = RTE_ETHER_ADDR_LEN,
                .arp_plen = sizeof(rte_be32_t),
                .arp_opcode = RTE_BE16(RTE_ARP_OP_REQUEST),
                .arp_data = {.arp_sha = h->mac, .arp_sip = from, .arp_tip = h->ip}},
    };
    send_put(h->send, port, m);
}

/* Who has the address too answers the probe, which comes from no address (RFC 5227); few answer an
 * announcement. */
void host_announce(const struct host *h, unsigned port)
{
    if (h->ip == 0)
        return;
    put_arp(h, port, 0);
    put_arp(h, port, h->ip);
}

void host_icmp(const struct host *h, unsigned port, struct rte_mbuf *m)
{
    struct frame_icmp *f = rte_pktmbuf_mtod(m, struct frame_icmp *);
    size_t bytes = rte_be_to_cpu_16(f->ip.total_length) - sizeof(f->ip);
    enum drop why = DROP_REASONS;

    if (bytes < sizeof(f->icmp) || rte_raw_cksum(&f->icmp, bytes) != 0xFFFF)
        why = DROP_ICMP_MALFORMED;
    else if (f->icmp.icmp_type != RTE_IP_ICMP_ECHO_REQUEST || f->icmp.icmp_code != 0)
        why = DROP_ICMP_IGNORED;
    if (why != DROP_REASONS) {
        count_drop(h->counters, port, why, 1);
        rte_pktmbuf_free(m);
        return;
    }

    f->eth.dst_addr = f->eth.src_addr;
    f->eth.src_addr = h->mac;
    f->ip.dst_addr = f->ip.src_addr;
    f->ip.src_addr = h->ip;
    f->ip.time_to_live = 64;
    f->ip.hdr_checksum = 0;
    f->ip.hdr_checksum = rte_ipv4_cksum(&f->ip);
    f->icmp.icmp_type = RTE_IP_ICMP_ECHO_REPLY;
    f->icmp.icmp_cksum = 0;
    f->icmp.icmp_cksum = (rte_be16_t)~rte_raw_cksum(&f->icmp, bytes);
    count_event(h->counters, EVENT_ECHO_REPLIES, 1);
    send_put(h->send, port, m);
}
