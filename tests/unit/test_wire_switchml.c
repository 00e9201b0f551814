/* SwitchML packets: the published layout byte by byte, every malformed case under its own error, and no read
 * beyond the length given. Payloads are handed over in memory of exactly their size, so that the address
 * sanitizer sees that. */
#include "wire/switchml.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "unit.h"

enum { CHECKSUM_BIT = 0x08, KEYED = 5 /* size code */ };

/* Parses a copy of the payload that ends where its memory ends. */
static enum sml_parse_error parse(const uint8_t *payload, size_t bytes, struct sml_packet *p)
{
    static uint8_t *copy; /* stays until the next call: p points into it */

    free(copy);
    copy = malloc(bytes + !bytes);
    memcpy(copy, payload, bytes);
    return sml_parse(p, copy, bytes);
}

/* What parsing says of a payload with this first byte, the rest harmless, and a body of this length. */
static enum sml_parse_error verdict(uint8_t first, size_t body_bytes)
{
    static uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + 64];
    struct sml_packet p;

    payload[0] = first;
    return parse(payload, SML_HEADER_BYTES + body_bytes, &p);
}

TEST(the_published_header_is_read_byte_by_byte)
{
    uint8_t payload[SML_HEADER_BYTES + 128] = {
        0x10,                   /* kind 1, 32 elements */
        0x2a,                   /* job 42 */
        0x04, 0x03, 0x02, 0x01, /* tsi, little endian */
        0x81, 0x23,             /* version 1, slot 0x123, big endian */
        0xfe, 0x7f,             /* exponents */
    };
    struct sml_packet p;

    payload[SML_HEADER_BYTES] = 0x55;
    CU_ASSERT_EQUAL_FATAL(parse(payload, sizeof payload, &p), SML_OK);
    CU_ASSERT_EQUAL(p.kind, SML_DATA);
    CU_ASSERT_EQUAL(p.size_code, SML_SIZE_32);
    CU_ASSERT_EQUAL(p.job, 42);
    CU_ASSERT_EQUAL(p.tag, 0x01020304);
    CU_ASSERT_EQUAL(p.ver, 1);
    CU_ASSERT_EQUAL(p.slot, 0x123);
    CU_ASSERT_EQUAL(p.e0, 0xfe);
    CU_ASSERT_EQUAL(p.e1, 0x7f);
    CU_ASSERT_EQUAL(p.body_bytes, 128);
    CU_ASSERT_EQUAL(p.body[0], 0x55);
}

TEST(a_header_that_is_built_parses_to_what_it_was_built_from)
{
    uint64_t rng = rng_seed(3);

    for (unsigned turn = 0; turn < unit_cases(10000); turn++) {
        struct sml_packet in = {
            .kind = SML_DATA,
            .size_code = SML_SIZE_AGREED,
            .job = (uint8_t)rng_next(&rng),
            .ver = rng_below(&rng, 2),
            .slot = rng_below(&rng, SML_MAX_SLOTS),
            .tag = (uint32_t)rng_next(&rng),
            .e0 = (uint8_t)rng_next(&rng),
            .e1 = (uint8_t)rng_next(&rng),
        };
        struct sml_packet out;
        uint8_t bytes[SML_HEADER_BYTES];

        sml_build_header(bytes, &in);
        CU_ASSERT_EQUAL_FATAL(parse(bytes, sizeof bytes, &out), SML_OK);
        CU_ASSERT(out.kind == in.kind && out.size_code == in.size_code && out.job == in.job &&
                  out.ver == in.ver && out.slot == in.slot && out.tag == in.tag && out.e0 == in.e0 &&
                  out.e1 == in.e1);
        CU_ASSERT_EQUAL(out.body_bytes, 0);
    }
}

TEST(too_short)
{
    static const uint8_t payload[SML_HEADER_BYTES] = {0x14};
    struct sml_packet p;

    for (size_t bytes = 0; bytes < SML_HEADER_BYTES; bytes++)
        CU_ASSERT_EQUAL(parse(payload, bytes, &p), SML_TOO_SHORT);
    CU_ASSERT_EQUAL(parse(payload, SML_HEADER_BYTES, &p), SML_OK);
}

TEST(bad_kind)
{
    CU_ASSERT_EQUAL(verdict(0x04, 0), SML_BAD_KIND);
    for (unsigned kind = SML_RESTORE + 1; kind < 16; kind++)
        if (kind != SML_ASK && kind != SML_LATE)
            CU_ASSERT_EQUAL(verdict((uint8_t)(kind << 4 | SML_SIZE_AGREED), 0), SML_BAD_KIND);
}

TEST(a_switch_asks_with_a_bitmap)
{
    CU_ASSERT_EQUAL(verdict(SML_ASK << 4 | SML_SIZE_AGREED, 0), SML_BAD_LENGTH);
    CU_ASSERT_EQUAL(verdict(SML_ASK << 4 | SML_SIZE_AGREED, 1), SML_OK);
    CU_ASSERT_EQUAL(verdict(SML_ASK << 4 | SML_SIZE_AGREED, AGG_MAX_RANKS / 8), SML_OK);
    CU_ASSERT_EQUAL(verdict(SML_ASK << 4 | SML_SIZE_AGREED, AGG_MAX_RANKS / 8 + 1), SML_BAD_LENGTH);
    CU_ASSERT_EQUAL(verdict(SML_ASK << 4 | SML_SIZE_32, 1), SML_BAD_SIZE_CODE);
}

TEST(bad_size_code)
{
    for (unsigned low = KEYED + 1; low < 8; low++)
        CU_ASSERT_EQUAL(verdict((uint8_t)(SML_DATA << 4 | low), 128), SML_BAD_SIZE_CODE);
    for (unsigned low = SML_SIZE_AGREED + 1; low < 8; low++)
        CU_ASSERT_EQUAL(verdict((uint8_t)(SML_DATA << 4 | CHECKSUM_BIT | low), 132), SML_BAD_SIZE_CODE);
    for (unsigned code = SML_SIZE_32; code < SML_SIZE_AGREED; code++) {
        CU_ASSERT_EQUAL(verdict((uint8_t)(SML_OPEN << 4 | code), XFER_CALL_BYTES), SML_BAD_SIZE_CODE);
        CU_ASSERT_EQUAL(verdict((uint8_t)(SML_RESTORE << 4 | code), 128), SML_BAD_SIZE_CODE);
        CU_ASSERT_EQUAL(verdict((uint8_t)(SML_PROBE << 4 | code), 0), SML_OK);
    }
}

TEST(bad_slot)
{
    uint8_t payload[SML_HEADER_BYTES] = {0x14};
    struct sml_packet p;

    payload[6] = 0x40;
    CU_ASSERT_EQUAL(parse(payload, sizeof payload, &p), SML_BAD_SLOT);
    payload[6] = 0xbf;
    payload[7] = 0xff;
    CU_ASSERT_EQUAL(parse(payload, sizeof payload, &p), SML_OK);
    CU_ASSERT_EQUAL(p.slot, SML_MAX_SLOTS - 1);
    CU_ASSERT_EQUAL(p.ver, 1);
}

/* Which lengths each kind and size code allows, all of them tried. */
TEST(bad_length)
{
    for (size_t body = 0; body <= SML_MAX_CHUNK_BYTES + 64; body++) {
        bool fits = body <= SML_MAX_CHUNK_BYTES, none = body == 0;
        const struct {
            uint8_t kind, size_code;
            bool good;
        } cases[] = {
            {SML_DATA, SML_SIZE_32, none || body == 128},
            {SML_DATA, SML_SIZE_64, none || body == 256},
            {SML_DATA, SML_SIZE_128, none || body == 512},
            {SML_DATA, SML_SIZE_256, none || body == 1024},
            {SML_DATA, SML_SIZE_AGREED, fits},
            {SML_OPEN, SML_SIZE_AGREED, none || (fits && body >= XFER_CALL_BYTES)},
            {SML_RESTORE, SML_SIZE_AGREED, fits},
            {SML_PROBE, SML_SIZE_AGREED, none},
            {SML_NACK, SML_SIZE_AGREED, none},
            {SML_WAIT, SML_SIZE_AGREED, body >= 1 && body <= AGG_MAX_RANKS / 8},
            {SML_MISMATCH, SML_SIZE_AGREED, body == XFER_MISMATCH_BYTES},
            {SML_REJECT, SML_SIZE_AGREED, body == 8},
            {SML_LATE, SML_SIZE_AGREED, body == SML_LATE_BYTES},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            enum sml_parse_error said = verdict((uint8_t)(cases[i].kind << 4 | cases[i].size_code), body);
            if (said != (cases[i].good ? SML_OK : SML_BAD_LENGTH)) {
                printf("kind %u, code %u, %zu bytes: %d\n", cases[i].kind, cases[i].size_code, body, said);
                CU_FAIL("length judged wrongly");
            }
        }
    }
}

TEST(random_bytes_are_parsed_or_refused_within_their_length)
{
    uint64_t rng = rng_seed(5);
    uint8_t payload[300];
    unsigned parsed = 0;

    for (unsigned turn = 0; turn < unit_cases(100000); turn++) {
        size_t bytes = rng_below(&rng, sizeof payload);
        struct sml_packet p;
        for (size_t i = 0; i < bytes; i++)
            payload[i] = (uint8_t)rng_next(&rng);
        if (turn % 2 == 0)
            payload[0] = (uint8_t)((1 + rng_below(&rng, 8)) << 4 | SML_SIZE_AGREED);
        if (parse(payload, bytes, &p) != SML_OK)
            continue;
        parsed++;
        CU_ASSERT_EQUAL(p.body_bytes + xfer_trailer_bytes(p.checksum), bytes - SML_HEADER_BYTES);
        CU_ASSERT(p.slot < SML_MAX_SLOTS && p.ver <= 1);
        for (size_t i = 0; i < p.body_bytes; i++)
            CU_ASSERT_EQUAL(p.body[i], payload[SML_HEADER_BYTES + i]);
    }
    CU_ASSERT(parsed > unit_cases(1000));
}

static const struct xfer_call call = {0x01020304, XFER_REDUCE, 3, 1, 0x0a0b0c0d, UINT64_C(0x334455667788),
                                      0x1122,     0,           0};

/* Builds a packet with a checksum from this sender, its header and body apart, and returns its length. */
static size_t build_checked(uint8_t *out, enum sml_kind kind, size_t body_bytes, uint16_t sender)
{
    const struct sml_packet p = {.kind = kind,
                                 .size_code = SML_SIZE_AGREED,
                                 .checksum = XFER_CHECKSUM_CRC32C,
                                 .job = 42,
                                 .slot = 5,
                                 .tag = 0x01020304};
    uint8_t *body = out + SML_HEADER_BYTES;

    sml_build_header(out, &p);
    for (size_t i = 0; i < body_bytes; i++)
        body[i] = (uint8_t)(7 * i);
    sml_build_trailer(body + body_bytes, sender, out, SML_HEADER_BYTES, body, body_bytes);
    return SML_HEADER_BYTES + body_bytes + XFER_TRAILER_BYTES;
}

TEST(a_trailer_ends_the_packet_and_is_not_of_its_body)
{
    uint8_t payload[SML_HEADER_BYTES + 64 + XFER_TRAILER_BYTES];
    struct sml_packet p;

    CU_ASSERT_EQUAL(build_checked(payload, SML_PROBE, 0, 0), SML_HEADER_BYTES + XFER_TRAILER_BYTES);
    CU_ASSERT_EQUAL(payload[0], SML_PROBE << 4 | CHECKSUM_BIT | SML_SIZE_AGREED);
    CU_ASSERT_EQUAL(parse(payload, SML_HEADER_BYTES + XFER_TRAILER_BYTES, &p), SML_OK);
    CU_ASSERT(p.checksum == XFER_CHECKSUM_CRC32C && p.body_bytes == 0);
    for (size_t bytes = SML_HEADER_BYTES; bytes < SML_HEADER_BYTES + XFER_TRAILER_BYTES; bytes++)
        CU_ASSERT_EQUAL(parse(payload, bytes, &p), SML_TOO_SHORT);
    CU_ASSERT_EQUAL(parse(payload, SML_HEADER_BYTES + XFER_TRAILER_BYTES + 1, &p), SML_BAD_LENGTH);

    CU_ASSERT_EQUAL(parse(payload, build_checked(payload, SML_DATA, 64, 0), &p), SML_OK);
    CU_ASSERT(p.kind == SML_DATA && p.job == 42 && p.slot == 5 && p.tag == 0x01020304 && p.body_bytes == 64);
}

/* CRC32C of ten bytes of header, "123", and the sender's two, big endian: by another implementation. */
TEST(the_trailer_byte_by_byte)
{
    static const uint8_t header[SML_HEADER_BYTES] = {0x1c, 42, 4, 3, 2, 1, 0x80, 5, 0x13, 1};
    uint8_t trailer[XFER_TRAILER_BYTES];

    sml_build_trailer(trailer, 0x0102, header, sizeof header, "123", 3);
    CU_ASSERT_EQUAL(memcmp(trailer, "\xe8\xe9\x2e\x1a", XFER_TRAILER_BYTES), 0);
}

TEST(a_checksum_holds_for_its_sender_and_undamaged_only)
{
    uint8_t payload[SML_HEADER_BYTES + 256 + XFER_TRAILER_BYTES];
    size_t bytes = build_checked(payload, SML_DATA, 256, 3);
    struct sml_packet p;

    CU_ASSERT_EQUAL_FATAL(parse(payload, bytes, &p), SML_OK);
    CU_ASSERT(sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, 3));
    CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_NONE, 3)); /* one that was not agreed on */
    CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, 2));
    CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, 0x0300));
    CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, XFER_SWITCH));
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (parse(payload, bytes, &p) == SML_OK)
            CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, 3));
        payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    payload[0] &= (uint8_t)~CHECKSUM_BIT;
    CU_ASSERT_EQUAL_FATAL(parse(payload, bytes - XFER_TRAILER_BYTES, &p), SML_OK);
    CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, 3)); /* none, though agreed on */
    CU_ASSERT(sml_checksum_holds(&p, XFER_CHECKSUM_NONE, 3));
}

/* Size code 5 stands for the agreed size and an authenticator. */
TEST(keyed_packets_say_so)
{
    static const uint8_t kinds[] = {SML_DATA, SML_OPEN, SML_PROBE, SML_NACK, SML_WAIT, SML_RESTORE};
    uint8_t payload[SML_HEADER_BYTES + 64 + XFER_AUTH_BYTES] = {0};
    struct sml_packet p = {.size_code = SML_SIZE_AGREED, .checksum = XFER_CHECKSUM_KEYED}, parsed;

    for (unsigned i = 0; i < sizeof kinds; i++) {
        const size_t body = kinds[i] == SML_PROBE || kinds[i] == SML_NACK ? 0 : 64;

        p.kind = kinds[i];
        sml_build_header(payload, &p);
        CU_ASSERT_EQUAL(payload[0], kinds[i] << 4 | KEYED);
        CU_ASSERT_EQUAL(parse(payload, SML_HEADER_BYTES + body + XFER_AUTH_BYTES, &parsed), SML_OK);
        CU_ASSERT(parsed.size_code == SML_SIZE_AGREED && parsed.checksum == XFER_CHECKSUM_KEYED);
        CU_ASSERT_EQUAL(parsed.body_bytes, body);
        CU_ASSERT_EQUAL(parse(payload, SML_HEADER_BYTES + XFER_AUTH_BYTES - 1, &parsed), SML_TOO_SHORT);
    }
    CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_NONE, 0)); /* in a job that is not keyed */
    CU_ASSERT(!sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, 0));
}

/* A switch that does not know the job has no key of it. */
TEST(a_reject_is_never_keyed)
{
    const struct sml_packet p = {
        .kind = SML_DATA, .size_code = SML_SIZE_AGREED, .checksum = XFER_CHECKSUM_KEYED, .job = 9, .tag = 77};
    struct sml_packet r;
    uint8_t out[SML_REJECT_BYTES];

    CU_ASSERT_EQUAL_FATAL(parse(out, sml_build_reject(out, &p, 1), &r), SML_OK);
    CU_ASSERT(r.kind == SML_REJECT && r.checksum == XFER_CHECKSUM_NONE && r.job == 9 && r.tag == 77);
}

TEST(a_reject_echoes_the_packet_and_its_checksum)
{
    static const uint8_t boot_id[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct sml_packet p = {.kind = SML_PROBE, .size_code = SML_SIZE_256, .job = 9, .tag = 77, .slot = 5}, r;
    uint8_t out[SML_REJECT_BYTES];

    for (uint8_t checksum = XFER_CHECKSUM_NONE; checksum <= XFER_CHECKSUM_CRC32C; checksum++) {
        p.checksum = checksum;
        size_t bytes = sml_build_reject(out, &p, UINT64_C(0x0102030405060708));
        CU_ASSERT_EQUAL_FATAL(parse(out, bytes, &r), SML_OK);
        CU_ASSERT(r.kind == SML_REJECT && r.job == 9 && r.tag == 77 && r.slot == 5);
        CU_ASSERT(r.body_bytes == sizeof boot_id && memcmp(r.body, boot_id, sizeof boot_id) == 0);
        CU_ASSERT(sml_checksum_holds(&r, checksum, XFER_SWITCH));
    }
}

/* Else two switches would answer one another for ever. */
TEST(what_a_switch_says_is_not_rejected)
{
    uint8_t out[SML_REJECT_BYTES];

    for (uint8_t kind = SML_DATA; kind <= SML_RESTORE; kind++) {
        const struct sml_packet p = {.kind = kind, .size_code = SML_SIZE_AGREED};
        const bool of_a_worker =
            kind == SML_DATA || kind == SML_OPEN || kind == SML_PROBE || kind == SML_RESTORE;
        CU_ASSERT_EQUAL(sml_build_reject(out, &p, 1) > 0, of_a_worker);
    }
}

TEST(a_call_is_big_endian_and_comes_back)
{
    static const uint8_t wire[XFER_CALL_BYTES] = {1,    2,    3,    4,    2,    3,    1,    0,    0x0a, 0x0b,
                                                  0x0c, 0x0d, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
    uint8_t built[XFER_CALL_BYTES];
    struct xfer_call parsed;

    xfer_build_call(built, &call);
    CU_ASSERT_EQUAL(memcmp(built, wire, sizeof wire), 0);
    CU_ASSERT_FATAL(xfer_parse_call(&parsed, wire, sizeof wire));
    CU_ASSERT(xfer_call_equal(&parsed, &call));
    for (size_t bytes = 0; bytes < XFER_CALL_BYTES; bytes++)
        CU_ASSERT(!xfer_parse_call(&parsed, wire, bytes));
}

TEST(calls_that_differ_in_any_field_differ)
{
    struct xfer_call c[7] = {call, call, call, call, call, call, call};

    c[0].seq++;
    c[1].collective = XFER_ALLREDUCE;
    c[2].type++;
    c[3].op++;
    c[4].root++;
    c[5].count += UINT64_C(1) << 40;
    c[6].label++;
    for (unsigned i = 0; i < 7; i++)
        CU_ASSERT(!xfer_call_equal(&c[i], &call));
    CU_ASSERT(xfer_call_equal(&call, &call));
}

TEST(a_mismatch_comes_back_and_is_refused_at_any_other_length)
{
    const struct xfer_mismatch m = {
        .your_rank = 1,
        .peer_rank = 255,
        .your_tag = 0x80000001,
        .peer_tag = 7,
        .your_e0 = 0x13,
        .peer_e0 = 0x14,
        .opening = true,
        .your_bytes = 1460,
        .peer_bytes = 8960,
        .yours = call,
    };
    uint8_t wire[XFER_MISMATCH_BYTES + 1] = {0};
    struct xfer_mismatch parsed;

    xfer_build_mismatch(wire, &m);
    CU_ASSERT_FATAL(xfer_parse_mismatch(&parsed, wire, XFER_MISMATCH_BYTES));
    CU_ASSERT(parsed.your_rank == 1 && parsed.peer_rank == 255);
    CU_ASSERT(parsed.your_tag == 0x80000001 && parsed.peer_tag == 7);
    CU_ASSERT(parsed.your_e0 == 0x13 && parsed.peer_e0 == 0x14 && parsed.opening);
    CU_ASSERT(parsed.your_bytes == 1460 && parsed.peer_bytes == 8960);
    CU_ASSERT(xfer_call_equal(&parsed.yours, &call));
    CU_ASSERT_EQUAL(parsed.peers.collective, 0);
    for (size_t bytes = 0; bytes < XFER_MISMATCH_BYTES; bytes++)
        CU_ASSERT(!xfer_parse_mismatch(&parsed, wire, bytes));
    CU_ASSERT(!xfer_parse_mismatch(&parsed, wire, XFER_MISMATCH_BYTES + 1));
}

TEST(slot_and_version_follow_from_the_tag)
{
    for (uint32_t slots = 1; slots <= SML_MAX_SLOTS; slots *= 2) {
        for (uint32_t i = 0; i < 4 * slots + 4; i++) {
            uint32_t tag = i - 2 * slots; /* across the wrap */
            CU_ASSERT_EQUAL(sml_tag_slot(tag, slots), tag % slots);
            CU_ASSERT_EQUAL(sml_tag_ver(tag, slots), tag / slots % 2);
            CU_ASSERT_EQUAL(sml_tag_ver(tag + slots, slots), !sml_tag_ver(tag, slots));
        }
    }
}

/* What is read is never better than what was said, and no more than a step worse. */
TEST(what_a_rank_lacks_is_told_in_steps)
{
    for (uint32_t slots = 1; slots <= SML_MAX_SLOTS; slots *= 2)
        for (uint32_t lacked = 0; lacked < slots; lacked++) {
            uint8_t e1 = xfer_held_build(slots, lacked);
            uint32_t told = xfer_held_parse(slots, e1 | SML_FLAG_WANT);
            CU_ASSERT_EQUAL_FATAL(e1 & (SML_FLAG_WANT | SML_FLAG_OPENING), 0);
            CU_ASSERT_FATAL(told >= lacked && told <= lacked + slots / XFER_HELD_STEPS && told < slots);
            CU_ASSERT_FATAL(xfer_held_worst(e1 | SML_FLAG_WANT, xfer_held_build(slots, 0)) == e1);
        }
    CU_ASSERT_EQUAL(xfer_held_parse(1024, 0), 1023); /* who says nothing may lack all that it may */
    CU_ASSERT_EQUAL(xfer_held_parse(2, 0xff), 0);    /* nonsense */
}
