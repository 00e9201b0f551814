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
    FORM_MASK = 0x0f,
    VERSION_BIT = 0x8000,
    RESERVED_BIT = 0x4000,
    SLOT_MASK = 0x3fff,

    BOOT_ID_BYTES = 8,
    MAX_BITMAP_BYTES = AGG_MAX_RANKS / 8,
};

/* What the low four bits of byte 0 say. */
struct form {
    uint8_t size_code, checksum, trailer_bytes;
};

enum { NO_SIZE = 0xff };

static const struct form forms[FORM_MASK + 1] = {
    {SML_SIZE_32, XFER_CHECKSUM_NONE, 0},
    {SML_SIZE_64, XFER_CHECKSUM_NONE, 0},
    {SML_SIZE_128, XFER_CHECKSUM_NONE, 0},
    {SML_SIZE_256, XFER_CHECKSUM_NONE, 0},
    {SML_SIZE_AGREED, XFER_CHECKSUM_NONE, 0},
    {SML_SIZE_AGREED, XFER_CHECKSUM_KEYED, XFER_AUTH_BYTES},
    {NO_SIZE, 0, 0},
    {NO_SIZE, 0, 0},
    {SML_SIZE_32, XFER_CHECKSUM_CRC32C, XFER_TRAILER_BYTES},
    {SML_SIZE_64, XFER_CHECKSUM_CRC32C, XFER_TRAILER_BYTES},
    {SML_SIZE_128, XFER_CHECKSUM_CRC32C, XFER_TRAILER_BYTES},
    {SML_SIZE_256, XFER_CHECKSUM_CRC32C, XFER_TRAILER_BYTES},
    {SML_SIZE_AGREED, XFER_CHECKSUM_CRC32C, XFER_TRAILER_BYTES},
    {NO_SIZE, 0, 0},
    {NO_SIZE, 0, 0},
    {NO_SIZE, 0, 0},
};

static const uint8_t checksum_bits[] = {
    [XFER_CHECKSUM_CRC32C] = CHECKSUM_BIT, [XFER_CHECKSUM_KEYED] = KEYED_BIT};

static bool is_kind(uint8_t kind)
{
    return (kind >= SML_DATA && kind <= SML_RESTORE) || kind == SML_ASK || kind == SML_LATE;
}

static bool size_code_fits(const struct sml_packet *p)
{
    switch (p->kind) {
    case SML_OPEN:
    case SML_RESTORE:
    case SML_ASK:
        return p->size_code == SML_SIZE_AGREED;
    default:
        return p->size_code <= SML_SIZE_AGREED;
    }
}

static bool length_fits(const struct sml_packet *p)
{
    switch ((enum sml_kind)p->kind) {
    case SML_DATA:
        if (p->size_code == SML_SIZE_AGREED)
            return p->body_bytes <= SML_MAX_CHUNK_BYTES;
        return p->body_bytes == sml_size_bytes(p->size_code) || p->body_bytes == 0;
    case SML_OPEN:
        return p->body_bytes == 0 ||
               (p->body_bytes >= XFER_CALL_BYTES && p->body_bytes <= SML_MAX_CHUNK_BYTES);
    case SML_RESTORE:
        return p->body_bytes <= SML_MAX_CHUNK_BYTES;
    case SML_PROBE:
    case SML_NACK:
        return p->body_bytes == 0;
    case SML_WAIT:
    case SML_ASK:
        return p->body_bytes >= 1 && p->body_bytes <= MAX_BITMAP_BYTES;
    case SML_MISMATCH:
        return p->body_bytes == XFER_MISMATCH_BYTES;
    case SML_REJECT:
        return p->body_bytes == BOOT_ID_BYTES;
    case SML_LATE:
        return p->body_bytes == SML_LATE_BYTES;
    }
    return false;
}

enum sml_parse_error sml_parse(struct sml_packet *p, const uint8_t *payload, size_t bytes)
{
    if (bytes < SML_HEADER_BYTES)
        return SML_TOO_SHORT;

    p->kind = payload[KIND_AND_SIZE] >> 4;
    if (!is_kind(p->kind))
        return SML_BAD_KIND;

    const struct form *form = &forms[payload[KIND_AND_SIZE] & FORM_MASK];
    p->size_code = form->size_code;
    if (!size_code_fits(p))
        return SML_BAD_SIZE_CODE;

    p->checksum = form->checksum;
    if (bytes < SML_HEADER_BYTES + (size_t)form->trailer_bytes)
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
    p->body_bytes = bytes - SML_HEADER_BYTES - form->trailer_bytes;
    return length_fits(p) ? SML_OK : SML_BAD_LENGTH;
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
