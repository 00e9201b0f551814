/* Which datagrams are plain, and what counters are called (receive tests what is dropped under which name).
 */
#include <ctype.h>
#include <string.h>

#include "port/frame.h"
#include "unit.h"

enum { PAYLOAD = 100 };

static const struct frame_end here = {
    .mac = {{0x02, 0, 0, 0, 0, 0xfe}}, .ip = net32(0x0A0000FE), .port = net16(0xBEE0)};
static const struct frame_end there = {
    .mac = {{0x02, 0, 0, 0, 0, 0x01}}, .ip = net32(0x0A000001), .port = net16(5555)};

static uint8_t buffer[FRAME_HEADER_BYTES + PAYLOAD];
static struct frame_udp *const frame = (struct frame_udp *)(void *)buffer;

/* A packet from a worker to the switch. */
static void make(void)
{
    static const uint8_t bytes[PAYLOAD] = {1, 2, 3};
    const struct frame_payload payload = frame_payload(bytes, sizeof(bytes), agg_kernels_scalar.ones_sum);
    struct frame_header h;

    frame_header_init(&h, &there, &here);
    frame_write(frame, &h, there.port, &payload);
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
