/* Deadline, warnings and progress of a call, with the time given by the test and without a switch. */
#include "drive.h"
#include "job.h"
#include "monotonic.h"
#include "spin.h"
#include "stream_script.h"
#include "switchml/worker.h"
#include "watch.h"

enum { TICK_MS = 100, WARNINGS_MAX = 64 };

/* A call of rank 0 of 2 that gets nothing but what the test hands it, and is warned of after 200 ms. */
static struct {
    struct script script; /* its stream */
    struct transport transport;
    struct job_part part;
    struct swagg_job job;
    struct swagg_request request;
    unsigned now_ms;
    unsigned warned_ms[WARNINGS_MAX], warnings; /* when the log got a line */
} l;

static void note_warning(void *ctx, enum swagg_log_level level, const char *line)
{
    (void)ctx;
    (void)line;
    CU_ASSERT_EQUAL(level, SWAGG_LOG_WARN);
    CU_ASSERT_FATAL(l.warnings < WARNINGS_MAX);
    l.warned_ms[l.warnings++] = l.now_ms;
}

static void begin(void)
{
    static const struct transport_ops nothing;

    memset(&l, 0, sizeof l);
    l.script.line = "watch";
    l.transport.ops = &nothing;
    script_open(&l.script, 0, 2, 4, 4);
    l.job = (struct swagg_job){
        .options = {.job = "lonely",
                    .in_switch = {.n = 1, .at = {{.what = "switch", .text = "10.0.0.254"}}},
                    .names = {.type = describe_type, .op = describe_op},
                    .call_timeout_ns = 3600 * NS_PER_SECOND,
                    .warn_after_ns = 200 * NS_PER_MS,
                    .log = {note_warning, NULL}},
        .terms = {.chunk_bytes = SCRIPT_CHUNK_BYTES},
        .worker = &sml_worker,
        .waker = WAKER_NONE,
        .parts = &l.part,
        .part_count = 1,
    };
    l.part = (struct job_part){
        .job = &l.job,
        .node = l.job.options.in_switch.at,
        .membership = {.socket = OWN_FD_NONE, .wake_thread = WAKER_NONE, .wake_caller = &l.job.waker},
        .membership_is_open = true,
        .transport = &l.transport,
        .stream = l.script.stream,
    };
    pthread_mutex_init(&l.part.membership.lock, NULL);
    struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = 27}; /* two chunks */
    requests_open(&l.job.requests);
    l.request =
        (struct swagg_request){.call = call, .streamed = call, .deadline = l.job.options.call_timeout_ns};
    requests_append(&l.job.requests, &l.request);
    requests_begun(&l.job.requests, REQUEST_STREAMED);
    watch_start(&l.job.watch, &l.job, 0);
    script_begin(&l.script, XFER_ALLREDUCE, call.count, 0, false);
    for (struct xfer_send send; sml_stream_poll(l.script.stream, 0, &send);)
        ;
}

static void end(void)
{
    pthread_mutex_destroy(&l.part.membership.lock);
    requests_close(&l.job.requests);
    free(l.script.stream);
}

EACH_TEST(begin, end)

static void wait_until(unsigned ms)
{
    while (l.now_ms < ms) {
        l.now_ms += TICK_MS;
        CU_ASSERT_EQUAL(watch_tick(&l.job.watch, &l.job, l.now_ms * NS_PER_MS), SWAGG_OK);
    }
}

/* With one result in between. */
static void expect_warnings(unsigned progress_ms, unsigned end_ms, const unsigned expected_ms[],
                            unsigned expected)
{
    wait_until(progress_ms);
    l.script.now = progress_ms * NS_PER_MS;
    script_receive(&l.script, "result", 0, "", "result");
    wait_until(end_ms);
    CU_ASSERT_EQUAL(l.warnings, expected);
    for (unsigned i = 0; i < expected && i < l.warnings; i++)
        CU_ASSERT_EQUAL(l.warned_ms[i], expected_ms[i]);
}

TEST(a_wait_is_warned_of_ever_more_rarely_until_there_is_progress)
{
    static const unsigned expected_ms[] = {200, 400, 800, 1600, 3100 + 200, 3100 + 400, 3100 + 800};

    expect_warnings(3100, 4600, expected_ms, sizeof expected_ms / sizeof *expected_ms);
}

/* Seen when the old warning was due, at 3200: told a tick later, and then as if this wait had been warned of
 * all along. */
TEST(a_wait_that_began_between_two_warnings_is_not_told_over_and_over)
{
    static const unsigned expected_ms[] = {200, 400, 800, 1600, 3300, 2000 + 1600, 2000 + 3200};

    expect_warnings(2000, 6000, expected_ms, sizeof expected_ms / sizeof *expected_ms);
}

/* Another thread posts it while this one is on its way to look. */
TEST(a_call_that_is_newer_than_the_clock_has_not_waited)
{
    wait_until(100);
    l.request.began = 200 * NS_PER_MS + 1;
    CU_ASSERT_EQUAL(watch_tick(&l.job.watch, &l.job, 200 * NS_PER_MS), SWAGG_OK);
    CU_ASSERT_EQUAL(l.warnings, 0);
}

/* What has come, or begun, since the clock was read. */
TEST(progress_that_is_newer_than_the_clock_is_no_stall)
{
    l.job.calling = true;
    l.script.now = 100 * NS_PER_MS + 1;
    script_receive(&l.script, "result", 0, "", "result");
    job_report(&l.job, 100 * NS_PER_MS);
    CU_ASSERT(l.part.membership.session.heartbeat.waiting);
    CU_ASSERT_EQUAL(l.part.membership.session.heartbeat.stalled_ms, 0);
}

/* The call before it has ended on the way to a tick that was due. */
TEST(a_call_that_begins_at_a_tick_keeps_its_deadline)
{
    l.request.deadline = 5000 * NS_PER_MS;
    watch_start(&l.job.watch, &l.job, 100 * NS_PER_MS + 1);
    CU_ASSERT_EQUAL(watch_tick(&l.job.watch, &l.job, 100 * NS_PER_MS), SWAGG_OK);
    CU_ASSERT_EQUAL(l.request.deadline, 5000 * NS_PER_MS);
}

/* The membership thread hears the switch while this thread is on its way to look. */
TEST(a_word_that_is_newer_than_the_clock_is_no_silence)
{
    l.job.options.call_timeout_ns = 1000 * NS_PER_MS;
    l.request.deadline = 1000 * NS_PER_MS;
    l.part.membership.session.ready.lost_after_ms = 5000;
    l.part.membership.session.heard_at = 1000 * NS_PER_MS + 1;
    wait_until(900);
    CU_ASSERT_EQUAL(watch_tick(&l.job.watch, &l.job, 1000 * NS_PER_MS), SWAGG_ERR_DEADLINE);
    CU_ASSERT_PTR_NULL(strstr(swagg_last_error(), "silent"));
}

/* What a call says when its time is up, after the membership thread has last heard the switch and last
 * listened then. */
static const char *words_after(uint64_t heard_ms, uint64_t listened_ms)
{
    end();
    begin();
    l.request.deadline = l.job.watch.tick_at = 60000 * NS_PER_MS;
    l.part.membership.session.ready.lost_after_ms = 5000;
    l.part.membership.session.heard_at = heard_ms * NS_PER_MS;
    l.part.membership.session.polled_at = listened_ms * NS_PER_MS;
    CU_ASSERT_EQUAL(watch_tick(&l.job.watch, &l.job, 60000 * NS_PER_MS), SWAGG_ERR_DEADLINE);
    return swagg_last_error();
}

TEST(a_process_that_was_stopped_does_not_blame_the_switch)
{
    CU_ASSERT_PTR_NULL(strstr(words_after(1000, 1500), "silent"));
    CU_ASSERT_PTR_NOT_NULL(strstr(words_after(1000, 59000), "silent for 58.0 s"));
}

/* For half a minute nothing ran; then what has come meanwhile must still be looked at. */
TEST(a_deadline_waits_for_a_process_that_stood_still)
{
    l.request.deadline = 5000 * NS_PER_MS;
    wait_until(4000);
    CU_ASSERT_EQUAL(watch_tick(&l.job.watch, &l.job, 34100 * NS_PER_MS), SWAGG_OK);
    l.now_ms = 34100;
    wait_until(34900);
    CU_ASSERT_EQUAL(watch_tick(&l.job.watch, &l.job, 35000 * NS_PER_MS), SWAGG_ERR_DEADLINE);
}

/* The membership thread, when it finds the job's lock taken. */
TEST(only_a_call_is_left_to_wake_who_would_help)
{
    pthread_mutex_init(&l.job.lock, NULL);
    pthread_mutex_init(&l.job.between, NULL);
    pthread_mutex_lock(&l.job.lock);
    CU_ASSERT(drive_between_calls(&l.part) < UINT64_MAX);
    atomic_store(&l.job.busy, true);
    CU_ASSERT_EQUAL(drive_between_calls(&l.part), UINT64_MAX);
    pthread_mutex_unlock(&l.job.lock);
}

TEST(a_small_call_spins_while_the_cpu_is_free)
{
    struct spin s = {0};
    const uint64_t now = NS_PER_SECOND;

    spin_begin(&s, 1, now);
    CU_ASSERT(spin_may(&s, now));
    CU_ASSERT(!spin_may(&s, now + NS_PER_MS)); /* a moment only */
    spin_offered(&s, now, now + NS_PER_US);
    CU_ASSERT(spin_may(&s, now + NS_PER_US));
    spin_begin(&s, 12, now); /* 16 KiB in frames of 1500 bytes */
    CU_ASSERT(spin_may(&s, now));
    spin_begin(&s, 45, now); /* 64 KiB take longer, and may spin so long */
    CU_ASSERT(spin_may(&s, now + 400 * NS_PER_US));
    CU_ASSERT(!spin_may(&s, now + NS_PER_MS));
    spin_begin(&s, 1000, now);
    CU_ASSERT(!spin_may(&s, now));
}

/* Another program had the CPU for 3 ms: calls sleep until that is one part in 32. */
TEST(a_wanted_cpu_is_not_spun_on)
{
    struct spin s = {0};
    const uint64_t now = NS_PER_SECOND, after = now + 3 * NS_PER_MS;

    spin_begin(&s, 1, now);
    spin_offered(&s, now, after);
    CU_ASSERT(!spin_may(&s, after));
    spin_begin(&s, 1, after + 95 * NS_PER_MS);
    CU_ASSERT(!spin_may(&s, after + 95 * NS_PER_MS));
    spin_begin(&s, 1, after + 97 * NS_PER_MS);
    CU_ASSERT(spin_may(&s, after + 97 * NS_PER_MS));
}

/* The switch on this CPU summed a longer call; and the whole machine stood still. */
TEST(a_turn_of_the_switch_and_a_stall_do_not_end_spinning)
{
    struct spin s = {0};
    uint64_t now = NS_PER_SECOND;

    spin_begin(&s, 1, now);
    spin_offered(&s, now, now + 300 * NS_PER_US);
    spin_begin(&s, 1, now += 300 * NS_PER_US);
    CU_ASSERT(spin_may(&s, now));
    spin_offered(&s, now, now + 26 * NS_PER_SECOND);
    spin_begin(&s, 1, now += 26 * NS_PER_SECOND + 101 * NS_PER_MS);
    CU_ASSERT(spin_may(&s, now));
}
