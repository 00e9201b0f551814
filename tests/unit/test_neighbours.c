/* Neighbours: whose addresses are noted, and when the switch asks for them. */
#include "bridge/neighbours.h"
#include "unit.h"

#define S UINT64_C(1000000000)

static const struct net_mac first = {{2, 0, 0, 0, 0, 1}}, later = {{0xfe, 1, 2, 3, 4, 0xff}};

static void test_an_address_has_one_number(void)
{
    struct neighbours n = {0};

    CU_ASSERT_EQUAL(neighbours_add(&n, 0, 10), 0);
    CU_ASSERT_EQUAL(neighbours_add(&n, 0, 20), 1);
    CU_ASSERT_EQUAL(neighbours_add(&n, 0, 10), 0);
    CU_ASSERT_EQUAL(neighbours_add(&n, 1, 10), 2); /* another network */
    CU_ASSERT_EQUAL(n.n, 3);
}

static void test_what_answered_last_counts(void)
{
    struct neighbours n = {0};
    struct net_mac mac;
    uint8_t port;

    neighbours_add(&n, 0, 10);
    neighbours_add(&n, 0, 20);
    CU_ASSERT_FALSE(neighbours_find(&n, 1, &mac, &port));
    CU_ASSERT(neighbours_note(&n, 0, 20, &first, 3));
    CU_ASSERT(neighbours_note(&n, 0, 20, &later, 63));
    CU_ASSERT_FALSE(neighbours_note(&n, 0, 30, &first, 1));
    CU_ASSERT_FALSE(neighbours_find(&n, 0, &mac, &port));
    CU_ASSERT(neighbours_find(&n, 1, &mac, &port));
    CU_ASSERT(net_same_mac(&mac, &later));
    CU_ASSERT_EQUAL(port, 63);
}

static void test_it_is_asked_for_until_it_answers_and_then_now_and_then(void)
{
    struct neighbours n = {0};
    int port = -2;

    neighbours_add(&n, 0, 10);
    CU_ASSERT(neighbours_is_due(&n, 0, 5 * S, &port));
    CU_ASSERT_EQUAL(port, -1);
    CU_ASSERT_FALSE(neighbours_is_due(&n, 0, 5 * S + S / 2, &port));
    CU_ASSERT(neighbours_is_due(&n, 0, 6 * S, &port));
    neighbours_note(&n, 0, 10, &first, 7);
    CU_ASSERT_FALSE(neighbours_is_due(&n, 0, 8 * S, &port));
    CU_ASSERT(neighbours_is_due(&n, 0, 36 * S, &port));
    CU_ASSERT_EQUAL(port, 7);
    CU_ASSERT_FALSE(neighbours_is_due(&n, 0, 60 * S, &port));
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_an_address_has_one_number),
        UNIT_TEST(test_what_answered_last_counts),
        UNIT_TEST(test_it_is_asked_for_until_it_answers_and_then_now_and_then),
        CU_TEST_INFO_NULL,
    };

    return unit_main("neighbours", tests);
}
