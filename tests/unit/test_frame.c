/* Frames to the switch itself: every fault is dropped under its own name (net_udp tests how faults are
 * found). */
#include <ctype.h>
#include <string.h>

#include "net/sum.h"
#include "port/frame.h"
#include "unit.h"

enum { PAYLOAD = 100 };

static const struct frame_end here = {
    .mac = {{0x02, 0, 0, 0, 0, 0xfe}}, .ip = net32(0x0A0000FE), .port = net16(0xBEE0)};
static const struct frame_end there = {
    .mac = {{0x02, 0, 0, 0, 0, 0x01}}, .ip = net32(0x0A000001), .port = net16(5555)};

static uint8_t buffer[FRAME_HEADER_BYTES + PAYLOAD];
static struct frame_udp *const frame = (struct frame_udp *)(void *)buffer;

/* A packet from a worker to the switch; returns the frame's length. */
static size_t make(void)
{
    static const uint8_t bytes[PAYLOAD] = {1, 2, 3};
    const struct frame_payload payload = frame_payload(bytes, sizeof(bytes), agg_kernels_scalar.ones_sum);
    struct frame_header h;

    frame_header_init(&h, &there, &here);
    frame_write(frame, &h, there.port, &payload);
    return sizeof(buffer);
}

static void seal_ip(void)
{
    frame->ip.hdr_checksum = 0;
    frame->ip.hdr_checksum = (uint16_t)~net_ipv4_sum(&frame->ip);
}

static enum drop check(size_t bytes)
{
    static const struct frame_found nothing = {NET_NOT_COMPARED, NET_NOT_COMPARED};

    return frame_drops_as(frame, frame_check(frame, bytes, &nothing, agg_kernels_scalar.ones_sum), here.ip);
}

static void set_version(void)
{
    frame->ip.version_ihl = 0x65;
}

static void set_short_header(void)
{
    frame->ip.version_ihl = 0x44;
}

static void set_options(void)
{
    frame->ip.version_ihl = 0x46;
}

static void set_little_length(void)
{
    frame->ip.total_length = net16(19);
}

static void set_large_length(void)
{
    frame->ip.total_length = net16(20 + 8 + PAYLOAD + 1);
}

static void set_hop(void)
{
    frame->ip.time_to_live--;
}

static void set_fragment(void)
{
    frame->ip.fragment_offset = net16(1);
    seal_ip();
}

static void set_other_ip(void)
{
    frame->ip.dst_addr = net32(0x0A0000FD);
    seal_ip();
}

static void set_udp_length(void)
{
    frame->udp.dgram_len = net16(8 + PAYLOAD - 1);
}

static void set_data(void)
{
    frame->payload[7] ^= 1;
}

TEST(each_fault_has_its_name)
{
    static const struct {
        void (*damage)(void);
        enum drop why;
    } fault[] = {
        {set_version, DROP_IP_VERSION},    {set_short_header, DROP_IP_HEADER_LENGTH},
        {set_options, DROP_IP_OPTIONS},    {set_little_length, DROP_IP_TOTAL_LENGTH},
        {set_large_length, DROP_IP_SHORT}, {set_hop, DROP_IP_CHECKSUM},
        {set_fragment, DROP_IP_FRAGMENT},  {set_other_ip, DROP_IP_NOT_OURS},
        {set_udp_length, DROP_UDP_LENGTH}, {set_data, DROP_UDP_CHECKSUM},
    };

    CU_ASSERT_EQUAL(check(make()), DROP_REASONS);
    for (unsigned i = 0; i < sizeof(fault) / sizeof(fault[0]); i++) {
        const size_t bytes = make();

        fault[i].damage();
        CU_ASSERT_EQUAL(check(bytes), fault[i].why);
    }
}

/* The frame is as long as it says, one byte shorter, or one longer. */
static unsigned count_wrong_of_plain(void)
{
    static const struct frame_found good = {NET_GOOD, NET_GOOD};
    unsigned wrong = 0;

    for (size_t bytes = sizeof(buffer) - 1; bytes <= sizeof(buffer) + 1; bytes++) {
        const bool nothing = frame_check(frame, bytes, &good, agg_kernels_scalar.ones_sum) == NET_OK &&
                             frame->ip.next_proto_id == NET_PROTOCOL_UDP;

        wrong += net_is_plain_udp(&frame->ip, bytes - sizeof(frame->eth)) != nothing;
    }
    return wrong;
}

TEST(a_datagram_is_plain_if_no_fault_is_found)
{
    unsigned wrong = 0;

    make();
    CU_ASSERT(net_is_plain_udp(&frame->ip, sizeof(buffer) - sizeof(frame->eth)));
    for (size_t bit = 8 * sizeof(frame->eth); bit < 8 * FRAME_HEADER_BYTES; bit++) {
        make();
        buffer[bit / 8] ^= (uint8_t)(1u << bit % 8);
        wrong += count_wrong_of_plain();
    }
    for (unsigned total = 0; total < 2 * sizeof(buffer); total++) {
        make();
        frame->ip.total_length = net16(total);
        frame->udp.dgram_len = net16(total - sizeof(frame->ip));
        wrong += count_wrong_of_plain();
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(a_source_is_a_stations)
{
    static const uint32_t none[] = {0,          1,          0x00FFFFFF, 0x7F000001,
                                    0x7FFFFFFF, 0xE0000000, 0xEFFFFFFF, 0xFFFFFFFF};
    static const uint32_t some[] = {0x01000000, 0x0A000001, 0x7EFFFFFF, 0x80000000, 0xDFFFFFFF};
    size_t bytes = make();

    frame->udp.dgram_cksum = 0;
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        frame->ip.src_addr = net32(none[i]);
        seal_ip();
        CU_ASSERT_EQUAL(check(bytes), DROP_IP_SOURCE);
    }
    for (unsigned i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        frame->ip.src_addr = net32(some[i]);
        seal_ip();
        CU_ASSERT_EQUAL(check(bytes), DROP_REASONS);
    }
}

static bool is_snake_case(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if (!islower((unsigned char)*c) && *c != '_')
            return false;
    return *name != '\0';
}

TEST(every_counter_has_a_name_of_its_own)
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
