#include "wire/roce.h"

#include <assert.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/crc32.h"

/* Places in the BTH. */
enum { FLAGS = 1, PARTITION = 2, BEFORE_QUEUE_PAIR = 4, QUEUE_PAIR = 5, NUMBER = 9 };

enum {
    MIGRATED = 0x40, /* as NICs set it when nothing migrates */
    PAD = 0x30,
    PAD_SHIFT = 4,
    PAD_AND_VERSION = 0x3f,
    PARTITION_DEFAULT = 0xffff,
    FULL_MEMBER = 0x8000, /* the partition's highest bit */
};

/* Places in the IPv4 and UDP headers of what routers may change. */
enum { TYPE_OF_SERVICE = 1, TIME_TO_LIVE = 8, IP_CHECKSUM = 10, UDP_CHECKSUM = 26 };

size_t roce_header_bytes(uint8_t opcode)
{
    return ROCE_BTH_BYTES + (roce_begins(opcode) ? ROCE_RETH_BYTES : 0u) +
           (roce_has_immediate(opcode) ? ROCE_IMMEDIATE_BYTES : 0u);
}

enum roce_parse_error roce_parse(struct roce_packet *p, const uint8_t *payload, size_t bytes)
{
    const uint8_t *at = payload + ROCE_BTH_BYTES;

    if (bytes < ROCE_BTH_BYTES + ROCE_ICRC_BYTES || bytes > UINT16_MAX)
        return ROCE_TOO_SHORT;
    if (roce_sends(payload[0]))
        return ROCE_BAD_SEND;
    if (payload[0] < ROCE_WRITE_FIRST || payload[0] > ROCE_WRITE_ONLY_IMMEDIATE)
        return ROCE_NO_WRITE;
    if ((payload[FLAGS] & PAD_AND_VERSION) != 0 ||
        (get_be16(payload + PARTITION) | FULL_MEMBER) != PARTITION_DEFAULT)
        return ROCE_BAD_HEADER;
    if (bytes < roce_header_bytes(payload[0]) + ROCE_ICRC_BYTES)
        return ROCE_TOO_SHORT;
    *p = (struct roce_packet){.opcode = payload[0],
                              .queue_pair = get_be24(payload + QUEUE_PAIR),
                              .number = get_be24(payload + NUMBER)};
    if (roce_begins(p->opcode)) {
        p->address = get_be64(at);
        p->key = get_be32(at + 8);
        p->length = get_be32(at + 12);
        at += ROCE_RETH_BYTES;
    }
    if (roce_has_immediate(p->opcode)) {
        memcpy(p->immediate, at, ROCE_IMMEDIATE_BYTES);
        at += ROCE_IMMEDIATE_BYTES;
    }
    p->body = at;
    p->body_bytes = (uint16_t)(bytes - (size_t)(at - payload) - ROCE_ICRC_BYTES);
    return ROCE_OK;
}

size_t roce_build_headers(uint8_t out[ROCE_HEADERS_MAX], const struct roce_packet *p)
{
    uint8_t *at = out + ROCE_BTH_BYTES;

    memset(out, 0, ROCE_BTH_BYTES);
    out[0] = p->opcode;
    out[FLAGS] = MIGRATED;
    put_be16(out + PARTITION, PARTITION_DEFAULT);
    put_be24(out + QUEUE_PAIR, p->queue_pair);
    put_be24(out + NUMBER, p->number);
    if (roce_begins(p->opcode)) {
        put_be64(at, p->address);
        put_be32(at + 8, p->key);
        put_be32(at + 12, p->length);
        at += ROCE_RETH_BYTES;
    }
    if (roce_has_immediate(p->opcode))
        memcpy(at, p->immediate, ROCE_IMMEDIATE_BYTES);
    return roce_header_bytes(p->opcode);
}

uint32_t roce_crc_of_headers(const uint8_t *ip, size_t bytes)
{
    uint8_t masked[8 + ROCE_IP_UDP_BYTES + ROCE_HEADERS_MAX], *to = masked + 8;

    memset(masked, 0xff, 8);
    memcpy(to, ip, bytes);
    to[TYPE_OF_SERVICE] = to[TIME_TO_LIVE] = 0xff;
    memset(to + IP_CHECKSUM, 0xff, 2);
    memset(to + UDP_CHECKSUM, 0xff, 2);
    to[ROCE_IP_UDP_BYTES + BEFORE_QUEUE_PAIR] = 0xff;
    return crc32_ieee(0, masked, 8 + bytes);
}

void roce_put_icrc(uint8_t out[ROCE_ICRC_BYTES], uint32_t crc)
{
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "it is little endian");
    memcpy(out, &crc, ROCE_ICRC_BYTES);
}

static void make_icrc(uint8_t icrc[ROCE_ICRC_BYTES], const uint8_t *ip, const uint8_t *payload, size_t bytes)
{
    uint8_t headers[ROCE_IP_UDP_BYTES + ROCE_BTH_BYTES];

    memcpy(headers, ip, ROCE_IP_UDP_BYTES);
    memcpy(headers + ROCE_IP_UDP_BYTES, payload, ROCE_BTH_BYTES);
    roce_put_icrc(icrc, crc32_ieee(roce_crc_of_headers(headers, sizeof(headers)), payload + ROCE_BTH_BYTES,
                                   bytes - ROCE_BTH_BYTES - ROCE_ICRC_BYTES));
}

void roce_seal(const uint8_t *ip, uint8_t *payload, size_t bytes)
{
    make_icrc(payload + bytes - ROCE_ICRC_BYTES, ip, payload, bytes);
}

bool roce_icrc_holds(const uint8_t *ip, const uint8_t *payload, size_t bytes)
{
    uint8_t icrc[ROCE_ICRC_BYTES];

    make_icrc(icrc, ip, payload, bytes);
    return memcmp(icrc, payload + bytes - ROCE_ICRC_BYTES, ROCE_ICRC_BYTES) == 0;
}

static unsigned pad_of(const uint8_t *payload)
{
    return (payload[FLAGS] & PAD) >> PAD_SHIFT;
}

bool roce_uncover(const uint8_t *ip, const uint8_t *payload, size_t bytes, uint16_t *port, size_t *body_bytes)
{
    if (bytes < ROCE_BTH_BYTES + ROCE_ICRC_BYTES || !roce_sends(payload[0]) ||
        (payload[FLAGS] & PAD_AND_VERSION & ~PAD) != 0 ||
        (get_be16(payload + PARTITION) | FULL_MEMBER) != PARTITION_DEFAULT ||
        bytes - ROCE_BTH_BYTES - ROCE_ICRC_BYTES < pad_of(payload) ||
        get_be24(payload + QUEUE_PAIR) >> 16 != ROCE_CARRIES >> 16 || !roce_icrc_holds(ip, payload, bytes))
        return false;
    *port = get_be16(payload + QUEUE_PAIR + 1);
    *body_bytes = bytes - ROCE_BTH_BYTES - ROCE_ICRC_BYTES - pad_of(payload);
    if (payload[0] != ROCE_SEND_FIRST && payload[0] != ROCE_SEND_MIDDLE)
        return true;
    const size_t fill = *body_bytes > 0 ? payload[ROCE_BTH_BYTES + *body_bytes - 1] : 0;
    if (fill == 0 || fill > ROCE_FILL_MAX || fill > *body_bytes || pad_of(payload) != 0)
        return false;
    *body_bytes -= fill;
    return true;
}

void roce_cover(const uint8_t *ip, uint8_t *payload, size_t body_bytes, enum roce_opcode opcode,
                uint32_t queue_pair, uint32_t number)
{
    const size_t tail = roce_tail_bytes(body_bytes);
    const struct roce_packet p = {.opcode = (uint8_t)opcode, .queue_pair = queue_pair, .number = number};

    roce_build_headers(payload, &p);
    payload[FLAGS] |= (uint8_t)((tail - ROCE_ICRC_BYTES) << PAD_SHIFT);
    memset(payload + ROCE_BTH_BYTES + body_bytes, 0, tail);
    roce_seal(ip, payload, ROCE_BTH_BYTES + body_bytes + tail);
}
