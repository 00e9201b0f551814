/* A job of as many ranks as one can have, in the registry: forming, heartbeats, and its end. What is said to
 * each rank is counted, since 1,024 ranks are answered by one thread. */
#include "control/registry.h"

#include <stdlib.h>
#include <string.h>

#include "switchml/protocol.h"
#include "terms_of.h"
#include "unit.h"

#define MS UINT64_C(1000000)

enum { N = CTL_RANKS_MAX, TYPES = CTL_UNKNOWN + 1, BOOT = 77 };

static const struct agg_protocol *const spoken[] = {&sml_protocol};

/* What the registry has said to all ranks, by type; to each rank last. */
static struct {
    unsigned said[TYPES];
    struct ctl_message last[N];
    size_t longest;
} heard;

static struct ctl_registry *registry;
static uint64_t now;
static uint32_t serial;

static void effect_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct ctl_message m;

    (void)ctx;
    CU_ASSERT_EQUAL_FATAL(ctl_parse(&m, payload, bytes), CTL_PARSED);
    CU_ASSERT_FATAL(m.head.rank < N && m.head.size == N && to->ip == 1000u + m.head.rank);
    heard.said[m.head.type]++;
    heard.last[m.head.rank] = m;
    heard.longest = bytes > heard.longest ? bytes : heard.longest;
}

static int effect_prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                          char text[CTL_TEXT_MAX])
{
    (void)ctx, (void)job, (void)terms, (void)text;
    *number = 3;
    return 0;
}

static void effect_release(void *ctx, const struct ctl_entry *job)
{
    (void)ctx, (void)job;
}

static uint64_t effect_random(void *ctx)
{
    (void)ctx;
    return ++now;
}

static void open_registry(uint16_t max_workers)
{
    struct ctl_registry_config cfg = {
        .protocols = spoken,
        .protocols_known = 1,
        .max_jobs = 2,
        .max_workers = max_workers,
        .boot_id = BOOT,
        .lost_after_ns = 5000 * MS,
        .actions = {.send = effect_send,
                    .prepare = effect_prepare,
                    .release = effect_release,
                    .random = effect_random},
    };

    memset(&heard, 0, sizeof heard);
    now = 1000 * MS;
    serial = 0;
    registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
}

static void say(uint8_t type, unsigned rank, const struct ctl_heartbeat *h)
{
    const struct ctl_endpoint from = {.ip = 1000 + rank, .udp_port = 5000};
    struct ctl_message m;
    uint8_t bytes[CTL_MESSAGE_MAX];

    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = type,
                               .version = CTL_VERSION,
                               .boot_id = BOOT,
                               .incarnation = 1 + rank,
                               .epoch = heard.last[rank].head.epoch,
                               .rank = (uint16_t)rank,
                               .size = N,
                               .serial = ++serial};
    if (type == CTL_JOIN) {
        m.join = (struct ctl_join){.name = "many",
                                   .data_port = 6000,
                                   .terms = terms_of((struct sml_terms){
                                       .format = XFER_FORMAT_TYPED, .slots = 64, .chunk_bytes = 1024})};
    } else {
        m.heartbeat = *h;
    }
    ctl_registry_receive(registry, &from, bytes, ctl_build(bytes, &m), now);
}

static void form(void)
{
    open_registry(N);
    for (unsigned rank = 0; rank < N; rank++)
        say(CTL_JOIN, rank, NULL);
    CU_ASSERT_EQUAL_FATAL(ctl_registry_entry(registry, 0)->state, CTL_ENTRY_RUNNING);
}

TEST(all_form_a_job_and_each_is_answered_once)
{
    uint64_t roster = 0;

    open_registry(N);
    for (unsigned rank = 0; rank < N - 1; rank++) {
        const struct ctl_ranks *missing = &heard.last[rank].pending.missing;

        say(CTL_JOIN, rank, NULL);
        CU_ASSERT_EQUAL(ctl_ranks_count(missing), N - 1 - rank);
        CU_ASSERT(!ctl_ranks_has(missing, rank) && ctl_ranks_has(missing, N - 1));
    }
    CU_ASSERT_EQUAL(heard.said[CTL_PENDING], N - 1);
    CU_ASSERT_EQUAL(heard.said[CTL_READY], 0);
    CU_ASSERT(heard.longest <= 40 + 8 + N / 8); /* of one JOIN, about as much comes back */
    say(CTL_JOIN, N - 1, NULL);
    CU_ASSERT_EQUAL(heard.said[CTL_PENDING], N - 1);
    CU_ASSERT_EQUAL(heard.said[CTL_READY], N);
    for (unsigned rank = 0; rank < N; rank++)
        roster ^= 1 + rank;
    for (unsigned rank = 0; rank < N; rank++)
        CU_ASSERT(heard.last[rank].ready.job == 3 && heard.last[rank].ready.roster == roster);
    free(registry);
}

TEST(a_switch_for_smaller_jobs_refuses_it_at_once)
{
    open_registry(N - 1);
    say(CTL_JOIN, 5, NULL);
    CU_ASSERT_EQUAL(heard.said[CTL_REFUSED], 1);
    CU_ASSERT_STRING_EQUAL(heard.last[5].failure.text,
                           "1024 ranks are more than the switch's limits.workers, 1023");
    CU_ASSERT_EQUAL(ctl_registry_entry(registry, 0)->state, CTL_ENTRY_FREE);
    free(registry);
}

/* READY is repeated to those who have not shown that they know. */
TEST(only_who_did_not_confirm_is_told_again)
{
    const struct ctl_heartbeat idle = {0};

    form();
    for (unsigned rank = 0; rank < N; rank++)
        if (rank % 100 != 7)
            say(CTL_HEARTBEAT, rank, &idle);
    CU_ASSERT_EQUAL(heard.said[CTL_ALIVE], N - 11);
    heard.said[CTL_READY] = 0;
    now += 150 * MS;
    ctl_registry_tick(registry, now);
    CU_ASSERT_EQUAL(heard.said[CTL_READY], 11); /* 7, 107, ... 1007 */
    free(registry);
}

TEST(the_first_to_leave_is_named_to_who_waits)
{
    const struct ctl_heartbeat done = {.calls = 12}, early = {.calls = 9},
                               waits = {.calls = 9, .waiting = true};

    form();
    say(CTL_LEAVE, 1000, &done);
    say(CTL_HEARTBEAT, 500, &waits);
    CU_ASSERT_EQUAL(heard.said[CTL_ALIVE], 1); /* 1000 was in the tenth collective */
    say(CTL_LEAVE, 999, &early);
    CU_ASSERT_EQUAL(heard.said[CTL_ABORTED], N - 2);
    CU_ASSERT_EQUAL(heard.last[0].failure.reason, CTL_RANK_LEFT);
    CU_ASSERT_EQUAL(heard.last[0].failure.rank, 999);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.last[1023].failure.text, "but rank 500 "));
    free(registry);
}

TEST(who_fell_silent_is_named_as_far_as_the_text_goes)
{
    const struct ctl_heartbeat idle = {0};

    form();
    for (unsigned ms = 0; ms < 6000; ms += 500) {
        now += 500 * MS;
        for (unsigned rank = 0; rank < N; rank++)
            if (rank < 600 || rank >= 1000 || rank % 2 == 0)
                say(CTL_HEARTBEAT, rank, &idle);
        ctl_registry_tick(registry, now);
    }
    CU_ASSERT_EQUAL(ctl_registry_entry(registry, 0)->state, CTL_ENTRY_FAILED);
    CU_ASSERT_EQUAL(ctl_registry_entry(registry, 0)->present, N - 200);
    CU_ASSERT_EQUAL(heard.last[0].failure.reason, CTL_RANK_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.last[0].failure.text, "ranks 601, 603, "));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.last[0].failure.text, " more ("));
    free(registry);
}
