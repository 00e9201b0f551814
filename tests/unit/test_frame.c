/* Frames to and from the switch itself: every malformed one is told apart by name, every built one is right.
 */
#include <ctype.h>
#include <string.h>

#include <netinet/in.h>

#include "aggregate/frame.h"
#include "unit.h"

enum { ROOM = 9100 };

static const struct frame_end here = {
    .mac = {{0x02, 0, 0, 0, 0, 0xfe}}, .ip = RTE_BE32(0x0A0000FE), .port = RTE_BE16(0xBEE0)};
static const struct frame_end there = {
    .mac = {{0x02, 0, 0, 0, 0, 0x01}}, .ip = RTE_BE32(0x0A000001), .port = RTE_BE16(5555)};

static _Alignas(2) uint8_t buffer[ROOM + 2];
static struct frame_udp *const frame = (struct frame_udp *)(void *)buffer;

/* RFC 1071, by the book. */
static uint16_t internet_checksum(const uint8_t *p, size_t bytes, uint32_t sum)
{
    for (size_t i = 0; i < bytes; i += 2)
        sum += (uint32_t)p[i] << 8 | (i + 1 < bytes ? p[i + 1] : 0);
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

static void seal_ip(void)
{
    frame->ip.hdr_checksum = 0;
    frame->ip.hdr_checksum = rte_cpu_to_be_16(internet_checksum((void *)&frame->ip, sizeof(frame->ip), 0));
}

static uint32_t pseudo_sum(void)
{
    const uint8_t *addresses = (const uint8_t *)&frame->ip.src_addr;
    uint32_t sum = IPPROTO_UDP + (uint32_t)rte_be_to_cpu_16(frame->udp.dgram_len);

    for (unsigned i = 0; i < 8; i += 2)
        sum += (uint32_t)addresses[i] << 8 | addresses[i + 1];
    return sum;
}

/* A packet from a worker to the switch; returns the frame's length. */
static size_t make(size_t payload_bytes)
{
    static uint8_t bytes[ROOM];
    struct frame_payload payload;
    struct frame_header h;

    for (size_t i = 0; i < payload_bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    payload = frame_payload(bytes, payload_bytes);
    frame_header_init(&h, &there, &here);
    frame_write(frame, &h, there.port, &payload);
    return sizeof(*frame) + payload_bytes;
}

static enum drop check(size_t bytes)
{
    enum drop why = frame_check_ipv4(frame, bytes, here.ip, FRAME_NOT_COMPARED);

    return why != DROP_REASONS ? why : frame_check_udp(frame, FRAME_NOT_COMPARED);
}

static void test_built_frames_are_right_at_every_length(void)
{
    for (size_t payload = 0; payload <= 9000; payload++) {
        size_t bytes = make(payload);

        CU_ASSERT_EQUAL(check(bytes), DROP_REASONS);
        CU_ASSERT_EQUAL(internet_checksum((void *)&frame->ip, sizeof(frame->ip), 0), 0);
        CU_ASSERT_EQUAL(internet_checksum((void *)&frame->udp, sizeof(frame->udp) + payload, pseudo_sum()),
                        0);
        CU_ASSERT_EQUAL(frame_payload_bytes(frame), payload);
    }
}

static void test_what_the_device_found_is_believed(void)
{
    size_t bytes = make(100);

    CU_ASSERT_EQUAL(frame_check_ipv4(frame, bytes, here.ip, FRAME_BAD), DROP_IP_CHECKSUM);
    CU_ASSERT_EQUAL(frame_check_udp(frame, FRAME_BAD), DROP_UDP_CHECKSUM);
    frame->ip.time_to_live--;
    frame->payload[7] ^= 1;
    CU_ASSERT_EQUAL(frame_check_ipv4(frame, bytes, here.ip, FRAME_GOOD), DROP_REASONS);
    CU_ASSERT_EQUAL(frame_check_ipv4(frame, bytes, here.ip, FRAME_NOT_COMPARED), DROP_IP_CHECKSUM);
    CU_ASSERT_EQUAL(frame_check_udp(frame, FRAME_GOOD), DROP_REASONS);
    CU_ASSERT_EQUAL(frame_check_udp(frame, FRAME_NOT_COMPARED), DROP_UDP_CHECKSUM);
    frame->udp.dgram_cksum = 0;
    CU_ASSERT_EQUAL(frame_check_udp(frame, FRAME_BAD), DROP_REASONS);
    frame->udp.dgram_len = 0; /* but lengths are still compared */
    CU_ASSERT_EQUAL(frame_check_udp(frame, FRAME_GOOD), DROP_UDP_LENGTH);
}

static void test_built_headers_say_what_they_should(void)
{
    struct frame_header h;

    struct frame_payload payload = frame_payload("hello", 5);

    frame_header_init(&h, &here, &there);
    frame_write(frame, &h, RTE_BE16(0xBEE5), &payload);
    CU_ASSERT(rte_is_same_ether_addr(&frame->eth.src_addr, &here.mac));
    CU_ASSERT(rte_is_same_ether_addr(&frame->eth.dst_addr, &there.mac));
    CU_ASSERT_EQUAL(frame->eth.ether_type, RTE_BE16(0x0800));
    CU_ASSERT_EQUAL(frame->ip.version_ihl, 0x45);
    CU_ASSERT_EQUAL(frame->ip.total_length, RTE_BE16(33));
    CU_ASSERT_EQUAL(frame->ip.time_to_live, 64);
    CU_ASSERT_EQUAL(frame->ip.next_proto_id, 17);
    CU_ASSERT_EQUAL(frame->ip.src_addr, here.ip);
    CU_ASSERT_EQUAL(frame->ip.dst_addr, there.ip);
    CU_ASSERT_EQUAL(frame->udp.src_port, RTE_BE16(0xBEE5));
    CU_ASSERT_EQUAL(frame->udp.dst_port, there.port);
    CU_ASSERT_EQUAL(frame->udp.dgram_len, RTE_BE16(13));
    CU_ASSERT_EQUAL(memcmp(frame->payload, "hello", 5), 0);
}

/* For some payload the sum is zero, which would say "no checksum" on the wire. */
static void test_a_built_udp_checksum_is_never_zero(void)
{
    struct frame_header h;

    frame_header_init(&h, &here, &there);
    for (unsigned word = 0; word < 65536; word++) {
        uint16_t two = (uint16_t)word;
        struct frame_payload payload = frame_payload(&two, sizeof(two));

        frame_write(frame, &h, here.port, &payload);
        CU_ASSERT_NOT_EQUAL(frame->udp.dgram_cksum, 0);
    }
}

static void test_a_udp_checksum_can_be_left_out(void)
{
    struct frame_payload payload = {.at = "hello", .bytes = 5};
    struct frame_header h;

    frame_header_init(&h, &here, &there);
    h.without_udp_sum = true;
    frame_write(frame, &h, here.port, &payload);
    CU_ASSERT_EQUAL(frame->udp.dgram_cksum, 0);
    CU_ASSERT_EQUAL(internet_checksum((void *)&frame->ip, sizeof(frame->ip), 0), 0);
    CU_ASSERT_EQUAL(frame->udp.dgram_len, RTE_BE16(13));
}

static void test_an_answer_goes_back(void)
{
    struct frame_end from, to;

    make(10);
    frame_answer_ends(frame, &from, &to);
    CU_ASSERT_EQUAL(memcmp(&from, &here, sizeof(from)), 0);
    CU_ASSERT_EQUAL(memcmp(&to, &there, sizeof(to)), 0);
}

static void test_padding_behind_the_packet_is_fine(void)
{
    CU_ASSERT_EQUAL(check(make(4) + 14), DROP_REASONS);
}

static void test_cut_short_anywhere_is_told(void)
{
    size_t bytes = make(100);

    for (size_t n = RTE_ETHER_HDR_LEN; n < bytes; n++)
        CU_ASSERT_EQUAL(check(n), DROP_IP_SHORT);
}

static void test_bad_ipv4_headers_are_told_apart(void)
{
    size_t bytes = make(100);

    frame->ip.version_ihl = 0x65;
    CU_ASSERT_EQUAL(check(bytes), DROP_IP_VERSION);
    frame->ip.version_ihl = 0x44;
    CU_ASSERT_EQUAL(check(bytes), DROP_IP_HEADER_LENGTH);
    frame->ip.version_ihl = 0x46;
    CU_ASSERT_EQUAL(check(bytes), DROP_IP_OPTIONS);

    make(100);
    frame->ip.total_length = RTE_BE16(19);
    CU_ASSERT_EQUAL(check(bytes), DROP_IP_TOTAL_LENGTH);
    frame->ip.total_length = rte_cpu_to_be_16((uint16_t)(bytes - RTE_ETHER_HDR_LEN + 1));
    CU_ASSERT_EQUAL(check(bytes), DROP_IP_SHORT);

    make(100);
    frame->ip.dst_addr = RTE_BE32(0x0A0000FD);
    seal_ip();
    CU_ASSERT_EQUAL(check(bytes), DROP_IP_NOT_OURS);
}

static void test_a_source_is_a_stations(void)
{
    static const uint32_t none[] = {0,          1,          0x00FFFFFF, 0x7F000001,
                                    0x7FFFFFFF, 0xE0000000, 0xEFFFFFFF, 0xFFFFFFFF};
    static const uint32_t some[] = {0x01000000, 0x0A000001, 0x7EFFFFFF, 0x80000000, 0xDFFFFFFF};
    size_t bytes = make(100);

    frame->udp.dgram_cksum = 0;
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        frame->ip.src_addr = rte_cpu_to_be_32(none[i]);
        seal_ip();
        CU_ASSERT_EQUAL(check(bytes), DROP_IP_SOURCE);
    }
    for (unsigned i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        frame->ip.src_addr = rte_cpu_to_be_32(some[i]);
        seal_ip();
        CU_ASSERT_EQUAL(check(bytes), DROP_REASONS);
    }
}

static void test_every_flipped_bit_of_the_ipv4_header_is_noticed(void)
{
    for (unsigned bit = 0; bit < 8 * sizeof(frame->ip); bit++) {
        size_t bytes = make(100);

        buffer[RTE_ETHER_HDR_LEN + bit / 8] ^= (uint8_t)(1 << bit % 8);
        CU_ASSERT_NOT_EQUAL(check(bytes), DROP_REASONS);
    }
}

static void test_fragments_are_refused(void)
{
    static const uint16_t fields[] = {RTE_IPV4_HDR_MF_FLAG, 1, 0x1FFF, RTE_IPV4_HDR_MF_FLAG | 185};
    size_t bytes = make(100);

    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        frame->ip.fragment_offset = rte_cpu_to_be_16(fields[i]);
        seal_ip();
        CU_ASSERT_EQUAL(check(bytes), DROP_IP_FRAGMENT);
    }
    frame->ip.fragment_offset = 0;
    seal_ip();
    CU_ASSERT_EQUAL(check(bytes), DROP_REASONS);
}

static void test_udp_lengths_must_agree_with_ipv4(void)
{
    static const uint16_t wrong[] = {0, 7, 107, 109, 65535};
    size_t bytes = make(100);

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        frame->udp.dgram_len = rte_cpu_to_be_16(wrong[i]);
        CU_ASSERT_EQUAL(check(bytes), DROP_UDP_LENGTH);
    }
    make(0);
    frame->ip.total_length = RTE_BE16(27); /* not even a UDP header */
    frame->udp.dgram_len = RTE_BE16(7);
    seal_ip();
    CU_ASSERT_EQUAL(check(bytes), DROP_UDP_LENGTH);
}

static void test_udp_checksums_are_verified(void)
{
    for (size_t payload = 0; payload < 300; payload++) {
        size_t bytes = make(payload);

        CU_ASSERT_EQUAL(check(bytes), DROP_REASONS);
        for (unsigned bit = 0; bit < 8 * (sizeof(frame->udp) + payload); bit += 13) {
            uint8_t *byte = (uint8_t *)&frame->udp + bit / 8;

            *byte ^= (uint8_t)(1 << bit % 8);
            CU_ASSERT_NOT_EQUAL(check(bytes), DROP_REASONS);
            *byte ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void test_a_udp_checksum_of_zero_is_none(void)
{
    size_t bytes = make(100);

    frame->payload[50] ^= 1;
    CU_ASSERT_EQUAL(check(bytes), DROP_UDP_CHECKSUM);
    frame->udp.dgram_cksum = 0;
    CU_ASSERT_EQUAL(check(bytes), DROP_REASONS);
}

static bool is_snake_case(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if (!islower((unsigned char)*c) && *c != '_')
            return false;
    return *name != '\0';
}

static void test_every_counter_has_a_name_of_its_own(void)
{
    for (enum drop d = 0; d < DROP_REASONS; d++) {
        CU_ASSERT(is_snake_case(drop_name(d)));
        CU_ASSERT(strlen(drop_meaning(d)) > 0);
        for (enum drop e = 0; e < d; e++)
            CU_ASSERT_STRING_NOT_EQUAL(drop_name(d), drop_name(e));
    }
    for (enum event e = 0; e < EVENTS; e++) {
        CU_ASSERT(is_snake_case(event_name(e)));
        for (enum event f = 0; f < e; f++)
            CU_ASSERT_STRING_NOT_EQUAL(event_name(e), event_name(f));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_built_frames_are_right_at_every_length),
        UNIT_TEST(test_what_the_device_found_is_believed),
        UNIT_TEST(test_built_headers_say_what_they_should),
        UNIT_TEST(test_a_built_udp_checksum_is_never_zero),
        UNIT_TEST(test_a_udp_checksum_can_be_left_out),
        UNIT_TEST(test_an_answer_goes_back),
        UNIT_TEST(test_padding_behind_the_packet_is_fine),
        UNIT_TEST(test_cut_short_anywhere_is_told),
        UNIT_TEST(test_bad_ipv4_headers_are_told_apart),
        UNIT_TEST(test_a_source_is_a_stations),
        UNIT_TEST(test_every_flipped_bit_of_the_ipv4_header_is_noticed),
        UNIT_TEST(test_fragments_are_refused),
        UNIT_TEST(test_udp_lengths_must_agree_with_ipv4),
        UNIT_TEST(test_udp_checksums_are_verified),
        UNIT_TEST(test_a_udp_checksum_of_zero_is_none),
        UNIT_TEST(test_every_counter_has_a_name_of_its_own),
        CU_TEST_INFO_NULL,
    };

    frame_use_kernels(agg_kernels_best());
    return unit_main("frame", tests);
}
