/* What an lcore does while nothing comes. */
#include "lcore/idle.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#define HOUR_NS UINT64_C(3600000000000)

static struct bell bell;
static int frames_wait[2]; /* a pipe: of queue 0, readable from the start, and of queue 1, never */

static int receive_fd(const struct port *port, uint16_t queue)
{
    (void)port;
    return frames_wait[queue];
}

static const struct port_device with_fd = {.receive_fd = receive_fd}, without;

static struct idle idle_of(const struct port_device *device, uint8_t queue)
{
    const struct port port = {.device = device};
    const struct receive receive = {.port = &port, .queues = 1, .queue = {{.port = 0, .queue = queue}}};
    struct idle idle;

    idle_init(&idle, &receive, &bell);
    return idle;
}

static void open_pipes(void)
{
    int waits[2], empty[2];

    CU_ASSERT_EQUAL_FATAL(pipe(waits), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(empty), 0);
    CU_ASSERT_EQUAL_FATAL(write(waits[1], "", 1), 1);
    frames_wait[0] = waits[0];
    frames_wait[1] = empty[0];
}

EACH_TEST(open_pipes, NULL)

TEST(it_spins_before_it_naps)
{
    const struct lcore_pace pace = {.spin = 40, .max_sleep_us = 1000}, never = {.spin = 40};
    struct idle idle = idle_of(&without, 0);

    for (unsigned pause = 0; pause < 3; pause++) {
        for (unsigned i = 0; i < 40; i++)
            CU_ASSERT(idle_spin(&idle, &pace));
        CU_ASSERT(!idle_spin(&idle, &pace));
        idle_end(&idle);
    }
    for (unsigned i = 0; i < 1000; i++)
        CU_ASSERT(idle_spin(&idle, &never));
}

/* How often it naps in so many rounds, while others want the CPU. */
static unsigned naps(const struct port_device *device, uint32_t max_sleep_us)
{
    const struct lcore_pace pace = {.spin = 1000000, .max_sleep_us = max_sleep_us};
    struct idle idle = idle_of(device, 1);
    unsigned naps = 0;

    idle.offer.contended_until_ns = UINT64_MAX;
    for (unsigned i = 0; i < 1000; i++)
        naps += !idle_spin(&idle, &pace);
    return naps;
}

TEST(it_naps_early_where_others_compute_and_a_frame_can_wake_it)
{
    CU_ASSERT(naps(&with_fd, 1000) > 10);
    CU_ASSERT_EQUAL(naps(&with_fd, 0), 0); /* it never may */
    CU_ASSERT_EQUAL(naps(&without, 1000), 0);
}

enum {
    OFFER_NS = 400,
    LOOK_NS = 2000
}; /* an offer that nobody takes; what an MPI process does in its turn */

/* One turn of offers at *now. The kernel gives the CPU to a program at every n-th offer, for so long; 0:
 * there is none. Returns how often the program had it. */
static unsigned offer_turn(struct offer *o, uint64_t *now, unsigned *count, unsigned n, uint64_t taken)
{
    unsigned turns = 0;
    uint64_t before;

    offer_begin(o, *now);
    do {
        const bool takes = n > 0 && ++*count % n == 0;

        before = *now;
        *now += takes ? taken : OFFER_NS;
        turns += takes;
    } while (offer_again(o, before, *now));
    return turns;
}

/* It gives one offer in nine to a program that looks for a message and offers the CPU back. */
TEST(who_wants_the_cpu_has_it_at_every_turn)
{
    struct offer o = {0};
    uint64_t now = 1000000;
    unsigned count = 0, turns = 0;

    while (turns == 0)
        turns += offer_turn(&o, &now, &count, 9, LOOK_NS);
    for (unsigned i = 0; i < 100; i++) {
        now += 2000;
        CU_ASSERT(offer_is_due(&o, now));
        CU_ASSERT_EQUAL(offer_turn(&o, &now, &count, 9, LOOK_NS), 1);
        CU_ASSERT(!offer_is_due(&o, now));
    }
}

TEST(an_offer_that_nobody_wants_is_made_once)
{
    struct offer o = {0};
    uint64_t now = 1000000, before;
    unsigned count = 0;

    for (unsigned i = 0; i < 3; i++) {
        before = now;
        offer_turn(&o, &now, &count, 0, 0);
        CU_ASSERT_EQUAL(now - before, OFFER_NS);
    }
    offer_turn(&o, &now, &count, 1, LOOK_NS); /* somebody had it ... */
    before = now;
    offer_turn(&o, &now, &count, 0, 0);
    CU_ASSERT(now - before > 9 * OFFER_NS); /* ... and may be asked for more than once */
    now += 1000000;
    before = now;
    offer_turn(&o, &now, &count, 0, 0);
    CU_ASSERT_EQUAL(now - before, OFFER_NS);
}

/* For 32 times as long as somebody computed on it, 100 ms at most. */
TEST(a_program_that_computes_is_offered_nothing)
{
    static const struct {
        uint64_t taken_ms, pause_ms;
    } cases[] = {{2, 64}, {3, 96}, {26000, 100}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct offer o = {0};
        uint64_t now = 1000000;
        unsigned count = 0;

        offer_turn(&o, &now, &count, 1, cases[i].taken_ms * 1000000);
        CU_ASSERT(offer_is_contended(&o, now + cases[i].pause_ms * 1000000 - 1));
        CU_ASSERT(!offer_is_due(&o, now + cases[i].pause_ms * 1000000 - 1));
        CU_ASSERT(offer_is_due(&o, now + cases[i].pause_ms * 1000000));
    }
}

/* As long as a sleep costs, not for so many rounds: those of five switches on one CPU add up. */
TEST(where_others_want_the_cpu_it_spins_no_longer_than_a_sleep_costs)
{
    const struct lcore_pace pace = {.spin = 1000000, .max_sleep_us = 1000};
    struct idle idle = idle_of(&with_fd, 1);

    idle.offer.contended_until_ns = UINT64_MAX;
    for (unsigned pause = 0; pause < 3; pause++) {
        CU_ASSERT(idle_spin(&idle, &pace));
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        CU_ASSERT(!idle_spin(&idle, &pace));
        idle_end(&idle);
    }
}

TEST(naps_are_bounded)
{
    const struct lcore_pace pace = {.max_sleep_us = 2, .until_due_us = 100000};
    struct idle idle = idle_of(&without, 0);

    for (unsigned i = 0; i < 1000; i++) {
        uint64_t ns = idle_nap_ns(&idle, &pace, UINT64_MAX);
        CU_ASSERT(ns >= 1000 && ns <= 2000);
        idle_nap(&idle, ns);
    }
    /* A thousand naps of 1 us and more are over. */
    CU_ASSERT_EQUAL(idle_nap_ns(&idle, &pace, UINT64_MAX), 2000);
}

static uint64_t first_nap_ns(const struct receive *receive, uint64_t due_in_ns)
{
    const struct lcore_pace pace = {.max_sleep_us = 1000, .until_due_us = 100000};
    struct idle idle;

    idle_init(&idle, receive, &bell);
    return idle_nap_ns(&idle, &pace, due_in_ns);
}

TEST(who_is_woken_for_all_its_work_sleeps_until_something_is_due)
{
    const struct port ports[] = {{.device = &with_fd}, {.device = &without}};
    const struct receive frames = {.port = ports, .queues = 1, .queue = {{.port = 0, .queue = 1}}};
    const struct receive both = {
        .port = ports, .queues = 2, .queue = {{.port = 0, .queue = 1}, {.port = 1, .queue = 0}}};
    const struct receive neither = {.queues = 0};

    CU_ASSERT_EQUAL(first_nap_ns(&frames, UINT64_MAX), 100000000);
    CU_ASSERT_EQUAL(first_nap_ns(&neither, UINT64_MAX), 100000000);
    CU_ASSERT_EQUAL(first_nap_ns(&frames, 70000), 70000);
    CU_ASSERT_EQUAL(first_nap_ns(&frames, 0), 0);
    CU_ASSERT_EQUAL(first_nap_ns(&both, UINT64_MAX), 1000);
    CU_ASSERT_EQUAL(first_nap_ns(&both, 700), 700);
}

/* If it did not, this test would take an hour. */
TEST(a_frame_ends_a_nap)
{
    struct idle waked = idle_of(&with_fd, 0), undisturbed = idle_of(&with_fd, 1);

    CU_ASSERT_EQUAL(waked.fds, 2);
    idle_nap(&waked, HOUR_NS);
    idle_nap(&undisturbed, 1000);
    CU_ASSERT_EQUAL(idle_of(&without, 0).fds, 1);
}

enum { POSTS = 20000 };

static unsigned left; /* atomic: what was left for the sleeper */

static void *leave(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < POSTS; i++) {
        __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
        bell_ring(&bell);
    }
    return NULL;
}

/* Each nap would last an hour: whatever is left between the last look and the nap ends it, too. */
TEST(whatever_is_left_for_it_ends_a_nap)
{
    struct idle idle = idle_of(&with_fd, 1);
    pthread_t other;
    unsigned seen = 0;

    left = 0;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, leave, NULL), 0);
    while (seen < POSTS) {
        bell_await(&bell);
        if (__atomic_load_n(&left, __ATOMIC_RELAXED) > seen)
            bell_answer(&bell, false);
        else
            idle_nap(&idle, HOUR_NS);
        seen = __atomic_load_n(&left, __ATOMIC_RELAXED);
    }
    pthread_join(other, NULL);
}

/* One that was rung while it was awake costs one short nap, not all that follow. */
TEST(a_bell_that_was_rung_in_vain_is_silent_again)
{
    struct pollfd rung = {.fd = bell.fd, .events = POLLIN};
    struct idle idle = idle_of(&without, 0);

    bell_await(&bell);
    bell_ring(&bell);
    bell_answer(&bell, false); /* it has seen what was left */
    CU_ASSERT_EQUAL(poll(&rung, 1, 0), 1);
    bell_await(&bell);
    idle_nap(&idle, HOUR_NS);
    CU_ASSERT_EQUAL(poll(&rung, 1, 0), 0);
    bell_ring(&bell); /* nobody waits */
    CU_ASSERT_EQUAL(poll(&rung, 1, 0), 0);
}

int main(void)
{
    if (bell_open(&bell) < 0)
        return 1;
    return unit_main();
}
