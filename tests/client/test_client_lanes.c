/* libswagg with several threads a rank, each of which sums a share of long calls through a job of its own. */
#include <linux/filter.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "accord.h"
#include "crew.h"
#include "lanes.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

enum { SHORT = 1000, LONG = 70001 }; /* elements of float: beyond 256 KiB threads share them */

static struct crew crew_with(int size, const struct loop_switch *ls, const char *job, int threads,
                             crew_fn *work)
{
    struct crew crew = crew_of(size, ls, job, work, NULL);
    crew.options.threads = threads;
    return crew;
}

static bool is_shared_by(const struct crew *crew, int threads)
{
    char line[64];
    bool shared = true;
    snprintf(line, sizeof line, "%d threads share its calls", threads);
    for (int rank = 0; rank < crew->size; rank++)
        shared = shared && strstr(crew->member[rank].log, line) != NULL;
    return shared;
}

/* Short and long ones by turns; ordered sums of floats are those of ranks in order, bit by bit. */
static int sum_all_sizes(struct crew_member *m)
{
    static const size_t counts[] = {0, SHORT, LONG, LONG + 16, 1};
    static const enum swagg_type types[] = {SWAGG_F32, SWAGG_F64, SWAGG_C128};
    int rc = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts && rc == 0; i++)
        for (size_t type = 0; type < sizeof types / sizeof *types && rc == 0; type++) {
            struct tensor t = {.type = types[type], .count = counts[i], .seed = seed};
            if (t.count > SHORT) /* as many bytes */
                t.count = t.count * sizeof(float) / swagg_element_size(t.type, SWAGG_SUM);
            rc = crew_sum(m, &t, (i + type) % 3 == 0 ? 1 : -1, type % 2 == 0);
        }
    return rc == 0 ? crew_sum_vector(m, 20, 4230) : rc;
}

/* What ranks share only if all of them can. */
static int agree(struct crew_member *m)
{
    const int all = accord_all_well(m->job, "", "all is well");
    const int some = accord_all_well(m->job, m->rank == 1 ? "no room" : "", "nothing is shared");
    return all == 1 && some == 0 ? SWAGG_OK : SWAGG_ERR_SYSTEM;
}

TEST(who_cannot_says_why)
{
    struct crew crew = crew_with(3, the_switch, "agree", 1, agree);
    crew_succeed(&crew);
    CU_ASSERT(says(crew.member[1].log, "nothing is shared: no room"));
    for (int rank = 0; rank < 3; rank += 2)
        CU_ASSERT(says(crew.member[rank].log, "nothing is shared: some rank cannot"));
    CU_ASSERT(strstr(crew.member[0].log, "all is well") == NULL);
}

TEST(sums_are_those_of_one_thread)
{
    for (int threads = 2; threads <= 4; threads += 2) {
        struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
        struct crew crew = crew_with(3, ls, "sizes", threads, sum_all_sizes);
        crew_succeed(&crew);
        CU_ASSERT(is_shared_by(&crew, threads));
        loop_switch_stop(ls);
    }
}

TEST(packets_are_lost)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02}}};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = link, .out = link});
    struct crew crew = crew_with(3, ls, "lossy", 3, sum_all_sizes);
    crew.options.reduce = SWAGG_REDUCE_BUFFERED;
    crew_succeed(&crew);
    CU_ASSERT(crew.member[1].stats.retransmitted > 0);
    loop_switch_stop(ls);
}

/* Many are in flight at once, long and short ones, and end in their order. */
static int post_many(struct crew_member *m)
{
    enum { CALLS = 12 };
    struct swagg_request *r[CALLS];
    float *x[CALLS];
    int rc = 0, posted = 0;
    while (posted < CALLS && rc == 0) {
        const size_t count = posted % 3 ? LONG : SHORT;
        x[posted] = malloc(count * sizeof(float));
        for (size_t i = 0; i < count; i++)
            x[posted][i] = (float)((i + (size_t)posted) % 97) + (float)m->rank;
        rc =
            swagg_post_allreduce(m->job, x[posted], x[posted], count, SWAGG_F32, SWAGG_SUM, NULL, &r[posted]);
        posted++;
    }
    rc = rc == 0 ? swagg_wait_all(r, (size_t)posted) : rc;
    for (int call = 0; call < posted; call++) {
        for (size_t i = 0; i < (call % 3 ? LONG : SHORT) && rc == 0; i++)
            if (x[call][i] != 3.0f * (float)((i + (size_t)call) % 97) + 3.0f)
                rc = WRONG_SUM;
        free(x[call]);
    }
    return rc;
}

TEST(posted_calls_are_shared)
{
    for (int progress = 0; progress < 2; progress++) {
        struct crew crew = crew_with(3, the_switch, "posted", 2, post_many);
        crew.options.progress_thread = progress ? SWAGG_PROGRESS_THREAD_ON : SWAGG_PROGRESS_THREAD_OFF;
        crew_succeed(&crew);
    }
}

TEST(the_least_of_all_counts_holds)
{
    static const struct {
        int of_others, of_one, held;
    } cases[] = {{4, 2, 2}, {2, 1, 0}, {1, 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct crew others = crew_with(2, the_switch, "counts", cases[i].of_others, sum_all_sizes);
        struct crew one = crew_with(2, the_switch, "counts", cases[i].of_one, sum_all_sizes);
        others.absent = 1;
        one.absent = 0;
        crew_start(&others);
        crew_start(&one);
        crew_join(&others);
        crew_join(&one);
        CU_ASSERT(others.member[0].opened == 0 && others.member[0].status == 0);
        CU_ASSERT(one.member[1].opened == 0 && one.member[1].status == 0);
        const char *log = others.member[0].log;
        CU_ASSERT(cases[i].held ? strstr(log, "2 threads share") != NULL
                                : strstr(log, "threads share") == NULL);
    }
}

static int differ(struct crew_member *m)
{
    const struct tensor t = {.type = SWAGG_F32, .count = m->rank == 1 ? 2 * LONG : LONG, .seed = seed};
    return crew_sum(m, &t, -1, false);
}

/* Whichever thread meets it first. */
TEST(different_calls_are_named_whole)
{
    struct crew crew = crew_with(3, the_switch, "mismatch", 3, differ);
    crew_disagree(&crew, "allreduce of 140002 float32", "allreduce of 70001 float32");
}

static int sum_often(struct crew_member *m)
{
    return crew_sum_in_a_row(m, 12, &(struct tensor){.type = SWAGG_F32, .count = LONG});
}

TEST(the_switch_restarts)
{
    struct crew crew = crew_with(3, the_switch, "restart", 2, sum_often);
    loop_switch_take(the_switch, 500);
    crew_start(&crew);
    loop_switch_restart_there(the_switch, 100, 0);
    crew_end_well(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.resumed, 1);
}

/* One thread of rank 1 hears nothing any more. */
static int sum_with_a_deaf_thread(struct crew_member *m)
{
    static struct sock_filter nothing = {.code = BPF_RET | BPF_K};
    const struct sock_fprog filter = {.len = 1, .filter = &nothing};
    int rc = crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = LONG, .seed = seed}, -1, false);
    if (m->rank == 1) {
        const struct swagg_job *lane = m->job->lanes->lane[0];
        setsockopt(lane->parts[0].transport->socket.fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
    }
    for (int i = 0; i < 1000 && rc == 0; i++)
        rc = crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = LONG, .seed = seed}, -1, false);
    return rc;
}

/* All are told which thread it is, and have no wrong sum. */
static bool names_the_thread(int deadline_ms)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_with(3, ls, "deaf", 2, sum_with_a_deaf_thread);
    crew.options.call_timeout_ms = deadline_ms;
    crew_run(&crew);
    bool named = true;
    for (int r = 0; r < crew.size; r++)
        named = named && crew.member[r].status < 0 && crew.member[r].status != WRONG_SUM &&
                strstr(crew.member[r].error, "thread 1: rank ") != NULL;
    loop_switch_stop(ls);
    return crew_told(&crew, named);
}

TEST(a_thread_that_hears_nothing_is_named)
{
    crew_give_up(names_the_thread);
}

/* The last rank leaves while the others are in a long call. */
static int leave(struct crew_member *m)
{
    int rc = crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = LONG, .seed = seed}, -1, false);
    return rc < 0 || m->rank == 2
               ? rc
               : crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = LONG, .seed = seed}, -1, false);
}

TEST(a_rank_that_leaves_is_named)
{
    struct crew crew = crew_with(3, the_switch, "left", 2, leave);
    crew_run(&crew);
    for (int r = 0; r < 2; r++) {
        CU_ASSERT_EQUAL(crew.member[r].status, SWAGG_ERR_LOST);
        CU_ASSERT(says(crew.member[r].error, "rank 2"));
    }
}

/* What is posted is given up when the job is closed, by all threads. */
static int close_early(struct crew_member *m)
{
    static float x[3][LONG];
    struct swagg_request *r;
    return m->rank == 0
               ? 0
               : swagg_post_allreduce(m->job, x[m->rank], x[m->rank], LONG, SWAGG_F32, SWAGG_SUM, NULL, &r);
}

TEST(a_job_may_be_closed_in_the_midst)
{
    struct crew crew = crew_with(3, the_switch, "closed", 3, close_early);
    crew_run(&crew);
    for (int r = 0; r < 3; r++) { /* who is still in swagg_open hears that another has closed the job */
        const int opened = crew.member[r].opened;
        CU_ASSERT(opened == 0 || opened == SWAGG_ERR_ABORTED || opened == SWAGG_ERR_LOST);
    }
}

/* In a thread of its own: it has the job's lock until rank 1 calls, too. */
static void *call_long(void *arg)
{
    struct swagg_job *job = arg;
    float *x = calloc(LONG, sizeof *x);
    const int rc = swagg_allreduce(job, x, x, LONG, SWAGG_F32, SWAGG_SUM);
    free(x);
    return rc == SWAGG_OK ? job : NULL;
}

static int fork_beside_a_call(struct crew_member *m)
{
    struct gate *gate = m->crew->arg;
    pthread_t thread;
    void *called;
    if (m->rank == 1) {
        gate_wait(gate);
        return call_long(m->job) ? SWAGG_OK : SWAGG_ERR_SYSTEM;
    }
    pthread_create(&thread, NULL, call_long, m->job);
    while (!atomic_load(&m->job->busy))
        sleep_ms(1);
    const bool closed = closes_in_a_child(m->job);
    atomic_store(&gate->open, true);
    pthread_join(thread, &called);
    return closed && called ? SWAGG_OK : SWAGG_ERR_SYSTEM;
}

TEST(a_forked_child_can_close_a_job_in_the_midst_of_a_call)
{
    struct gate gate = {0};
    struct crew crew = crew_with(2, the_switch, "fork", 2, fork_beside_a_call);
    crew.arg = &gate;
    crew_succeed(&crew);
}
