/* Claims of the switch's address by other stations: noted by any lcore, taken once. */
#include "bridge/claim.h"
#include "unit.h"

static void test_the_last_claim_is_taken_once(void)
{
    static const struct net_mac first = {{2, 0, 0, 0, 0, 1}}, last = {{0xfe, 1, 2, 3, 4, 0xff}};
    struct net_mac station;
    struct claim c = {0};
    uint8_t port;

    CU_ASSERT_FALSE(claim_take(&c, &station, &port));
    claim_note(&c, &first, 3);
    claim_note(&c, &last, 63);
    CU_ASSERT(claim_take(&c, &station, &port));
    CU_ASSERT(net_same_mac(&station, &last));
    CU_ASSERT_EQUAL(port, 63);
    CU_ASSERT_FALSE(claim_take(&c, &station, &port));
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_the_last_claim_is_taken_once),
        CU_TEST_INFO_NULL,
    };

    return unit_main("claim", tests);
}
