#include "wire/atp.h"

#include "kernels/kernels.h"
#include "wire/atp_seal.h"
#include "wire/bytes.h"

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
