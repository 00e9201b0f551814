/* Jobs that share an lcore which has more to do than it can: frames wait by job, and are served in turn. */
#include "lcore_rig.h"

enum { FLOOD = RIG_JOB + 1, STRANGER = 7, FLOW = AGG_PROTOCOL_SWITCHML * AGG_JOBS };

static uint32_t running;
static struct job flooding;

/* A second job of the same members. */
static void open_two(void)
{
    static struct agg_seat seats[2 * RIG_MEMBERS];
    static struct job_lane lane[RIG_LCORES];

    rig_open();
    rig_make_job(&(struct rig_job_parts){&flooding, lane, seats}, FLOOD);
    running = 2;
    rig.engine.jobs_running = &running;
}

static void close_two(void)
{
    agg_jobs_set(&rig_jobs, FLOOD, NULL);
    sml_protocol.drain(flooding.common.pool, rig_release);
    free(flooding.common.pool);
    rig_close();
}

/* Contributions of one rank that the job has already, but for the first. */
static void flood(unsigned port, uint8_t job, unsigned frames)
{
    while (frames-- > 0)
        fake_port_arrive(&rig_fake[port], 0, rig_data(port, 0, job, 1));
}

static unsigned waiting(uint8_t job)
{
    return rig.engine.fair.queue[FLOW + job].n;
}

static uint64_t over_share(unsigned port)
{
    return rig_dropped(port, DROP_OVER_SHARE);
}

static void test_a_job_is_served_though_another_has_filled_the_line(void)
{
    open_two();
    flood(0, FLOOD, 500);
    for (uint32_t tag = 0; tag < RIG_SLOTS; tag++) {
        fake_port_arrive(&rig_fake[0], 0, rig_data(0, tag, RIG_JOB, 1));
        fake_port_arrive(&rig_fake[1], 0, rig_data(1, tag, RIG_JOB, 2));
    }
    for (unsigned round = 0; round < 4; round++) /* 500 frames take twice as many */
        rig_round();
    CU_ASSERT_EQUAL(rig_sent_all(), RIG_MEMBERS * RIG_SLOTS);
    CU_ASSERT(waiting(FLOOD) > 0 && waiting(RIG_JOB) == 0);
    while (rig_round() > 0)
        ;
    CU_ASSERT_EQUAL(rig.engine.fair.held, 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 500 + RIG_MEMBERS * RIG_SLOTS);
    CU_ASSERT_EQUAL(rig_drops(), 0);
    close_two();
}

static void test_jobs_are_served_by_their_weights(void)
{
    unsigned before[2];

    open_two();
    rig_job.turn = 3 * flooding.turn / 4;
    flooding.turn /= 4;
    rig.engine.pressed = true;
    flood(0, RIG_JOB, 400);
    flood(1, FLOOD, 400);
    for (unsigned round = 0; round < 3; round++) /* till all are in line */
        rig_round();
    before[0] = waiting(RIG_JOB);
    before[1] = waiting(FLOOD);
    for (unsigned round = 0; round < 5; round++)
        rig_round();
    before[0] -= waiting(RIG_JOB);
    before[1] -= waiting(FLOOD);
    CU_ASSERT_EQUAL(before[0] + before[1], 5 * ENGINE_BURST);
    CU_ASSERT(before[0] > 5 * ENGINE_BURST * 70 / 100 && before[0] < 5 * ENGINE_BURST * 80 / 100);
    while (rig_round() > 0)
        ;
    CU_ASSERT_EQUAL(rig_drops(), 0);
    close_two();
}

static void test_a_flood_leaves_places_to_others(void)
{
    open_two();
    rig.engine.pressed = true;
    for (unsigned round = 0; round < 20; round++) {
        flood(0, FLOOD, 4 * RECEIVE_BURST);
        fake_port_arrive(&rig_fake[1], 0, rig_data(1, 0, RIG_JOB, 2));
        rig_round();
        CU_ASSERT(waiting(FLOOD) <= FAIR_PLACES * 2 / 3 + 1);
        CU_ASSERT(waiting(RIG_JOB) <= 1);
    }
    CU_ASSERT(over_share(0) > 0);
    CU_ASSERT_EQUAL(over_share(1), 0);
    while (rig_round() > 0)
        ;
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS] + over_share(0), 20 * (4 * RECEIVE_BURST + 1));
    close_two();
}

static void test_who_is_in_no_job_takes_no_place(void)
{
    open_two();
    rig.engine.pressed = true;
    for (unsigned i = 0; i < RECEIVE_BURST; i++)
        fake_port_arrive(&rig_fake[0], 0, rig_data(STRANGER, 0, RIG_JOB, 1));
    rig_round();
    CU_ASSERT_EQUAL(rig.engine.fair.held, 0);
    CU_ASSERT_EQUAL(rig_dropped(0, drop_kind(AGG_PROTOCOL_SWITCHML, SML_REFUSED_FOREIGN_SENDER)),
                    RECEIVE_BURST);
    close_two();
}

static void test_frames_of_a_job_that_has_ended_are_refused(void)
{
    open_two();
    rig.engine.pressed = true;
    flood(0, FLOOD, 2 * ENGINE_BURST);
    rig_round();
    CU_ASSERT_EQUAL(waiting(FLOOD), ENGINE_BURST);
    agg_jobs_set(&rig_jobs, FLOOD, NULL);
    rig_round();
    CU_ASSERT_EQUAL(rig_dropped(0, drop_kind(AGG_PROTOCOL_SWITCHML, SML_REFUSED_UNKNOWN_JOB)), ENGINE_BURST);
    close_two();
}

static void test_a_job_that_takes_no_turns_is_served_as_its_frames_come(void)
{
    open_two();
    flooding.turn = 0;
    rig.engine.pressed = true;
    flood(0, FLOOD, 4 * RECEIVE_BURST);
    rig_round();
    CU_ASSERT_EQUAL(rig.engine.fair.held, 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 4 * RECEIVE_BURST);
    close_two();
}

static void test_nothing_waits_where_there_is_nobody_to_share_with(void)
{
    open_two();
    flood(0, FLOOD, RECEIVE_BURST - 1);
    rig_round();
    CU_ASSERT_EQUAL(rig.engine.fair.held, 0); /* the lcore keeps up */
    running = 1;
    for (unsigned round = 0; round < 4; round++) {
        flood(0, FLOOD, 2 * RECEIVE_BURST);
        rig_round();
        CU_ASSERT(rig.engine.pressed && rig.engine.fair.held == 0);
    }
    while (rig_round() > 0)
        ;
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 9 * RECEIVE_BURST - 1);
    close_two();
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_job_is_served_though_another_has_filled_the_line),
        UNIT_TEST(test_jobs_are_served_by_their_weights),
        UNIT_TEST(test_a_flood_leaves_places_to_others),
        UNIT_TEST(test_who_is_in_no_job_takes_no_place),
        UNIT_TEST(test_frames_of_a_job_that_has_ended_are_refused),
        UNIT_TEST(test_a_job_that_takes_no_turns_is_served_as_its_frames_come),
        UNIT_TEST(test_nothing_waits_where_there_is_nobody_to_share_with),
        CU_TEST_INFO_NULL,
    };

    return rig_main("fair", tests);
}
