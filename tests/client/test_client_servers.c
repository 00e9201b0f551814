/* libswagg by ATP with several parameter servers a job, each a swagg-ps of its own, and no switch. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "ps_process.h"
#include "unit.h"

enum { SERVERS_MAX = 3 };

/* Servers, and what a job calls them. */
static struct {
    struct ps_process ps[SERVERS_MAX];
    int n;
    char list[SERVERS_MAX * INET_ADDRSTRLEN];
} all;

static void start_one(const char *more)
{
    struct ps_process *ps = &all.ps[all.n++];
    ps_begin(ps, more);
    const size_t used = strlen(all.list);
    snprintf(all.list + used, sizeof all.list - used, "%s%s", used > 0 ? "," : "", ps->ip);
}

static void stop(void)
{
    while (all.n > 0)
        ps_stop(&all.ps[--all.n]);
    all.list[0] = '\0';
}

EACH_TEST(NULL, stop)

/* In the place of those that there are. */
static void start_with(const char *more, int n)
{
    stop();
    while (all.n < n)
        start_one(more);
}

static void start(int n)
{
    start_with("", n);
}

static struct crew crew_at_all(int size, const char *job, crew_fn *work, void *arg)
{
    struct crew crew = crew_at(size, NULL, job, work, arg);
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    crew.options.server_ip = all.list;
    return crew;
}

/* From no element at all, and fewer chunks than there are servers, to hundreds; to all, and to one. */
static int sum_all_sizes(struct crew_member *m)
{
    static const size_t counts[] = {0, 1, 340, 360, 700, 1100, 5000, 70000};
    return crew_sum_sizes(m, counts, sizeof counts / sizeof *counts);
}

TEST(sums_are_those_of_one_server)
{
    for (int n = 2; n <= SERVERS_MAX; n++) {
        start(n);
        struct crew crew = crew_at_all(4, "sizes", sum_all_sizes, NULL);
        crew_succeed(&crew);
        for (int i = 0; i < n; i++)
            CU_ASSERT(ps_counted(&all.ps[i], "verdicts", "\"atp_results\"") > 0);
    }
}

/* Floats whose sum is exact in any order. */
static int sum_round(struct crew_member *m)
{
    return crew_sum_in_a_row(m, 10, &(struct tensor){.type = SWAGG_F32, .count = 40000, .round = true});
}

/* Eight ranks in racks of three have nearly all results of each server by its group. */
TEST(results_come_by_each_servers_group)
{
    start(2);
    struct crew crew = crew_at_all(8, "groups", sum_round, NULL);
    crew.options.mode = SWAGG_ON_ARRIVAL;
    crew.options.ranks_per_rack = 3;
    crew.options.server_rack = 2;
    crew_succeed(&crew);
    for (int i = 0; i < all.n; i++) {
        const uint64_t results = ps_counted(&all.ps[i], "verdicts", "\"atp_results\"");
        CU_ASSERT(results > 0 && ps_sent_unasked(&all.ps[i]) < 4 * results);
    }
}

/* SwitchML's numbers: the exponent of each block goes ahead of it, by the same server. */
TEST(scaled_numbers_are_summed)
{
    start(3);
    struct crew crew = crew_at_all(3, "numbers", crew_sum_scaled, NULL);
    crew.options.numbers = SWAGG_NUMBERS_INT32;
    crew_succeed(&crew);
}

/* Each grants packets as long as it takes: the shortest count everywhere. */
TEST(servers_of_different_packets_agree)
{
    start_one("mtu: 9000\n");
    start_one("mtu: 1500\n");
    struct crew crew = crew_at_all(3, "packets", sum_all_sizes, NULL);
    crew.options.mtu = 9000;
    crew_succeed(&crew);
    CU_ASSERT(crew.member[0].stats.elements_per_packet < 1500 / 4);
}

/* So many chunks are under way at each server, whatever the network says. */
TEST(a_fixed_window_is_each_servers)
{
    start(2);
    struct crew crew = crew_at_all(2, "window", sum_round, NULL);
    crew.options.window = 7;
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.window, 14);
    CU_ASSERT(crew.member[0].stats.slots >= 2 * 1024);
}

/* Rank 1 calls something else; where the call is short, at the first server only. */
static int differ(struct crew_member *m)
{
    const size_t count = *(const size_t *)m->crew->arg;
    const struct tensor t = {
        .type = m->rank == 1 ? SWAGG_F64 : SWAGG_F32, .count = m->rank == 1 ? 5000 : count, .seed = seed};
    return crew_sum(m, &t, -1, false);
}

TEST(different_calls_are_named)
{
    static const size_t counts[] = {10, 9000};
    start(2);
    for (size_t i = 0; i < 2; i++) {
        struct crew crew = crew_at_all(3, "mismatch", differ, (void *)&counts[i]);
        crew_disagree(&crew, "rank 1", "float64");
    }
}

/* The others serve on: every rank learns which one is dead, from it itself or from a rank that has. Half of
 * lost_after_ms is a long silence. */
static bool names_the_dead_server(int deadline_ms)
{
    atomic_int calls = 0;
    char timers[64], dead[64];
    bool named = true;
    snprintf(timers, sizeof timers, "timers: {lost_after_ms: %d}\n", deadline_ms);
    start_with(timers, 3);
    struct crew crew = crew_at_all(3, "dead", crew_sum_for_long, &calls);
    crew.options.call_timeout_ms = 2 * deadline_ms;
    crew_start(&crew);
    crew_await(&crew, &calls, 6);
    ps_kill(&all.ps[1]);
    crew_join(&crew);
    snprintf(dead, sizeof dead, "the parameter server %s has been silent", all.ps[1].ip);
    for (int r = 0; r < 3; r++) {
        const int status = crew.member[r].status;
        named = named && (status == SWAGG_ERR_DEADLINE || status == SWAGG_ERR_ABORTED) &&
                strstr(crew.member[r].error, dead);
    }
    return crew_told(&crew, named);
}

TEST(a_server_that_dies_is_named)
{
    crew_give_up(names_the_dead_server);
}

/* What ends the job at one server ends it, by that server's name, on all ranks. */
TEST(a_job_that_one_server_ends_is_over)
{
    atomic_int calls = 0;
    start(2);
    struct crew crew = crew_at_all(3, "ended", crew_sum_for_long, &calls);
    crew_start(&crew);
    crew_await(&crew, &calls, 6);
    free(ps_ask(&all.ps[1], "\"job kill\", \"name\": \"ended\""));
    crew_join(&crew);
    char from[64];
    snprintf(from, sizeof from, "parameter server %s: ", all.ps[1].ip);
    for (int r = 0; r < 3; r++) {
        CU_ASSERT(crew.member[r].status < 0 && crew.member[r].status != WRONG_SUM);
        CU_ASSERT(says(crew.member[r].error, from));
    }
}

static bool names_the_absent(int deadline_ms)
{
    start(2);
    struct crew crew = crew_at_all(3, "absent", crew_sum_but_the_last, NULL);
    crew.options.call_timeout_ms = deadline_ms;
    crew_run(&crew);
    const int gave_up = crew.member[0].status == SWAGG_ERR_DEADLINE ? 0 : 1;
    return crew_told(
        &crew, crew.member[gave_up].status == SWAGG_ERR_DEADLINE &&
                   strstr(crew.member[gave_up].error, "waiting for rank 2 at the parameter server 127."));
}

TEST(an_absent_rank_is_named)
{
    crew_give_up(names_the_absent);
}

static int open_with_other_lists(struct crew_member *m)
{
    char turned[sizeof all.list], other[sizeof all.list];
    snprintf(turned, sizeof turned, "%s,%s", all.ps[1].ip, all.ps[0].ip);
    snprintf(other, sizeof other, "%s,%s", all.ps[0].ip, all.ps[2].ip);
    const char *const lists[] = {turned, other, all.ps[0].ip, m->crew->options.server_ip};
    static const char *const why[] = {"another list of parameter servers",
                                      "another list of parameter servers",
                                      "another list of parameter servers", "other racks"};
    struct swagg_options o = m->crew->options;
    o.size = m->crew->size;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && m->rank == 0; i++) {
        struct swagg_job *job;
        o.server_ip = lists[i];
        o.server_rack = i == 3 ? 1 : 0;
        if (swagg_open(&job, &o) != SWAGG_ERR_REFUSED || !says(swagg_last_error(), why[i]))
            return SWAGG_ERR_SYSTEM;
    }
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 10}, -1, true);
}

TEST(other_lists_and_racks_are_refused)
{
    start(3);
    struct crew crew = crew_at_all(2, "lists", open_with_other_lists, NULL);
    char list[sizeof all.list];
    snprintf(list, sizeof list, "%s,%s", all.ps[0].ip, all.ps[1].ip);
    crew.options.server_ip = list;
    crew_succeed(&crew);
}

TEST(a_list_that_makes_no_sense_is_refused)
{
    static const struct {
        const char *list, *named;
    } bad[] = {
        {"10.0.0.8,10.0.0.9,10.0.0.8", "names 10.0.0.8 twice"},
        {"10.0.0.8,", "has ''"},
        {"10.0.0.8,10.0.0", "has '10.0.0'"},
        {"1.0.0.1,1.0.0.2,1.0.0.3,1.0.0.4,1.0.0.5,1.0.0.6,1.0.0.7,1.0.0.8,1.0.0.9,1.0.0.10,1.0.0.11,1.0.0.12,"
         "1.0.0.13,1.0.0.14,1.0.0.15,1.0.0.16,1.0.0.17",
         "16 addresses at most"},
    };
    struct swagg_options o = {
        .struct_size = sizeof o, .job = "job", .size = 2, .protocol = SWAGG_PROTOCOL_ATP};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct swagg_job *job;
        o.server_ip = bad[i].list;
        CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_ERR_ARGUMENT);
        CU_ASSERT(says(swagg_last_error(), "options.server_ip"));
        CU_ASSERT(says(swagg_last_error(), bad[i].named));
    }
}

/* Nobody joins at the one that is there. */
static bool names_the_one_that_is_not_there(int deadline_ms)
{
    start(2);
    bool named = true;
    ps_kill(&all.ps[1]);
    struct crew crew = crew_at_all(2, "nobody", sum_round, NULL);
    crew.options.answer_timeout_ms = 3 * deadline_ms;
    crew_run(&crew);
    for (int r = 0; r < 2; r++)
        named = named && crew.member[r].opened == SWAGG_ERR_NO_SWITCH &&
                strstr(crew.member[r].error, all.ps[1].ip);
    char *jobs = ps_ask(&all.ps[0], "\"jobs\"");
    CU_ASSERT_PTR_NULL(strstr(jobs, "nobody"));
    free(jobs);
    return crew_told(&crew, named);
}

TEST(a_server_that_is_not_there_is_named)
{
    crew_give_up(names_the_one_that_is_not_there);
}
