/* Frames that claim an address: ARP and IPv4 that name it as the sender's, and nothing else. */
#include <string.h>

#include "bridge/claim.h"
#include "unit.h"

enum {
    ARP_BYTES = 42,
    IPV4_BYTES = 34,
    SENDER_IN_ARP = 28,
    TARGET_IN_ARP = 38,
    SOURCE = 26,
    DESTINATION = 30
};

static const uint8_t ours[4] = {10, 77, 0, 254};
static _Alignas(2) uint8_t frame[64];

static rte_be32_t our_ip(void)
{
    rte_be32_t ip;

    memcpy(&ip, ours, sizeof(ip));
    return ip;
}

static void make(uint8_t type)
{
    static const uint8_t arp[] = {0, 1, 8, 0, 6, 4, 0, 1};

    memset(frame, 0, sizeof(frame));
    frame[12] = 8;
    frame[13] = type;
    if (type == 6)
        memcpy(frame + 14, arp, sizeof(arp));
    else
        frame[14] = 0x45;
}

static bool claims(size_t at, size_t bytes)
{
    memcpy(frame + at, ours, sizeof(ours));
    return claim_in_frame(frame, bytes, our_ip());
}

static void test_arp_claims_by_its_sender_alone(void)
{
    make(6);
    CU_ASSERT_FALSE(claims(TARGET_IN_ARP, ARP_BYTES));
    CU_ASSERT(claims(SENDER_IN_ARP, ARP_BYTES));
    frame[21] = 2; /* an answer, too */
    CU_ASSERT(claims(SENDER_IN_ARP, ARP_BYTES));
}

static void test_ipv4_claims_by_its_source_alone(void)
{
    make(0);
    CU_ASSERT_FALSE(claims(DESTINATION, IPV4_BYTES));
    CU_ASSERT(claims(SOURCE, IPV4_BYTES));
    frame[SOURCE] ^= 1;
    CU_ASSERT_FALSE(claim_in_frame(frame, IPV4_BYTES, our_ip()));
}

static void test_other_frames_and_short_ones_claim_nothing(void)
{
    make(6);
    for (size_t bytes = 14; bytes < ARP_BYTES; bytes++)
        CU_ASSERT_FALSE(claims(SENDER_IN_ARP, bytes));
    frame[16] = 0x86; /* ARP for another protocol */
    CU_ASSERT_FALSE(claims(SENDER_IN_ARP, ARP_BYTES));
    make(0);
    for (size_t bytes = 14; bytes < IPV4_BYTES; bytes++)
        CU_ASSERT_FALSE(claims(SOURCE, bytes));
    make(0);
    frame[12] = 0x86;
    frame[13] = 0xDD;
    CU_ASSERT_FALSE(claims(SOURCE, IPV4_BYTES));
}

static void test_the_last_claim_is_taken_once(void)
{
    static const struct rte_ether_addr first = {{2, 0, 0, 0, 0, 1}}, last = {{0xfe, 1, 2, 3, 4, 0xff}};
    struct rte_ether_addr station;
    struct claim c = {0};
    uint8_t port;

    CU_ASSERT_FALSE(claim_take(&c, &station, &port));
    claim_note(&c, &first, 3);
    claim_note(&c, &last, 63);
    CU_ASSERT(claim_take(&c, &station, &port));
    CU_ASSERT(rte_is_same_ether_addr(&station, &last));
    CU_ASSERT_EQUAL(port, 63);
    CU_ASSERT_FALSE(claim_take(&c, &station, &port));
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_arp_claims_by_its_sender_alone),
        UNIT_TEST(test_ipv4_claims_by_its_source_alone),
        UNIT_TEST(test_other_frames_and_short_ones_claim_nothing),
        UNIT_TEST(test_the_last_claim_is_taken_once),
        CU_TEST_INFO_NULL,
    };

    return unit_main("claim", tests);
}
