/* Addresses, header sums, ARP and ICMP echo: compared with sums by the book and with frames written down byte
 * by byte. */
#include <string.h>

#include "by_the_book.h"
#include "kernels_chosen.h"
#include "net/arp.h"
#include "net/icmp.h"
#include "net/sum.h"
#include "random.h"
#include "unit.h"

enum { ROUNDS = 2000 };

static const struct net_mac us = {{0x02, 0, 0, 0, 0, 0xFE}}, them = {{0x02, 0, 0, 0, 0, 0x01}};

static void fill(uint64_t *rng, void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(i % 3 == 0 && rng_below(rng, 2) ? 0xFF : rng_below(rng, 256));
}

TEST(header_sums_are_those_by_the_book)
{
    uint64_t rng = rng_seed(7);

    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t bytes = rng_below(&rng, 65536);
        struct net_ipv4 v4;
        struct net_ipv6 v6;

        fill(&rng, &v4, sizeof(v4));
        fill(&rng, &v6, sizeof(v6));
        CU_ASSERT_EQUAL((uint16_t)~net16(net_ipv4_sum(&v4)), checksum(sum_of((uint8_t *)&v4, sizeof(v4))));
        CU_ASSERT_EQUAL((uint16_t)~net16(net_ipv4_pseudo_sum(&v4, NET_PROTOCOL_UDP, bytes)),
                        checksum(sum_of((uint8_t *)&v4.src_addr, 8) + NET_PROTOCOL_UDP + (uint32_t)bytes));
        CU_ASSERT_EQUAL((uint16_t)~net16(net_ipv6_pseudo_sum(&v6, NET_PROTOCOL_TCP, bytes)),
                        checksum(sum_of(v6.src_addr, 32) + NET_PROTOCOL_TCP + (uint32_t)bytes));
    }
}

TEST(addresses_for_many_are_known)
{
    CU_ASSERT(net_is_broadcast(&(struct net_mac){{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}));
    CU_ASSERT(!net_is_broadcast(&(struct net_mac){{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE}}));
    CU_ASSERT(net_is_group(&(struct net_mac){{0x33, 0x33, 0, 0, 0, 1}}));
    CU_ASSERT(!net_is_group(&us));
    for (unsigned last = 0; last < 256; last++) {
        const struct net_mac mac = {{0x01, 0x80, 0xC2, 0, 0, (uint8_t)last}};

        CU_ASSERT_EQUAL(net_is_link_local(&mac), last < 16);
    }
    CU_ASSERT(!net_is_link_local(&(struct net_mac){{0x01, 0x80, 0xC2, 0, 1, 0}}));
    CU_ASSERT(net_same_mac(&us, &(struct net_mac){{0x02, 0, 0, 0, 0, 0xFE}}));
    CU_ASSERT(!net_same_mac(&us, &them));
}

TEST(an_address_is_written_as_operators_know_it)
{
    char text[NET_MAC_TEXT_MAX];

    CU_ASSERT_STRING_EQUAL(net_mac_text(text, &us), "02:00:00:00:00:FE");
}

static const uint8_t request[] = {
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, /* to all, ARP */
    0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01,             /* Ethernet, IPv4, 6, 4, request */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x0A, 0x00, 0x00, 0x01, /* sender: them, 10.0.0.1 */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0A, 0x00, 0x00, 0xFE, /* target: unknown, 10.0.0.254 */
};
static const uint8_t reply[] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0xFE, 0x08, 0x06, /* to them, ARP */
    0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x02,                                     /* ..., reply */
    0x02, 0x00, 0x00, 0x00, 0x00, 0xFE, 0x0A, 0x00, 0x00, 0xFE, /* sender: us, 10.0.0.254 */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x0A, 0x00, 0x00, 0x01, /* target: them, 10.0.0.1 */
};

TEST(arp_is_asked_and_answered)
{
    struct frame_arp f;

    CU_ASSERT_EQUAL_FATAL(sizeof(f), sizeof(request));
    arp_ask(&f, &them, net32(0x0A000001), net32(0x0A0000FE));
    CU_ASSERT_EQUAL(memcmp(&f, request, sizeof(f)), 0);
    arp_answer(&f, (const void *)request, &us);
    CU_ASSERT_EQUAL(memcmp(&f, reply, sizeof(f)), 0);
    memcpy(&f, request, sizeof(f));
    arp_answer(&f, &f, &us); /* in place */
    CU_ASSERT_EQUAL(memcmp(&f, reply, sizeof(f)), 0);
}

TEST(only_whole_arp_of_ipv4_on_ethernet_passes)
{
    enum { FIRST = 14, LAST = 19 }; /* hardware, protocol and their lengths */
    uint8_t frame[sizeof(request)];

    for (size_t n = 0; n < sizeof(request); n++)
        CU_ASSERT(!arp_check((const void *)request, n));
    CU_ASSERT(arp_check((const void *)request, sizeof(request)));
    CU_ASSERT(arp_check((const void *)request, 60));
    for (unsigned at = FIRST; at <= LAST; at++) {
        memcpy(frame, request, sizeof(frame));
        frame[at] ^= 1;
        CU_ASSERT(!arp_check((const void *)frame, sizeof(frame)));
    }
}

enum {
    ARP_BYTES = 42,
    IPV4_BYTES = 34,
    SENDER_IN_ARP = 28,
    TARGET_IN_ARP = 38,
    SOURCE = 26,
    DESTINATION = 30
};

static const uint8_t ours[4] = {10, 77, 0, 254};
static uint8_t sent[64];

static uint32_t our_ip(void)
{
    uint32_t ip;

    memcpy(&ip, ours, sizeof(ip));
    return ip;
}

static void make_from(uint8_t type)
{
    static const uint8_t arp[] = {0, 1, 8, 0, 6, 4, 0, 1};

    memset(sent, 0, sizeof(sent));
    sent[12] = 8;
    sent[13] = type;
    if (type == 6)
        memcpy(sent + 14, arp, sizeof(arp));
    else
        sent[14] = 0x45;
}

static bool names(size_t at, size_t bytes)
{
    memcpy(sent + at, ours, sizeof(ours));
    return arp_or_ipv4_sender((const void *)sent, bytes) == our_ip();
}

TEST(arp_is_from_its_sender)
{
    make_from(6);
    CU_ASSERT(!names(TARGET_IN_ARP, ARP_BYTES));
    CU_ASSERT(names(SENDER_IN_ARP, ARP_BYTES));
    sent[21] = 2; /* an answer, too */
    CU_ASSERT(names(SENDER_IN_ARP, ARP_BYTES));
}

TEST(ipv4_is_from_its_source)
{
    make_from(0);
    CU_ASSERT(!names(DESTINATION, IPV4_BYTES));
    CU_ASSERT(names(SOURCE, IPV4_BYTES));
    sent[SOURCE] ^= 1;
    CU_ASSERT_NOT_EQUAL(arp_or_ipv4_sender((const void *)sent, IPV4_BYTES), our_ip());
}

TEST(other_frames_and_short_ones_are_from_nobody)
{
    make_from(6);
    for (size_t bytes = 14; bytes < ARP_BYTES; bytes++)
        CU_ASSERT(!names(SENDER_IN_ARP, bytes));
    sent[16] = 0x86; /* ARP for another protocol */
    CU_ASSERT(!names(SENDER_IN_ARP, ARP_BYTES));
    make_from(0);
    for (size_t bytes = 14; bytes < IPV4_BYTES; bytes++)
        CU_ASSERT(!names(SOURCE, bytes));
    make_from(0);
    sent[12] = 0x86;
    sent[13] = 0xDD;
    CU_ASSERT(!names(SOURCE, IPV4_BYTES));
}

enum { DATA = 57 };

/* An echo request from them to us, in a frame with so much data; returns the ICMP bytes. */
static size_t make_ping(uint8_t *frame, uint64_t *rng)
{
    struct frame_icmp *f = (void *)frame;
    const size_t bytes = sizeof(f->icmp) + DATA;

    memset(f, 0, sizeof(*f));
    f->eth = (struct net_ethernet){.dst_addr = us, .src_addr = them, .ether_type = net16(NET_TYPE_IPV4)};
    f->ip.version_ihl = NET_IPV4_PLAIN;
    f->ip.total_length = net16(sizeof(f->ip) + bytes);
    f->ip.time_to_live = 3;
    f->ip.next_proto_id = NET_PROTOCOL_ICMP;
    f->ip.src_addr = net32(0x0A000001);
    f->ip.dst_addr = net32(0x0A0000FE);
    f->icmp = (struct net_icmp_echo){.type = NET_ICMP_ECHO_REQUEST, .identifier = 0x3412, .sequence = 0x0100};
    fill(rng, f + 1, DATA);
    put16((uint8_t *)&f->icmp.checksum, checksum(sum_of((uint8_t *)&f->icmp, bytes)));
    return bytes;
}

TEST(a_ping_is_answered)
{
    uint8_t frame[sizeof(struct frame_icmp) + DATA], asked[sizeof(frame)];
    struct frame_icmp *f = (void *)frame;
    agg_ones_sum_fn *sum = kernels_or_exit()->ones_sum;
    uint64_t rng = rng_seed(11);

    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t bytes = make_ping(frame, &rng);

        memcpy(asked, frame, sizeof(frame));
        CU_ASSERT_EQUAL(icmp_check(f, sum), ICMP_ECHO_REQUEST);
        icmp_answer(f, &us, net32(0x0A0000FE), sum);
        CU_ASSERT(net_same_mac(&f->eth.dst_addr, &them) && net_same_mac(&f->eth.src_addr, &us));
        CU_ASSERT(f->ip.dst_addr == net32(0x0A000001) && f->ip.src_addr == net32(0x0A0000FE));
        CU_ASSERT_EQUAL(f->ip.time_to_live, 64);
        CU_ASSERT_EQUAL(checksum(sum_of((uint8_t *)&f->ip, sizeof(f->ip))), 0);
        CU_ASSERT(f->icmp.type == NET_ICMP_ECHO_REPLY && f->icmp.code == 0);
        CU_ASSERT_EQUAL(checksum(sum_of((uint8_t *)&f->icmp, bytes)), 0);
        CU_ASSERT_EQUAL(
            memcmp(&f->icmp.identifier, asked + offsetof(struct frame_icmp, icmp.identifier), 4 + DATA), 0);
        CU_ASSERT_EQUAL(icmp_check(f, sum), ICMP_OTHER);
    }
}

TEST(a_damaged_ping_is_told)
{
    uint8_t frame[sizeof(struct frame_icmp) + DATA];
    struct frame_icmp *f = (void *)frame;
    agg_ones_sum_fn *sum = kernels_or_exit()->ones_sum;
    uint64_t rng = rng_seed(13);

    for (size_t at = offsetof(struct frame_icmp, icmp); at < sizeof(frame); at++) {
        make_ping(frame, &rng);
        frame[at] ^= 0x10;
        CU_ASSERT_EQUAL(icmp_check(f, sum), ICMP_MALFORMED);
    }
    make_ping(frame, &rng);
    f->ip.total_length = net16(sizeof(f->ip) + sizeof(f->icmp) - 1);
    CU_ASSERT_EQUAL(icmp_check(f, sum), ICMP_MALFORMED);
}
