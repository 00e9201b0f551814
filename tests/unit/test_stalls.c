/* A polling lcore that has stood still: it counts that itself when it goes on, and the main lcore logs it
 * with the reason. */
#include "lcore/stalls.h"
#include "lcore_rig.h"
#include "stderr_capture.h"

static const uint64_t second_ns = 1000000000;

static struct stall_watch watch;
static struct lcore lcore;
static struct lcore *const lcores[] = {&lcore};
static uint64_t now;

static void begin(void)
{
    watch = (struct stall_watch){0};
    lcore = (struct lcore){.tid = rte_sys_gettid()};
    now = second_ns;
    capture_take();
}

/* What is told when the main lcore looks, `later` ns after it has looked before. */
static const char *look(uint64_t later)
{
    now += later;
    stalls_tell(&watch, lcores, 1, now);
    return capture_take();
}

static void stall(unsigned ms)
{
    count_event(&lcore.counters, EVENT_STALLS, 1);
    count_event(&lcore.counters, EVENT_STALLED_MS, ms);
    count_event(&lcore.counters, EVENT_ROUNDS, 1);
}

TEST(a_round_that_comes_late_is_counted)
{
    uint64_t at;

    rig_open();
    at = rig.receive.now;
    lcore_round(&rig, at += rig.pace.stall - 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLS], 0);
    lcore_round(&rig, at += rig.pace.stall);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLS], 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLED_MS], rig.pace.stall / rig.pace.cycles_per_ms);
    lcore_round(&rig, ++at);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLS], 1);

    rig.rested = 7 * rig.pace.stall; /* a nap is none, however long */
    lcore_round(&rig, at += 8 * rig.pace.stall - 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLS], 1);
    rig.rested = 7 * rig.pace.stall; /* whoever is not woken when it is over has stood still */
    lcore_round(&rig, at += 8 * rig.pace.stall);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLS], 2);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLED_MS], 2 * rig.pace.stall / rig.pace.cycles_per_ms);
    lcore_round(&rig, at + rig.pace.stall);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_STALLS], 3);
    rig_close();
}

TEST(what_the_kernel_says_of_a_thread)
{
    struct stall_times before, after;

    begin();
    CU_ASSERT_FATAL(stall_times(&lcore, &before));
    CU_ASSERT(before.ran_ns > 0);
    do { /* the kernel counts what has run by the tick */
        CU_ASSERT_FATAL(stall_times(&lcore, &after));
    } while (after.ran_ns == before.ran_ns);
    CU_ASSERT(after.ran_ns > before.ran_ns && after.waited_ns >= before.waited_ns);
    lcore.tid = 0; /* it does not run yet */
    CU_ASSERT(!stall_times(&lcore, &after));
}

TEST(a_stall_is_told_once)
{
    begin();
    count_event(&lcore.counters, EVENT_ROUNDS, 1);
    CU_ASSERT_STRING_EQUAL(look(second_ns), "");
    stall(250);
    CU_ASSERT_PTR_NOT_NULL(strstr(look(second_ns), "warning: lcore 0 on CPU "));
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, " stood still 1 times, 250 ms in all; "));
    count_event(&lcore.counters, EVENT_ROUNDS, 1);
    CU_ASSERT_STRING_EQUAL(look(60 * second_ns), "");
}

TEST(stalls_are_told_together_now_and_then)
{
    begin();
    stall(100);
    CU_ASSERT_PTR_NOT_NULL(strstr(look(second_ns), "stood still 1 times"));
    for (unsigned i = 0; i < 9; i++) {
        stall(200);
        CU_ASSERT_STRING_EQUAL(look(second_ns), "");
    }
    stall(200);
    CU_ASSERT_PTR_NOT_NULL(strstr(look(second_ns), "stood still 10 times, 2000 ms in all"));
}

TEST(one_that_still_stands_is_not_spoken_of)
{
    begin();
    stall(100);
    look(second_ns);
    count_event(&lcore.counters, EVENT_STALLS, 1); /* no round since */
    CU_ASSERT_STRING_EQUAL(look(60 * second_ns), "");
    count_event(&lcore.counters, EVENT_ROUNDS, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(look(second_ns), "stood still 1 times"));
}

/* After an hour's stall in which the kernel has counted so much; what it really counts meanwhile is far less.
 */
static const char *look_after_an_hour(uint64_t ran_ns, uint64_t waited_ns)
{
    struct stall_times times;

    begin();
    CU_ASSERT_FATAL(stall_times(&lcore, &times));
    watch.lcore[0].was = (struct stall_times){times.ran_ns - ran_ns, times.waited_ns - waited_ns};
    stall(3600 * 1000);
    return look(second_ns);
}

TEST(why_it_stood_still)
{
    const uint64_t most_ns = 3000 * second_ns;

    CU_ASSERT_PTR_NOT_NULL(strstr(look_after_an_hour(0, most_ns), ": other programs had its CPU"));
    CU_ASSERT_PTR_NOT_NULL(strstr(look_after_an_hour(most_ns, 0), ": it was in the kernel"));
    CU_ASSERT_PTR_NOT_NULL(strstr(look_after_an_hour(0, 0), ": it was stopped, or the machine"));
}

int main(void)
{
    int status;

    if (!capture_begin())
        return EXIT_FAILURE;
    status = unit_main();
    capture_end();
    return status;
}
