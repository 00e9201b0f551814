#include "wire/switchml.h"

#include "wire/bytes.h"
#include "wire/crc32c.h"

/* Fields within the header and the bodies; docs/protocol.md shows them as tables. */
enum {
    KIND_AND_SIZE = 0,
    JOB = 1,
    TAG = 2,
    POOL_INDEX = 6,
    E0 = 8,
    E1 = 9,

    CHECKSUM_BIT = 0x08,
    KEYED_BIT = 0x01, /* with SML_SIZE_AGREED, which has it 0 */
    VERSION_BIT = 0x8000,
    RESERVED_BIT = 0x4000,
    SLOT_MASK = 0x3fff,

    BOOT_ID_BYTES = 8,
    MAX_BITMAP_BYTES = AGG_MAX_RANKS / 8,
};

/* What byte 0, kind and form, says of a packet. */
struct shape {
    bool known; /* false: there is no such kind, or not in this form */
    uint8_t size_code, checksum, trailer_bytes;
    bool or_empty;        /* a body of no bytes is right, too */
    uint16_t least, most; /* bytes of a body */
};

#define SHAPE(kind, form, ...) [(kind) << 4 | (form)] = {true, __VA_ARGS__}
/* Of as many elements as the job has agreed on: plain, keyed, with a CRC32C. */
#define AGREED(kind, ...)                                                                                    \
    SHAPE(kind, SML_SIZE_AGREED, SML_SIZE_AGREED, XFER_CHECKSUM_NONE, 0, __VA_ARGS__),                       \
        SHAPE(kind, SML_SIZE_AGREED | KEYED_BIT, SML_SIZE_AGREED, XFER_CHECKSUM_KEYED, XFER_AUTH_BYTES,      \
              __VA_ARGS__),                                                                                  \
        SHAPE(kind, SML_SIZE_AGREED | CHECKSUM_BIT, SML_SIZE_AGREED, XFER_CHECKSUM_CRC32C,                   \
              XFER_TRAILER_BYTES, __VA_ARGS__)
/* Of a published number of elements: plain, with a CRC32C. */
#define SIZED(kind, size, ...)                                                                               \
    SHAPE(kind, size, size, XFER_CHECKSUM_NONE, 0, __VA_ARGS__),                                             \
        SHAPE(kind, (size) | CHECKSUM_BIT, size, XFER_CHECKSUM_CRC32C, XFER_TRAILER_BYTES, __VA_ARGS__)
#define ANY_SIZE(kind, ...)                                                                                  \
    AGREED(kind, __VA_ARGS__), SIZED(kind, SML_SIZE_32, __VA_ARGS__), SIZED(kind, SML_SIZE_64, __VA_ARGS__), \
        SIZED(kind, SML_SIZE_128, __VA_ARGS__), SIZED(kind, SML_SIZE_256, __VA_ARGS__)

static const struct shape shapes[UINT8_MAX + 1] = {
    AGREED(SML_DATA, false, 0, SML_MAX_CHUNK_BYTES),
    SIZED(SML_DATA, SML_SIZE_32, true, 128, 128),
    SIZED(SML_DATA, SML_SIZE_64, true, 256, 256),
    SIZED(SML_DATA, SML_SIZE_128, true, 512, 512),
    SIZED(SML_DATA, SML_SIZE_256, true, 1024, 1024),
    AGREED(SML_OPEN, true, XFER_CALL_BYTES, SML_MAX_CHUNK_BYTES),
    AGREED(SML_RESTORE, false, 0, SML_MAX_CHUNK_BYTES),
    ANY_SIZE(SML_PROBE, false, 0, 0),
    ANY_SIZE(SML_NACK, false, 0, 0),
    ANY_SIZE(SML_WAIT, false, 1, MAX_BITMAP_BYTES),
    AGREED(SML_ASK, false, 1, MAX_BITMAP_BYTES),
    ANY_SIZE(SML_MISMATCH, false, XFER_MISMATCH_BYTES, XFER_MISMATCH_BYTES),
    ANY_SIZE(SML_REJECT, false, BOOT_ID_BYTES, BOOT_ID_BYTES),
    ANY_SIZE(SML_LATE, false, SML_LATE_BYTES, SML_LATE_BYTES),
};

static const uint8_t checksum_bits[] = {
    [XFER_CHECKSUM_CRC32C] = CHECKSUM_BIT, [XFER_CHECKSUM_KEYED] = KEYED_BIT};

/* Of a kind that is known in some form; all are in one. */
static bool is_kind(uint8_t kind)
{
    return shapes[kind << 4 | SML_SIZE_AGREED].known;
}

static inline bool length_fits(const struct shape *shape, size_t body_bytes)
{
    return (body_bytes >= shape->least && body_bytes <= shape->most) || (body_bytes == 0 && shape->or_empty);
}

enum sml_parse_error sml_parse(struct sml_packet *p, const uint8_t *payload, size_t bytes)
{
    if (bytes < SML_HEADER_BYTES)
        return SML_TOO_SHORT;

    const struct shape *shape = &shapes[payload[KIND_AND_SIZE]];
    p->kind = payload[KIND_AND_SIZE] >> 4;
    if (!shape->known)
        return is_kind(p->kind) ? SML_BAD_SIZE_CODE : SML_BAD_KIND;

    p->size_code = shape->size_code;
    p->checksum = shape->checksum;
    if (bytes < SML_HEADER_BYTES + (size_t)shape->trailer_bytes)
        return SML_TOO_SHORT;

    uint16_t index = get_be16(payload + POOL_INDEX);
    if (index & RESERVED_BIT)
        return SML_BAD_SLOT;
    p->ver = (index & VERSION_BIT) != 0;
    p->slot = index & SLOT_MASK;

    p->job = payload[JOB];
    p->tag = (uint32_t)payload[TAG] | (uint32_t)payload[TAG + 1] << 8 | (uint32_t)payload[TAG + 2] << 16 |
             (uint32_t)payload[TAG + 3] << 24;
    p->e0 = payload[E0];
    p->e1 = payload[E1];
    p->body = payload + SML_HEADER_BYTES;
    p->body_bytes = bytes - SML_HEADER_BYTES - shape->trailer_bytes;
    return length_fits(shape, p->body_bytes) ? SML_OK : SML_BAD_LENGTH;
}

void sml_build_header(uint8_t out[SML_HEADER_BYTES], const struct sml_packet *p)
{
    out[KIND_AND_SIZE] = (uint8_t)(p->kind << 4 | checksum_bits[p->checksum] | p->size_code);
    out[JOB] = p->job;
    for (unsigned i = 0; i < 4; i++)
        out[TAG + i] = (uint8_t)(p->tag >> 8 * i);
    put_be16(out + POOL_INDEX, (uint16_t)(p->slot | (p->ver ? VERSION_BIT : 0)));
    out[E0] = p->e0;
    out[E1] = p->e1;
}

static uint32_t checksum_of(uint16_t sender, const void *head, size_t head_bytes, const void *body,
                            size_t body_bytes)
{
    uint8_t unsent[2];

    put_be16(unsent, sender);
    return crc32c(crc32c(crc32c(0, head, head_bytes), body, body_bytes), unsent, sizeof(unsent));
}

void sml_build_trailer(uint8_t out[XFER_TRAILER_BYTES], uint16_t sender, const void *head, size_t head_bytes,
                       const void *body, size_t body_bytes)
{
    put_be32(out, checksum_of(sender, head, head_bytes, body, body_bytes));
}

bool sml_crc32c_holds(const struct sml_packet *p, uint16_t sender)
{
    return get_be32(p->body + p->body_bytes) ==
           checksum_of(sender, p->body - SML_HEADER_BYTES, SML_HEADER_BYTES + p->body_bytes, NULL, 0);
}

bool sml_auth_holds(const struct xfer_auth *auth, const struct xfer_route *route, const struct sml_packet *p,
                    size_t call_bytes)
{
    const uint8_t *elements = p->body + call_bytes;
    const size_t bytes = p->body_bytes - call_bytes;

    return p->checksum == XFER_CHECKSUM_KEYED &&
           xfer_auth_matches(p->body + p->body_bytes, auth, route, p->body - SML_HEADER_BYTES,
                             SML_HEADER_BYTES + call_bytes, elements, bytes);
}

static bool is_from_worker(uint8_t kind)
{
    return kind == SML_DATA || kind == SML_OPEN || kind == SML_PROBE || kind == SML_RESTORE ||
           kind == SML_ASK;
}

size_t sml_build_reject(uint8_t out[SML_REJECT_BYTES], const struct sml_packet *p, uint64_t boot_id)
{
    const size_t bytes = SML_HEADER_BYTES + BOOT_ID_BYTES;
    struct sml_packet head = *p;

    if (!is_from_worker(p->kind))
        return 0;
    head.kind = SML_REJECT;
    head.size_code = SML_SIZE_AGREED;
    head.checksum = p->checksum == XFER_CHECKSUM_CRC32C ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
    sml_build_header(out, &head);
    put_be64(out + SML_HEADER_BYTES, boot_id);
    if (head.checksum != XFER_CHECKSUM_NONE)
        sml_build_trailer(out + bytes, XFER_SWITCH, out, bytes, NULL, 0);
    return bytes + xfer_trailer_bytes(head.checksum);
}
