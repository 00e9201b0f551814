/* ATP packets: golden vectors, which docs/protocol.md shows, and what is not a packet. */
#include <string.h>

#include "kernels/kernels.h"
#include "memory.h"
#include "random.h"
#include "toy_keys.h"
#include "unit.h"
#include "wire/atp.h"
#include "wire/switchml.h"

/* Rank 5 of job 3: its first packet of a call, an allreduce of two int32: 7 and -2. */
static const uint8_t opening[] = {
    0x01, 0x20, 0x00, 0x03,                         /* GRADIENT, OPENING, job */
    0x12, 0x34, 0x56, 0x78, 0x0a, 0x0b, 0x0c, 0x0d, /* life, sequence */
    0xbe, 0xef, 0xff, 0xff,                         /* index, everybody wants the result */
    0x11, 0x00, 0x08, 0x02, 0x00, 0x01, 0x04, 0x00, /* sum of int32, fan-ins 8 and 2, rack 0, child 1 */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, /* rank 5 */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x09, 0x01, 0x01,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, /* the call */
    0x00, 0x00, 0x00, 0x07, 0xff, 0xff, 0xff, 0xfe,
};

/* The sum of racks 0 and 1 and of ranks 0 and 1 of rack 2, sent again, after a collision. */
static const uint8_t partial[] = {
    0x01, 0x0f, 0x00, 0x03, 0x12, 0x34, 0x56, 0x78, 0x0a, 0x0b, 0x0c, 0x0e, 0xbe, 0xf0,
    0x00, 0x04, 0x37, 0x00, 0x08, 0x03, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x2a,
};

/* A result of three bytes. Some contribution to it has met a congested queue. */
static const uint8_t parameter[] = {
    0x02, 0x04, 0x00, 0x03, 0x12, 0x34, 0x56, 0x78, 0x0a, 0x0b, 0x0c, 0x0e, 0xbe, 0xf0, 0x12,
    0x21, 0x47, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03,
};

/* Ranks 0 to 4 and 7 of 8 have contributed. */
static const uint8_t waiting[] = {
    0x03, 0x00, 0x00, 0x03, 0x12, 0x34, 0x56, 0x78, 0x0a, 0x0b, 0x0c, 0x0e, 0xbe, 0xf0,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9f,
};

/* Rank 5 of 8 asks for that chunk. */
static const uint8_t question[] = {
    0x08, 0x00, 0x00, 0x03, 0x12, 0x34, 0x56, 0x78, 0x0a, 0x0b, 0x0c, 0x0e, 0xbe, 0xf0,
    0xff, 0xff, 0x00, 0x00, 0x08, 0x02, 0x00, 0x01, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

/* Parses, and builds the same header again. */
static struct atp_packet parse_again(const uint8_t *bytes, size_t n)
{
    uint8_t header[ATP_HEADER_BYTES];
    struct atp_packet p = {0};

    CU_ASSERT_EQUAL_FATAL(atp_parse(&p, bytes, n), ATP_OK);
    atp_build_header(header, &p);
    CU_ASSERT_EQUAL(memcmp(header, bytes, sizeof header), 0);
    return p;
}

TEST(golden_opening)
{
    const struct atp_packet p = parse_again(opening, sizeof opening);
    struct xfer_call call;

    CU_ASSERT(p.kind == ATP_GRADIENT && p.flags == ATP_OPENING && p.job == 3 && p.life == 0x12345678);
    CU_ASSERT(p.sequence == 0x0a0b0c0d && p.index == 0xbeef && p.root == ATP_ALL);
    CU_ASSERT(p.code == agg_code(AGG_I32, AGG_SUM) && p.fan_in0 == 8 && p.fan_in1 == 2);
    CU_ASSERT(p.rack == 0 && p.child == 1 && p.priority == 4 && p.bitmap0 == 1 << 5 && p.bitmap1 == 0);
    CU_ASSERT(xfer_parse_call(&call, opening + ATP_HEADER_BYTES, XFER_CALL_BYTES));
    CU_ASSERT(call.seq == 9 && call.collective == XFER_ALLREDUCE && call.count == 2);
}

TEST(golden_partial)
{
    const struct atp_packet p = parse_again(partial, sizeof partial);

    CU_ASSERT_EQUAL(p.flags, ATP_RESEND | ATP_COLLISION | ATP_ECN | ATP_EDGE);
    CU_ASSERT(p.root == 4 && p.code == agg_code(AGG_U8, AGG_MIN) && p.rack == 2 && p.child == 2);
    CU_ASSERT(p.bitmap0 == 3 && p.bitmap1 == 3 && p.index == 0xbef0);
}

TEST(golden_answers)
{
    struct atp_packet p = parse_again(parameter, sizeof parameter);

    CU_ASSERT(p.kind == ATP_PARAMETER && p.flags == ATP_ECN && p.next == 0x1221);
    p = parse_again(waiting, sizeof waiting);
    CU_ASSERT(p.kind == ATP_WAITING && p.sequence == 0x0a0b0c0e);
}

TEST(golden_question)
{
    const struct atp_packet p = parse_again(question, sizeof question);
    uint8_t out[ATP_REJECT_BYTES], longer[sizeof question + 4] = {0};
    struct atp_packet parsed;

    CU_ASSERT(p.kind == ATP_ASK && p.job == 3 && p.sequence == 0x0a0b0c0e && p.bitmap0 == 1 << 5);
    CU_ASSERT_EQUAL(atp_build_reject(out, &p, 1), ATP_HEADER_BYTES + ATP_BOOT_ID_BYTES);
    memcpy(longer, question, sizeof question);
    CU_ASSERT_EQUAL(atp_parse(&parsed, longer, sizeof longer), ATP_BAD_LENGTH);
    longer[31] = 0; /* nobody's */
    CU_ASSERT_EQUAL(atp_parse(&parsed, longer, sizeof question), ATP_BAD_FIELD);
}

static enum atp_parse_error parse_changed(const uint8_t *packet, size_t bytes, size_t at, uint8_t value)
{
    uint8_t copy[128];
    struct atp_packet p;

    memcpy(copy, packet, bytes);
    copy[at] = value;
    return atp_parse(&p, copy, bytes);
}

TEST(fields_in_range)
{
    enum { FAN_IN0 = 18, FAN_IN1 = 19, RACK = 20, CHILD = 21, SEAL = 23, BITMAP0 = 31, BITMAP1 = 39 };
    const size_t n = sizeof opening;

    CU_ASSERT_EQUAL(parse_changed(opening, n, 0, 0), ATP_BAD_KIND);
    CU_ASSERT_EQUAL(parse_changed(opening, n, 0, ATP_KINDS), ATP_BAD_KIND);
    CU_ASSERT_EQUAL(parse_changed(opening, n, FAN_IN0, 0), ATP_BAD_FIELD);
    CU_ASSERT_EQUAL(parse_changed(opening, n, FAN_IN0, 5), ATP_BAD_FIELD); /* rank 5 is not of five */
    CU_ASSERT_EQUAL(parse_changed(opening, n, FAN_IN0, 6), ATP_OK);
    CU_ASSERT_EQUAL(parse_changed(opening, n, FAN_IN0, 65), ATP_BAD_FIELD);
    CU_ASSERT_EQUAL(parse_changed(opening, n, FAN_IN1, 65), ATP_BAD_FIELD);
    CU_ASSERT_EQUAL(parse_changed(opening, n, RACK, 64), ATP_BAD_FIELD);
    CU_ASSERT_EQUAL(parse_changed(opening, n, CHILD, 64), ATP_BAD_FIELD);
    CU_ASSERT_EQUAL(parse_changed(opening, n, SEAL, XFER_CHECKSUM_KEYED + 1), ATP_BAD_FIELD);
    CU_ASSERT_EQUAL(parse_changed(opening, n, BITMAP0, 0), ATP_BAD_FIELD); /* nobody's */
    CU_ASSERT_EQUAL(parse_changed(partial, sizeof partial, BITMAP1, 8),
                    ATP_BAD_FIELD); /* of three children */
}

TEST(lengths)
{
    struct atp_packet p;

    for (size_t n = 0; n < ATP_HEADER_BYTES; n++)
        CU_ASSERT_EQUAL(atp_parse(&p, opening, n), ATP_TOO_SHORT);
    for (size_t n = ATP_HEADER_BYTES; n < sizeof opening; n++) /* a whole call and whole elements */
        CU_ASSERT_EQUAL(atp_parse(&p, opening, n),
                        n >= ATP_HEADER_BYTES + XFER_CALL_BYTES && n % 4 == 0 ? ATP_OK : ATP_BAD_LENGTH);
    CU_ASSERT_EQUAL(atp_parse(&p, parameter, ATP_HEADER_BYTES), ATP_OK); /* to who wants none */
    CU_ASSERT_EQUAL(atp_parse(&p, waiting, ATP_HEADER_BYTES), ATP_BAD_LENGTH);
    CU_ASSERT_EQUAL(parse_changed(opening, sizeof opening, 16, 0), ATP_BAD_LENGTH); /* no such elements */
    CU_ASSERT_EQUAL(parse_changed(waiting, sizeof waiting, 0, ATP_MISMATCH), ATP_BAD_LENGTH);
    CU_ASSERT_EQUAL(parse_changed(waiting, sizeof waiting, 0, ATP_REJECT), ATP_BAD_LENGTH);
}

TEST(marks)
{
    uint8_t copy[sizeof opening];
    struct atp_packet p;

    memcpy(copy, opening, sizeof copy);
    atp_mark(copy, sizeof copy);
    CU_ASSERT_EQUAL(atp_parse(&p, copy, sizeof copy), ATP_OK);
    CU_ASSERT_EQUAL(p.flags, ATP_OPENING | ATP_ECN);
    memcpy(copy, waiting, sizeof waiting);
    atp_mark(copy, sizeof waiting);
    CU_ASSERT_EQUAL(memcmp(copy, waiting, sizeof waiting), 0);
    atp_mark(copy, ATP_HEADER_BYTES - 1); /* no packet at all */
    CU_ASSERT_EQUAL(memcmp(copy, waiting, sizeof waiting), 0);
}

TEST(reject)
{
    uint8_t out[ATP_REJECT_BYTES];
    struct atp_packet p;

    CU_ASSERT_EQUAL(atp_parse(&p, opening, sizeof opening), ATP_OK);
    p.seal = XFER_CHECKSUM_CRC32C;
    CU_ASSERT_EQUAL(atp_build_reject(out, &p, 1), sizeof out);
    CU_ASSERT_EQUAL(atp_parse(&p, out, sizeof out), ATP_OK);
    CU_ASSERT(p.seal == XFER_CHECKSUM_CRC32C && atp_seal_holds(&p, out, sizeof out, NULL, NULL));
    CU_ASSERT_EQUAL(atp_parse(&p, opening, sizeof opening), ATP_OK);
    p.seal = XFER_CHECKSUM_KEYED; /* nobody here can make one */
    CU_ASSERT_EQUAL(atp_build_reject(out, &p, UINT64_C(0x0102030405060708)), ATP_HEADER_BYTES + 8);
    CU_ASSERT_EQUAL(out[ATP_HEADER_BYTES + 7], 8);
    CU_ASSERT_EQUAL(atp_parse(&p, out, ATP_HEADER_BYTES + 8), ATP_OK);
    CU_ASSERT_EQUAL(p.seal, XFER_CHECKSUM_NONE);
    CU_ASSERT(p.kind == ATP_REJECT && p.job == 3 && p.life == 0x12345678 && p.sequence == 0x0a0b0c0d);
    CU_ASSERT_EQUAL(atp_build_reject(out, &p, 0), 0); /* servers do not answer one another */
}

/* The golden opening packet with a CRC32C; as computed by another program. */
static size_t sealed_opening(uint8_t packet[sizeof opening + XFER_TRAILER_MAX], enum xfer_checksum seal,
                             const struct xfer_auth *auth, const struct xfer_route *route)
{
    memcpy(packet, opening, sizeof opening);
    packet[23] = (uint8_t)seal;
    return atp_seal_append(packet, sizeof opening, auth, route);
}

TEST(golden_crc32c)
{
    static const uint8_t crc[] = {0xd9, 0x5c, 0x0c, 0x32};
    uint8_t packet[sizeof opening + XFER_TRAILER_MAX];
    struct atp_packet p;

    CU_ASSERT_EQUAL_FATAL(sealed_opening(packet, XFER_CHECKSUM_CRC32C, NULL, NULL), sizeof opening + 4);
    CU_ASSERT_EQUAL(memcmp(packet + sizeof opening, crc, sizeof crc), 0);
    CU_ASSERT_EQUAL(atp_parse(&p, packet, sizeof opening + 4), ATP_OK);
    CU_ASSERT_EQUAL(atp_body_bytes(&p, sizeof opening + 4), sizeof opening - ATP_HEADER_BYTES);
}

/* Every bit of a packet counts, but for the flags that switches may set. */
static void check_every_bit(uint8_t *packet, size_t bytes, const struct xfer_auth *auth,
                            const struct xfer_route *route)
{
    const uint8_t may_change = ATP_RESEND | ATP_COLLISION | ATP_ECN | ATP_EDGE;
    struct atp_packet p;

    CU_ASSERT_EQUAL(atp_parse(&p, packet, bytes), ATP_OK);
    CU_ASSERT(atp_seal_holds(&p, packet, bytes, auth, route));
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        const uint8_t seal = p.seal, mask = (uint8_t)(1u << bit % 8);
        struct atp_packet changed;
        packet[bit / 8] ^= mask;
        if (atp_parse(&changed, packet, bytes) == ATP_OK) {
            const bool holds = changed.seal == seal && atp_seal_holds(&changed, packet, bytes, auth, route);
            CU_ASSERT_EQUAL(holds, bit / 8 == 1 && (mask & may_change) != 0);
        }
        packet[bit / 8] ^= mask;
    }
}

TEST(every_bit_counts)
{
    const struct keys_secret shared = {.library = &toy_library, .secret = {1, 2, 3}};
    const struct xfer_route route = {.sender = 5, .receiver = XFER_SWITCH, .wraps = 1};
    struct xfer_route other = route;
    uint8_t packet[sizeof opening + XFER_TRAILER_MAX];
    struct xfer_auth *auth = xfer_auth_init(memory_of(xfer_auth_footprint(64)), &shared, 64);
    struct atp_packet p;
    size_t bytes = sealed_opening(packet, XFER_CHECKSUM_CRC32C, NULL, NULL);

    check_every_bit(packet, bytes, NULL, NULL);
    bytes = sealed_opening(packet, XFER_CHECKSUM_KEYED, auth, &route);
    CU_ASSERT_EQUAL(bytes, sizeof opening + 8);
    check_every_bit(packet, bytes, auth, &route);
    CU_ASSERT_EQUAL(atp_parse(&p, packet, bytes), ATP_OK);
    other.sender = 4;
    CU_ASSERT(!atp_seal_holds(&p, packet, bytes, auth, &other));
    other = route, other.wraps = 0;
    CU_ASSERT(!atp_seal_holds(&p, packet, bytes, auth, &other));
    free(auth);
}
