/* libswagg with several switches, each of which sums a part of every call. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "options.h"
#include "switches.h"
#include "unit.h"

/* In the place of those that there are. */
static void start_with(const struct loop_switch_config *config, int n)
{
    switches_stop();
    while (all.n < n)
        switches_add(config);
}

static void start(int n)
{
    start_with(&(struct loop_switch_config){.seed = seed}, n);
}

static struct crew crew_at_all(int size, const char *job, crew_fn *work, void *arg)
{
    return crew_at(size, all.list, job, work, arg);
}

static size_t most(void)
{
    return unit_cases(70001);
}

/* From no element at all, and less than a step of elements, to hundreds of packets; to all, and to one. */
static int sum_all_sizes(struct crew_member *m)
{
    const size_t counts[] = {0, 1, 15, 16, 17, 32, 33, 340, 360, 700, 731, 5000, most()};
    return crew_sum_sizes(m, counts, sizeof counts / sizeof *counts);
}

TEST(sums_are_those_of_one_switch)
{
    for (int n = 2; n <= SWITCHES_MAX; n++) {
        start(n);
        struct crew crew = crew_at_all(4, "sizes", sum_all_sizes, NULL);
        crew_succeed(&crew);
        for (int i = 0; i < n; i++)
            CU_ASSERT(loop_switch_packets(all.ls[i]) > 4 * 5 * most() / 365 / (unsigned)n);
    }
}

TEST(packets_are_lost_at_all_of_them)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02}}};
    start_with(&(struct loop_switch_config){.seed = seed, .in = link, .out = link}, 2);
    struct crew crew = crew_at_all(3, "lossy", sum_all_sizes, NULL);
    crew.options.reduce = SWAGG_REDUCE_BUFFERED;
    crew_succeed(&crew);
}

/* The exponent of each block goes ahead of it, to the same switch. */
TEST(scaled_numbers_are_summed)
{
    start(2);
    for (enum swagg_numbers numbers = SWAGG_NUMBERS_INT32; numbers <= SWAGG_NUMBERS_FP16; numbers++) {
        struct crew crew = crew_at_all(3, "numbers", crew_sum_scaled, NULL);
        crew.options.numbers = numbers;
        crew_succeed(&crew);
    }
}

static bool has_said(struct crew_member *m, const char *text)
{
    pthread_mutex_lock(&m->log_lock);
    const bool said = strstr(m->log, text) != NULL;
    pthread_mutex_unlock(&m->log_lock);
    return said;
}

/* Until a rank says that the links have other shares: then all have said so behind the same call. */
static int sum_until_divided(struct crew_member *m)
{
    int divided = 0, rc = 0;
    while (!divided && rc == 0) {
        rc = crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 70001, .seed = seed}, -1, true);
        divided = has_said(m, "% of each call go by");
        if (rc == 0)
            rc = swagg_allreduce(m->job, &divided, &divided, 1, SWAGG_I32, SWAGG_MAX);
    }
    if (rc == 0 && !has_said(m, "% of each call go by"))
        return -1;
    return rc == 0 ? sum_all_sizes(m) : rc;
}

/* Percent of each call that the first link was to have, as the rank has said first. */
static double first_share(const struct crew_member *m)
{
    const char *says = strstr(m->log, "% of each call go by");
    while (says && says > m->log && says[-1] != ' ')
        says--;
    return says ? strtod(says, NULL) : 0;
}

/* The way to the second is longer, and no more than a few packets are on it at once; so they differ,
 * whichever a busy machine finds to be faster. */
TEST(links_have_shares_by_measure)
{
    const struct impair_config far = {
        .rate = {[IMPAIR_REORDER] = {.probability = 1}}, .hold_frames = UINT32_MAX, .hold_for = 2000000};
    start(1);
    switches_add(&(struct loop_switch_config){.seed = seed, .out = far});
    struct crew crew = crew_at_all(3, "rates", sum_until_divided, NULL);
    crew.options.window = 8;
    crew_succeed(&crew);
    for (int r = 0; r < crew.size; r++) {
        CU_ASSERT(first_share(&crew.member[r]) > 0);
        CU_ASSERT_EQUAL(first_share(&crew.member[r]), first_share(&crew.member[0]));
    }
}

/* What two ranks call differently is named as they called it, whole. */
static int differ(struct crew_member *m)
{
    const struct tensor t = {.type = SWAGG_F32, .count = m->rank == 1 ? 5000 : 4000, .seed = seed};
    return crew_sum(m, &t, -1, false);
}

TEST(different_calls_are_named)
{
    start(2);
    struct crew crew = crew_at_all(3, "mismatch", differ, NULL);
    crew_disagree(&crew, "allreduce of 5000 float32", "allreduce of 4000 float32");
}

/* Of two ranks one names them the other way round: then each switch would add different parts. Whoever comes
 * second to a switch is refused there, and the other waits for him in vain. */
static bool names_another_order(int deadline_ms)
{
    start(2);
    char list[sizeof all.list];
    snprintf(list, sizeof list, "%s,%s", loop_switch_ip(all.ls[1]), loop_switch_ip(all.ls[0]));
    struct crew one = crew_at_all(2, "order", sum_all_sizes, NULL), other = one;
    one.absent = 1;
    other.absent = 0;
    other.options.switch_ip = list;
    one.options.join_timeout_ms = other.options.join_timeout_ms = deadline_ms;
    crew_start(&one);
    crew_start(&other);
    crew_join(&one);
    crew_join(&other);
    const char *words = "wants this switch behind its second link, rank";
    const bool named = strstr(one.member[0].error, words) || strstr(other.member[1].error, words);
    return crew_told(&one, one.member[0].opened < 0 && other.member[1].opened < 0 && named);
}

TEST(another_order_is_refused)
{
    crew_give_up(names_another_order);
}

/* One of them is killed in the midst of calls, and started again. */
static int sum_often(struct crew_member *m)
{
    return crew_sum_in_a_row(m, 20, &(struct tensor){.type = SWAGG_F32, .count = 20000});
}

TEST(one_of_them_restarts)
{
    start(2);
    struct crew crew = crew_at_all(3, "restart", sum_often, NULL);
    crew.options.link_timeout_ms = 1000000;
    loop_switch_take(all.ls[1], 500);
    crew_start(&crew);
    loop_switch_restart_there(all.ls[1], 100, 0);
    crew_end_well(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.resumed, 1);
}

static void refuses(struct swagg_options options, const char *why)
{
    struct client_options resolved;
    options.switch_ip = "10.0.0.1,10.0.0.2";
    options.job = "refused";
    options.size = 2;
    CU_ASSERT_EQUAL(client_options_resolve(&resolved, &options), SWAGG_ERR_ARGUMENT);
    CU_ASSERT(says(swagg_last_error(), why));
}

TEST(what_takes_one_switch_is_refused_with_several)
{
    struct swagg_options compressed = SWAGG_OPTIONS_DEFAULT, quorum = SWAGG_OPTIONS_DEFAULT;
    compressed.compression = SWAGG_COMPRESSION_THC;
    quorum.quorum = 1;
    refuses(compressed, "options.compression and several switches");
    refuses(quorum, "options.quorum and several switches");
}
