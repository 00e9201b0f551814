#include "wire/hostagg.h"

#include "wire/bytes.h"

bool hag_parse(struct hag_packet *p, const uint8_t *payload, size_t bytes)
{
    if (bytes < HAG_HEADER_BYTES || payload[0] == 0 || payload[0] >= HAG_KINDS)
        return false;
    *p = (struct hag_packet){
        .kind = payload[0],
        .job = payload[1],
        .worker = get_be16(payload + 2),
        .sequence = get_be32(payload + 4),
        .run = get_be16(payload + 8),
        .body = payload + HAG_HEADER_BYTES,
        .body_bytes = bytes - HAG_HEADER_BYTES,
    };
    return true;
}

void hag_build_header(uint8_t *payload, const struct hag_packet *p)
{
    payload[0] = (uint8_t)p->kind;
    payload[1] = p->job;
    put_be16(payload + 2, p->worker);
    put_be32(payload + 4, p->sequence);
    put_be16(payload + 8, p->run);
}
