/* libswagg by ATP: the same calls, errors and promises, with swagg-ps as parameter server and no switch. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "job.h"
#include "monotonic.h"
#include "ps_process.h"
#include "unit.h"

EACH_TEST(start_server, stop_server)

static struct ps_process start(const char *more)
{
    struct ps_process ps;
    ps_begin(&ps, more);
    return ps;
}

static struct crew crew_by_atp(int size, const struct ps_process *ps, const char *job, crew_fn *work,
                               void *arg)
{
    struct crew crew = crew_at(size, ps->ip, job, work, arg);
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    return crew;
}

/* All types, operations of each, sizes around those of packets; to all, and to one. Under sanitizers a
 * quarter of them. */
static int sum_everything(struct crew_member *m)
{
    static const size_t counts[] = {0, 1, 17, 357, 358, 5000, 70000};
    const unsigned one_of = 4 / unit_cases(4);
    int rc = 0;
    for (int type = SWAGG_I32; type <= SWAGG_C128 && rc == 0; type++)
        for (int op = SWAGG_SUM; op <= SWAGG_MAXPAIR && rc == 0; op++) {
            const size_t count = counts[(size_t)(type + op) % (sizeof counts / sizeof *counts)];
            const struct tensor t = {
                .type = (enum swagg_type)type, .op = (enum swagg_op)op, .count = count, .seed = seed};
            if (swagg_element_size(t.type, t.op) == 0 || ((unsigned)(type + op) + seed) % one_of != 0)
                continue;
            rc = crew_sum(m, &t, (type + op) % 3 == 0 ? 1 : -1, op % 2 == 0);
        }
    return rc;
}

TEST(everything_is_summed)
{
    struct crew crew = crew_by_atp(4, &the_server, "everything", sum_everything, NULL);
    crew_succeed(&crew);
    CU_ASSERT(ps_answers(&the_server, "\"verdicts\"", "\"protocol\":\"atp\""));
}

/* Floats whose sum is exact in any order. Under sanitizers, a quarter of the calls. */
static unsigned rounds(void)
{
    return unit_cases(20);
}

static int sum_round(struct crew_member *m)
{
    return crew_sum_in_a_row(m, rounds(), &(struct tensor){.type = SWAGG_F32, .count = 40000, .round = true});
}

TEST(sums_on_arrival_are_right)
{
    struct crew crew = crew_by_atp(8, &the_server, "arrival", sum_round, NULL);
    crew.options.mode = SWAGG_ON_ARRIVAL;
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.calls, rounds());
    CU_ASSERT(crew.member[0].stats.window > 0);
}

/* Eight ranks have nearly all results by packets that are for all of them. */
TEST(results_come_by_a_group)
{
    struct crew crew = crew_by_atp(8, &the_server, "group", sum_round, NULL);
    crew_succeed(&crew);
    const uint64_t results = ps_counted(&the_server, "verdicts", "\"atp_results\"");
    CU_ASSERT(results > 0 && ps_sent_unasked(&the_server) < 4 * results);
}

static int sum_vector(struct crew_member *m)
{
    return crew_sum_vector(m, 50, 123);
}

TEST(vectors_are_summed)
{
    struct crew crew = crew_by_atp(3, &the_server, "vector", sum_vector, NULL);
    crew_succeed(&crew);
}

/* Rank 1 calls something else. */
static int differ(struct crew_member *m)
{
    const struct tensor t = {.type = m->rank == 1 ? SWAGG_F64 : SWAGG_F32, .count = 1000, .seed = seed};
    return crew_sum(m, &t, -1, false);
}

TEST(different_calls_are_named)
{
    struct crew crew = crew_by_atp(3, &the_server, "mismatch", differ, NULL);
    crew_disagree(&crew, "rank 1", "float64");
}

/* Of the two that wait, the one that gave up. */
static const struct crew_member *gave_up(const struct crew *crew)
{
    return &crew->member[crew->member[0].status == SWAGG_ERR_DEADLINE ? 0 : 1];
}

static bool names_the_absent(int deadline_ms)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(3, &ps, "absent", crew_sum_but_the_last, NULL);
    crew.options.call_timeout_ms = deadline_ms;
    crew_run(&crew);
    ps_stop(&ps);
    return crew_told(&crew, crew.member[0].status < 0 && crew.member[1].status < 0 &&
                                gave_up(&crew)->status == SWAGG_ERR_DEADLINE &&
                                strstr(gave_up(&crew)->error, "waiting for rank 2"));
}

TEST(an_absent_rank_is_named)
{
    crew_give_up(names_the_absent);
}

/* What it said last, that rank 2 is missing, is no news when it does not answer any more. */
static bool names_the_server_that_died_in_a_wait(int deadline_ms)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(3, &ps, "orphaned", crew_sum_but_the_last, NULL);
    char named[64];
    crew.options.call_timeout_ms = 4 * deadline_ms;
    crew_start(&crew);
    while (ps_counted(&ps, "verdicts", "\"atp_waits\"") < 4 && atomic_load(&crew.through) == 0)
        sleep_ms(10);
    ps_kill(&ps);
    crew_join(&crew);
    snprintf(named, sizeof named, "the parameter server %s has not answered", ps.ip);
    ps_stop(&ps);
    return crew_told(&crew,
                     gave_up(&crew)->status == SWAGG_ERR_DEADLINE && strstr(gave_up(&crew)->error, named));
}

TEST(a_server_that_dies_in_a_wait_is_named)
{
    crew_give_up(names_the_server_that_died_in_a_wait);
}

static bool names_the_dead_server(int deadline_ms)
{
    atomic_int calls = 0;
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(2, &ps, "dead", crew_sum_for_long, &calls);
    bool named = true;
    crew.options.call_timeout_ms = 2 * deadline_ms;
    crew_start(&crew);
    crew_await(&crew, &calls, 4);
    ps_kill(&ps);
    crew_join(&crew);
    for (int r = 0; r < 2; r++)
        named = named && crew.member[r].status == SWAGG_ERR_DEADLINE &&
                strstr(crew.member[r].error, "the parameter server 127.");
    ps_stop(&ps);
    return crew_told(&crew, named);
}

TEST(a_dead_server_is_named)
{
    crew_give_up(names_the_dead_server);
}

/* And so many packets more that what befalls one in a hundred befalls some of them. */
static int sum_everything_and_much(struct crew_member *m)
{
    const int rc = sum_everything(m);
    return rc < 0
               ? rc
               : crew_sum(m, &(struct tensor){.type = SWAGG_I32, .count = 1000000, .seed = seed}, -1, false);
}

/* Loss, duplicates and reordering, both ways. */
TEST(sums_survive_a_bad_network)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02},
                                                [IMPAIR_DUPLICATE] = {.probability = 0.02},
                                                [IMPAIR_REORDER] = {.probability = 0.05}},
                                       .hold_frames = 5,
                                       .hold_for = 1000000};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = link, .out = link});
    struct crew crew = crew_of(4, ls, "impaired", sum_everything_and_much, NULL);
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    crew_succeed(&crew);
    CU_ASSERT(crew.member[0].stats.retransmitted > 0);
    loop_switch_stop(ls);
}

/* Bits flip, both ways, in packets without UDP's checksum. */
TEST(sums_survive_damage)
{
    const struct impair_config link = {.rate = {[IMPAIR_CORRUPT] = {.probability = 0.01}}};
    struct loop_switch *ls = loop_switch_start(
        &(struct loop_switch_config){.seed = seed, .in = link, .out = link, .damages = true});
    struct crew crew = crew_of(4, ls, "damaged", sum_everything_and_much, NULL);
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    crew.options.checksum = SWAGG_CHECKSUM_CRC32C;
    crew_succeed(&crew);
    CU_ASSERT(crew.member[0].stats.damaged_packets > 0);
    loop_switch_stop(ls);
}

/* Stays in its job until it may go. */
static int stay(struct crew_member *m)
{
    gate_wait(m->crew->arg);
    return 0;
}

/* Packets of 9000 bytes from 16 ranks: a megabyte has room for few slots of them. */
static struct crew large_crew(const struct ps_process *ps, const char *job, crew_fn *work, void *arg)
{
    struct crew crew = crew_at(CREW_MAX, ps->ip, job, work, arg);
    crew.options.mtu = 9000;
    return crew;
}

/* Starts jobs until one finds no room; returns how many, that one included. */
static int fill(const struct ps_process *ps, struct crew crew[], int max, struct gate *gate)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    int n = 0;
    while (n < max) {
        crew[n] = large_crew(ps, names[n], stay, gate);
        crew_start(&crew[n++]);
        crew_await(&crew[n - 1], &gate->in, CREW_MAX * n);
        if (atomic_load(&crew[n - 1].through) > 0)
            return n;
    }
    return n;
}

/* What the switch has cost of join_timeout_ms is no loss when the server restarts later. */
static int sum_and_look_how_long_a_rejoin_may_take(struct crew_member *m)
{
    const struct ctl_session_config *c = &m->job->parts[0].membership.session.cfg;
    const uint64_t all = (uint64_t)m->crew->options.join_timeout_ms * NS_PER_MS;
    const int rc = sum_round(m);
    return c->join_deadline_ns < all && c->rejoin_deadline_ns == all ? rc : SWAGG_ERR_DEADLINE;
}

TEST(auto_leaves_a_full_switch)
{
    static struct crew crew[6];
    struct gate gate = {0};
    struct ps_process full = start("mtu: 9000\npool: {megabytes: 1}\n"), server = start("mtu: 9000\n");
    const int n = fill(&full, crew, 6, &gate);
    struct crew falls = large_crew(&full, "falls", sum_and_look_how_long_a_rejoin_may_take, NULL);
    falls.options.protocol = SWAGG_PROTOCOL_AUTO;
    falls.options.server_ip = server.ip;
    crew_succeed(&falls);
    CU_ASSERT(says(falls.member[0].log, "goes by ATP"));
    atomic_store(&gate.open, true);
    for (int i = 0; i < n; i++)
        crew_join(&crew[i]);
    CU_ASSERT_EQUAL(crew[n - 1].member[0].opened, SWAGG_ERR_REFUSED);
    ps_stop(&full);
    ps_stop(&server);
}

TEST(auto_stays_where_there_is_room)
{
    struct crew crew = crew_at(2, the_server.ip, "stays", sum_round, NULL);
    crew.options.protocol = SWAGG_PROTOCOL_AUTO;
    crew_succeed(&crew);
    CU_ASSERT_PTR_NULL(strstr(crew.member[0].log, "goes by ATP"));
}

/* Rank 0 also looks what the job was granted. */
static int sum_in_racks(struct crew_member *m)
{
    const int rc = sum_round(m);
    if (m->rank != 0)
        return rc;
    return ps_answers(m->crew->arg, "\"job\", \"name\": \"racks\"", "\"per_rack\":2") ? rc : WRONG_SUM;
}

/* Racks of two, two and one. */
TEST(racks_are_of_any_size)
{
    struct crew crew = crew_by_atp(5, &the_server, "racks", sum_in_racks, &the_server);
    crew.options.mode = SWAGG_ON_ARRIVAL;
    crew.options.ranks_per_rack = 2;
    crew_succeed(&crew);
}

TEST(what_atp_has_not_is_refused)
{
    const struct swagg_options good = {.struct_size = sizeof good,
                                       .switch_ip = "127.0.0.1",
                                       .job = "job",
                                       .size = 2,
                                       .protocol = SWAGG_PROTOCOL_ATP};
    struct swagg_options bad[6] = {good, good, good, good, good, good};
    static const char *const named[] = {"options.numbers",   "options.reduce",      "options.protocol",
                                        "options.server_ip", "options.compression", "options.ranks_per_rack"};
    bad[0].checksum = SWAGG_CHECKSUM_CRC32C, bad[0].numbers = SWAGG_NUMBERS_FP16;
    bad[1].reduce = SWAGG_REDUCE_BUFFERED;
    bad[2].protocol = (enum swagg_protocol)3;
    bad[3].server_ip = "10.0.0";
    bad[4].compression = SWAGG_COMPRESSION_THC;
    bad[5].ranks_per_rack = 65;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct swagg_job *job;
        CU_ASSERT_EQUAL(swagg_open(&job, &bad[i]), SWAGG_ERR_ARGUMENT);
        CU_ASSERT(says(swagg_last_error(), named[i]));
    }
}
