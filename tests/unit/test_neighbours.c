/* Neighbours: whose addresses are noted, and when the switch asks for them. */
#include "bridge/neighbours.h"
#include "unit.h"

#define S UINT64_C(1000000000)

enum { IP = 10 };

static const struct net_mac first = {{2, 0, 0, 0, 0, 1}}, later = {{0xfe, 1, 2, 3, 4, 0xff}};

static struct neighbours n;

/* One that was never asked for. */
static void open_one(void)
{
    n = (struct neighbours){0};
    neighbours_add(&n, 0, IP);
}

EACH_TEST(open_one, NULL)

/* Asks at this second; on which port, -1: all, -2: it is not due. */
static int ask(uint64_t second)
{
    int port = -2;

    return neighbours_is_due(&n, 0, second * S, &port) ? port : -2;
}

static void answer(const struct net_mac *mac, uint8_t port)
{
    CU_ASSERT(neighbours_note(&n, 0, IP, mac, port, true));
}

static void expect_at(const struct net_mac *mac, uint8_t port)
{
    struct net_mac found;
    uint8_t found_port;

    CU_ASSERT(neighbours_find(&n, 0, &found, &found_port));
    CU_ASSERT(net_same_mac(&found, mac));
    CU_ASSERT_EQUAL(found_port, port);
}

TEST(an_address_has_one_number)
{
    CU_ASSERT_EQUAL(neighbours_add(&n, 0, 10), 0);
    CU_ASSERT_EQUAL(neighbours_add(&n, 0, 20), 1);
    CU_ASSERT_EQUAL(neighbours_add(&n, 0, 10), 0);
    CU_ASSERT_EQUAL(neighbours_add(&n, 1, 10), 2); /* another network */
    CU_ASSERT_EQUAL(n.n, 3);
}

TEST(only_answers_to_questions_count)
{
    struct net_mac mac;
    uint8_t port;

    answer(&later, 3);
    CU_ASSERT(!neighbours_find(&n, 0, &mac, &port));
    CU_ASSERT_EQUAL(ask(5), -1);
    CU_ASSERT(neighbours_note(&n, 0, IP, &later, 3, false));
    CU_ASSERT(!neighbours_note(&n, 0, IP + 1, &later, 3, true));
    CU_ASSERT(!neighbours_find(&n, 0, &mac, &port));
    answer(&first, 63);
    answer(&later, 3); /* too late */
    expect_at(&first, 63);
}

TEST(it_is_asked_for_until_it_answers_and_then_now_and_then)
{
    CU_ASSERT_EQUAL(ask(5), -1);
    CU_ASSERT_EQUAL(ask(5), -2);
    CU_ASSERT_EQUAL(ask(6), -1);
    answer(&first, 7);
    CU_ASSERT_EQUAL(ask(8), -2);
    CU_ASSERT_EQUAL(ask(36), 7);
    answer(&first, 7);
    CU_ASSERT_EQUAL(ask(60), -2);
}

TEST(nobody_takes_the_place_of_one_who_answers)
{
    ask(5);
    answer(&first, 7);
    for (unsigned second = 6; second < 90; second++) {
        CU_ASSERT(neighbours_note(&n, 0, IP, &later, 3, false));
        answer(&later, 3);
        answer(&first, 3); /* with the MAC address of the neighbour */
        CU_ASSERT_EQUAL(ask(second), 7);
        answer(&later, 3);
        answer(&first, 7);
        expect_at(&first, 7);
    }
}

/* Asks until all ports are asked. */
static void fall_silent(uint64_t second)
{
    CU_ASSERT_EQUAL(ask(second), 7);
    CU_ASSERT_EQUAL(ask(second + 1), 7);
    CU_ASSERT_EQUAL(ask(second + 2), 7);
    CU_ASSERT_EQUAL(ask(second + 3), -1);
}

TEST(one_who_is_silent_is_asked_for_everywhere_and_replaced)
{
    ask(5);
    answer(&first, 7);
    fall_silent(35);
    answer(&first, 7);
    answer(&later, 3);
    expect_at(&first, 7);
    fall_silent(100);
    answer(&later, 3);
    expect_at(&later, 3);
    CU_ASSERT_EQUAL(ask(133), 3);
}

TEST(one_with_a_key_is_replaced_by_who_has_it)
{
    struct net_mac mac;
    uint8_t port;

    neighbours_set_keyed(&n, 0, true);
    ask(5);
    answer(&later, 3); /* was quicker */
    answer(&first, 7);
    expect_at(&later, 3);
    CU_ASSERT(neighbours_find_other(&n, 0, &mac, &port));
    CU_ASSERT(net_same_mac(&mac, &first) && port == 7);
    neighbours_prove(&n, 0, &first, 7);
    expect_at(&first, 7);
    CU_ASSERT(!neighbours_find_other(&n, 0, &mac, &port));

    CU_ASSERT_EQUAL(ask(6), -2);
    fall_silent(35);
    answer(&later, 3);
    neighbours_prove(&n, 0, &later, 4); /* it was heard elsewhere */
    expect_at(&first, 7);
    neighbours_prove(&n, 0, &later, 3);
    expect_at(&later, 3);
}

TEST(one_whose_port_goes_is_asked_for_at_once)
{
    struct net_mac mac;
    uint8_t port;

    ask(5);
    answer(&first, 7);
    neighbours_lose(&n, 8);
    expect_at(&first, 7);
    neighbours_lose(&n, 7);
    CU_ASSERT(!neighbours_find(&n, 0, &mac, &port));
    CU_ASSERT_EQUAL(ask(5), -1);
}
