#include "aggregate/carried.h"

#include <string.h>

#include "wire/roce.h"

bool carried_uncover(struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    struct frame_udp headers = *f;
    uint16_t port;
    size_t bytes;

    if (rte_mbuf_refcnt_read(m) != 1 ||
        !roce_uncover((const uint8_t *)&f->ip, f->payload, frame_payload_bytes(f), &port, &bytes))
        return false;
    headers.udp = (struct net_udp){
        .src_port = net16(port), .dst_port = f->udp.dst_port, .dgram_len = net16(sizeof(f->udp) + bytes)};
    headers.ip.total_length = net16(sizeof(f->ip) + sizeof(f->udp) + bytes);
    memcpy(rte_pktmbuf_adj(m, ROCE_BTH_BYTES), &headers, sizeof(headers));
    rte_pktmbuf_trim(m, (uint16_t)(m->data_len - sizeof(headers) - bytes));
    return true;
}

void carried_fill(struct rte_mbuf *m, const struct job_member *member, const void *payload, size_t bytes)
{
    const struct frame_payload whole = {.bytes = ROCE_BTH_BYTES + bytes + roce_tail_bytes(bytes)};
    struct frame_udp *f =
        (struct frame_udp *)(void *)rte_pktmbuf_append(m, (uint16_t)(FRAME_HEADER_BYTES + whole.bytes));
    const uint32_t number = __atomic_fetch_add((uint32_t *)&member->number, 1, __ATOMIC_RELAXED);

    frame_write_headers(f, &member->header, net16(ROCE_PORT), &whole);
    memcpy(f->payload + ROCE_BTH_BYTES, payload, bytes);
    roce_cover((const uint8_t *)&f->ip, f->payload, bytes, ROCE_SEND_ONLY, member->queue_pair,
               number % ROCE_NUMBERS);
}
