/* libswagg by ATP: the same calls, errors and promises, with swagg-ps as parameter server and no switch. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "job.h"
#include "monotonic.h"
#include "ps_process.h"
#include "unit.h"

static const char *program; /* swagg-ps */

static bool says(const char *text, const char *what)
{
    if (strstr(text, what))
        return true;
    printf("\n    no '%s' in: %s\n", what, text);
    return false;
}

static struct ps_process start(const char *more)
{
    struct ps_process ps;
    ps_make(&ps, program, more);
    ps_start(&ps);
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
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(4, &ps, "everything", sum_everything, NULL);
    crew_succeed(&crew);
    char *jobs = ps_ask(&ps, "{\"version\": 1, \"command\": \"verdicts\"}");
    CU_ASSERT(says(jobs, "\"protocol\":\"atp\""));
    free(jobs);
    ps_stop(&ps);
}

/* Floats whose sum is exact in any order. Under sanitizers, a quarter of the calls. */
static unsigned rounds(void)
{
    return unit_cases(20);
}

static int sum_round(struct crew_member *m)
{
    int rc = 0;
    for (unsigned i = 0; i < rounds() && rc == 0; i++)
        rc = crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 40000, .seed = seed + i, .round = true},
                      -1, false);
    return rc;
}

TEST(sums_on_arrival_are_right)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(8, &ps, "arrival", sum_round, NULL);
    crew.options.mode = SWAGG_ON_ARRIVAL;
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.calls, rounds());
    CU_ASSERT(crew.member[0].stats.window > 0);
    ps_stop(&ps);
}

/* Eight ranks have nearly all results by packets that are for all of them. */
TEST(results_come_by_a_group)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(8, &ps, "group", sum_round, NULL);
    crew_succeed(&crew);
    const uint64_t results = ps_counted(&ps, "verdicts", "\"atp_results\"");
    CU_ASSERT(results > 0 && ps_sent_unasked(&ps) < 4 * results);
    ps_stop(&ps);
}

static int sum_vector(struct crew_member *m)
{
    return crew_sum_vector(m, 50, 123);
}

TEST(vectors_are_summed)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(3, &ps, "vector", sum_vector, NULL);
    crew_succeed(&crew);
    ps_stop(&ps);
}

/* Rank 1 calls something else. */
static int differ(struct crew_member *m)
{
    const struct tensor t = {.type = m->rank == 1 ? SWAGG_F64 : SWAGG_F32, .count = 1000, .seed = seed};
    return crew_sum(m, &t, -1, false);
}

TEST(different_calls_are_named)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(3, &ps, "mismatch", differ, NULL);
    crew_run(&crew);
    for (int r = 0; r < 3; r++) {
        CU_ASSERT_EQUAL(crew.member[r].status, SWAGG_ERR_MISMATCH);
        CU_ASSERT(says(crew.member[r].error, "rank 1"));
        CU_ASSERT(says(crew.member[r].error, "float64"));
    }
    ps_stop(&ps);
}

/* Rank 2 stays in the job, but makes no call until the others have given up. */
static int one_is_absent(struct crew_member *m)
{
    if (m->rank == 2) {
        while (atomic_load(&m->crew->through) < 2)
            sleep_ms(1);
        return 0;
    }
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1000, .seed = seed}, -1, false);
}

static bool names_the_absent(const struct crew *crew)
{
    const int gave_up = crew->member[0].status == SWAGG_ERR_DEADLINE ? 0 : 1;
    return crew->member[0].status < 0 && crew->member[1].status < 0 &&
           crew->member[gave_up].status == SWAGG_ERR_DEADLINE &&
           strstr(crew->member[gave_up].error, "waiting for rank 2");
}

TEST(an_absent_rank_is_named)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(3, &ps, "absent", one_is_absent, NULL);
    crew_give_up(&crew, &crew.options.call_timeout_ms, names_the_absent);
    ps_stop(&ps);
}

/* What it said last, that rank 2 is missing, is no news when it does not answer any more. */
TEST(a_server_that_dies_in_a_wait_is_named)
{
    struct ps_process ps = start("timers: {lost_after_ms: 60000}");
    struct crew crew = crew_by_atp(3, &ps, "orphaned", one_is_absent, NULL);
    crew.options.call_timeout_ms = 5000;
    crew_start(&crew);
    while (ps_counted(&ps, "verdicts", "\"atp_waits\"") < 4)
        sleep_ms(10);
    ps_kill(&ps);
    crew_join(&crew);
    const int gave_up = crew.member[0].status == SWAGG_ERR_DEADLINE ? 0 : 1;
    char named[64];
    snprintf(named, sizeof named, "the parameter server %s has not answered", ps.ip);
    CU_ASSERT_EQUAL(crew.member[gave_up].status, SWAGG_ERR_DEADLINE);
    CU_ASSERT(says(crew.member[gave_up].error, named));
    ps_stop(&ps);
}

static int sum_for_long(struct crew_member *m)
{
    atomic_int *calls = m->crew->arg;
    const struct tensor t = {.type = SWAGG_F32, .count = 20000, .seed = seed};
    int rc = 0;
    while (rc == 0) {
        rc = crew_sum(m, &t, -1, false);
        atomic_fetch_add(calls, 1);
    }
    return rc;
}

TEST(a_dead_server_is_named)
{
    atomic_int calls = 0;
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(2, &ps, "dead", sum_for_long, &calls);
    crew.options.call_timeout_ms = 8000;
    crew_start(&crew);
    while (atomic_load(&calls) < 4)
        sleep_ms(1);
    ps_kill(&ps);
    crew_join(&crew);
    for (int r = 0; r < 2; r++) {
        CU_ASSERT_EQUAL(crew.member[r].status, SWAGG_ERR_DEADLINE);
        CU_ASSERT(says(crew.member[r].error, "the parameter server 127."));
    }
    ps_stop(&ps);
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
struct filler {
    atomic_int in;
    atomic_bool go;
};

static int stay(struct crew_member *m)
{
    struct filler *f = m->crew->arg;
    atomic_fetch_add(&f->in, 1);
    while (!atomic_load(&f->go))
        sleep_ms(1);
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
static int fill(const struct ps_process *ps, struct crew crew[], int max, struct filler *f)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    int n = 0;
    while (n < max) {
        crew[n] = large_crew(ps, names[n], stay, f);
        crew_start(&crew[n++]);
        while (atomic_load(&f->in) < CREW_MAX * n)
            if (atomic_load(&crew[n - 1].through) > 0)
                return n;
            else
                sleep_ms(1);
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
    struct filler filler = {0};
    struct ps_process full = start("mtu: 9000\npool: {megabytes: 1}\n"), server = start("mtu: 9000\n");
    const int n = fill(&full, crew, 6, &filler);
    struct crew falls = large_crew(&full, "falls", sum_and_look_how_long_a_rejoin_may_take, NULL);
    falls.options.protocol = SWAGG_PROTOCOL_AUTO;
    falls.options.server_ip = server.ip;
    crew_succeed(&falls);
    CU_ASSERT(says(falls.member[0].log, "goes by ATP"));
    atomic_store(&filler.go, true);
    for (int i = 0; i < n; i++)
        crew_join(&crew[i]);
    CU_ASSERT_EQUAL(crew[n - 1].member[0].opened, SWAGG_ERR_REFUSED);
    ps_stop(&full);
    ps_stop(&server);
}

TEST(auto_stays_where_there_is_room)
{
    struct ps_process ps = start("");
    struct crew crew = crew_at(2, ps.ip, "stays", sum_round, NULL);
    crew.options.protocol = SWAGG_PROTOCOL_AUTO;
    crew_succeed(&crew);
    CU_ASSERT_PTR_NULL(strstr(crew.member[0].log, "goes by ATP"));
    ps_stop(&ps);
}

/* Rank 0 also looks what the job was granted. */
static int sum_in_racks(struct crew_member *m)
{
    const int rc = sum_round(m);
    if (m->rank != 0)
        return rc;
    char *job = ps_ask(m->crew->arg, "{\"version\": 1, \"command\": \"job\", \"name\": \"racks\"}");
    const bool granted = says(job, "\"per_rack\":2");
    free(job);
    return granted ? rc : WRONG_SUM;
}

/* Racks of two, two and one. */
TEST(racks_are_of_any_size)
{
    struct ps_process ps = start("");
    struct crew crew = crew_by_atp(5, &ps, "racks", sum_in_racks, &ps);
    crew.options.mode = SWAGG_ON_ARRIVAL;
    crew.options.ranks_per_rack = 2;
    crew_succeed(&crew);
    ps_stop(&ps);
}

TEST(what_atp_has_not_is_refused)
{
    const struct swagg_options good = {.struct_size = sizeof good,
                                       .switch_ip = "127.0.0.1",
                                       .job = "job",
                                       .size = 2,
                                       .protocol = SWAGG_PROTOCOL_ATP};
    struct swagg_options bad[7] = {good, good, good, good, good, good, good};
    static const char *const named[] = {"options.numbers",       "options.reduce",    "options.protocol",
                                        "options.server_ip",     "options.switch_ip", "options.compression",
                                        "options.ranks_per_rack"};
    bad[0].checksum = SWAGG_CHECKSUM_CRC32C, bad[0].numbers = SWAGG_NUMBERS_FP16;
    bad[1].reduce = SWAGG_REDUCE_BUFFERED;
    bad[2].protocol = (enum swagg_protocol)3;
    bad[3].server_ip = "10.0.0";
    bad[4].switch_ip = NULL;
    bad[5].compression = SWAGG_COMPRESSION_THC;
    bad[6].ranks_per_rack = 65;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct swagg_job *job;
        CU_ASSERT_EQUAL(swagg_open(&job, &bad[i]), SWAGG_ERR_ARGUMENT);
        CU_ASSERT(says(swagg_last_error(), named[i]));
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    program = argv[1];
    seed_from_environment();
    return unit_main();
}
