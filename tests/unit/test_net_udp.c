/* UDP in IPv4 in Ethernet: every malformed packet is told apart by name, every built frame is right. */
#include <string.h>

#include "by_the_book.h"
#include "kernels_chosen.h"
#include "net/check.h"
#include "net/udp_frame.h"
#include "unit.h"

enum { ROOM = 9100 };

static const struct frame_end here = {
    .mac = {{0x02, 0, 0, 0, 0, 0xfe}}, .ip = net32(0x0A0000FE), .port = net16(0xBEE0)};
static const struct frame_end there = {
    .mac = {{0x02, 0, 0, 0, 0, 0x01}}, .ip = net32(0x0A000001), .port = net16(5555)};

static _Alignas(2) uint8_t buffer[ROOM + 2];
static struct frame_udp *const frame = (struct frame_udp *)(void *)buffer;

static const struct agg_kernels *kernels;

static uint16_t internet_checksum(const void *p, size_t bytes, uint32_t sum)
{
    return checksum(sum_of(p, bytes) + sum);
}

static void seal_ip(void)
{
    frame->ip.hdr_checksum = 0;
    frame->ip.hdr_checksum = net16(internet_checksum((void *)&frame->ip, sizeof(frame->ip), 0));
}

static uint32_t pseudo_sum(void)
{
    return NET_PROTOCOL_UDP + (uint32_t)net16(frame->udp.dgram_len) +
           sum_of((const uint8_t *)&frame->ip.src_addr, 8);
}

/* A packet from a worker to the switch; returns the frame's length. */
static size_t make(size_t payload_bytes)
{
    static uint8_t bytes[ROOM];
    struct frame_payload payload;
    struct frame_header h;

    for (size_t i = 0; i < payload_bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    payload = frame_payload(bytes, payload_bytes, kernels->ones_sum);
    frame_header_init(&h, &there, &here);
    frame_write(frame, &h, there.port, &payload);
    return sizeof(*frame) + payload_bytes;
}

static enum net_fault check_ip(size_t bytes, enum net_found found)
{
    return net_check_ipv4(&frame->ip, bytes - sizeof(frame->eth), found);
}

static enum net_fault check_udp(enum net_found found)
{
    return net_check_udp(&frame->ip, &frame->udp, found, kernels->ones_sum);
}

static enum net_fault check(size_t bytes)
{
    const enum net_fault fault = check_ip(bytes, NET_NOT_COMPARED);

    return fault != NET_OK ? fault : check_udp(NET_NOT_COMPARED);
}

TEST(built_frames_are_right_at_every_length)
{
    for (size_t payload = 0; payload <= 9000; payload++) {
        size_t bytes = make(payload);

        CU_ASSERT_EQUAL(check(bytes), NET_OK);
        CU_ASSERT_EQUAL(internet_checksum((void *)&frame->ip, sizeof(frame->ip), 0), 0);
        CU_ASSERT_EQUAL(internet_checksum((void *)&frame->udp, sizeof(frame->udp) + payload, pseudo_sum()),
                        0);
        CU_ASSERT_EQUAL(frame_payload_bytes(frame), payload);
    }
}

TEST(what_the_device_found_is_believed)
{
    size_t bytes = make(100);

    CU_ASSERT_EQUAL(check_ip(bytes, NET_BAD), NET_IP_CHECKSUM);
    CU_ASSERT_EQUAL(check_udp(NET_BAD), NET_UDP_CHECKSUM);
    frame->ip.time_to_live--;
    frame->payload[7] ^= 1;
    CU_ASSERT_EQUAL(check_ip(bytes, NET_GOOD), NET_OK);
    CU_ASSERT_EQUAL(check_ip(bytes, NET_NOT_COMPARED), NET_IP_CHECKSUM);
    CU_ASSERT_EQUAL(check_udp(NET_GOOD), NET_OK);
    CU_ASSERT_EQUAL(check_udp(NET_NOT_COMPARED), NET_UDP_CHECKSUM);
    frame->udp.dgram_cksum = 0;
    CU_ASSERT_EQUAL(check_udp(NET_BAD), NET_OK);
    frame->udp.dgram_len = 0; /* but lengths are still compared */
    CU_ASSERT_EQUAL(check_udp(NET_GOOD), NET_UDP_LENGTH);
}

TEST(built_headers_say_what_they_should)
{
    struct frame_header h;

    struct frame_payload payload = frame_payload("hello", 5, kernels->ones_sum);

    frame_header_init(&h, &here, &there);
    frame_write(frame, &h, net16(0xBEE5), &payload);
    CU_ASSERT(net_same_mac(&frame->eth.src_addr, &here.mac));
    CU_ASSERT(net_same_mac(&frame->eth.dst_addr, &there.mac));
    CU_ASSERT_EQUAL(frame->eth.ether_type, net16(0x0800));
    CU_ASSERT_EQUAL(frame->ip.version_ihl, 0x45);
    CU_ASSERT_EQUAL(frame->ip.total_length, net16(33));
    CU_ASSERT_EQUAL(frame->ip.time_to_live, 64);
    CU_ASSERT_EQUAL(frame->ip.next_proto_id, 17);
    CU_ASSERT_EQUAL(frame->ip.src_addr, here.ip);
    CU_ASSERT_EQUAL(frame->ip.dst_addr, there.ip);
    CU_ASSERT_EQUAL(frame->udp.src_port, net16(0xBEE5));
    CU_ASSERT_EQUAL(frame->udp.dst_port, there.port);
    CU_ASSERT_EQUAL(frame->udp.dgram_len, net16(13));
    CU_ASSERT_EQUAL(memcmp(frame->payload, "hello", 5), 0);
}

/* For some payload the sum is zero, which would say "no checksum" on the wire. */
TEST(a_built_udp_checksum_is_never_zero)
{
    struct frame_header h;

    frame_header_init(&h, &here, &there);
    for (unsigned word = 0; word < 65536; word++) {
        uint16_t two = (uint16_t)word;
        struct frame_payload payload = frame_payload(&two, sizeof(two), kernels->ones_sum);

        frame_write(frame, &h, here.port, &payload);
        CU_ASSERT_NOT_EQUAL(frame->udp.dgram_cksum, 0);
    }
}

TEST(a_udp_checksum_can_be_left_out)
{
    struct frame_payload payload = {.at = "hello", .bytes = 5};
    struct frame_header h;

    frame_header_init(&h, &here, &there);
    h.without_udp_sum = true;
    frame_write(frame, &h, here.port, &payload);
    CU_ASSERT_EQUAL(frame->udp.dgram_cksum, 0);
    CU_ASSERT_EQUAL(internet_checksum((void *)&frame->ip, sizeof(frame->ip), 0), 0);
    CU_ASSERT_EQUAL(frame->udp.dgram_len, net16(13));
}

TEST(an_answer_goes_back)
{
    struct frame_end from, to;

    make(10);
    frame_answer_ends(frame, &from, &to);
    CU_ASSERT_EQUAL(memcmp(&from, &here, sizeof(from)), 0);
    CU_ASSERT_EQUAL(memcmp(&to, &there, sizeof(to)), 0);
}

TEST(padding_behind_the_packet_is_fine)
{
    CU_ASSERT_EQUAL(check(make(4) + 14), NET_OK);
}

TEST(cut_short_anywhere_is_told)
{
    size_t bytes = make(100);

    for (size_t n = sizeof(frame->eth); n < bytes; n++)
        CU_ASSERT_EQUAL(check(n), NET_IP_SHORT);
}

TEST(bad_ipv4_headers_are_told_apart)
{
    size_t bytes = make(100);

    frame->ip.version_ihl = 0x65;
    CU_ASSERT_EQUAL(check(bytes), NET_IP_VERSION);
    frame->ip.version_ihl = 0x44;
    CU_ASSERT_EQUAL(check(bytes), NET_IP_HEADER_LENGTH);
    frame->ip.version_ihl = 0x46;
    CU_ASSERT_EQUAL(check(bytes), NET_IP_OPTIONS);

    make(100);
    frame->ip.total_length = net16(19);
    CU_ASSERT_EQUAL(check(bytes), NET_IP_TOTAL_LENGTH);
    frame->ip.total_length = net16((bytes - sizeof(frame->eth) + 1));
    CU_ASSERT_EQUAL(check(bytes), NET_IP_SHORT);
}

TEST(stations_are_told_from_groups_and_the_like)
{
    static const uint32_t none[] = {0,          1,          0x00FFFFFF, 0x7F000001,
                                    0x7FFFFFFF, 0xE0000000, 0xEFFFFFFF, 0xFFFFFFFF};
    static const uint32_t some[] = {0x01000000, 0x0A000001, 0x7EFFFFFF, 0x80000000, 0xDFFFFFFF};

    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        CU_ASSERT(!net_ipv4_is_station(net32(none[i])));
    for (unsigned i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        CU_ASSERT(net_ipv4_is_station(net32(some[i])));
}

TEST(every_flipped_bit_of_the_ipv4_header_is_noticed)
{
    for (unsigned bit = 0; bit < 8 * sizeof(frame->ip); bit++) {
        size_t bytes = make(100);

        buffer[sizeof(frame->eth) + bit / 8] ^= (uint8_t)(1 << bit % 8);
        CU_ASSERT_NOT_EQUAL(check(bytes), NET_OK);
    }
}

TEST(fragments_are_refused)
{
    static const uint16_t fields[] = {NET_IPV4_MORE_FRAGMENTS, 1, 0x1FFF, NET_IPV4_MORE_FRAGMENTS | 185};
    size_t bytes = make(100);

    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        frame->ip.fragment_offset = net16(fields[i]);
        seal_ip();
        CU_ASSERT_EQUAL(check(bytes), NET_IP_FRAGMENT);
    }
    frame->ip.fragment_offset = 0;
    seal_ip();
    CU_ASSERT_EQUAL(check(bytes), NET_OK);
}

TEST(udp_lengths_must_agree_with_ipv4)
{
    static const uint16_t wrong[] = {0, 7, 107, 109, 65535};
    size_t bytes = make(100);

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        frame->udp.dgram_len = net16(wrong[i]);
        CU_ASSERT_EQUAL(check(bytes), NET_UDP_LENGTH);
    }
    make(0);
    frame->ip.total_length = net16(27); /* not even a UDP header */
    frame->udp.dgram_len = net16(7);
    seal_ip();
    CU_ASSERT_EQUAL(check(bytes), NET_UDP_LENGTH);
}

TEST(udp_checksums_are_verified)
{
    for (size_t payload = 0; payload < 300; payload++) {
        size_t bytes = make(payload);

        CU_ASSERT_EQUAL(check(bytes), NET_OK);
        for (unsigned bit = 0; bit < 8 * (sizeof(frame->udp) + payload); bit += 13) {
            uint8_t *byte = (uint8_t *)&frame->udp + bit / 8;

            *byte ^= (uint8_t)(1 << bit % 8);
            CU_ASSERT_NOT_EQUAL(check(bytes), NET_OK);
            *byte ^= (uint8_t)(1 << bit % 8);
        }
    }
}

TEST(a_udp_checksum_of_zero_is_none)
{
    size_t bytes = make(100);

    frame->payload[50] ^= 1;
    CU_ASSERT_EQUAL(check(bytes), NET_UDP_CHECKSUM);
    frame->udp.dgram_cksum = 0;
    CU_ASSERT_EQUAL(check(bytes), NET_OK);
}

int main(void)
{
    kernels = kernels_or_exit();
    return unit_main();
}
