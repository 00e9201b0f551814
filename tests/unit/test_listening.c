/* The registry's clock: what counts as time, and what does not. */
#include "registry/listening.h"

#include "unit.h"

#define MS UINT64_C(1000000)

enum { PAUSE_MS = 100, STEP_MS = 10, RECEIVERS = 2 };

static struct listening listening;
static uint64_t now, rounds[RECEIVERS];
static const uint64_t start = 5000 * MS;

static void set_up(void)
{
    now = start;
    listening_init(&listening, PAUSE_MS * MS, now);
}

/* The clock's time after so many ms, in which the receivers of the set (bit r) make rounds. */
static uint64_t after(unsigned ms, unsigned moving)
{
    uint64_t time = 0;

    for (unsigned passed = 0; passed < ms; passed += STEP_MS) {
        now += STEP_MS * MS;
        for (unsigned i = 0; i < RECEIVERS; i++)
            rounds[i] += moving >> i & 1;
        time = listening_time(&listening, rounds, RECEIVERS, now);
    }
    return time - start;
}

TEST(it_goes_by_the_machine_while_all_listen)
{
    set_up();
    CU_ASSERT_EQUAL(after(60000, 3), 60000 * MS);
    CU_ASSERT_EQUAL(listening_time(&listening, rounds, RECEIVERS, now), start + 60000 * MS);
}

TEST(it_stops_while_one_receiver_stands_still)
{
    set_up();
    CU_ASSERT_EQUAL(after(1000, 3), 1000 * MS);
    CU_ASSERT_EQUAL(after(30000, 2), (1000 + PAUSE_MS) * MS);
    CU_ASSERT_EQUAL(after(1000, 3), (1000 + PAUSE_MS + 1000) * MS);
}

TEST(short_pauses_count)
{
    set_up();
    for (unsigned i = 0; i < 100; i++) {
        after(PAUSE_MS - STEP_MS, 1);
        after(STEP_MS, 3);
    }
    CU_ASSERT_EQUAL(listening_time(&listening, rounds, RECEIVERS, now), start + 100 * PAUSE_MS * MS);
}

/* The whole process was stopped: the lcores may have made rounds since, or not yet. */
TEST(it_stops_while_nobody_asks)
{
    for (unsigned moved = 0; moved < 2; moved++) {
        set_up();
        CU_ASSERT_EQUAL(after(1000, 3), 1000 * MS);
        now += 30000 * MS;
        rounds[0] += moved;
        rounds[1] += moved;
        CU_ASSERT(listening_time(&listening, rounds, RECEIVERS, now) <= start + (1000 + PAUSE_MS) * MS);
        CU_ASSERT(after(1000, 3) >= 2000 * MS);
        CU_ASSERT(after(1000, 3) <= (3000 + PAUSE_MS) * MS);
    }
}

/* Who stood still, went on and stands still again has listened in between only. */
TEST(a_round_now_and_then_is_little_time)
{
    set_up();
    for (unsigned i = 0; i < 10; i++) {
        after(5000 - STEP_MS, 0);
        after(STEP_MS, 3);
    }
    CU_ASSERT(listening_time(&listening, rounds, RECEIVERS, now) - start <= 11 * (PAUSE_MS + STEP_MS) * MS);
}

/* However long it takes until a member is lost, and though each question comes twice as late as it should. */
TEST(no_time_is_lost_between_questions)
{
    static const uint32_t lost_after_ms[] = {2000, 5000, 20000, 60000, 600000};

    for (unsigned i = 0; i < sizeof lost_after_ms / sizeof *lost_after_ms; i++) {
        const uint64_t late = 2 * listening_ask_every_ms(lost_after_ms[i]) * MS;
        uint64_t time = start;

        listening_init(&listening, LISTENING_PAUSE_MS * MS, now = start);
        while (now < start + lost_after_ms[i] * MS)
            time = listening_time(&listening, NULL, 0, now += late);
        CU_ASSERT_EQUAL(time, now);
    }
}
