/* libswagg with several switches, of which some are not there any more: the others go on with their parts of
 * every call. Whichever ranks hold which sums when a link is cut, in the place of their own numbers or not:
 * nobody has a wrong one, and floats have the bits that they would have had. */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <string.h>

#include "crew.h"
#include "random.h"
#include "unit.h"

enum { SWITCHES_MAX = 3, RANKS = 3, CALLS = 12, PATIENCE_MS = 50, LOST_MS = 20000, LONG_MS = 1000000 };

struct switches {
    struct loop_switch *ls[SWITCHES_MAX];
    int n;
    char list[SWITCHES_MAX * INET_ADDRSTRLEN];
    char job[32];
};

static void start_one(struct switches *s, const struct loop_switch_config *config)
{
    s->ls[s->n] = loop_switch_start(config);
    if (s->n > 0)
        strcat(s->list, ",");
    strcat(s->list, loop_switch_ip(s->ls[s->n++]));
}

static struct switches start(int n)
{
    struct switches s = {0};
    while (s.n < n)
        start_one(&s, &(struct loop_switch_config){.seed = seed, .lost_after_ms = LOST_MS});
    return s;
}

static void stop(struct switches *s)
{
    for (int i = 0; i < s->n; i++)
        loop_switch_stop(s->ls[i]);
}

/* What the ranks are told. */
static atomic_int lost[RANKS], ended[RANKS];

static void on_event(void *ctx, const struct swagg_event *e)
{
    const int rank = *(const int *)ctx;
    atomic_fetch_add(&lost[rank], e->kind == SWAGG_EVENT_LINK_LOST && e->node != NULL);
    atomic_fetch_add(&ended[rank], e->kind == SWAGG_EVENT_ENDED);
}

/* Of all kinds, some to one rank alone, half of them in place. */
static int sum_often(struct crew_member *m)
{
    static const size_t counts[] = {20000, 5000, 40000, 700};
    static const enum swagg_type types[] = {SWAGG_F32, SWAGG_I32, SWAGG_F64};
    int rc = swagg_on_event(m->job, on_event, &m->rank);
    for (unsigned i = 0; i < CALLS && rc == 0; i++)
        rc = crew_sum(m, &(struct tensor){.type = types[i % 3], .count = counts[i % 4], .seed = seed + i},
                      i % 5 == 4 ? 1 : -1, i % 2 == 0);
    return rc;
}

static struct crew crew_at_all(struct switches *s, crew_fn *work, void *arg)
{
    for (int r = 0; r < RANKS; r++)
        lost[r] = ended[r] = 0;
    struct crew crew = crew_at(RANKS, s->list, "links", work, arg);
    crew.options.link_timeout_ms = PATIENCE_MS;
    crew.options.call_timeout_ms = crew.options.join_timeout_ms = LONG_MS;
    return crew;
}

static void expect_lost(const struct crew *crew, unsigned links)
{
    crew_expect_success(crew);
    for (int r = 0; r < RANKS; r++) {
        CU_ASSERT_EQUAL(crew->member[r].stats.links_lost, links);
        CU_ASSERT_EQUAL(lost[r], (int)links);
        CU_ASSERT_EQUAL(ended[r], 0);
    }
}

TEST(one_that_takes_nothing_any_more_is_done_without)
{
    for (uint64_t i = 0, random = seed; i < unit_cases(5); i++) {
        struct switches s = start(2);
        struct crew crew = crew_at_all(&s, sum_often, NULL);
        const uint64_t gone = i % 2;
        loop_switch_take(s.ls[gone], 10 + rng_below(&random, 900));
        crew_run(&crew);
        expect_lost(&crew, 1);
        stop(&s);
    }
}

/* Of its sums the others hold some in the place of their numbers, and one rank has none. */
TEST(one_that_does_not_reach_one_rank_is_done_without_by_all)
{
    for (unsigned rank = 0; rank < RANKS; rank++) {
        struct switches s = {0};
        start_one(&s, &(struct loop_switch_config){.seed = seed});
        start_one(&s, &(struct loop_switch_config){.seed = seed, .deaf = 1u << rank});
        struct crew crew = crew_at_all(&s, sum_often, NULL);
        crew_run(&crew);
        expect_lost(&crew, 1);
        stop(&s);
    }
}

/* Where the second one's part goes is the next to fall silent, as soon as it has taken some of it, or before.
 */
TEST(a_second_one_goes_while_the_first_is_made_up_for)
{
    for (uint64_t i = 0, random = seed; i < unit_cases(5); i++) {
        struct switches s = start(3);
        struct crew crew = crew_at_all(&s, sum_often, NULL);
        loop_switch_take(s.ls[1], 10 + rng_below(&random, 300));
        loop_switch_take(s.ls[2], 10 + rng_below(&random, 500));
        crew_run(&crew);
        expect_lost(&crew, 2);
        stop(&s);
    }
}

TEST(links_lose_packets_meanwhile)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02}}};
    struct switches s = {0};
    for (int i = 0; i < 2; i++)
        start_one(&s, &(struct loop_switch_config){.seed = seed, .in = link, .out = link});
    struct crew crew = crew_at_all(&s, sum_often, NULL);
    crew.options.reduce = SWAGG_REDUCE_BUFFERED;
    loop_switch_take(s.ls[1], 300);
    crew_run(&crew);
    expect_lost(&crew, 1);
    stop(&s);
}

/* Nobody gives up the last: the deadline ends the job, and names one that is not there. */
static bool names_a_dead_switch(int deadline_ms)
{
    atomic_int calls = 0;
    struct switches s = start(2);
    struct crew crew = crew_at_all(&s, crew_sum_for_long, &calls);
    bool named = true;
    crew.options.call_timeout_ms = deadline_ms;
    crew_start(&crew);
    crew_await(&crew, &calls, 6);
    loop_switch_kill(s.ls[0]);
    loop_switch_kill(s.ls[1]);
    crew_join(&crew);
    for (int r = 0; r < RANKS; r++)
        named = named && crew.member[r].status < 0 &&
                (strstr(crew.member[r].error, loop_switch_ip(s.ls[0])) ||
                 strstr(crew.member[r].error, loop_switch_ip(s.ls[1])));
    for (int i = 0; i < 2; i++)
        loop_switch_revive(s.ls[i]);
    stop(&s);
    return crew_told(&crew, named);
}

TEST(if_all_are_gone_the_job_ends)
{
    crew_give_up(names_a_dead_switch);
}

int main(void)
{
    seed_from_environment();
    return unit_main();
}
