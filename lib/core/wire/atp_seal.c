#include "wire/atp_seal.h"

#include <assert.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/crc32c.h"

enum { KIND = 0, FLAGS = 1, SEAL = 23, CHANGING = 2 /* bytes, up to and with the flags */ };

static_assert(ATP_HEADER_BYTES + (int)XFER_CALL_BYTES <= (int)XFER_AUTH_HEAD_MAX, "an authenticator's head");

static enum xfer_checksum seal_of(const uint8_t *head)
{
    return (enum xfer_checksum)(head[SEAL] & ((1 << XFER_HELD_SHIFT) - 1));
}

/* Flags that somebody on the way, or the receiver himself, may set or clear. */
static uint8_t changing_flags(uint8_t kind)
{
    switch (kind) {
    case ATP_GRADIENT:
    case ATP_ASK:
        return ATP_RESEND | ATP_COLLISION | ATP_ECN | ATP_EDGE;
    case ATP_PARAMETER:
        return ATP_ECN | ATP_BY_GROUP;
    case ATP_GROUP:
        return ATP_BY_GROUP;
    default:
        return 0;
    }
}

static void copy_without_flags(uint8_t *to, const uint8_t *head, size_t bytes)
{
    memcpy(to, head, bytes);
    to[FLAGS] &= (uint8_t)~changing_flags(head[KIND]);
}

static uint32_t crc_of(const uint8_t *head, size_t head_bytes, const uint8_t *body, size_t body_bytes)
{
    uint8_t first[CHANGING];
    uint32_t crc;

    copy_without_flags(first, head, CHANGING);
    crc = crc32c(crc32c(0, first, CHANGING), head + CHANGING, head_bytes - CHANGING);
    return crc32c(crc, body, body_bytes);
}

void atp_seal_build(uint8_t trailer[XFER_TRAILER_MAX], const struct xfer_auth *auth,
                    const struct xfer_route *route, const uint8_t *head, size_t head_bytes,
                    const uint8_t *body, size_t body_bytes)
{
    uint8_t fixed[XFER_AUTH_HEAD_MAX];

    if (seal_of(head) == XFER_CHECKSUM_CRC32C) {
        put_be32(trailer, crc_of(head, head_bytes, body, body_bytes));
    } else if (seal_of(head) == XFER_CHECKSUM_KEYED) {
        copy_without_flags(fixed, head, head_bytes);
        xfer_auth_build(trailer, auth, route, fixed, head_bytes, body, body_bytes);
    }
}

/* Of a packet in one piece: its header, with the call if it has one. */
static size_t head_bytes_of(const uint8_t *payload, size_t body_bytes)
{
    const bool carries =
        payload[KIND] == ATP_GRADIENT || payload[KIND] == ATP_PARAMETER || payload[KIND] == ATP_RESTORE;
    const bool opens = carries && payload[FLAGS] & ATP_OPENING && body_bytes >= XFER_CALL_BYTES;

    return ATP_HEADER_BYTES + (opens ? XFER_CALL_BYTES : 0);
}

size_t atp_seal_append(uint8_t *payload, size_t bytes, const struct xfer_auth *auth,
                       const struct xfer_route *route)
{
    const size_t head = head_bytes_of(payload, bytes - ATP_HEADER_BYTES);

    atp_seal_build(payload + bytes, auth, route, payload, head, payload + head, bytes - head);
    return bytes + xfer_trailer_bytes(seal_of(payload));
}

bool atp_seal_holds(const struct atp_packet *p, const uint8_t *payload, size_t bytes,
                    const struct xfer_auth *auth, const struct xfer_route *route)
{
    const size_t body_bytes = atp_body_bytes(p, bytes), head = head_bytes_of(payload, body_bytes);
    const size_t rest = ATP_HEADER_BYTES + body_bytes - head;
    const uint8_t *trailer = payload + head + rest;
    uint8_t fixed[XFER_AUTH_HEAD_MAX];

    if (p->seal == XFER_CHECKSUM_CRC32C)
        return get_be32(trailer) == crc_of(payload, head, payload + head, rest);
    if (p->seal != XFER_CHECKSUM_KEYED)
        return true;
    copy_without_flags(fixed, payload, head);
    return xfer_auth_matches(trailer, auth, route, fixed, head, payload + head, rest);
}
