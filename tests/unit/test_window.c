/* The window: at a modelled bottleneck it keeps the queue short and the link full, on any path; noise and
 * losses do not make it collapse. */
#include "transfer/window.h"

#include "unit.h"

static const uint64_t US = 1000;

static struct xfer_window w;
static uint64_t position;

static void start(uint32_t ceiling, uint32_t slots)
{
    position = 0;
    xfer_window_init(&w, ceiling, slots);
}

/* A path with a base round trip and a bottleneck that passes one packet in `gap`. */
struct path {
    uint64_t base, gap;
};

/* The round trip that a full window meets: as long as the path, or as it takes the bottleneck to pass it. */
static uint64_t rtt_of(const struct path *p, uint32_t window)
{
    uint64_t transfer = window * p->gap;
    return transfer > p->base ? transfer : p->base;
}

/* One round trip with a full window, of which the first `lost` chunks needed repair, and each sample is
 * longer by jitter. */
static void round_trip(const struct path *p, uint32_t lost, uint64_t jitter)
{
    uint32_t size = w.size;
    uint64_t next = position + size, rtt = rtt_of(p, size) + jitter;

    xfer_window_full(&w);
    for (uint32_t i = 0; i < size; i++, position++)
        xfer_window_result(&w, position, next + i, i < lost, i < lost ? 0 : rtt, p->base);
}

static void round_trips(unsigned n, const struct path *p, uint64_t jitter)
{
    while (n-- > 0)
        round_trip(p, 0, jitter);
}

TEST(it_settles_with_a_small_queue_on_any_path)
{
    static const struct path paths[] = {
        {20 * 1000, 120},          /* 100 Gb/s, 20 us */
        {100 * 1000, 1200},        /* 10 Gb/s, 100 us */
        {300 * 1000, 60 * 1000},   /* 200 Mb/s, 300 us */
        {20000 * 1000, 12 * 1000}, /* 1 Gb/s, 20 ms */
    };

    for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct path *p = &paths[i];
        start(4096, 2 * 4096);
        round_trips(100, p, 0);

        uint64_t held = p->base / p->gap; /* what the path itself holds */
        CU_ASSERT(w.size >= held + 256 - 8);
        CU_ASSERT(w.size <= held + 256 + 8);
    }
}

/* After a loss three round trips of new chunks fit into the slots while the next one is mended, if the path
 * alone does not hold more. */
TEST(the_queue_leaves_slots_to_mend_losses)
{
    const struct path p = {10 * 1000, 120}; /* holds 83 */

    start(256, 512);
    round_trips(100, &p, 0);
    CU_ASSERT(w.size >= 250); /* nothing has been lost yet */
    round_trip(&p, 1, 0);
    CU_ASSERT(w.size * 7 / 2 <= 512 + 16); /* at once */
    for (unsigned r = 0; r < 200; r++)
        round_trip(&p, r % 50 == 0, 0);
    CU_ASSERT(w.size >= 83 + 32);
    CU_ASSERT(w.size * 7 / 2 <= 512 + 16);
    round_trips(100, &p, 0);
    CU_ASSERT(w.size >= 250);
}

TEST(it_grows_fast_where_nothing_queues)
{
    const struct path wide = {1000 * US, 1};

    start(256, 2 * 256);
    CU_ASSERT_EQUAL(w.size, 32);
    round_trips(12, &wide, 0);
    CU_ASSERT_EQUAL(w.size, 256);
}

TEST(it_does_not_grow_when_it_was_not_the_limit)
{
    start(256, 2 * 256);
    for (uint64_t p = 0; p < 1000; p++)
        xfer_window_result(&w, p, p + 4, false, 100 * US, 100 * US);
    CU_ASSERT_EQUAL(w.size, 32);
}

TEST(a_stall_of_milliseconds_costs_little)
{
    const struct path p = {100 * US, 1200};

    start(512, 2 * 512);
    round_trips(50, &p, 0);
    uint32_t settled = w.size;
    round_trip(&p, 0, 5000 * US);
    CU_ASSERT(w.size >= settled * 7 / 8 - 1);
    round_trips(5, &p, 0);
    CU_ASSERT(w.size >= settled * 15 / 16);
}

TEST(one_slow_sample_in_a_round_is_no_queue)
{
    start(512, 2 * 512);
    for (unsigned r = 0; r < 40; r++) {
        uint32_t size = w.size;
        uint64_t next = position + size;
        xfer_window_full(&w);
        for (uint32_t i = 0; i < size; i++, position++)
            xfer_window_result(&w, position, next + i, false, i == 3 ? 100 * US : 9000 * US, 100 * US);
    }
    CU_ASSERT_EQUAL(w.size, 512);
}

TEST(ranks_that_are_late_for_ever_leave_a_useful_window)
{
    const struct path p = {100 * US, 1200};

    start(512, 2 * 512);
    round_trips(200, &p, 20000 * US);
    CU_ASSERT(w.size >= 32);
    CU_ASSERT(w.size <= 268);
}

TEST(scattered_losses_do_not_count_but_an_overrun_does)
{
    const struct path p = {1000 * US, 1};

    start(256, 2 * 256);
    for (unsigned r = 0; r < 50; r++)
        round_trip(&p, w.size / 20, 0);
    CU_ASSERT_EQUAL(w.size, 256);
    for (unsigned r = 0; r < 50; r++)
        round_trip(&p, w.size / 3, 0);
    CU_ASSERT(w.size <= 8);
}

/* A path without a queue, but results are late since other ranks lose packets, too; this one loses
 * some of its own now and then. */
TEST(losses_of_a_small_window_are_counted_over_rounds)
{
    const struct path p = {20 * US, 1};

    start(16, 1024);
    for (unsigned r = 0; r < 200; r++) {
        round_trip(&p, r % 8 == 0 ? 4 : 0, 2000 * US);
        CU_ASSERT(w.size >= 14);
    }
}

/* Four ranks share a link of 100 Mb/s, 64 one of 1 Gb/s: each passes one packet in so long. */
TEST(ranks_that_share_a_slow_link_share_its_queue)
{
    static const struct path paths[] = {{300 * 1000, 480 * 1000}, {300 * 1000, 64 * 12 * 1000}};

    for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct path *p = &paths[i];
        start(512, 1024);
        round_trips(100, p, 0);
        CU_ASSERT(w.size >= 32);
        CU_ASSERT(w.size <= 34 || w.size * p->gap <= p->base + 31000 * US);
    }
}

/* A queue that holds few packets loses what is beyond them. */
TEST(what_has_overrun_a_queue_is_remembered)
{
    const struct path p = {100 * US, 10 * US};

    for (uint32_t room = 32; room <= 128; room *= 2) {
        unsigned sent = 0, lost = 0;
        start(512, 1024);
        for (unsigned r = 0; r < 500; r++) {
            const uint32_t beyond = w.size > room ? w.size - room : 0;

            if (r >= 20) {
                sent += w.size;
                lost += beyond;
            }
            round_trip(&p, beyond, 0);
        }
        CU_ASSERT(lost < sent / 20);
        CU_ASSERT(sent > 480 * room * 3 / 4);
    }
}

/* A switch whose lcores take turns overtakes itself: what was asked for was on its way, and comes twice. */
TEST(losses_that_were_none_are_taken_back)
{
    const struct path p = {1000 * US, 1};
    uint32_t lost = 0;

    start(256, 2 * 256);
    round_trips(20, &p, 0);
    while (w.bearable == 256 && lost < 1000) {
        xfer_window_result(&w, position, position + w.size, true, 0, p.base);
        position++;
        lost++;
    }
    CU_ASSERT(w.bearable <= 192);
    for (uint32_t i = 0; i < lost; i++)
        xfer_window_found(&w);
    CU_ASSERT_EQUAL(w.bearable, 256);
}

TEST(losses_beside_a_few_that_were_none_are_remembered)
{
    const struct path p = {1000 * US, 1};

    start(256, 2 * 256);
    round_trips(20, &p, 0);
    for (unsigned r = 0; r < 50; r++) {
        round_trip(&p, w.size / 3, 0);
        for (uint32_t i = 0; i < w.size / 8; i++)
            xfer_window_found(&w);
    }
    CU_ASSERT(w.size <= 16);
}

TEST(bounds_hold_for_the_smallest_pools)
{
    const struct path p = {1000 * US, 1};

    for (uint32_t ceiling = 1; ceiling <= 40; ceiling++) {
        start(ceiling, 2 * ceiling);
        for (unsigned r = 0; r < 20; r++) {
            CU_ASSERT(w.size >= 1 && w.size <= ceiling);
            round_trip(&p, r % 2 ? w.size : 0, 0);
        }
    }
}

TEST(restart_goes_back_to_the_start)
{
    const struct path p = {1000 * US, 1};

    start(256, 2 * 256);
    round_trips(20, &p, 0);
    xfer_window_restart(&w, position - 100);
    CU_ASSERT_EQUAL(w.size, 32);
}

/* Threads of a rank. Together they queue as much as one would. */
TEST(windows_that_share_a_link_share_its_queue)
{
    const struct path p = {100 * US, 1200}; /* holds 83 */

    for (uint32_t shares = 0; shares <= 8; shares++) {
        const uint32_t queue = 256 / (shares > 0 ? shares : 1);
        start(512, 1024);
        xfer_window_share(&w, shares, true, position);
        round_trips(100, &p, 0);
        CU_ASSERT(w.size >= 83 + queue - 8);
        CU_ASSERT(w.size <= 83 + queue + 8);
    }
}

/* What one has queued when nothing is in flight would come before what the others send. */
TEST(windows_that_share_a_link_begin_without_a_queue)
{
    static const struct {
        struct path path;
        uint32_t begin;
    } cases[] = {{{300 * 1000, 60 * 1000}, 16}, {{100 * 1000, 1200}, 83}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        start(512, 1024);
        round_trips(100, &cases[i].path, 0);
        const uint32_t settled = w.size;
        xfer_window_share(&w, 1, true, position);
        CU_ASSERT_EQUAL(w.size, settled);
        xfer_window_share(&w, 2, false, position);
        CU_ASSERT_EQUAL(w.size, settled);
        xfer_window_share(&w, 2, true, position);
        CU_ASSERT(w.size >= cases[i].begin - 1 && w.size <= cases[i].begin);
        round_trips(4, &cases[i].path, 0);
        CU_ASSERT(w.size >= cases[i].begin + 100);
    }
}
