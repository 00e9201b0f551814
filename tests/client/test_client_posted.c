/* Calls that are posted: many in flight, by several threads, tested and waited for in any order, beside
 * blocking ones, through losses and restarts of the switch, with a progress thread and without; and how they
 * fail. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flights.h"
#include "random.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

enum { RANKS = 3, THREADS = 3, CALLS = 120, COUNT_MAX = 30000 };

/* The threads of a rank take turns, in the order that the plan says. */
struct turns {
    struct crew_member *m;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned next;
    int status;
};

struct worker {
    struct turns *turns;
    unsigned index;
    pthread_t thread;
    char error[CREW_TEXT_MAX];
};

static bool await_turn(struct turns *t, unsigned i)
{
    pthread_mutex_lock(&t->lock);
    while (t->next != i && t->status == 0)
        pthread_cond_wait(&t->changed, &t->lock);
    const bool well = t->status == 0;
    pthread_mutex_unlock(&t->lock);
    return well;
}

static void note(struct worker *w, unsigned next, int status)
{
    struct turns *t = w->turns;

    pthread_mutex_lock(&t->lock);
    t->next = next > t->next ? next : t->next;
    if (status < 0 && t->status == 0) {
        t->status = status;
        snprintf(w->error, sizeof w->error, "%s", swagg_last_error());
    }
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* A blocking call lasts into others' turns: its place in the order is what counts, and that it has when the
 * next is posted only if nobody posts before it was; so it is posted, and waited for at once. */
static int make(struct worker *w, struct flight *f, unsigned i)
{
    struct crew_member *m = w->turns->m;
    int rc;

    rc = flight_post(m->job, f, NULL);
    note(w, i + 1, rc);
    return rc == 0 && f->plan.blocking ? swagg_wait(&f->request) : rc;
}

static void *work_in_turn(void *arg)
{
    struct worker *w = arg;
    struct crew_member *m = w->turns->m;
    uint64_t random = seed + (uint64_t)m->rank * 31 + w->index;
    struct flight held[FLIGHTS_HELD];
    const unsigned calls = FLIGHTS_HELD + unit_cases(CALLS - FLIGHTS_HELD);
    unsigned n = 0;
    int rc = 0;

    for (unsigned i = 0; i < calls && rc == 0; i++) {
        const struct plan plan = plan_of(i, RANKS, COUNT_MAX);
        if (plan.random % THREADS != w->index)
            continue;
        while (rc == 0 && (n == FLIGHTS_HELD || (n > 0 && rng_below(&random, 3) == 0)))
            rc = flight_end_one(m, held, &n, &random);
        if (rc < 0 || !await_turn(w->turns, i))
            break;
        flight_begin(&held[n], &plan, m->rank);
        rc = make(w, &held[n], i);
        if (rc < 0 || held[n].plan.blocking)
            rc = flight_end(&held[n], m, rc);
        else
            n++;
    }
    while (n > 0) {
        const int last = flight_end_one(m, held, &n, &random);
        rc = rc < 0 ? rc : last;
    }
    note(w, 0, rc);
    return NULL;
}

static int post_by_threads(struct crew_member *m)
{
    struct turns turns = {.m = m, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct worker workers[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.turns = &turns, .index = i};
        if (pthread_create(&workers[i].thread, NULL, work_in_turn, &workers[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < THREADS && turns.status < 0; i++)
        if (workers[i].error[0] != '\0')
            printf("\n      rank %d: %s\n", m->rank, workers[i].error);
    return turns.status;
}

static struct loop_switch *start(bool lossy)
{
    const struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = lossy ? 0.02 : 0},
                                                [IMPAIR_DUPLICATE] = {.probability = lossy ? 0.02 : 0},
                                                [IMPAIR_REORDER] = {.probability = lossy ? 0.02 : 0}},
                                       .hold_frames = 5};

    return loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = link, .out = link});
}

static void run(const char *job, crew_fn *work, bool thread, enum swagg_protocol protocol,
                enum swagg_reduce_return reduce)
{
    struct loop_switch *ls = start(true);
    struct crew crew = crew_of(RANKS, ls, job, work, NULL);

    crew.options.progress_thread = thread ? SWAGG_PROGRESS_THREAD_ON : SWAGG_PROGRESS_THREAD_OFF;
    crew.options.protocol = protocol;
    crew.options.reduce = reduce;
    crew_succeed(&crew);
    loop_switch_stop(ls);
}

TEST(threads_post_in_turn)
{
    run("turns", post_by_threads, false, SWAGG_PROTOCOL_SWITCHML, SWAGG_REDUCE_COMPLETE);
    run("turns-thread", post_by_threads, true, SWAGG_PROTOCOL_SWITCHML, SWAGG_REDUCE_COMPLETE);
    run("turns-buffered", post_by_threads, true, SWAGG_PROTOCOL_SWITCHML, SWAGG_REDUCE_BUFFERED);
    run("turns-atp", post_by_threads, false, SWAGG_PROTOCOL_ATP, SWAGG_REDUCE_COMPLETE);
}

static int post_beside_blocking(struct crew_member *m)
{
    return flights_beside_blocking(m, CALLS, COUNT_MAX, NULL);
}

/* The switch is killed and started again while they are in flight. */
static void restart_meanwhile(const char *job, bool thread)
{
    struct crew crew = crew_of(RANKS, the_switch, job, post_beside_blocking, NULL);

    crew.options.progress_thread = thread ? SWAGG_PROGRESS_THREAD_ON : SWAGG_PROGRESS_THREAD_OFF;
    loop_switch_take(the_switch, 200);
    crew_start(&crew);
    loop_switch_restart_there(the_switch, 20, 500);
    loop_switch_restart_there(the_switch, 20, 0);
    crew_end_well(&crew);
    for (int r = 0; r < RANKS; r++)
        CU_ASSERT_EQUAL(crew.member[r].stats.resumed, 2);
}

TEST(they_outlive_a_switch)
{
    restart_meanwhile("lives", false);
    restart_meanwhile("lives-thread", true);
}

/* Nothing of the job is called between the post and the end, which the descriptor tells. */
static int compute_meanwhile(struct crew_member *m)
{
    enum { N = 200000 };
    static float x[RANKS][4][N];
    struct swagg_request *requests[4];
    struct pollfd ends = {.fd = swagg_get_fd(m->job), .events = POLLIN};
    int rc = ends.fd < 0 ? ends.fd : 0;

    for (int i = 0; i < 4 && rc == 0; i++) {
        x[m->rank][i][N - 1] = (float)(i + m->rank);
        rc = swagg_post_allreduce(m->job, x[m->rank][i], x[m->rank][i], N, SWAGG_F32, SWAGG_SUM, NULL,
                                  &requests[i]);
    }
    for (int i = 0; i < 4 && rc == 0; i++) {
        size_t which;
        if (poll(&ends, 1, -1) != 1)
            return WRONG_SUM;
        rc = swagg_wait_any(requests, 4, &which);
        if (rc == 0 && x[m->rank][which][N - 1] != (float)(RANKS * which + 3))
            rc = WRONG_SUM;
    }
    return rc == 0 && poll(&ends, 1, 0) != 0 ? WRONG_SUM : rc;
}

TEST(the_descriptor_tells_of_ends)
{
    run("told", compute_meanwhile, false, SWAGG_PROTOCOL_SWITCHML, SWAGG_REDUCE_COMPLETE);
    run("told-thread", compute_meanwhile, true, SWAGG_PROTOCOL_SWITCHML, SWAGG_REDUCE_COMPLETE);
}

static int post_too_many(struct crew_member *m)
{
    static int32_t x[RANKS][SWAGG_REQUESTS_MAX + 2];
    struct swagg_request *requests[SWAGG_REQUESTS_MAX + 1];
    int32_t *mine = x[m->rank];
    int rc = 0;

    for (int i = 0; i < SWAGG_REQUESTS_MAX + 2; i++)
        mine[i] = i;
    for (int i = 0; i < SWAGG_REQUESTS_MAX && rc == 0; i++)
        rc = swagg_post_allreduce(m->job, &mine[i], &mine[i], 1, SWAGG_I32, SWAGG_SUM, NULL, &requests[i]);
    if (rc == 0 && swagg_post_allreduce(m->job, &mine[64], &mine[64], 1, SWAGG_I32, SWAGG_SUM, NULL,
                                        &requests[SWAGG_REQUESTS_MAX]) != SWAGG_ERR_FULL)
        return WRONG_SUM;
    /* A blocking one finds its way all the same. */
    if (rc == 0)
        rc = swagg_allreduce(m->job, &mine[65], &mine[65], 1, SWAGG_I32, SWAGG_SUM);
    if (rc == 0)
        rc = swagg_wait_all(requests, SWAGG_REQUESTS_MAX);
    for (int i = 0; i < SWAGG_REQUESTS_MAX + 2 && rc == 0; i++)
        if (i != 64 && mine[i] != RANKS * i)
            rc = WRONG_SUM;
    return rc;
}

TEST(there_are_no_more_than_may_be)
{
    run("many", post_too_many, false, SWAGG_PROTOCOL_SWITCHML, SWAGG_REDUCE_COMPLETE);
}

/* Rank 1 posts its second and third call in the other order. */
static int post_out_of_order(struct crew_member *m)
{
    static float x[RANKS][3][20000];
    static const size_t counts[] = {10000, 20000, 15000};
    struct swagg_request *requests[3];
    int rc = 0;

    for (int i = 0; i < 3 && rc == 0; i++) {
        const int c = m->rank == 1 && i > 0 ? 3 - i : i;
        rc = swagg_post_allreduce(m->job, x[m->rank][i], x[m->rank][i], counts[c], SWAGG_F32, SWAGG_SUM, NULL,
                                  &requests[i]);
    }
    return rc < 0 ? rc : swagg_wait_all(requests, 3);
}

static void expect_mismatch(const char *job, bool thread)
{
    struct crew crew = crew_of(RANKS, the_switch, job, post_out_of_order, NULL);

    crew.options.progress_thread = thread ? SWAGG_PROGRESS_THREAD_ON : SWAGG_PROGRESS_THREAD_OFF;
    crew_disagree(&crew, "rank 1 called allreduce of 15000 float32 (sum)",
                  "called allreduce of 20000 float32 (sum)");
}

TEST(another_order_is_an_error_that_names_both)
{
    expect_mismatch("order", false);
    expect_mismatch("order-thread", true);
}

enum { ABSENT = 2 };

/* One rank makes the first call only. */
static int post_with_a_deadline(struct crew_member *m)
{
    static float x[RANKS][3];
    struct swagg_post how = SWAGG_POST_DEFAULT;
    struct swagg_request *requests[3];
    float *mine = x[m->rank];
    int rc = 0;

    how.timeout_ms = *(int *)m->crew->arg;
    for (int i = 0; i < (m->rank == ABSENT ? 1 : 3) && rc == 0; i++)
        rc = swagg_post_allreduce(m->job, &mine[i], &mine[i], 1, SWAGG_F32, i == 1 ? SWAGG_MAX : SWAGG_SUM,
                                  i == 2 ? &how : NULL, &requests[i]);
    for (int i = 0; i < (m->rank == ABSENT ? 1 : 3) && rc == 0; i++)
        rc = swagg_wait(&requests[i]);
    while (m->rank == ABSENT && rc == 0 && atomic_load(&m->crew->through) < RANKS - 1)
        sleep_ms(1);
    return rc;
}

static bool names_what_is_late(int deadline_ms)
{
    struct loop_switch *ls = start(false);
    struct crew crew = crew_of(RANKS, ls, "late", post_with_a_deadline, &deadline_ms);
    bool told = true;

    crew_start(&crew);
    crew_join(&crew);
    for (int r = 0; r < ABSENT; r++) {
        const struct crew_member *m = &crew.member[r];
        if (m->status == SWAGG_ERR_DEADLINE)
            told &= says(m->error, "allreduce of 1 float32 (sum): behind allreduce of 1 float32 (max)") &&
                    says(m->error, "waiting for rank 2") && says(m->error, "which rank");
        else
            told &= m->status == SWAGG_ERR_ABORTED;
    }
    loop_switch_stop(ls);
    return crew_told(&crew, told);
}

TEST(a_deadline_is_one_calls)
{
    crew_give_up(names_what_is_late);
}

/* Rank 0 closes the job over a call that rank 2 does not make. */
static int close_over_calls(struct crew_member *m)
{
    static float x[RANKS][1000];
    struct swagg_request *request;
    int rc = 0;

    while (m->rank == ABSENT && atomic_load(&m->crew->through) < RANKS - 1)
        sleep_ms(1);
    if (m->rank != ABSENT)
        rc = swagg_post_allreduce(m->job, x[m->rank], x[m->rank], 1000, SWAGG_F32, SWAGG_MAX, NULL, &request);
    return m->rank == 1 && rc == 0 ? swagg_wait(&request) : rc;
}

TEST(closing_cancels_them)
{
    struct crew crew = crew_of(RANKS, the_switch, "cancelled", close_over_calls, NULL);

    crew_start(&crew);
    crew_join(&crew);
    CU_ASSERT(crew.member[1].status == SWAGG_ERR_ABORTED);
    CU_ASSERT(says(crew.member[1].error,
                   "rank 0 closed the job before allreduce of 1000 float32 (max), which "
                   "it had posted, was complete"));
}

static void *abort_it(void *arg)
{
    struct crew_member *m = arg;

    swagg_abort(m->job, "enough");
    return NULL;
}

/* It waits for a call that the other does not make, and for 120 s at most. */
static int abort_alone(struct crew_member *m)
{
    float x = 1;
    pthread_t thread;
    int rc = 0;

    if (m->rank == 1) {
        while (atomic_load(&m->crew->through) < 1)
            sleep_ms(1);
        return 0;
    }
    if (pthread_create(&thread, NULL, abort_it, m) != 0)
        abort();
    rc = swagg_allreduce(m->job, &x, &x, 1, SWAGG_F32, SWAGG_SUM);
    pthread_join(thread, NULL);
    return rc;
}

TEST(an_abort_ends_a_call_of_another_thread)
{
    struct crew crew = crew_of(2, the_switch, "aborted", abort_alone, NULL);

    crew_start(&crew);
    crew_join(&crew);
    CU_ASSERT_EQUAL(crew.member[0].status, SWAGG_ERR_ABORTED);
    CU_ASSERT(says(crew.member[0].error, "rank 0 aborted: enough"));
}

TEST(arguments)
{
    float x = 1;
    struct swagg_request *request = NULL;
    size_t index;

    CU_ASSERT_EQUAL(swagg_post_allreduce(NULL, &x, &x, 1, SWAGG_F32, SWAGG_SUM, NULL, &request),
                    SWAGG_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(swagg_post_allreduce(NULL, &x, &x, 1, SWAGG_F32, SWAGG_SUM, NULL, NULL),
                    SWAGG_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(swagg_test(&request), SWAGG_OK);
    CU_ASSERT_EQUAL(swagg_wait(&request), SWAGG_OK);
    CU_ASSERT_EQUAL(swagg_wait_any(&request, 1, &index), SWAGG_OK);
    CU_ASSERT_EQUAL(index, 1);
    CU_ASSERT_EQUAL(swagg_wait_any(&request, 1, NULL), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(swagg_wait_all(NULL, 1), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(swagg_get_fd(NULL), SWAGG_ERR_ARGUMENT);
}
