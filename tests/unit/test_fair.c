/* Jobs that share an lcore which has more to do than it can: a job that has had its part waits. */
#include "lcore_rig.h"

enum { FLOOD = RIG_JOB + 1, STRANGER = 7, FLOW = AGG_PROTOCOL_SWITCHML * AGG_JOBS };

static uint32_t running;
static struct switch_job flooding;

/* A second job of the same members. */
static void open_two(void)
{
    static struct agg_seat seats[2 * RIG_MEMBERS];
    static struct job_lane lane[RIG_LCORES];

    rig_open();
    rig_make_job(&(struct rig_job_parts){&flooding, lane, seats, NULL}, FLOOD);
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

EACH_TEST(open_two, close_two)

/* Contributions of one rank that the job has already, but for the first. */
static void flood(unsigned port, uint8_t job, unsigned frames)
{
    while (frames-- > 0)
        fake_port_arrive(&rig_fake[port], 0, rig_data(port, 0, job, 1));
}

static unsigned waiting(uint8_t job)
{
    return rig.engine.fair.line[FLOW + job].n;
}

static uint64_t over_share(unsigned port)
{
    return rig_dropped(port, DROP_OVER_SHARE);
}

TEST(equal_jobs_do_not_wait_for_one_another)
{
    rig.engine.pressed = true;
    for (unsigned round = 1; round <= 50; round++) {
        flood(0, FLOOD, RECEIVE_BURST);
        flood(1, RIG_JOB, RECEIVE_BURST);
        rig_round();
        CU_ASSERT(rig.engine.sharing && rig.engine.fair.held == 0);
        CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 2 * round * RECEIVE_BURST);
    }
}

TEST(a_job_does_not_wait_while_no_other_is_at_work)
{
    rig.engine.pressed = true;
    for (unsigned round = 0; round < 50; round++) {
        flood(0, FLOOD, RECEIVE_BURST);
        rig_round();
        CU_ASSERT(rig.engine.sharing && rig.engine.fair.held == 0);
    }
}

/* So many rounds at the start of which the ports have more than can be handled. */
static void press(unsigned rounds)
{
    while (rounds-- > 0) {
        rig.engine.pressed = true;
        rig_round();
    }
}

/* By then the flood has had its part and that of the next turn. */
enum { ROUNDS_TO_WAIT = 3 };

TEST(a_job_at_work_is_served_though_another_has_filled_the_line)
{
    flood(0, FLOOD, 500);
    for (uint32_t tag = 0; tag < RIG_SLOTS; tag++) {
        fake_port_arrive(&rig_fake[0], 0, rig_data(0, tag, RIG_JOB, 1));
        fake_port_arrive(&rig_fake[1], 0, rig_data(1, tag, RIG_JOB, 2));
    }
    press(ROUNDS_TO_WAIT + 2); /* 500 frames take eight */
    CU_ASSERT_EQUAL(rig_sent_all(), RIG_MEMBERS * RIG_SLOTS);
    CU_ASSERT(waiting(FLOOD) > 0 && waiting(RIG_JOB) == 0);
    while (rig_round() > 0)
        ;
    CU_ASSERT_EQUAL(rig.engine.fair.held, 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 500 + RIG_MEMBERS * RIG_SLOTS);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(jobs_are_served_by_their_weights)
{
    enum { ROUNDS = 60 };
    uint64_t served[2];

    rig_job.turn = 3 * flooding.turn / 4;
    flooding.turn /= 4;
    for (unsigned round = 0; round < ROUNDS; round++) {
        flood(0, RIG_JOB, RECEIVE_BURST);
        flood(1, FLOOD, 24); /* more than its part, 64 / 3 */
        press(1);
    }
    served[1] = ROUNDS * 24 - waiting(FLOOD);
    served[0] = rig.counters.event[EVENT_GRADIENTS] - served[1];
    CU_ASSERT(waiting(RIG_JOB) == 0 && waiting(FLOOD) > 0);
    CU_ASSERT_EQUAL(served[0], ROUNDS * RECEIVE_BURST);
    CU_ASSERT(served[0] > 290 * served[1] / 100 && served[0] < 310 * served[1] / 100);
    while (rig_round() > 0)
        ;
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(a_flood_leaves_places_to_others)
{
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
}

TEST(who_is_in_no_job_takes_no_place)
{
    rig.engine.pressed = true;
    for (unsigned i = 0; i < RECEIVE_BURST; i++)
        fake_port_arrive(&rig_fake[0], 0, rig_data(STRANGER, 0, RIG_JOB, 1));
    rig_round();
    CU_ASSERT_EQUAL(rig.engine.fair.held, 0);
    CU_ASSERT_EQUAL(rig_dropped(0, drop_kind(AGG_PROTOCOL_SWITCHML, SML_REFUSED_FOREIGN_SENDER)),
                    RECEIVE_BURST);
}

TEST(frames_of_a_job_that_has_ended_are_refused)
{
    unsigned waited;

    flood(0, FLOOD, (ROUNDS_TO_WAIT + 4) * RECEIVE_BURST);
    flood(1, RIG_JOB, 1);
    press(ROUNDS_TO_WAIT + 1);
    waited = waiting(FLOOD);
    CU_ASSERT(waited > 0);
    agg_jobs_set(&rig_jobs, FLOOD, NULL);
    while (rig_round() > 0)
        ;
    CU_ASSERT_EQUAL(rig_dropped(0, drop_kind(AGG_PROTOCOL_SWITCHML, SML_REFUSED_UNKNOWN_JOB)), waited);
}

TEST(a_job_that_takes_no_turns_is_served_as_its_frames_come)
{
    flooding.turn = 0;
    rig.engine.pressed = true;
    flood(0, FLOOD, 8 * RECEIVE_BURST);
    flood(1, RIG_JOB, 1);
    while (rig_round() > 0)
        CU_ASSERT_EQUAL(rig.engine.fair.held, 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 8 * RECEIVE_BURST + 1);
}

TEST(nothing_waits_where_there_is_nobody_to_share_with)
{
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
}
