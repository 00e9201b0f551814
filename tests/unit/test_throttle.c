/* Token buckets by source: what one may do, and that others do not change it. */
#include "share/throttle.h"

#include "unit.h"

#define MS UINT64_C(1000000)

enum { SEED = 7, BURST = 10, PER_SECOND = 4 };

static struct throttle t;
static const uint64_t start = 5000 * MS;

static void set_up(void)
{
    throttle_init(&t, (struct throttle_rate){.burst = BURST, .per_second = PER_SECOND}, SEED);
}

EACH_TEST(set_up, NULL)

/* How many of so many attempts at once are admitted. */
static unsigned admitted(uint32_t source, unsigned attempts, uint64_t now)
{
    unsigned n = 0;

    while (attempts-- > 0)
        n += throttle_admit(&t, source, now);
    return n;
}

TEST(a_burst_then_a_rate)
{
    CU_ASSERT_EQUAL(admitted(1, 100, start), BURST);
    CU_ASSERT_EQUAL(admitted(1, 100, start + 249 * MS), 0);
    CU_ASSERT_EQUAL(admitted(1, 100, start + 250 * MS), 1);
    CU_ASSERT_EQUAL(admitted(1, 100, start + 1250 * MS), PER_SECOND);
}

TEST(what_is_refused_costs_nothing)
{
    admitted(1, 100000, start);
    CU_ASSERT_EQUAL(admitted(1, 1, start + 250 * MS), 1);
}

TEST(a_pause_saves_up_no_more_than_a_burst)
{
    admitted(1, 3, start);
    CU_ASSERT_EQUAL(admitted(1, 100, start + 3600 * 1000 * MS), BURST);
}

TEST(sources_have_buckets_of_their_own)
{
    admitted(1, 100, start);
    for (uint32_t source = 2; source < 100; source++)
        CU_ASSERT_EQUAL(admitted(source, 100, start), BURST);
    CU_ASSERT_EQUAL(admitted(0, 100, start), BURST); /* the table's empty places are not source 0 */
}

/* More sources than there are places, each heard once: the one that is held back is not forgotten. */
TEST(many_sources_free_nobody)
{
    admitted(1, 100, start);
    for (uint32_t source = 2; source < 100000; source++)
        CU_ASSERT(throttle_admit(&t, source, start));
    CU_ASSERT_EQUAL(admitted(1, 100, start), 0);
}
