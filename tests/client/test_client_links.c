/* libswagg with several switches, of which some are not there any more: the others go on with their parts of
 * every call. Whichever ranks hold which sums when a link is cut, in the place of their own numbers or not:
 * nobody has a wrong one, and floats have the bits that they would have had. Those that are there again sum
 * again. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "random.h"
#include "switches.h"
#include "unit.h"

enum { RANKS = 3, CALLS = 12, LOST_MS = 20000, LONG_MS = 1000000 };

/* Ranks give up a link that is silent for so long; where the machine stands still, that is one that is well,
 * too. Then this was another case than was meant: it is tried again, with more patience. */
enum { PATIENCE_MS = 50, PATIENCE_MAX_MS = LOST_MS / 2 };
static int patience_ms; /* 0: no attempt is under way */
static atomic_bool well_lost;

static bool as_meant(void)
{
    return !atomic_load(&well_lost) || patience_ms == 0 || patience_ms >= PATIENCE_MAX_MS;
}

/* Begins an attempt, unless the one before was as meant. */
static bool attempt(void)
{
    if (patience_ms == 0)
        patience_ms = PATIENCE_MS;
    else if (as_meant())
        patience_ms = 0;
    else
        patience_ms = 4 * patience_ms < PATIENCE_MAX_MS ? 4 * patience_ms : PATIENCE_MAX_MS;
    atomic_store(&well_lost, false);
    return patience_ms > 0;
}

/* Bits of those that are not well, or were not until all came back. */
static atomic_uint silent;

static void start_one(const struct loop_switch_config *config)
{
    if (all.n == 0)
        atomic_store(&silent, 0);
    if (config->deaf)
        atomic_fetch_or(&silent, 1u << all.n);
    switches_add(config);
}

/* One is silent after so many packets. */
static void silence(uint64_t i, uint64_t packets)
{
    atomic_fetch_or(&silent, 1u << i);
    loop_switch_take(all.ls[i], packets);
}

/* In the place of those that there are. */
static void start(int n)
{
    switches_stop();
    while (all.n < n)
        start_one(&(struct loop_switch_config){.seed = seed, .lost_after_ms = LOST_MS});
}

/* What the ranks are told. */
static atomic_int lost[RANKS], back[RANKS], ended[RANKS];

static void on_event(void *ctx, const struct swagg_event *e)
{
    const int rank = *(const int *)ctx;
    for (int i = 0; i < all.n && e->kind == SWAGG_EVENT_LINK_LOST && e->node != NULL; i++)
        if (strcmp(e->node, loop_switch_ip(all.ls[i])) == 0 && !(atomic_load(&silent) & 1u << i))
            atomic_store(&well_lost, true);
    atomic_fetch_add(&lost[rank], e->kind == SWAGG_EVENT_LINK_LOST && e->node != NULL);
    atomic_fetch_add(&back[rank], e->kind == SWAGG_EVENT_LINK_BACK && e->node != NULL);
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

static struct crew crew_at_all(crew_fn *work, void *arg)
{
    for (int r = 0; r < RANKS; r++)
        lost[r] = back[r] = ended[r] = 0;
    struct crew crew = crew_at(RANKS, all.list, "links", work, arg);
    crew.options.link_timeout_ms = patience_ms;
    crew.options.call_timeout_ms = crew.options.join_timeout_ms = LONG_MS;
    return crew;
}

static void expect_sums(const struct crew *crew)
{
    for (int r = 0; r < RANKS; r++)
        CU_ASSERT_NOT_EQUAL(crew->member[r].status, WRONG_SUM);
    if (!as_meant())
        return;
    crew_expect_success(crew);
    for (int r = 0; r < RANKS; r++)
        CU_ASSERT_EQUAL(ended[r], 0);
}

static void expect_lost(const struct crew *crew, unsigned links)
{
    expect_sums(crew);
    for (int r = 0; r < RANKS && as_meant(); r++) {
        CU_ASSERT_EQUAL(crew->member[r].stats.links_lost, links);
        CU_ASSERT_EQUAL(lost[r] - back[r], (int)links);
    }
}

TEST(one_that_takes_nothing_any_more_is_done_without)
{
    uint64_t random = seed;
    for (uint64_t i = 0; i < unit_cases(5); i++)
        while (attempt()) {
            start(2);
            struct crew crew = crew_at_all(sum_often, NULL);
            silence(i % 2, 10 + rng_below(&random, 900));
            crew_run(&crew);
            expect_lost(&crew, 1);
        }
}

/* Of its sums the others hold some in the place of their numbers, and one rank has none. */
TEST(one_that_does_not_reach_one_rank_is_done_without_by_all)
{
    for (unsigned rank = 0; rank < RANKS; rank++)
        while (attempt()) {
            switches_stop();
            start_one(&(struct loop_switch_config){.seed = seed});
            start_one(&(struct loop_switch_config){.seed = seed, .deaf = 1u << rank});
            struct crew crew = crew_at_all(sum_often, NULL);
            crew_run(&crew);
            expect_lost(&crew, 1);
        }
}

/* Where the second one's part goes is the next to fall silent, as soon as it has taken some of it, or before.
 */
TEST(a_second_one_goes_while_the_first_is_made_up_for)
{
    uint64_t random = seed;
    for (uint64_t i = 0; i < unit_cases(5); i++)
        while (attempt()) {
            start(3);
            struct crew crew = crew_at_all(sum_often, NULL);
            silence(1, 10 + rng_below(&random, 300));
            silence(2, 10 + rng_below(&random, 500));
            crew_run(&crew);
            expect_lost(&crew, 2);
        }
}

TEST(links_lose_packets_meanwhile)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02}}};
    while (attempt()) {
        switches_stop();
        for (int i = 0; i < 2; i++)
            start_one(&(struct loop_switch_config){.seed = seed, .in = link, .out = link});
        struct crew crew = crew_at_all(sum_often, NULL);
        crew.options.reduce = SWAGG_REDUCE_BUFFERED;
        silence(1, 300);
        crew_run(&crew);
        expect_lost(&crew, 1);
    }
}

/* How many calls there are: more than any, until it is enough, and rank 0 says which is the last. */
struct stretch {
    atomic_bool enough;
    atomic_int last;
};
#define STRETCH ((struct stretch){.last = 1 << 30})

static int sum_native(struct crew_member *m, int i)
{
    const struct tensor t = {.type = SWAGG_F64, .count = i % 4 ? 33000 : 900, .seed = seed + (uint64_t)i};
    return crew_sum(m, &t, i % 8 == 5 ? 1 : -1, i % 2 == 0);
}

/* Of whole numbers up to 1000, which scaling does not round off. */
static int sum_scaled(struct crew_member *m, int i)
{
    enum { LONG = 66000 };
    const int count = i % 4 ? LONG : 900;
    float *x = malloc(LONG * sizeof *x);
    for (int k = 0; k < count; k++)
        x[k] = (float)((k + i) % 300 + m->rank);
    int rc = swagg_allreduce(m->job, x, x, (size_t)count, SWAGG_F32, SWAGG_SUM);
    for (int k = 0; k < count && rc == 0; k++)
        rc = fabsf(x[k] - (float)(RANKS * ((k + i) % 300) + RANKS * (RANKS - 1) / 2)) <
                     (m->crew->options.numbers == SWAGG_NUMBERS_FP16 ? 4 : 0.01F)
                 ? 0
                 : WRONG_SUM;
    free(x);
    return rc;
}

/* Calls behind which ranks agree. */
static int sum_until_enough(struct crew_member *m)
{
    struct stretch *s = m->crew->arg;
    int rc = swagg_on_event(m->job, on_event, &m->rank);
    for (int i = 0; i <= atomic_load(&s->last) && rc == 0; i++) {
        rc = m->crew->options.numbers ? sum_scaled(m, i) : sum_native(m, i);
        if (m->rank == 0 && atomic_exchange(&s->enough, false))
            atomic_store(&s->last, i + 2); /* no other rank is further than the next */
        sleep_ms(2);                       /* much of this is waiting */
    }
    return rc;
}

/* Until so many more links were lost than came back, at all ranks: with none all are well again. */
static void await_lost(const struct crew *crew, int links)
{
    for (int r = 0; r < RANKS; r++)
        while (lost[r] - back[r] != links && atomic_load(&crew->through) == 0)
            sleep_ms(1);
    if (links == 0)
        atomic_store(&silent, 0);
}

/* A cable that is mended, or a switch that is started anew. */
static void mend(struct loop_switch *ls, bool anew)
{
    if (anew) {
        loop_switch_kill(ls);
        loop_switch_revive(ls);
    }
    loop_switch_take(ls, 0);
}

/* It sums, and its links are used by all. */
static void await_use(const struct crew *crew, const struct loop_switch *ls)
{
    const uint64_t was = loop_switch_packets(ls);
    while (loop_switch_packets(ls) < was + 1000 && atomic_load(&crew->through) == 0)
        sleep_ms(1);
}

static void comes_back(enum swagg_numbers numbers, uint64_t gone, bool anew)
{
    struct stretch sums = STRETCH;
    start(2);
    struct crew crew = crew_at_all(sum_until_enough, &sums);
    crew.options.numbers = numbers;
    crew_start(&crew);
    silence(gone, 500);
    await_lost(&crew, 1);
    mend(all.ls[gone], anew);
    await_lost(&crew, 0);
    await_use(&crew, all.ls[gone]);
    await_use(&crew, all.ls[1 - gone]);
    atomic_store(&sums.enough, true);
    crew_join(&crew);
    expect_sums(&crew);
}

static void come_back(enum swagg_numbers numbers)
{
    for (unsigned i = 0; i < 2; i++)
        while (attempt())
            comes_back(numbers, i, i == 1);
}

TEST(one_that_is_there_again_sums_again)
{
    come_back(SWAGG_NUMBERS_NATIVE);
}

/* Where there is no least of words to agree by. */
TEST(so_it_does_with_scaled_numbers)
{
    come_back(SWAGG_NUMBERS_INT32);
    come_back(SWAGG_NUMBERS_FP16);
}

/* Whichever falls silent next, at any step of the other's coming back, and packets are lost, too. */
static void comes_and_goes(uint64_t *random)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.01}}};
    struct stretch sums = STRETCH;
    switches_stop();
    for (int i = 0; i < 3; i++)
        start_one(
            &(struct loop_switch_config){.seed = seed, .lost_after_ms = LOST_MS, .in = link, .out = link});
    struct crew crew = crew_at_all(sum_until_enough, &sums);
    crew_start(&crew);
    await_use(&crew, all.ls[0]); /* who is not told that he is in before a switch is silent never is */
    for (uint64_t i = 0; i < unit_cases(2); i++) {
        const uint64_t first = rng_below(random, 3), second = (first + 1 + rng_below(random, 2)) % 3;
        silence(first, 1 + rng_below(random, 500));
        await_lost(&crew, 1);
        mend(all.ls[first], rng_below(random, 2));
        silence(second, 1 + rng_below(random, 5000));
        await_use(&crew, all.ls[first]);
        mend(all.ls[second], rng_below(random, 2));
        await_lost(&crew, 0);
    }
    atomic_store(&sums.enough, true);
    crew_join(&crew);
    expect_sums(&crew);
}

TEST(links_come_and_go)
{
    uint64_t random = seed;
    while (attempt())
        comes_and_goes(&random);
}

/* One call, after which all close; one rank has nothing of what one of the switches sums, and the others have
 * it all.
 */
static int sum_once(struct crew_member *m)
{
    const int rc = swagg_on_event(m->job, on_event, &m->rank);
    return rc < 0 ? rc
                  : crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 9000, .seed = seed}, -1, true);
}

static void fails_in_the_last_call(unsigned rank, unsigned which)
{
    switches_stop();
    for (unsigned i = 0; i < 2; i++)
        start_one(&(struct loop_switch_config){.seed = seed, .deaf = i == which ? 1u << rank : 0});
    struct crew crew = crew_at_all(sum_once, NULL);
    crew_run(&crew);
    expect_sums(&crew);
    if (as_meant())
        CU_ASSERT_EQUAL(lost[rank] - back[rank], 1);
}

TEST(one_fails_in_the_last_call)
{
    for (unsigned rank = 0; rank < RANKS; rank++)
        for (unsigned which = 0; which < 2; which++)
            while (attempt())
                fails_in_the_last_call(rank, which);
}

/* It computes for long behind the last call, and closes after all others. */
static int sum_and_stay(struct crew_member *m)
{
    const int rc = sum_once(m);
    while (rc == 0 && m->rank == RANKS - 1 && atomic_load(&m->crew->through) < RANKS - 1)
        sleep_ms(1);
    return rc;
}

TEST(who_has_finished_the_last_call_keeps_nobody)
{
    start(2);
    struct crew crew = crew_at_all(sum_and_stay, NULL);
    crew.options.link_timeout_ms = LONG_MS;
    crew_run(&crew);
    expect_lost(&crew, 0);
}

/* It stays when all others have left, and a switch does not know of that any more. */
static int sum_and_call_again(struct crew_member *m)
{
    const struct tensor t = {.type = SWAGG_F32, .count = 9000, .seed = seed};
    int rc = sum_and_stay(m);
    if (rc < 0 || m->rank < RANKS - 1)
        return rc;
    crew_await_line(m, "did not come back");
    return ended[m->rank] ? SWAGG_OK : crew_sum(m, &t, -1, true);
}

TEST(that_others_have_left_is_told_who_calls_again)
{
    for (int i = 0; i < 2; i++)
        start_one(&(struct loop_switch_config){.seed = seed, .lost_after_ms = LOST_MS / 2});
    struct crew crew = crew_at_all(sum_and_call_again, NULL);
    crew.options.link_timeout_ms = LONG_MS;
    crew_start(&crew);
    while (atomic_load(&crew.through) < RANKS - 1)
        sleep_ms(1);
    loop_switch_kill(all.ls[1]);
    loop_switch_revive(all.ls[1]);
    crew_join(&crew);
    CU_ASSERT_EQUAL(crew.member[RANKS - 1].status, SWAGG_ERR_ABORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(crew.member[RANKS - 1].error, "ranks 0 and 1 did not come back"));
    CU_ASSERT_EQUAL(lost[RANKS - 1], 0);
    CU_ASSERT_EQUAL(ended[RANKS - 1], 1);
}

/* Nobody gives the link up: who lacks the sum gets the error at his deadline, and those who have it do not
 * wait for ever until he has it. */
TEST(the_deadline_ends_the_last_call_for_all)
{
    for (unsigned i = 0; i < 2; i++)
        start_one(&(struct loop_switch_config){.seed = seed, .deaf = i});
    struct crew crew = crew_at_all(sum_once, NULL);
    crew.options.link_timeout_ms = LONG_MS;
    crew.options.call_timeout_ms = 500;
    crew_run(&crew);
    CU_ASSERT(crew.member[0].status < 0);
}

/* Nobody gives up the last: the deadline ends the job, and names one that is not there. */
static bool names_a_dead_switch(int deadline_ms)
{
    atomic_int calls = 0;
    start(2);
    struct crew crew = crew_at_all(crew_sum_for_long, &calls);
    bool named = true;
    crew.options.link_timeout_ms = PATIENCE_MS;
    crew.options.call_timeout_ms = deadline_ms;
    crew_start(&crew);
    crew_await(&crew, &calls, 6);
    loop_switch_kill(all.ls[0]);
    loop_switch_kill(all.ls[1]);
    crew_join(&crew);
    for (int r = 0; r < RANKS; r++)
        named = named && crew.member[r].status < 0 &&
                (strstr(crew.member[r].error, loop_switch_ip(all.ls[0])) ||
                 strstr(crew.member[r].error, loop_switch_ip(all.ls[1])));
    for (int i = 0; i < 2; i++)
        loop_switch_revive(all.ls[i]);
    return crew_told(&crew, named);
}

TEST(if_all_are_gone_the_job_ends)
{
    crew_give_up(names_a_dead_switch);
}
