/* Jobs with a quorum: a rank that comes late is not waited for, and everybody is told who is in the sums. */
#include <math.h>
#include <string.h>

#include "crew.h"
#include "unit.h"

enum { RANKS = 3, QUORUM = 2, LATE = 2, COUNT = 600, FLOATS = 20000 };

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

static void sums_are_of_the_ranks_that_are_there(void)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = 1});
    struct crew crew = crew_of(RANKS, ls, "quorum", sum_without_the_late, NULL);
    crew.options.quorum = QUORUM;
    atomic_store(&done, 0);
    crew_succeed(&crew);
    loop_switch_stop(ls);
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

static void compressed_ones_too(void)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = 1});
    struct crew crew = crew_of(RANKS, ls, "thc", compress_without_the_late, NULL);
    crew.options.quorum_percent = 60;
    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.mode = SWAGG_ON_ARRIVAL;
    atomic_store(&done, 0);
    crew_succeed(&crew);
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

static void without_a_quorum_all_are_in(void)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = 1});
    struct crew crew = crew_of(RANKS, ls, "all", sum_with_all, NULL);
    crew_succeed(&crew);
    loop_switch_stop(ls);
}

static int refused(struct swagg_options o)
{
    struct swagg_job *job;
    o.switch_ip = "127.0.0.1";
    o.job = "x";
    o.size = RANKS;
    return swagg_open(&job, &o);
}

static void options_must_make_sense(void)
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

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(sums_are_of_the_ranks_that_are_there),
        UNIT_TEST(compressed_ones_too),
        UNIT_TEST(without_a_quorum_all_are_in),
        UNIT_TEST(options_must_make_sense),
        CU_TEST_INFO_NULL,
    };
    return unit_main("client_quorum", tests);
}
