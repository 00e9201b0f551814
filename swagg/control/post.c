#include "control/post.h"

#include "port/frame.h"

bool post_send(const struct post *p, uint16_t from_port, const struct post_address *to, const void *payload,
               size_t bytes)
{
    const struct frame_end here = {.mac = p->host->mac, .ip = host_ip(p->host, to->network)};
    const struct frame_end there = {.mac = to->mac, .ip = to->ip, .port = rte_cpu_to_be_16(to->udp_port)};
    const struct frame_payload body = frame_payload(payload, bytes, p->host->ones_sum);
    const int known = bridge_lookup(bridge_of(p->bridge, to->network), to->mac.addr_bytes);
    struct rte_mbuf *m = rte_pktmbuf_alloc(p->host->mbufs);
    struct frame_header h;

    if (m == NULL) {
        count_drop(p->host->counters, to->port, DROP_NO_MBUF, 1);
        return false;
    }
    vlan_put(m, to->network);
    frame_header_init(&h, &here, &there);
    frame_write(rte_pktmbuf_append(m, (uint16_t)(FRAME_HEADER_BYTES + bytes)), &h,
                rte_cpu_to_be_16(from_port), &body);
    send_put(p->host->send, known < 0 ? to->port : (unsigned)known, m);
    return true;
}
