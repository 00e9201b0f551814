#include "wire/atp.h"

#include <assert.h>
#include <string.h>

#include "kernels/kernels.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"

/* Fields of the header; docs/protocol.md shows them as a table. */
enum {
    KIND = 0,
    FLAGS = 1,
    JOB = 2,
    LIFE = 4,
    SEQUENCE = 8,
    INDEX = 12,
    ROOT_OR_NEXT = 14,
    CODE = 16,
    EXPONENT = 17,
    FAN_IN0 = 18,
    FAN_IN1 = 19,
    RACK = 20,
    CHILD = 21,
    PRIORITY = 22,
    SEAL = 23, /* and held */
    BITMAP0 = 24,
    BITMAP1 = 32,

    CHANGING_BYTES = FLAGS + 1, /* up to and with the flags */

    SEAL_MASK = (1 << XFER_HELD_SHIFT) - 1,
    MAX_BITMAP_BYTES = AGG_MAX_WORKERS / 8,
};

_Static_assert((int)INDEX == (int)ATP_INDEX_AT && SEQUENCE + 2 == (int)ATP_SEQUENCE_LOW_AT,
               "as receivers read them");

/* The lowest n bits. */
static uint64_t first_bits(unsigned n)
{
    return n >= ATP_LEVEL ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static bool gradient_fits(const struct atp_packet *p)
{
    return p->fan_in0 >= 1 && p->fan_in0 <= ATP_LEVEL && p->fan_in1 <= ATP_LEVEL && p->rack < ATP_LEVEL &&
           p->child < ATP_LEVEL && (p->bitmap0 | p->bitmap1) != 0 &&
           (p->bitmap0 & ~first_bits(p->fan_in0)) == 0 && (p->bitmap1 & ~first_bits(p->fan_in1)) == 0;
}

/* Elements, behind a descriptor in an opening packet. A gradient always has its descriptor. */
static bool elements_fit(const struct atp_packet *p, size_t body_bytes)
{
    const size_t element = agg_code_bytes(p->code);
    size_t rest = body_bytes;

    if (element == 0 || body_bytes > ATP_MAX_CHUNK_BYTES)
        return false;
    if (p->kind == ATP_PARAMETER && body_bytes == 0)
        return true;
    if (p->flags & ATP_OPENING) {
        if (rest < XFER_CALL_BYTES)
            return false;
        rest -= XFER_CALL_BYTES;
    }
    return rest % element == 0;
}

static bool length_fits(const struct atp_packet *p, size_t body_bytes)
{
    switch ((enum atp_kind)p->kind) {
    case ATP_GRADIENT:
    case ATP_PARAMETER:
    case ATP_RESTORE:
        return elements_fit(p, body_bytes);
    case ATP_WAITING:
        return body_bytes >= 1 && body_bytes <= MAX_BITMAP_BYTES;
    case ATP_MISMATCH:
        return body_bytes == XFER_MISMATCH_BYTES;
    case ATP_REJECT:
        return body_bytes == ATP_BOOT_ID_BYTES;
    case ATP_GROUP:
    case ATP_ASK:
        return body_bytes == 0;
    case ATP_KINDS:
        break;
    }
    return false;
}

enum atp_parse_error atp_parse(struct atp_packet *p, const uint8_t *payload, size_t bytes)
{
    if (bytes < ATP_HEADER_BYTES)
        return ATP_TOO_SHORT;
    if (payload[KIND] == 0 || payload[KIND] >= ATP_KINDS)
        return ATP_BAD_KIND;
    *p = (struct atp_packet){
        .bitmap0 = get_be64(payload + BITMAP0),
        .bitmap1 = get_be64(payload + BITMAP1),
        .life = get_be32(payload + LIFE),
        .sequence = get_be32(payload + SEQUENCE),
        .job = get_be16(payload + JOB),
        .index = get_be16(payload + INDEX),
        .root = get_be16(payload + ROOT_OR_NEXT),
        .kind = payload[KIND],
        .flags = payload[FLAGS],
        .code = payload[CODE],
        .exponent = (int8_t)payload[EXPONENT],
        .fan_in0 = payload[FAN_IN0],
        .fan_in1 = payload[FAN_IN1],
        .rack = payload[RACK],
        .child = payload[CHILD],
        .priority = payload[PRIORITY],
        .seal = payload[SEAL] & SEAL_MASK,
        .held = payload[SEAL] >> XFER_HELD_SHIFT,
    };
    if (p->seal > XFER_CHECKSUM_KEYED ||
        ((p->kind == ATP_GRADIENT || p->kind == ATP_ASK) && !gradient_fits(p)))
        return ATP_BAD_FIELD;
    if (bytes < ATP_HEADER_BYTES + xfer_trailer_bytes((enum xfer_checksum)p->seal))
        return ATP_TOO_SHORT;
    return length_fits(p, atp_body_bytes(p, bytes)) ? ATP_OK : ATP_BAD_LENGTH;
}

void atp_build_header(uint8_t *payload, const struct atp_packet *p)
{
    payload[KIND] = p->kind;
    payload[FLAGS] = p->flags;
    put_be16(payload + JOB, p->job);
    put_be32(payload + LIFE, p->life);
    put_be32(payload + SEQUENCE, p->sequence);
    put_be16(payload + INDEX, p->index);
    put_be16(payload + ROOT_OR_NEXT, p->root);
    payload[CODE] = p->code;
    payload[EXPONENT] = (uint8_t)p->exponent;
    payload[FAN_IN0] = p->fan_in0;
    payload[FAN_IN1] = p->fan_in1;
    payload[RACK] = p->rack;
    payload[CHILD] = p->child;
    payload[PRIORITY] = p->priority;
    payload[SEAL] = (uint8_t)(p->held << XFER_HELD_SHIFT | p->seal);
    put_be64(payload + BITMAP0, p->bitmap0);
    put_be64(payload + BITMAP1, p->bitmap1);
}

void atp_mark(uint8_t *payload, size_t bytes)
{
    const uint8_t kind = atp_peek_kind(payload, bytes);

    if (kind == ATP_GRADIENT || kind == ATP_PARAMETER)
        payload[FLAGS] |= ATP_ECN;
}

void atp_note_group(uint8_t *payload, size_t bytes)
{
    const uint8_t kind = atp_peek_kind(payload, bytes);

    if (kind == ATP_GROUP || kind == ATP_PARAMETER)
        payload[FLAGS] |= ATP_BY_GROUP;
}

static_assert(ATP_HEADER_BYTES + (int)XFER_CALL_BYTES <= (int)XFER_AUTH_HEAD_MAX, "an authenticator's head");

static enum xfer_checksum seal_of(const uint8_t *head)
{
    return (enum xfer_checksum)(head[SEAL] & SEAL_MASK);
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
    uint8_t first[CHANGING_BYTES];
    uint32_t crc;

    copy_without_flags(first, head, CHANGING_BYTES);
    crc = crc32c(crc32c(0, first, CHANGING_BYTES), head + CHANGING_BYTES, head_bytes - CHANGING_BYTES);
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

size_t atp_build_reject(uint8_t out[ATP_REJECT_BYTES], const struct atp_packet *p, uint64_t boot_id)
{
    const struct atp_packet reject = {.kind = ATP_REJECT,
                                      .job = p->job,
                                      .life = p->life,
                                      .sequence = p->sequence,
                                      .index = p->index,
                                      .seal = p->seal == XFER_CHECKSUM_CRC32C};

    if (p->kind != ATP_GRADIENT && p->kind != ATP_RESTORE && p->kind != ATP_ASK)
        return 0;
    atp_build_header(out, &reject);
    put_be64(out + ATP_HEADER_BYTES, boot_id);
    return atp_seal_append(out, ATP_HEADER_BYTES + ATP_BOOT_ID_BYTES, NULL, NULL);
}
