/* RDMA writes in words. */
#include "protocol/words.h"
#include "kernels/kernels.h"
#include "roce/pool.h"
#include "roce/protocol.h"

void rce_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload, size_t bytes)
{
    static const char *const names[] = {"WRITE_FIRST",          "WRITE_MIDDLE", "WRITE_LAST",
                                        "WRITE_LAST_IMMEDIATE", "WRITE_ONLY",   "WRITE_ONLY_IMMEDIATE"};
    struct roce_packet p;

    if (roce_parse(&p, payload, bytes) != ROCE_OK) {
        agg_append(l, "RoCE, %zu bytes that are no RDMA write of an unreliable connection", bytes);
        return;
    }
    agg_append(l, "%s queue pair 0x%06x number %u", names[p.opcode - ROCE_WRITE_FIRST], p.queue_pair,
               p.number);
    if (roce_begins(p.opcode)) {
        agg_append(l, " key 0x%x address 0x%llx length %u", p.key, (unsigned long long)p.address, p.length);
        if (p.queue_pair & RCE_QUEUE_PAIR)
            agg_append(l, " slot %u version %u", p.key >> 1, p.key & 1);
    }
    if (roce_has_immediate(p.opcode))
        agg_append(l, " message %u exponents %d %d", p.immediate[0] | p.immediate[1] << 8,
                   (int8_t)p.immediate[2], (int8_t)p.immediate[3]);
    agg_append_elements(l, how, agg_code(AGG_I32, AGG_SUM), p.body, p.body_bytes);
}
