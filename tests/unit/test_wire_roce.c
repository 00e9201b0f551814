/* RoCE v2 packets of unreliable connections: layout and ICRC against packets that another implementation has
 * made, and the CRC against its definition. */
#include "wire/roce.h"

#include <string.h>

#include "crc_by_definition.h"
#include "random.h"
#include "unit.h"
#include "wire/crc32.h"

enum { BODY = 128, BYTES_MAX = 4200 };

#define POLYNOMIAL UINT32_C(0xedb88320)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Made by scapy 2.5.0 (scapy.contrib.roce), which sums with zlib's crc32: IPv4 from 10.0.0.2 to 10.0.0.254,
 * type of service 2, identification 0x1234, TTL 63, UDP from port 49170; then the headers, and the ICRC
 * behind the body, byte i of which is 7 * i + 3. */
struct vector {
    uint8_t headers[ROCE_IP_UDP_BYTES + ROCE_HEADERS_MAX], icrc[ROCE_ICRC_BYTES];
    struct roce_packet says;
};

static const struct vector vectors[] = {
    {{0x45, 0x02, 0x00, 0xc0, 0x12, 0x34, 0x40, 0x00, 0x3f, 0x11, 0x13, 0xf8, 0x0a, 0x00, 0x00,
      0x02, 0x0a, 0x00, 0x00, 0xfe, 0xc0, 0x12, 0x12, 0xb7, 0x00, 0xac, 0x00, 0x00, 0x2b, 0x40,
      0xff, 0xff, 0x00, 0x82, 0x00, 0x05, 0x00, 0xff, 0xff, 0xfe, 0x00, 0x00, 0x10, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00, 0x80, 0x34, 0x12, 0x07, 0xf9},
     {0x62, 0x87, 0x44, 0xcf},
     {.opcode = ROCE_WRITE_ONLY_IMMEDIATE,
      .queue_pair = 0x820005,
      .number = 0xfffffe,
      .address = UINT64_C(1) << 44,
      .key = 10,
      .length = 128,
      .immediate = {0x34, 0x12, 7, 0xf9}}},
    {{0x45, 0x02, 0x00, 0xbc, 0x12, 0x34, 0x40, 0x00, 0x3f, 0x11, 0x13, 0xfc, 0x0a, 0x00,
      0x00, 0x02, 0x0a, 0x00, 0x00, 0xfe, 0xc0, 0x12, 0x12, 0xb7, 0x00, 0xa8, 0x00, 0x00,
      0x26, 0x40, 0xff, 0xff, 0x00, 0x82, 0x00, 0x05, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00,
      0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x01, 0x00},
     {0x44, 0xa1, 0x0c, 0x8b},
     {.opcode = ROCE_WRITE_FIRST,
      .queue_pair = 0x820005,
      .number = 0x10,
      .address = UINT64_C(1) << 44,
      .key = 10,
      .length = 256}},
    {{0x45, 0x02, 0x00, 0xac, 0x12, 0x34, 0x40, 0x00, 0x3f, 0x11, 0x14, 0x0c, 0x0a, 0x00,
      0x00, 0x02, 0x0a, 0x00, 0x00, 0xfe, 0xc0, 0x12, 0x12, 0xb7, 0x00, 0x98, 0x00, 0x00,
      0x27, 0x40, 0xff, 0xff, 0x00, 0x82, 0x00, 0x05, 0x00, 0x00, 0x00, 0x11},
     {0x87, 0x35, 0xc7, 0x19},
     {.opcode = ROCE_WRITE_MIDDLE, .queue_pair = 0x820005, .number = 0x11}},
    {{0x45, 0x02, 0x00, 0xb0, 0x12, 0x34, 0x40, 0x00, 0x3f, 0x11, 0x14, 0x08, 0x0a, 0x00, 0x00,
      0x02, 0x0a, 0x00, 0x00, 0xfe, 0xc0, 0x12, 0x12, 0xb7, 0x00, 0x9c, 0x00, 0x00, 0x29, 0x40,
      0xff, 0xff, 0x00, 0x82, 0x00, 0x05, 0x00, 0x00, 0x00, 0x12, 0x34, 0x12, 0x07, 0xf9},
     {0x6b, 0x8a, 0xf4, 0xc9},
     {.opcode = ROCE_WRITE_LAST_IMMEDIATE,
      .queue_pair = 0x820005,
      .number = 0x12,
      .immediate = {0x34, 0x12, 7, 0xf9}}},
};

static void fill_body(uint8_t body[BODY])
{
    for (unsigned i = 0; i < BODY; i++)
        body[i] = (uint8_t)(7 * i + 3);
}

/* A whole packet; returns the length of its payload, which begins behind ROCE_IP_UDP_BYTES. */
static size_t whole(const struct vector *v, uint8_t packet[256])
{
    const size_t headers = roce_header_bytes(v->says.opcode);

    memcpy(packet, v->headers, ROCE_IP_UDP_BYTES + headers);
    fill_body(packet + ROCE_IP_UDP_BYTES + headers);
    memcpy(packet + ROCE_IP_UDP_BYTES + headers + BODY, v->icrc, ROCE_ICRC_BYTES);
    return headers + BODY + ROCE_ICRC_BYTES;
}

TEST(golden_packets_are_read)
{
    for (unsigned i = 0; i < COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        uint8_t packet[256], *payload = packet + ROCE_IP_UDP_BYTES;
        const size_t bytes = whole(v, packet);
        struct roce_packet p;

        CU_ASSERT_EQUAL_FATAL(roce_parse(&p, payload, bytes), ROCE_OK);
        CU_ASSERT_EQUAL(p.opcode, v->says.opcode);
        CU_ASSERT_EQUAL(p.queue_pair, v->says.queue_pair);
        CU_ASSERT_EQUAL(p.number, v->says.number);
        CU_ASSERT_EQUAL(p.address, v->says.address);
        CU_ASSERT_EQUAL(p.key, v->says.key);
        CU_ASSERT_EQUAL(p.length, v->says.length);
        CU_ASSERT_EQUAL(memcmp(p.immediate, v->says.immediate, sizeof(p.immediate)), 0);
        CU_ASSERT_EQUAL(p.body_bytes, BODY);
        CU_ASSERT_PTR_EQUAL(p.body, payload + roce_header_bytes(p.opcode));
        CU_ASSERT(roce_icrc_holds(packet, payload, bytes));
    }
}

TEST(golden_packets_are_built)
{
    uint8_t body[BODY];

    fill_body(body);
    for (unsigned i = 0; i < COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        uint8_t headers[ROCE_IP_UDP_BYTES + ROCE_HEADERS_MAX], icrc[ROCE_ICRC_BYTES];
        size_t bytes;

        memcpy(headers, v->headers, ROCE_IP_UDP_BYTES);
        bytes = roce_build_headers(headers + ROCE_IP_UDP_BYTES, &v->says);
        CU_ASSERT_EQUAL(bytes, roce_header_bytes(v->says.opcode));
        CU_ASSERT_EQUAL(memcmp(headers, v->headers, ROCE_IP_UDP_BYTES + bytes), 0);
        roce_put_icrc(icrc, crc32_ieee(roce_crc_of_headers(headers, ROCE_IP_UDP_BYTES + bytes), body, BODY));
        CU_ASSERT_EQUAL(memcmp(icrc, v->icrc, sizeof(icrc)), 0);
        roce_put_icrc(icrc, crc32_ieee_join(roce_crc_of_headers(headers, ROCE_IP_UDP_BYTES + bytes),
                                            crc32_ieee(0, body, BODY), crc32_ieee_shift(BODY)));
        CU_ASSERT_EQUAL(memcmp(icrc, v->icrc, sizeof(icrc)), 0);
    }
}

/* What routers and switches may change is not covered: type of service, TTL, both checksums, and what was
 * reserved before the queue pair; every other bit is. */
TEST(an_icrc_covers_all_but_what_changes_on_the_way)
{
    static const bool free_to_change[] = {
        [1] = true, [8] = true, [10] = true, [11] = true, [26] = true, [27] = true, [32] = true};

    for (unsigned i = 0; i < COUNT(vectors); i++) {
        uint8_t packet[256], *payload = packet + ROCE_IP_UDP_BYTES;
        const size_t bytes = whole(&vectors[i], packet);
        unsigned wrong = 0;

        for (size_t bit = 0; bit < 8 * (ROCE_IP_UDP_BYTES + bytes); bit++) {
            const bool covered = bit / 8 >= COUNT(free_to_change) || !free_to_change[bit / 8];

            packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
            wrong += roce_icrc_holds(packet, payload, bytes) == covered;
            packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

TEST(what_is_no_such_packet_has_a_reason)
{
    uint8_t packet[256], *payload = packet + ROCE_IP_UDP_BYTES;
    const size_t bytes = whole(&vectors[0], packet);
    struct roce_packet p;

    for (size_t n = 0; n < ROCE_HEADERS_MAX + ROCE_ICRC_BYTES; n++)
        CU_ASSERT_EQUAL(roce_parse(&p, payload, n), ROCE_TOO_SHORT);
    CU_ASSERT_EQUAL(roce_parse(&p, payload, ROCE_HEADERS_MAX + ROCE_ICRC_BYTES), ROCE_OK);
    CU_ASSERT_EQUAL(p.body_bytes, 0);
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        payload[0] = (uint8_t)opcode;
        CU_ASSERT_EQUAL(roce_parse(&p, payload, bytes),
                        opcode == ROCE_SEND_ONLY || (opcode >= ROCE_SEND_FIRST && opcode <= ROCE_SEND_LAST)
                            ? ROCE_BAD_SEND
                        : opcode >= ROCE_WRITE_FIRST && opcode <= ROCE_WRITE_ONLY_IMMEDIATE ? ROCE_OK
                                                                                            : ROCE_NO_WRITE);
    }
    payload[0] = ROCE_WRITE_ONLY;
    for (unsigned bit = 0; bit < 6; bit++) { /* padding, version */
        payload[1] ^= (uint8_t)(1 << bit);
        CU_ASSERT_EQUAL(roce_parse(&p, payload, bytes), ROCE_BAD_HEADER);
        payload[1] ^= (uint8_t)(1 << bit);
    }
    payload[2] = 0x7f; /* a limited member of the default partition */
    CU_ASSERT_EQUAL(roce_parse(&p, payload, bytes), ROCE_OK);
    payload[3] = 0xfe;
    CU_ASSERT_EQUAL(roce_parse(&p, payload, bytes), ROCE_BAD_HEADER);
}

enum { CARRIED = 126 };

/* As the vectors above, but made by Python's zlib: a send of one packet to the queue pair of the rank at UDP
 * port 49153, with two bytes that fill its body up. */
static const uint8_t send_headers[ROCE_IP_UDP_BYTES + ROCE_BTH_BYTES] = {
    0x45, 0x02, 0x00, 0xac, 0x12, 0x34, 0x40, 0x00, 0x3f, 0x11, 0x14, 0x0c, 0x0a, 0x00,
    0x00, 0x02, 0x0a, 0x00, 0x00, 0xfe, 0xc0, 0x12, 0x12, 0xb7, 0x00, 0x98, 0x00, 0x00,
    0x24, 0x60, 0xff, 0xff, 0x00, 0x40, 0xc0, 0x01, 0x00, 0xff, 0xff, 0xfe};
static const uint8_t send_tail[] = {0, 0, 0x4f, 0xc8, 0x8d, 0xb5};

enum { SEND_BYTES = sizeof(send_headers) + CARRIED + sizeof(send_tail) };

static void golden_send(uint8_t packet[SEND_BYTES])
{
    uint8_t body[BODY];

    fill_body(body);
    memcpy(packet, send_headers, sizeof(send_headers));
    memcpy(packet + sizeof(send_headers), body, CARRIED);
    memcpy(packet + sizeof(send_headers) + CARRIED, send_tail, sizeof(send_tail));
}

TEST(a_golden_send_is_covered_and_uncovered)
{
    uint8_t packet[SEND_BYTES], made[SEND_BYTES], *payload = packet + ROCE_IP_UDP_BYTES;
    const size_t bytes = SEND_BYTES - ROCE_IP_UDP_BYTES;
    size_t body_bytes = 0;
    uint16_t port = 0;

    golden_send(packet);
    CU_ASSERT(roce_uncover(packet, payload, bytes, &port, &body_bytes));
    CU_ASSERT_EQUAL(port, 0xc001);
    CU_ASSERT_EQUAL(body_bytes, CARRIED);
    CU_ASSERT_EQUAL(roce_tail_bytes(CARRIED), sizeof(send_tail));
    memset(made, 0xee, sizeof(made));
    memcpy(made, packet, ROCE_IP_UDP_BYTES);
    memcpy(made + sizeof(send_headers), packet + sizeof(send_headers), CARRIED);
    roce_cover(made, made + ROCE_IP_UDP_BYTES, CARRIED, ROCE_SEND_ONLY, ROCE_CARRIES | 0xc001, 0xfffffe);
    CU_ASSERT_EQUAL(memcmp(made, packet, sizeof(made)), 0);
}

/* Whatever is changed that the ICRC covers, cut off, or another message. */
TEST(what_is_no_whole_send_to_a_rank_is_not_uncovered)
{
    uint8_t packet[SEND_BYTES], *payload = packet + ROCE_IP_UDP_BYTES;
    const size_t bytes = SEND_BYTES - ROCE_IP_UDP_BYTES;
    size_t body_bytes;
    uint16_t port;

    golden_send(packet);
    for (size_t n = 0; n < bytes; n++)
        CU_ASSERT(!roce_uncover(packet, payload, n, &port, &body_bytes));
    for (size_t at = 12; at < 10 + SEND_BYTES; at++) {
        const size_t i = (at + 2) % SEND_BYTES; /* from the address on, and around */

        if (i == 26 || i == 27 || i == 32 || i < 12)
            continue;
        packet[i] ^= 0x10;
        CU_ASSERT(!roce_uncover(packet, payload, bytes, &port, &body_bytes));
        packet[i] ^= 0x10;
    }
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        payload[0] = (uint8_t)opcode;
        roce_seal(packet, payload, bytes);
        CU_ASSERT_EQUAL(roce_uncover(packet, payload, bytes, &port, &body_bytes),
                        opcode == ROCE_SEND_ONLY || opcode == ROCE_SEND_LAST); /* others have padding */
    }
    payload[0] = ROCE_SEND_ONLY;
    payload[5] = 0x80; /* a published client's queue pair */
    roce_seal(packet, payload, bytes);
    CU_ASSERT(!roce_uncover(packet, payload, bytes, &port, &body_bytes));
    payload[5] = ROCE_CARRIES >> 16;
    roce_seal(packet, payload, ROCE_BTH_BYTES + 1 + ROCE_ICRC_BYTES); /* more to fill up than there is */
    CU_ASSERT(!roce_uncover(packet, payload, ROCE_BTH_BYTES + 1 + ROCE_ICRC_BYTES, &port, &body_bytes));
}

TEST(bodies_of_all_lengths_come_back)
{
    uint8_t packet[ROCE_IP_UDP_BYTES + ROCE_BTH_BYTES + 64 + ROCE_TAIL_MAX] = {0x45};
    uint8_t *payload = packet + ROCE_IP_UDP_BYTES;
    size_t body_bytes;
    uint16_t port;

    for (size_t n = 0; n <= 64; n++) {
        roce_cover(packet, payload, n, ROCE_SEND_ONLY, ROCE_CARRIES | 7, (uint32_t)n);
        CU_ASSERT_EQUAL((n + roce_tail_bytes(n)) % 4, 0);
        CU_ASSERT(roce_uncover(packet, payload, ROCE_BTH_BYTES + n + roce_tail_bytes(n), &port, &body_bytes));
        CU_ASSERT(port == 7 && body_bytes == n);
    }
}

/* As a NIC cuts a message. */
TEST(each_packet_of_a_message_is_uncovered_by_itself)
{
    static const uint8_t opcodes[][4] = {{0x24}, {0x20, 0x22}, {0x20, 0x21, 0x22}, {0x20, 0x21, 0x21, 0x22}};
    uint8_t packet[ROCE_IP_UDP_BYTES + ROCE_BTH_BYTES + 64 + ROCE_TAIL_MAX] = {0x45};
    uint8_t *payload = packet + ROCE_IP_UDP_BYTES;
    size_t body_bytes;
    uint16_t port;

    for (unsigned n = 1; n <= 4; n++)
        for (unsigned i = 0; i < n; i++) {
            const size_t fill = i + 1 < n ? 3 : 0, bytes = 61 + fill;

            if (fill > 0)
                roce_fill(payload + ROCE_BTH_BYTES + 61, fill);
            roce_cover(packet, payload, bytes, roce_send_opcode(i, n), ROCE_CARRIES | 7, i);
            CU_ASSERT_EQUAL(payload[0], opcodes[n - 1][i]);
            CU_ASSERT(roce_uncover(packet, payload, ROCE_BTH_BYTES + bytes + roce_tail_bytes(bytes), &port,
                                   &body_bytes));
            CU_ASSERT(port == 7 && body_bytes == 61);
        }
}

/* What fills a packet up is told by its last byte, unless it is its message's end. */
TEST(what_fills_a_packet_up_is_bounded)
{
    static const struct {
        enum roce_opcode opcode;
        uint8_t fill;
        bool whole;
    } cases[] = {
        {ROCE_SEND_FIRST, 0, false},  {ROCE_SEND_FIRST, 1, true},     {ROCE_SEND_MIDDLE, 64, true},
        {ROCE_SEND_FIRST, 65, false}, {ROCE_SEND_MIDDLE, 255, false}, {ROCE_SEND_LAST, 0, true},
        {ROCE_SEND_ONLY, 255, true},
    };
    uint8_t packet[ROCE_IP_UDP_BYTES + ROCE_BTH_BYTES + 80 + ROCE_TAIL_MAX] = {0x45};
    uint8_t *payload = packet + ROCE_IP_UDP_BYTES, *last = payload + ROCE_BTH_BYTES + 79;
    size_t body_bytes;
    uint16_t port;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        *last = cases[i].fill;
        roce_cover(packet, payload, 80, cases[i].opcode, ROCE_CARRIES | 7, 0);
        CU_ASSERT_EQUAL(
            roce_uncover(packet, payload, ROCE_BTH_BYTES + 80 + ROCE_ICRC_BYTES, &port, &body_bytes),
            cases[i].whole);
    }
    payload[ROCE_BTH_BYTES + 3] = 5; /* more than there is */
    roce_cover(packet, payload, 4, ROCE_SEND_FIRST, ROCE_CARRIES | 7, 0);
    CU_ASSERT(!roce_uncover(packet, payload, ROCE_BTH_BYTES + 4 + ROCE_ICRC_BYTES, &port, &body_bytes));
    roce_cover(packet, payload, 0, ROCE_SEND_FIRST, ROCE_CARRIES | 7, 0);
    CU_ASSERT(!roce_uncover(packet, payload, ROCE_BTH_BYTES + ROCE_ICRC_BYTES, &port, &body_bytes));
}

TEST(numbers_go_round)
{
    CU_ASSERT_EQUAL(roce_ahead(0, ROCE_NUMBERS - 1), 1);
    CU_ASSERT_EQUAL(roce_ahead(ROCE_NUMBERS - 1, 0), -1);
    CU_ASSERT_EQUAL(roce_ahead(5, 5), 0);
    CU_ASSERT_EQUAL(roce_ahead(0x7fffff, 0), 0x7fffff);
    CU_ASSERT_EQUAL(roce_ahead(0x800000, 0), -0x800000);
}

/* Any length at any alignment, whole, in two pieces, and joined from two that were summed apart. */
TEST(crcs_are_those_of_the_definition)
{
    static uint8_t memory[BYTES_MAX + 64];
    crc32_fn *crc[] = {crc32_ieee, crc32_ieee_scalar, crc32_ieee_vector()};
    uint64_t rng = rng_seed(1);
    unsigned wrong = 0;

    CU_ASSERT_EQUAL(crc32_ieee(0, "123456789", 9), 0xcbf43926); /* the check value of the catalogues */
    CU_ASSERT_EQUAL(crc32_ieee(0, NULL, 0), 0);
    for (unsigned round = 0; round < 600; round++) {
        const size_t bytes = rng_below(&rng, round % 3 == 0 ? BYTES_MAX : 160);
        uint8_t *at = memory + rng_below(&rng, 64);
        const size_t cut = rng_below(&rng, (uint32_t)bytes + 1);

        for (size_t i = 0; i < bytes; i++)
            at[i] = (uint8_t)rng_next(&rng);
        const uint32_t want = crc_by_definition(POLYNOMIAL, at, bytes);
        for (unsigned i = 0; i < COUNT(crc); i++) {
            if (crc[i] == NULL)
                continue;
            wrong += crc[i](0, at, bytes) != want;
            wrong += crc[i](crc[i](0, at, cut), at + cut, bytes - cut) != want;
            wrong += crc32_ieee_join(crc[i](0, at, cut), crc[i](0, at + cut, bytes - cut),
                                     crc32_ieee_shift(bytes - cut)) != want;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}
