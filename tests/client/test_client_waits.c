/* Whom the time of a wait is charged to, with the times given by the test. */
#include "waits.h"

#include "unit.h"

enum { RANKS = 4, ROUND_TRIP = 10 };

static struct waits w;

/* Of a call that begins at 100. */
static void begin(void)
{
    CU_ASSERT_EQUAL_FATAL(waits_open(&w, RANKS), 0);
    waits_begin(&w, ROUND_TRIP, 100, 100);
}

static void end(void)
{
    waits_close(&w);
}

EACH_TEST(begin, end)

static void note(uint64_t progress, uint64_t now, unsigned n, uint16_t first, uint16_t second)
{
    waits_note(&w, progress, (uint16_t[]){first, second}, n, now);
}

static void nobody(uint64_t progress, uint64_t now)
{
    note(progress, now, 0, 0, 0);
}

/* The totals, of all and of each rank. */
static void expect(uint64_t total, uint64_t rank0, uint64_t rank1, uint64_t rank2)
{
    uint64_t got[RANKS + 1] = {[RANKS] = 99};
    waits_read(&w, got, RANKS + 1);
    CU_ASSERT_EQUAL(waits_total(&w), total);
    CU_ASSERT_EQUAL(got[0], rank0);
    CU_ASSERT_EQUAL(got[1], rank1);
    CU_ASSERT_EQUAL(got[2], rank2);
    CU_ASSERT_EQUAL(got[3], 0);
    CU_ASSERT_EQUAL(got[RANKS], 0); /* there is no such rank */
}

TEST(a_call_in_which_results_come_waits_for_nobody)
{
    nobody(110, 110);
    nobody(500, 500);
    expect(0, 0, 0, 0);
}

TEST(the_rank_that_is_missing_is_charged_until_the_result)
{
    note(100, 130, 1, 2, 0);
    nobody(400, 400);
    expect(290, 0, 0, 290);
}

TEST(of_several_each_is_charged_as_long_as_it_is_missing)
{
    note(100, 130, 2, 0, 1);
    note(100, 200, 1, 1, 0);
    nobody(300, 300);
    expect(190, 20, 190, 0);
}

TEST(a_wait_that_goes_on_shows_already)
{
    note(100, 130, 1, 1, 0);
    note(100, 1000, 1, 1, 0);
    expect(890, 0, 890, 0);
}

TEST(a_wait_of_a_round_trip_is_none)
{
    note(100, 105, 1, 1, 0);
    nobody(109, 109);
    expect(0, 0, 0, 0);
}

TEST(each_wait_of_a_call_counts_from_the_result_before_it)
{
    nobody(200, 200);
    note(200, 220, 1, 1, 0);
    nobody(300, 300);
    note(300, 330, 1, 2, 0);
    nobody(350, 360); /* the result came before the clock was read */
    expect(130, 0, 90, 40);
}

TEST(who_was_missing_when_the_switch_was_lost_is_forgotten)
{
    note(100, 130, 1, 1, 0);
    waits_begin(&w, ROUND_TRIP, 100, 5000);
    nobody(6000, 6000);
    expect(20, 0, 20, 0);
}

/* The newest result is older than the switch that is asked now. */
TEST(a_wait_over_a_restart_is_charged_once)
{
    note(100, 200, 1, 1, 0);
    waits_begin(&w, ROUND_TRIP, 100, 250);
    note(100, 300, 1, 1, 0);
    nobody(400, 400);
    expect(90 + 140, 0, 90 + 140, 0);
}
