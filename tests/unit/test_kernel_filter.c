/* The filters of a receive queue's two packet sockets: every frame comes to one of them, and to the one that
 * tells nothing beside the bytes only plain gradient packets. The kernel runs them, on local datagrams. */
#include <stdbool.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "kernel_filter.h"
#include "rng.h"
#include "unit.h"
#include "wire/switchml.h"

enum {
    MAX_FRAME = 1518,
    HEADERS = 42,
    AT_TYPE = 12,
    AT_IP = 14,
    AT_IP_FRAGMENT = 20,
    AT_IP_PROTOCOL = 23,
    AT_IP_ADDRESSES = 26,
    AT_UDP = 34,
    AT_UDP_PORT = 36,
    AT_UDP_LENGTH = 38,
    AT_UDP_CHECKSUM = 40,
    ROUNDS = 20000,
};

static int in[KERNEL_FRAMES], out[KERNEL_FRAMES];
static uint8_t frame[MAX_FRAME + 100];
static uint64_t rng;

static void put16(unsigned at, uint32_t value)
{
    frame[at] = (uint8_t)(value >> 8);
    frame[at + 1] = (uint8_t)value;
}

static uint32_t get16(unsigned at)
{
    return (uint32_t)frame[at] << 8 | frame[at + 1];
}

static uint32_t pseudo_header_sum(void)
{
    uint32_t sum = IPPROTO_UDP + get16(AT_UDP_LENGTH);

    for (unsigned i = 0; i < 8; i += 2)
        sum += get16(AT_IP_ADDRESSES + i);
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return sum;
}

/* A gradient packet, its checksum anything but what looks unfinished. */
static void make_gradient(unsigned bytes)
{
    for (unsigned i = 0; i < sizeof(frame); i++)
        frame[i] = (uint8_t)rng_next(&rng);
    put16(AT_TYPE, 0x0800);
    frame[AT_IP] = 0x45;
    put16(AT_IP_FRAGMENT, 0x4000);
    frame[AT_IP_PROTOCOL] = IPPROTO_UDP;
    put16(AT_UDP_PORT, SML_PORT_FIRST + (uint32_t)rng_below(&rng, SML_PORT_LAST - SML_PORT_FIRST + 1));
    put16(AT_UDP_LENGTH, bytes - AT_UDP);
    if (get16(AT_UDP_CHECKSUM) == pseudo_header_sum())
        frame[AT_UDP_CHECKSUM] ^= 1;
}

static bool is_plain_gradient(unsigned bytes)
{
    return bytes >= HEADERS && bytes <= MAX_FRAME && get16(AT_TYPE) == 0x0800 && frame[AT_IP] == 0x45 &&
           (get16(AT_IP_FRAGMENT) & 0x3FFF) == 0 && frame[AT_IP_PROTOCOL] == IPPROTO_UDP &&
           get16(AT_UDP_PORT) >= SML_PORT_FIRST && get16(AT_UDP_PORT) <= SML_PORT_LAST &&
           get16(AT_UDP_CHECKSUM) != pseudo_header_sum();
}

static bool passes(enum kernel_frames which, unsigned bytes)
{
    uint8_t got[sizeof(frame)];
    ssize_t n;

    CU_ASSERT_EQUAL_FATAL(send(in[which], frame, bytes, 0), bytes);
    n = recv(out[which], got, sizeof(got), MSG_DONTWAIT);
    CU_ASSERT(n < 0 || (n == bytes && memcmp(got, frame, bytes) == 0));
    return n >= 0;
}

static void expect(enum kernel_frames which, unsigned bytes)
{
    for (unsigned f = 0; f < KERNEL_FRAMES; f++)
        CU_ASSERT_EQUAL(passes(f, bytes), f == which);
}

static void test_gradient_packets(void)
{
    for (unsigned bytes = HEADERS; bytes <= MAX_FRAME; bytes++) {
        make_gradient(bytes);
        expect(KERNEL_GRADIENTS, bytes);
    }
    put16(AT_UDP_CHECKSUM, 0); /* which is none, and not an unfinished one */
    expect(KERNEL_GRADIENTS, MAX_FRAME);
}

static void test_a_checksum_left_to_the_device(void)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        make_gradient(HEADERS + (unsigned)rng_below(&rng, 1000));
        put16(AT_UDP_CHECKSUM, pseudo_header_sum());
        expect(KERNEL_OTHERS, HEADERS);
        frame[AT_UDP_CHECKSUM + rng_below(&rng, 2)] ^= (uint8_t)(1U << rng_below(&rng, 8));
        expect(KERNEL_GRADIENTS, HEADERS);
    }
}

static void test_a_sum_that_carries_twice(void)
{
    make_gradient(HEADERS);
    for (unsigned i = 0; i < 8; i += 2)
        put16(AT_IP_ADDRESSES + i, 0xFFFF);
    put16(AT_UDP_LENGTH, 3);
    put16(AT_IP_ADDRESSES, 0xFFFF - (IPPROTO_UDP + 3 + 3 * 0xFFFF) % 0x10000);
    put16(AT_UDP_CHECKSUM, pseudo_header_sum());
    expect(KERNEL_OTHERS, HEADERS);
}

static void test_other_frames(void)
{
    static const struct {
        unsigned at;
        uint16_t value;
    } changes[] = {
        {AT_TYPE, 0x0806},
        {AT_TYPE, 0x8100},
        {AT_IP, 0x4600},
        {AT_IP, 0x6500},
        {AT_IP_FRAGMENT, 0x2000},
        {AT_IP_FRAGMENT, 0x0001},
        {AT_IP_PROTOCOL, 6 << 8},
        {AT_UDP_PORT, SML_PORT_FIRST - 1},
        {AT_UDP_PORT, SML_PORT_LAST + 1},
    };

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        make_gradient(MAX_FRAME);
        put16(changes[i].at, changes[i].value);
        expect(KERNEL_OTHERS, MAX_FRAME);
    }
    make_gradient(MAX_FRAME);
    expect(KERNEL_OTHERS, MAX_FRAME + 1);
    for (unsigned bytes = 1; bytes < HEADERS; bytes++)
        expect(KERNEL_OTHERS, bytes);
}

static void test_every_frame_comes_to_one(void)
{
    unsigned gradients = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned bytes = 1 + (unsigned)rng_below(&rng, sizeof(frame));

        make_gradient(bytes);
        if (rng_below(&rng, 2) == 0)
            frame[rng_below(&rng, HEADERS)] ^= (uint8_t)(1U << rng_below(&rng, 8));
        expect(is_plain_gradient(bytes) ? KERNEL_GRADIENTS : KERNEL_OTHERS, bytes);
        gradients += is_plain_gradient(bytes);
    }
    CU_ASSERT(gradients > ROUNDS / 4 && gradients < ROUNDS);
}

static bool open_filtered(void)
{
    for (unsigned f = 0; f < KERNEL_FRAMES; f++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 || kernel_filter_attach(pair[1], f, MAX_FRAME) < 0)
            return false;
        in[f] = pair[0];
        out[f] = pair[1];
    }
    return true;
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_gradient_packets),         UNIT_TEST(test_a_checksum_left_to_the_device),
        UNIT_TEST(test_a_sum_that_carries_twice), UNIT_TEST(test_other_frames),
        UNIT_TEST(test_every_frame_comes_to_one), CU_TEST_INFO_NULL,
    };

    rng = rng_seed(1);
    if (!open_filtered()) {
        perror("socket with a filter");
        return 1;
    }
    return unit_main("kernel_filter", tests);
}
