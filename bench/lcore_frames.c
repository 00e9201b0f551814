#include "lcore_frames.h"

#include <string.h>

#include "roce/pool.h"

enum { VALUES = 8 /* the elements repeat */ };

struct jobs_member lcore_frames_member(const struct lcore_frames *f, unsigned rank)
{
    return (struct jobs_member){.mac = {{2, 0, 0, 0, 1, (uint8_t)rank}},
                                .ip = rte_cpu_to_be_32(0x0A000001 + rank),
                                .udp_port = rte_cpu_to_be_16(f->packets->from_port)};
}

void lcore_frames_begin(struct lcore_frames *f, uint8_t *payload, const struct jobs_identity *to,
                        agg_ones_sum_fn *ones_sum)
{
    const struct frame_end end = {
        .mac = to->mac, .ip = to->ip, .port = rte_cpu_to_be_16(f->packets->protocol->udp_ports.first)};

    f->payload = payload;
    f->ones_sum = ones_sum;
    for (unsigned rank = 0; rank < PACKETS_WORKERS; rank++) {
        const struct jobs_member m = lcore_frames_member(f, rank);
        const struct frame_end from = {.mac = m.mac, .ip = m.ip, .port = m.udp_port};

        frame_header_init(&f->header[rank], &from, &end);
        f->header[rank].without_udp_sum = f->packets->seals;
    }
}

static uint32_t element(unsigned rank, unsigned i)
{
    return (rank + 1) * (i % VALUES + 1);
}

void lcore_frame_write(struct lcore_frames *f, struct rte_mbuf *m, unsigned rank, uint32_t tag)
{
    const struct packets_chunk chunk = {
        .rank = rank, .tag = tag, .slots = f->slots, .element_bytes = f->chunk_bytes, .job = f->job};
    const size_t head = f->packets->begin(f->payload, &chunk);
    struct frame_payload body;
    struct frame_udp *frame;

    for (unsigned i = 0; i < f->chunk_bytes / sizeof(uint32_t); i++) {
        const uint32_t value = f->packets->form(element(rank, i));

        memcpy(f->payload + head + i * sizeof(value), &value, sizeof(value));
    }
    body = frame_payload(f->payload, head + f->chunk_bytes + f->packets->tail_bytes, f->ones_sum);
    frame = (struct frame_udp *)(void *)rte_pktmbuf_append(m, (uint16_t)(FRAME_HEADER_BYTES + body.bytes));
    frame_write(frame, &f->header[rank], rte_cpu_to_be_16(f->packets->from_port), &body);
    if (f->packets->seals)
        roce_seal((const uint8_t *)&frame->ip, frame->payload, body.bytes);
    if (f->compared)
        m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
}

bool lcore_frame_is_sum(const struct lcore_frames *f, const struct rte_mbuf *m)
{
    const uint8_t *payload = m->nb_segs == 2
                                 ? rte_pktmbuf_mtod(m->next, const uint8_t *)
                                 : rte_pktmbuf_mtod_offset(m, const uint8_t *, FRAME_HEADER_BYTES);
    const uint8_t *elements = f->packets->elements(payload, m->pkt_len - FRAME_HEADER_BYTES, f->chunk_bytes);

    if (elements == NULL)
        return false;
    for (unsigned i = 0; i < f->chunk_bytes / sizeof(uint32_t); i++) {
        uint32_t sum = 0, value;

        for (unsigned rank = 0; rank < PACKETS_WORKERS; rank++)
            sum += element(rank, i);
        memcpy(&value, elements + i * sizeof(value), sizeof(value));
        if (value != f->packets->form(sum))
            return false;
    }
    return true;
}
