/* Who has which address on the link of a rank's own device: when he is asked for, what is heard of him, who
 * is forgotten. */
#include "dpdk/neighbours.h"

#include "unit.h"

enum { MS = 1000000 };

static const struct net_mac first = {{2, 0, 0, 0, 0, 1}}, second = {{2, 0, 0, 0, 0, 2}},
                            group = {{1, 0, 0x5E, 0, 0, 1}};

static struct neighbours n;

static bool is_asked(uint32_t ip, uint64_t now)
{
    bool ask;
    neighbours_find(&n, ip, now, &ask);
    return ask;
}

static const struct net_mac *found(uint32_t ip, uint64_t now)
{
    bool ask;
    return neighbours_find(&n, ip, now, &ask);
}

TEST(who_is_not_known_is_asked_for_now_and_then)
{
    n = (struct neighbours){0};
    unsigned asked = 0;
    CU_ASSERT_TRUE(is_asked(7, 1));
    for (uint64_t now = 1; now <= UINT64_C(1000) * MS; now += MS)
        asked += is_asked(7, now);
    CU_ASSERT_EQUAL(asked, 4); /* 5 times a second */
    CU_ASSERT_PTR_NULL(found(7, 1));
}

TEST(who_answers_is_found_and_asked_again_when_that_is_old)
{
    n = (struct neighbours){0};
    is_asked(7, 1);
    neighbours_hear(&n, 7, &first, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found(7, 3));
    CU_ASSERT_TRUE(net_same_mac(found(7, 3), &first));
    CU_ASSERT_FALSE(is_asked(7, UINT64_C(9000) * MS));
    CU_ASSERT_TRUE(is_asked(7, UINT64_C(11000) * MS));
    CU_ASSERT_TRUE(
        net_same_mac(found(7, UINT64_C(11000) * MS), &first)); /* until another says that it is he */
    neighbours_hear(&n, 7, &second, UINT64_C(11001) * MS);
    CU_ASSERT_TRUE(net_same_mac(found(7, UINT64_C(11002) * MS), &second));
}

TEST(nobody_is_remembered_who_was_not_asked_for_and_no_group)
{
    n = (struct neighbours){0};
    neighbours_hear(&n, 7, &first, 1);
    CU_ASSERT_PTR_NULL(found(7, 2));
    neighbours_hear(&n, 7, &group, 3);
    neighbours_hear(&n, 0, &first, 3);
    CU_ASSERT_PTR_NULL(found(7, 4));
}

TEST(the_one_used_longest_ago_is_forgotten_for_a_new_one)
{
    n = (struct neighbours){0};
    for (uint32_t ip = 1; ip <= NEIGHBOURS_MAX; ip++) {
        found(ip, ip);
        neighbours_hear(&n, ip, &first, ip);
    }
    CU_ASSERT_PTR_NOT_NULL(found(1, 100));
    CU_ASSERT_PTR_NULL(found(1000, 101));
    CU_ASSERT_PTR_NOT_NULL(found(1, 102));
    CU_ASSERT_PTR_NULL(found(2, 103)); /* it was used longest ago */
}
