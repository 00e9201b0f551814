/* swaggctl why: each cause, made on purpose, and jobs that nothing holds up. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "why.h"

enum { N = 4 };

/* Two looks, a second apart. */
static struct why_look before, now;

static json_t *answer(json_t *view)
{
    return json_pack("{s:o}", "view", view);
}

static json_t *ranks(long long contributions, long long delayed_us, long long calls)
{
    json_t *rows = json_array();

    for (int r = 0; r < N; r++)
        json_array_append_new(rows, json_pack("{s:i, s:s, s:I, s:I, s:i, s:i, s:I, s:i, s:i, s:b}", "rank", r,
                                              "address", "10.77.0.1:5000", "contributions", contributions,
                                              "delayed_us", delayed_us, "lost_up", 0, "lost_down", 0, "calls",
                                              calls, "window", 64, "stalled_ms", 0, "waiting", 0));
    return answer(json_pack("{s:o}", "ranks", rows));
}

static struct why_look look(long long contributions, long long delayed_us, long long calls)
{
    return (struct why_look){
        .job = answer(json_pack("{s:s, s:i, s:i, s:I, s:i, s:i, s:i, s:[], s:[]}", "state", "running", "size",
                                N, "present", N, "contributions", (json_int_t)(N * contributions), "slots",
                                1024, "chunk_bytes", 1408, "window_least", 64, "missing", "waits_for")),
        .ranks = ranks(contributions, delayed_us, calls),
        .lcores = answer(json_pack("{s:[{s:i, s:i, s:i, s:i}]}", "lcores", "lcore", 1, "cpu", 1, "shards", 1,
                                   "busy_percent", 50)),
        .drops = answer(
            json_pack("{s:i, s:i, s:i, s:i}", "over_share", 0, "ring_full", 0, "rx_missed", 0, "no_mbuf", 0)),
    };
}

/* At a job of four ranks that runs well: 10,000 packets a rank, 100 calls. */
static void begin(void)
{
    before = look(50000, 100000, 500);
    now = look(60000, 120000, 600);
}

static void set(json_t *answer, const char *key, json_t *value)
{
    json_object_set_new(json_object_get(answer, "view"), key, value);
}

static json_t *row_of(const json_t *answer, const char *table, size_t row)
{
    return json_array_get(json_object_get(json_object_get(answer, "view"), table), row);
}

static void set_of_rank(int rank, const char *key, json_t *value)
{
    json_object_set_new(row_of(now.ranks, "ranks", (size_t)rank), key, value);
}

static void set_rank(int rank, const char *key, long long value)
{
    set_of_rank(rank, key, json_integer(value));
}

/* No more has come from any rank than before. */
static void none_sends(void)
{
    for (int r = 0; r < N; r++)
        set_rank(r, "contributions", 50000);
}

static void drop(const struct why_look *l)
{
    json_decref(l->job);
    json_decref(l->ranks);
    json_decref(l->lcores);
    json_decref(l->drops);
}

static void end(void)
{
    drop(&before);
    drop(&now);
}

static void begin_again(void)
{
    end();
    begin();
}

EACH_TEST(begin, end)

static void expect(enum why_cause cause, int rank, const char *words)
{
    struct why whys[WHY_MOST];

    CU_ASSERT_EQUAL(why_decide(whys, &before, &now, 1), 1);
    CU_ASSERT_EQUAL(whys[0].cause, cause);
    CU_ASSERT_EQUAL(whys[0].rank, rank);
    CU_ASSERT_PTR_NOT_NULL(strstr(whys[0].text, words));
    if (whys[0].cause != cause || strstr(whys[0].text, words) == NULL)
        printf("\n%s: %s\n", why_word(whys[0].cause), whys[0].text);
}

TEST(a_healthy_job_gets_nothing)
{
    expect(WHY_NOTHING, -1, "nothing holds it up: 40000 packets");
}

TEST(ranks_that_are_missing_are_named)
{
    set(now.job, "state", json_string("forming"));
    set(now.job, "present", json_integer(2));
    set(now.job, "missing", json_pack("[i, i]", 1, 3));
    expect(WHY_NOT_BEGUN, -1, "2 of 4 ranks are there; missing: 1, 3");
}

TEST(a_failure_is_told)
{
    set(now.job, "state", json_string("failed"));
    set(now.job, "failure", json_string("rank 2 is lost"));
    expect(WHY_FAILED, -1, "rank 2 is lost");
}

/* It sleeps 4 ms in each of 100 calls, in which 64 chunks wait for it. */
TEST(a_rank_that_comes_late_is_named)
{
    set_rank(2, "delayed_us", 100000 + 100LL * 64 * 4000);
    expect(WHY_RANK, 2, "rank 2 (10.77.0.1:5000) comes late: others wait for it about 40 %");
}

/* Calls of a single chunk. */
TEST(short_calls_count_by_what_they_have)
{
    for (int r = 0; r < N; r++) {
        set_rank(r, "contributions", 50100);
        set_rank(r, "calls", 50100);
    }
    set_rank(1, "delayed_us", 100000 + 100 * 4000);
    expect(WHY_RANK, 1, "about 38 %");
}

/* Microseconds, summed over many chunks, are no one's fault. */
TEST(small_delays_are_nothing)
{
    set_rank(3, "delayed_us", 100000 + 10000LL * 300);
    expect(WHY_NOTHING, -1, "nothing");
}

TEST(a_rank_that_all_wait_for_is_named)
{
    none_sends();
    set(now.job, "waits_for", json_pack("[i]", 3));
    set_of_rank(0, "waiting", json_true());
    set_rank(0, "stalled_ms", 7000);
    expect(WHY_RANK, 3, "all wait for rank 3, and nothing has come for 7.0 s");
}

TEST(ranks_of_the_switch_above_are_its_affair)
{
    none_sends();
    for (int r = 0; r < 2; r++)
        set_of_rank(r, "state", json_string("above"));
    set(now.job, "parent", json_string("10.77.0.254"));
    set(now.job, "waits_for", json_pack("[i, i]", 0, 1));
    expect(WHY_RANK, 0,
           "all wait for ranks 0, 1, and nothing has come by the switch above (10.77.0.254) meanwhile");
    begin_again();
    none_sends();
    set(now.job, "waits_for", json_pack("[i, i]", 0, 3));
    expect(WHY_RANK, 0, "all wait for ranks 0, 3, and nothing has come meanwhile");
}

TEST(a_job_between_calls_gets_nothing)
{
    none_sends();
    expect(WHY_NOTHING, -1, "no call is in progress");
}

TEST(the_link_that_loses_is_named)
{
    set_rank(0, "lost_down", 2);
    set_rank(1, "lost_up", 100);
    expect(WHY_LINK, 1,
           "the link of rank 1 (10.77.0.1:5000) loses packets: 0.99 % of those to this switch, 0.00 %");
    begin_again();
    set_rank(3, "contributions", 50300);
    set_rank(3, "lost_down", 2);
    expect(WHY_NOTHING, -1, "nothing"); /* two packets of 300 are chance */
    begin_again();
    set_rank(3, "lost_down", 50);
    expect(WHY_LINK, 3, "0.50 % of those from it");
    begin_again();
    set_rank(3, "lost_down", 25000); /* of 10000 results: asked for again and again */
    expect(WHY_LINK, 3, "100.00 % of those from it, where the whole job loses 25.00 %");
}

/* A root: ranks 1 and 3 come by a switch below, which is one sender; of rank 2, which comes by one above in
 * another scene, nothing is known, nor whether it is punctual. */
TEST(the_link_to_a_switch_below_is_named)
{
    for (int r = 1; r <= 3; r += 2) {
        set_of_rank(r, "switch", json_string("10.77.0.251"));
        set_rank(r, "lost_up", 100);
    }
    set_rank(3, "sent_with", 1);
    expect(WHY_LINK, 1,
           "the link of the switch below that sends for rank 1 (at 10.77.0.251) and 1 more loses packets: "
           "0.99 % of those to this switch, 0.00 % of those from it, where the whole job loses 0.33 %");
    begin_again();
    set_of_rank(2, "state", json_string("above"));
    set_rank(2, "delayed_us", 9999999);
    set_rank(2, "lost_up", 100);
    expect(WHY_NOTHING, -1, "30000 packets");
}

TEST(what_the_switch_drops_is_its_share_or_its_threads)
{
    set(now.drops, "over_share", json_integer(500));
    set_rank(1, "lost_up", 3);
    expect(WHY_SHARE, -1, "500 frames (over_share)");
    begin_again();
    set(now.drops, "ring_full", json_integer(500));
    expect(WHY_CPU, -1, "ring_full");
}

/* Drops are counted of all jobs together. */
TEST(another_jobs_share_is_no_cause)
{
    set(now.drops, "over_share", json_integer(500));
    expect(WHY_NOTHING, -1, "nothing holds it up");
}

/* pool.delays: false, or a protocol that does not count by rank. */
TEST(a_job_of_which_nothing_is_noted_is_not_called_idle)
{
    json_object_del(json_object_get(now.job, "view"), "contributions");
    none_sends();
    expect(WHY_NOTHING, -1, "does not note what comes from this job's ranks");
}

TEST(slots_that_are_all_under_way)
{
    set(now.job, "slots", json_integer(64));
    expect(WHY_SLOTS, -1, "all 64 slots");
}

TEST(slots_that_one_rank_does_not_fill_for_a_moment)
{
    set(now.job, "slots", json_integer(64));
    set_rank(2, "window", 9);
    expect(WHY_SLOTS, -1, "all 64 slots");
}

TEST(a_small_window_of_one_heartbeat_makes_no_rank_late)
{
    set_rank(2, "window", 9);
    set_rank(2, "delayed_us", 120000 + 5 * 1000000); /* 64 at once: a twelfth of the time */
    expect(WHY_NOTHING, -1, "nothing holds it up");
}

TEST(slots_that_one_rank_never_fills)
{
    set(now.job, "slots", json_integer(65));
    for (int r = 0; r < N; r++)
        set_rank(r, "window", r == 2 ? 64 : 65);
    expect(WHY_NOTHING, -1, "nothing holds it up");
}

TEST(a_busy_thread_that_sums)
{
    json_object_set_new(row_of(now.lcores, "lcores", 0), "busy_percent", json_integer(99));
    expect(WHY_CPU, -1, "lcore 1 of the switch (CPU 1), which sums, is busy 99 %");
}

TEST(small_packets)
{
    set(now.job, "chunk_bytes", json_integer(256));
    expect(WHY_MTU, -1, "256 bytes");
}

/* What a look shows beside a healthy job, and what is to be said of it first, and besides. Each delay is of
 * all its contributions, in windows of 64: 10,000 ms of them are 156 ms in which all wait. */
struct rule {
    const char *what;
    long long slots; /* 0: enough */
    long long up[N], down[N], delayed_ms[N];
    enum why_cause first;
    int rank;
    enum why_cause also; /* WHY_NOTHING: nothing */
};

static const struct rule rules[] = {
    /* Links. */
    {"few are lost on the way to the switch", 0, {0, 20}, {0}, {0}, WHY_LINK, 1, WHY_NOTHING},
    {"few are lost on the way from it", 0, {0}, {0, 20}, {0}, WHY_LINK, 1, WHY_NOTHING},
    {"fewer are chance", 0, {0, 4}, {0}, {0}, WHY_NOTHING, -1, WHY_NOTHING},
    {"both ways, of which each alone would be little", 0, {0, 8}, {0, 8}, {0}, WHY_LINK, 1, WHY_NOTHING},
    {"results that all ask for alike were late", 0, {0}, {9, 17, 25, 30}, {0}, WHY_NOTHING, -1, WHY_NOTHING},
    {"who asks for many more than they has lost some",
     0,
     {0},
     {9, 17, 25, 90},
     {0},
     WHY_LINK,
     3,
     WHY_NOTHING},
    {"results that half of the ranks lose", 0, {0}, {0, 0, 90, 100}, {0}, WHY_LINK, 3, WHY_NOTHING},
    {"nothing delays so many results", 0, {0}, {300, 310, 320, 330}, {0}, WHY_LINK, 3, WHY_NOTHING},
    {"what all lose on the way to it is lost", 0, {30, 30, 30, 40}, {0}, {0}, WHY_LINK, 3, WHY_NOTHING},
    /* Slots: they come first where nothing else takes most of the time. */
    {"slots", 64, {0}, {0}, {0}, WHY_SLOTS, -1, WHY_NOTHING},
    {"of few slots results are late", 64, {0}, {9, 17, 25, 30}, {0}, WHY_SLOTS, -1, WHY_NOTHING},
    {"slots and a link", 64, {0}, {0, 20}, {0}, WHY_SLOTS, -1, WHY_LINK},
    {"slots and a bad link", 64, {0, 1000}, {0}, {0}, WHY_SLOTS, -1, WHY_LINK},
    {"slots and a rank that is little late", 64, {0}, {0}, {0, 0, 20000}, WHY_SLOTS, -1, WHY_RANK},
    {"slots and a rank that is late most of the time", 64, {0}, {0}, {0, 0, 40000}, WHY_RANK, 2, WHY_SLOTS},
    {"a slot more is one", 65, {0}, {0}, {0}, WHY_NOTHING, -1, WHY_NOTHING},
    /* Ranks. */
    {"a late rank", 0, {0}, {0}, {0, 0, 20000}, WHY_RANK, 2, WHY_NOTHING},
    {"those that wait for it ask for what is on its way",
     0,
     {0},
     {30, 17, 0, 25},
     {0, 0, 20000},
     WHY_RANK,
     2,
     WHY_NOTHING},
    {"a late rank, and another's link", 0, {0, 50}, {0}, {0, 0, 20000}, WHY_LINK, 1, WHY_RANK},
    {"most of the time it is the rank", 0, {0, 50}, {0}, {0, 0, 40000}, WHY_RANK, 2, WHY_LINK},
    {"little late, as who loses packets is", 0, {0, 0, 50}, {0}, {0, 0, 20000}, WHY_LINK, 2, WHY_NOTHING},
    {"late for its losses, of each window one", 0, {0, 0, 160}, {0}, {0, 0, 40000}, WHY_LINK, 2, WHY_NOTHING},
    {"so few losses do not make it so late", 0, {0, 0, 20}, {0}, {0, 0, 40000}, WHY_RANK, 2, WHY_LINK},
};

static void show(const struct rule *rule)
{
    begin_again();
    if (rule->slots > 0)
        set(now.job, "slots", json_integer(rule->slots));
    for (int r = 0; r < N; r++) {
        set_rank(r, "lost_up", rule->up[r]);
        set_rank(r, "lost_down", rule->down[r]);
        set_rank(r, "delayed_us", 120000 + 1000 * rule->delayed_ms[r]);
    }
}

TEST(each_cause_where_it_is_one)
{
    struct why whys[WHY_MOST];

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *rule = &rules[i];

        show(rule);

        const size_t n = why_decide(whys, &before, &now, 1);
        const bool right = n == (rule->also == WHY_NOTHING ? 1 : 2) && whys[0].cause == rule->first &&
                           whys[0].rank == rule->rank && (n == 1 || whys[1].cause == rule->also);

        CU_ASSERT(right);
        if (!right)
            printf("\n%s: %zu causes, %s of rank %d\n", rule->what, n, why_word(whys[0].cause), whys[0].rank);
    }
}

/* There is nobody to compare with. */
TEST(a_job_of_one_rank_has_a_link)
{
    for (int r = 1; r < N; r++)
        json_array_remove(json_object_get(json_object_get(now.ranks, "view"), "ranks"), 1);
    set_rank(0, "lost_down", 50);
    expect(WHY_LINK, 0, "0.50 % of those from it");
}

/* Where all are late after the first one, that is how the machine is. */
TEST(ranks_that_are_nearly_as_late_as_one_another)
{
    for (int r = 0; r < N; r++)
        set_rank(r, "delayed_us", 100000 + (30 + r * 5LL) * 64 * 10000);
    expect(WHY_NOTHING, -1, "nothing");
}

/* Whoever mends the first finds the next without asking again. */
TEST(all_that_holds_is_told)
{
    static const enum why_cause causes[WHY_MOST] = {WHY_SHARE, WHY_SLOTS, WHY_LINK,
                                                    WHY_RANK,  WHY_CPU,   WHY_MTU};
    struct why whys[WHY_MOST];

    set(now.drops, "over_share", json_integer(500));
    set_rank(2, "lost_up", 100);
    set_rank(1, "delayed_us", 100000 + 100LL * 64 * 4000);
    set(now.job, "slots", json_integer(64));
    set(now.job, "chunk_bytes", json_integer(256));
    json_object_set_new(row_of(now.lcores, "lcores", 0), "busy_percent", json_integer(99));
    CU_ASSERT_EQUAL(why_decide(whys, &before, &now, 1), WHY_MOST);
    for (int i = 0; i < WHY_MOST; i++)
        CU_ASSERT_EQUAL(whys[i].cause, causes[i]);
}

/* A host without these views, and a pool that notes no delays. */
TEST(what_is_not_known_is_no_cause)
{
    struct why whys[WHY_MOST];

    end();
    before = (struct why_look){.job = answer(json_pack("{s:s}", "state", "running"))};
    now = (struct why_look){.job = answer(json_pack("{s:s}", "state", "running"))};
    CU_ASSERT_EQUAL(why_decide(whys, &before, &now, 1), 1);
    CU_ASSERT_EQUAL(whys[0].cause, WHY_NOTHING);
}
