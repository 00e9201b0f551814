/* Jobs with a quorum: a rank that comes late is not waited for, and everybody is told who is in the sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

enum { RANKS = 3, QUORUM = 2, LATE = 2, COUNT = 600, FLOATS = 20000, PACKETS = 8, CALLS = 40 };

/* Calls that the ranks in time have made; the late one waits for them. */
static atomic_int done;

static void wait_for_the_others(const struct crew_member *m)
{
    const struct timespec a_little = {.tv_nsec = 1000000};
    while (m->rank == LATE && atomic_load(&done) < QUORUM)
        nanosleep(&a_little, NULL);
}

static bool is_told(struct crew_member *m, uint64_t count)
{
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;
    return swagg_get_turnout(m->job, &t) == 0 && t.least == QUORUM && t.most == QUORUM &&
           t.elements == count && t.partial == count && t.missed == 0 &&
           t.left_out == (m->rank == LATE ? count : 0) && t.in_all[0] == 3 && t.in_some[0] == 3;
}

static int sum_without_the_late(struct crew_member *m)
{
    int64_t x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (i + 1) * (INT64_C(1) << 16 * m->rank);
    wait_for_the_others(m);
    int rc = swagg_allreduce(m->job, x, x, COUNT, SWAGG_I64, SWAGG_SUM);
    if (rc < 0)
        return rc;
    for (int i = 0; i < COUNT; i++)
        if (x[i] != (i + 1) * INT64_C(0x10001))
            return 1;
    if (!is_told(m, COUNT))
        return 2;
    atomic_fetch_add(&done, 1);
    return 0;
}

TEST(sums_are_of_the_ranks_that_are_there)
{
    for (int wait_ms = 0; wait_ms <= 20; wait_ms += 20) {
        struct crew crew = crew_of(RANKS, the_switch, "quorum", sum_without_the_late, NULL);
        crew.options.quorum = QUORUM;
        crew.options.quorum_wait_ms = wait_ms;
        atomic_store(&done, 0);
        crew_succeed(&crew);
    }
}

/* Ranks that have opened; and whose turn it is then: 1, of those in time; 2, of the late one, too. */
static atomic_int ready, turn;

static int sum_in_turn(struct crew_member *m)
{
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;
    int64_t x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = 1 << m->rank;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&turn) < (m->rank == LATE ? 2 : 1))
        sleep_ms(1);
    int rc = swagg_allreduce(m->job, x, x, COUNT, SWAGG_I64, SWAGG_SUM);
    if (rc < 0 || swagg_get_turnout(m->job, &t) < 0)
        return rc < 0 ? rc : 1;
    for (int i = 0; i < COUNT; i++)
        if (x[i] != (1 << RANKS) - 1)
            return 2;
    return t.least != RANKS || t.partial != 0 || t.in_all[0] != (1 << RANKS) - 1;
}

/* A quorum has contributed, but there is time left. */
TEST(who_comes_in_time_is_waited_for)
{
    struct crew crew = crew_of(RANKS, the_switch, "in time", sum_in_turn, NULL);
    crew.options.quorum = QUORUM;
    crew.options.quorum_wait_ms = UINT16_MAX;
    crew_start(&crew);
    while (atomic_load(&ready) < RANKS)
        sleep_ms(1);
    const uint64_t before = loop_switch_packets(the_switch);
    atomic_store(&turn, 1);
    while (loop_switch_packets(the_switch) < before + PACKETS) /* four of each of the two */
        sleep_ms(1);
    atomic_store(&turn, 2);
    crew_end_well(&crew);
}

/* Rank r has r + 1 everywhere but for a wave; the mean of the first two is 1.5. */
static float number(int rank, int i)
{
    return (float)(rank + 1) + 0.5f * sinf((float)i);
}

static int compress_without_the_late(struct crew_member *m)
{
    static float x[RANKS][FLOATS];
    float *mine = x[m->rank], mean[FLOATS];
    for (int i = 0; i < FLOATS; i++)
        mine[i] = number(m->rank, i);
    wait_for_the_others(m);
    int rc = swagg_allreduce(m->job, mine, mean, FLOATS, SWAGG_F32, SWAGG_AVG);
    if (rc < 0)
        return rc;
    double error = 0, square = 0;
    for (int i = 0; i < FLOATS; i++) {
        const double right = (number(0, i) + number(1, i)) / 2;
        error += (mean[i] - right) * (mean[i] - right);
        square += right * right;
    }
    if (error > square * 0.05)
        return 1;
    if (!is_told(m, FLOATS))
        return 2;
    atomic_fetch_add(&done, 1);
    /* what was left out is added now: of three calls' worth of the late rank two are in the second mean */
    while (atomic_load(&done) < RANKS)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    rc = swagg_allreduce(m->job, mine, mean, FLOATS, SWAGG_F32, SWAGG_AVG);
    if (rc < 0)
        return rc;
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;
    swagg_get_turnout(m->job, &t);
    double sum = 0, least = 3, most = 9;
    for (int i = 0; i < FLOATS; i++)
        sum += mean[i];
    return t.elements > 0 && (sum / FLOATS < least / RANKS || sum / FLOATS > most) ? 3 : 0;
}

TEST(compressed_ones_too)
{
    struct crew crew = crew_of(RANKS, the_switch, "thc", compress_without_the_late, NULL);
    crew.options.quorum_percent = 60;
    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.mode = SWAGG_ON_ARRIVAL;
    atomic_store(&done, 0);
    crew_succeed(&crew);
}

static float model[RANKS][FLOATS];
static atomic_uint agreed; /* ranks that have all of the last mean */

/* If all of it is the mean of the same ranks, without what was left out before, then it is about right. */
static bool is_mean_of(const struct swagg_turnout *t, const float *mean)
{
    double error = 0, square = 0;
    for (int i = 0; i < FLOATS; i++) {
        double right = 0;
        for (int r = 0; r < RANKS; r++)
            right += (t->in_all[0] >> r & 1) ? (double)number(r, i) / t->least : 0;
        error += (mean[i] - right) * (mean[i] - right);
        square += right * right;
    }
    return t->missed > 0 || t->in_all[0] != t->in_some[0] || error < square * 0.05;
}

static int neither_waits(struct crew_member *m)
{
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;
    struct swagg_stats s = SWAGG_STATS_INIT;
    float *mine = model[m->rank], *mean = malloc(FLOATS * sizeof *mean);
    uint64_t missed = 0;
    int rc = 0;
    for (int i = 0; i < FLOATS; i++)
        mine[i] = number(m->rank, i);
    for (int call = 0; call < CALLS && rc == 0; call++) {
        rc = swagg_allreduce(m->job, mine, mean, FLOATS, SWAGG_F32, SWAGG_AVG);
        swagg_get_turnout(m->job, &t);
        missed += t.missed;
        if (rc == 0 && (t.elements + t.missed != FLOATS || !is_mean_of(&t, mean)))
            rc = 1;
    }
    if (rc == 0 && (rc = swagg_synchronize(m->job, mine, FLOATS)) == 0) {
        swagg_get_turnout(m->job, &t);
        if (t.missed == 0)
            atomic_fetch_or(&agreed, 1u << m->rank);
        missed += t.missed;
    }
    swagg_get_stats(m->job, &s);
    free(mean);
    return rc == 0 && s.missed_elements != missed ? 2 : rc;
}

/* A rank that will not wait for sums in a job that does not wait for ranks. */
TEST(best_effort_goes_with_it)
{
    const struct impair_config lossy = {.rate = {[IMPAIR_DROP] = {.probability = 0.05}}};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = 1, .in = lossy, .out = lossy});
    struct crew crew = crew_of(RANKS, ls, "both", neither_waits, NULL);
    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.feedback = SWAGG_FEEDBACK_OFF;
    crew.options.quorum = QUORUM;
    crew.options.quorum_wait_ms = 1;
    crew.options.best_effort_ms = 1;
    crew_succeed(&crew);
    uint64_t left = 0;
    for (int r = 0; r < RANKS; r++) {
        left += crew.member[r].stats.missed_calls;
        CU_ASSERT_EQUAL(crew.member[r].stats.compressed_calls, CALLS);
        for (int q = 0; q < r; q++)
            if ((agreed >> r & 1) && (agreed >> q & 1))
                CU_ASSERT_EQUAL(memcmp(model[q], model[r], sizeof model[r]), 0);
    }
    CU_ASSERT(left > 0);
    loop_switch_stop(ls);
}

static int sum_with_all(struct crew_member *m)
{
    struct swagg_turnout t = SWAGG_TURNOUT_INIT;
    int32_t x = 1;
    int rc = swagg_reduce(m->job, &x, &x, 1, SWAGG_I32, SWAGG_SUM, 1);
    if (rc < 0 || swagg_get_turnout(m->job, &t) < 0)
        return rc < 0 ? rc : 1;
    return m->rank == 1 ? t.least != RANKS || t.elements != 1 || t.in_all[0] != 7 : t.elements != 0;
}

TEST(without_a_quorum_all_are_in)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = 1}, RANKS, "all", sum_with_all, NULL);
}

static int refused(struct swagg_options o)
{
    struct swagg_job *job;
    o.switch_ip = "127.0.0.1";
    o.job = "x";
    o.size = RANKS;
    return swagg_open(&job, &o);
}

TEST(options_must_make_sense)
{
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    o.quorum = RANKS + 1;
    CU_ASSERT_EQUAL(refused(o), SWAGG_ERR_ARGUMENT);
    o.quorum = 0;
    o.quorum_wait_ms = 5;
    CU_ASSERT_EQUAL(refused(o), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), "there is no quorum"));
    o.quorum = 2;
    o.quorum_percent = 50;
    CU_ASSERT_EQUAL(refused(o), SWAGG_ERR_ARGUMENT);
    o.quorum_percent = 0;
    o.numbers = SWAGG_NUMBERS_INT32;
    CU_ASSERT_EQUAL(refused(o), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), "options.numbers"));
}
