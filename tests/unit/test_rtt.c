/* Round trips: RFC 6298's own figures, the bounds of the timeout, and the base, which forgets old samples. */
#include "transfer/rtt.h"

#include "unit.h"

static const uint64_t MS = 1000000, S = 1000000000;

static struct xfer_rtt r;

static void start(void)
{
    xfer_rtt_init(&r, 20 * MS, 2 * MS, 200 * MS);
}

EACH_TEST(start, NULL)

TEST(what_is_0_has_a_default)
{
    const struct xfer_rtt said = r;

    xfer_rtt_init(&r, 0, 0, 0);
    CU_ASSERT(r.first == said.first && r.min == said.min && r.max == said.max);
}

TEST(before_the_first_sample_the_timer_has_its_first_value)
{
    CU_ASSERT_EQUAL(xfer_rtt_rto(&r), 20 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 0), 20 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 2), 80 * MS);
}

TEST(samples_make_mean_and_variance)
{
    xfer_rtt_sample(&r, 8 * MS, 0); /* SRTT = R, RTTVAR = R/2 */
    CU_ASSERT_EQUAL(r.srtt, 8 * MS);
    CU_ASSERT_EQUAL(r.var, 4 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_rto(&r), 24 * MS);

    xfer_rtt_sample(&r, 16 * MS, 1); /* 3/4 * 4 + 1/4 * |8 - 16|, then 7/8 * 8 + 1/8 * 16 */
    CU_ASSERT_EQUAL(r.var, 5 * MS);
    CU_ASSERT_EQUAL(r.srtt, 9 * MS);

    xfer_rtt_sample(&r, 1 * MS, 2);
    CU_ASSERT_EQUAL(r.var, 5750000);
    CU_ASSERT_EQUAL(r.srtt, 8 * MS);
}

TEST(the_timer_stays_within_its_bounds)
{
    for (unsigned i = 0; i < 100; i++)
        xfer_rtt_sample(&r, 10000, i);
    CU_ASSERT_EQUAL(xfer_rtt_rto(&r), 2 * MS);
    for (unsigned i = 0; i < 100; i++)
        xfer_rtt_sample(&r, 5 * S, (i + 1) * 6 * S);
    CU_ASSERT_EQUAL(xfer_rtt_rto(&r), 200 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 0), 200 * MS);
    xfer_rtt_sample(&r, 0, 700 * S);
    CU_ASSERT(r.srtt > 0);
}

TEST(the_first_question_is_early_and_the_next_back_off)
{
    for (unsigned i = 0; i < 100; i++)
        xfer_rtt_sample(&r, 100000, i);
    CU_ASSERT(xfer_rtt_interval(&r, 0) >= 200000);
    CU_ASSERT(xfer_rtt_interval(&r, 0) < 2 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 1), 4 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 2), 8 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 6), 128 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 7), 200 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 1000000), 200 * MS);
}

/* Another rank's timer held a chunk up. If it is the path that has become longer, few more samples tell. */
TEST(one_sample_says_little_and_several_say_all)
{
    for (unsigned i = 0; i < 100; i++)
        xfer_rtt_sample(&r, 10000, i);
    xfer_rtt_sample(&r, 185 * MS, 100);
    CU_ASSERT(xfer_rtt_interval(&r, 0) < 3 * MS);
    for (unsigned i = 0; i < 20; i++)
        xfer_rtt_sample(&r, 40 * MS, (i + 1) * S);
    CU_ASSERT(r.srtt > 30 * MS);
}

/* What holds one chunk up holds up the whole window: each of its chunks is a sample. */
TEST(many_samples_of_one_round_trip_say_little)
{
    for (unsigned i = 0; i < 100; i++)
        xfer_rtt_sample(&r, 1 * MS, i * MS);
    for (unsigned i = 0; i < 300; i++)
        xfer_rtt_sample(&r, 900 * MS, 1 * S);
    CU_ASSERT(r.srtt <= 8 * MS);
}

/* Other ranks' timers have held results up. If each learned from them, one would wait for another. */
TEST(no_timer_is_longer_than_the_path_explains)
{
    for (unsigned i = 0; i < 100; i++)
        xfer_rtt_sample(&r, 1 * MS, i * MS);
    for (unsigned i = 1; i <= 20; i++)
        xfer_rtt_sample(&r, 100 * MS, i * 200 * MS);
    CU_ASSERT(r.srtt > 50 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_rto(&r), 8 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 0), 8 * MS);
    CU_ASSERT_EQUAL(xfer_rtt_interval(&r, 1), 16 * MS);

    /* In some seconds it is the path that has become longer. */
    for (unsigned i = 1; i <= 20; i++)
        xfer_rtt_sample(&r, 100 * MS, 4 * S + i * S);
    CU_ASSERT(xfer_rtt_rto(&r) > 100 * MS);
}

TEST(the_base_is_the_smallest_of_late)
{
    CU_ASSERT_EQUAL(r.base, 0);
    xfer_rtt_sample(&r, 300, 0);
    xfer_rtt_sample(&r, 100, 1);
    xfer_rtt_sample(&r, 200, 2);
    CU_ASSERT_EQUAL(r.base, 100);

    /* The path has become longer: the old base is forgotten, but not at once. */
    xfer_rtt_sample(&r, 500, 6 * S);
    CU_ASSERT_EQUAL(r.base, 100);
    xfer_rtt_sample(&r, 600, 9 * S);
    xfer_rtt_sample(&r, 700, 12 * S);
    CU_ASSERT_EQUAL(r.base, 500);
    xfer_rtt_sample(&r, 50, 13 * S);
    CU_ASSERT_EQUAL(r.base, 50);
}

/* In a tree the nearest switch answers, and results come from the root. */
TEST(answers_count_for_the_timer_alone)
{
    xfer_rtt_sample(&r, 100, 0);
    xfer_rtt_answered(&r, 20);
    CU_ASSERT_EQUAL(r.srtt, 100 - 100 / 8 + 20 / 8);
    CU_ASSERT_EQUAL(r.base, 100);
}
