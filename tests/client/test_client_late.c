/* Who kept the others waiting, as the ranks find out by themselves. */
#include <stdatomic.h>
#include <stdio.h>

#include "crew.h"
#include "unit.h"

enum { RANKS = 3, LATE = 1 };

static _Atomic(struct swagg_job *) jobs[RANKS];
static uint64_t waited[RANKS][RANKS];

/* How long a rank has waited for the late one; while its call is in progress, too. */
static uint64_t noticed_by(int rank)
{
    struct swagg_job *job = jobs[rank];
    struct swagg_stats s = SWAGG_STATS_INIT;
    uint64_t ns[RANKS] = {0};
    if (job && (swagg_get_stats(job, &s) < 0 || swagg_get_waits(job, ns, RANKS) < 0))
        return UINT64_MAX;
    return ns[LATE];
}

/* The late rank comes when both others have noticed. */
static int sum_late(struct crew_member *m)
{
    jobs[m->rank] = m->job;
    for (int r = 0; m->rank == LATE && r < RANKS; r++)
        while (r != LATE && noticed_by(r) == 0)
            sleep_ms(1);
    int rc = crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 100000, .seed = seed}, -1, true);
    return rc < 0 ? rc : swagg_get_waits(m->job, waited[m->rank], RANKS);
}

TEST(the_others_know_for_whom_they_waited)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(RANKS, ls, "late", sum_late, NULL);
    crew_succeed(&crew);
    loop_switch_stop(ls);
    for (int r = 0; r < RANKS; r++) {
        const struct swagg_stats *s = &crew.member[r].stats;
        CU_ASSERT_EQUAL(waited[r][r], 0);
        CU_ASSERT(waited[r][LATE] <= s->waited_ns);
        CU_ASSERT(s->waited_ns <= s->call_ns);
        if (r != LATE)
            CU_ASSERT(waited[r][LATE] > 0);
    }
}

static int ask_for_nothing(struct crew_member *m)
{
    uint64_t ns[1] = {7};
    if (swagg_get_waits(m->job, NULL, 0) != SWAGG_OK || swagg_get_waits(m->job, ns, 1) != SWAGG_OK || ns[0])
        return -1;
    return swagg_get_waits(m->job, ns, -1) == SWAGG_ERR_ARGUMENT &&
                   swagg_get_waits(NULL, ns, 1) == SWAGG_ERR_ARGUMENT &&
                   swagg_get_waits(m->job, NULL, 1) == SWAGG_ERR_ARGUMENT
               ? 0
               : -1;
}

TEST(before_the_first_call_nobody_waited)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 2, "idle", ask_for_nothing, NULL);
}
