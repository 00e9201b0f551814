/* How many lines about jobs the log gets. */
#include "registry/job_lines.h"

#include "unit.h"

#define SECOND UINT64_C(1000000000)

enum { BURST = 1024, PER_SECOND = 16 };

static struct config cfg;
static struct job_lines lines;
static const uint64_t start = 100 * SECOND;

static void set_up(unsigned workers)
{
    cfg.limits.workers = workers;
    job_lines_init(&lines, &cfg, 7);
}

/* How many of so many lines on account of this address are written. */
static unsigned written(uint32_t heard, unsigned n, uint64_t now)
{
    unsigned admitted = 0;

    lines.heard = heard;
    while (n-- > 0)
        admitted += job_lines_admit(&lines, now);
    return admitted;
}

TEST(an_address_has_a_burst_then_a_rate)
{
    set_up(64);
    CU_ASSERT_EQUAL(written(1, 100000, start), BURST);
    CU_ASSERT_EQUAL(written(1, 100, start + SECOND), PER_SECOND);
}

/* Nor does what time or an operator brings about depend on any of them. */
TEST(one_that_has_had_its_part_costs_others_nothing)
{
    set_up(64);
    written(1, 100000, start);
    CU_ASSERT_EQUAL(written(2, 10, start), 10);
    CU_ASSERT_EQUAL(written(0, 10, start), 10);
}

TEST(all_lines_of_the_largest_job_fit_in)
{
    set_up(1000);
    CU_ASSERT_EQUAL(written(1, 100000, start), 4000);
    cfg.limits.workers = 2000; /* another configuration */
    job_lines_follow(&lines, &cfg);
    CU_ASSERT_EQUAL(written(2, 100000, start), 8000);
}

/* Once, with their number; and not more often than an address may write. */
TEST(the_log_tells_how_many_are_left_out)
{
    char text[JOB_LINES_TEXT_MAX];
    unsigned told = 0;

    set_up(64);
    CU_ASSERT(!job_lines_left_out(&lines, start, text));
    written(1, BURST + 7, start);
    CU_ASSERT(job_lines_left_out(&lines, start, text));
    CU_ASSERT_STRING_EQUAL(
        text, "7 lines about jobs are left out: more than 16 a second on account of one address");
    CU_ASSERT(!job_lines_left_out(&lines, start, text));
    for (unsigned i = 0; i < 2 * BURST; i++) {
        written(1, 1, start);
        told += job_lines_left_out(&lines, start, text);
    }
    CU_ASSERT_EQUAL(told, BURST - 1);
}
