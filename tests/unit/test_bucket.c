/* A token bucket: what it gives at once, how fast it fills, and what it gives to those who want more than it
 * holds. */
#include "share/bucket.h"

#include "unit.h"

enum { BURST = 10, EACH = 7 };

static const struct share_rate rate = {.each = EACH, .burst = BURST};
static struct share_bucket b;

/* How many single tokens it gives at this time. */
static unsigned given(uint64_t now)
{
    unsigned n = 0;

    while (n < 1000 && share_take(&b, &rate, 1, now))
        n++;
    return n;
}

TEST(a_burst_then_a_rate)
{
    b = (struct share_bucket){0};
    CU_ASSERT_EQUAL(given(1000), BURST);
    CU_ASSERT_EQUAL(given(1000 + EACH - 1), 0);
    CU_ASSERT_EQUAL(given(1000 + EACH), 1);
    CU_ASSERT_EQUAL(given(1000 + 4 * EACH), 3);
    CU_ASSERT_EQUAL(given(1000000), BURST);
}

TEST(several_tokens_are_taken_at_once_or_not_at_all)
{
    b = (struct share_bucket){0};
    CU_ASSERT(share_take(&b, &rate, 8, 1000));
    CU_ASSERT(!share_take(&b, &rate, 3, 1000));
    CU_ASSERT(share_take(&b, &rate, 2, 1000));
    CU_ASSERT(!share_take(&b, &rate, 1, 1000));
}

TEST(more_than_it_holds_is_given_when_it_is_full_and_comes_off_later)
{
    b = (struct share_bucket){0};
    CU_ASSERT(share_take(&b, &rate, 3 * BURST, 1000));
    CU_ASSERT(!share_take(&b, &rate, 1, 1000 + 2 * BURST * EACH));
    CU_ASSERT(share_take(&b, &rate, 1, 1000 + (2 * BURST + 1) * EACH));
    CU_ASSERT(!share_take(&b, &rate, 3 * BURST, 1000 + 3 * BURST * EACH));
    CU_ASSERT(share_take(&b, &rate, 3 * BURST, 1000 + (3 * BURST + 1) * EACH));
}

TEST(the_rate_holds_over_a_long_time)
{
    unsigned n = 0;

    b = (struct share_bucket){0};
    for (uint64_t now = 0; now < 70000; now++)
        n += given(now);
    CU_ASSERT_EQUAL(n, BURST + 69999 / EACH);
}
