/* What a program is told while it waits or computes: who is late, that the switch is gone and is back, that
 * the job has ended. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "unit.h"

enum { RANKS = 3, LATE = 1, KINDS = SWAGG_EVENT_ENDED + 1 };

/* What a rank has been told: how often, and what last. */
struct told {
    atomic_int times[KINDS], inside, late_rank; /* the last, which the late one reads while more are told */
    atomic_bool overlap, wrong;
    struct swagg_event last[KINDS];
    char text[256];
};
static struct told told[RANKS];
static atomic_int in; /* ranks that have left swagg_open */

static void on_event(void *ctx, const struct swagg_event *e)
{
    struct told *t = ctx;
    if (atomic_fetch_add(&t->inside, 1) != 0)
        atomic_store(&t->overlap, true);
    if (e->struct_size != sizeof *e || e->kind < SWAGG_EVENT_LATE || (int)e->kind >= KINDS || !e->text ||
        strlen(e->text) == 0)
        atomic_store(&t->wrong, true);
    t->last[e->kind] = *e;
    if (e->kind == SWAGG_EVENT_LATE)
        atomic_store(&t->late_rank, e->rank_count == 1 ? e->ranks[0] : -1);
    if (e->kind == SWAGG_EVENT_ENDED)
        snprintf(t->text, sizeof t->text, "%s", e->text);
    atomic_fetch_sub(&t->inside, 1);
    atomic_fetch_add(&t->times[e->kind], 1);
}

static void forget(void)
{
    memset(told, 0, sizeof told);
    atomic_store(&in, 0);
}

static void await_event(int rank, enum swagg_event_kind kind)
{
    while (atomic_load(&told[rank].times[kind]) == 0)
        sleep_ms(1);
}

static bool all_is_well(void)
{
    for (int r = 0; r < RANKS; r++)
        if (told[r].overlap || told[r].wrong)
            return false;
    return true;
}

/* The late rank comes when both others have been told of it. */
static int wait_for_the_late(struct crew_member *m)
{
    const struct tensor t = {.type = SWAGG_F32, .count = 1000, .seed = seed};
    if (swagg_on_event(m->job, on_event, &told[m->rank]) < 0)
        return -1;
    for (int r = 0; m->rank == LATE && r < RANKS; r++)
        while (r != LATE && (atomic_load(&told[r].times[SWAGG_EVENT_LATE]) == 0 ||
                             atomic_load(&told[r].late_rank) != LATE))
            sleep_ms(1);
    return crew_sum(m, &t, -1, true);
}

TEST(who_is_late_is_told_and_when_that_ends_the_job)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(RANKS, ls, "late", wait_for_the_late, NULL);
    forget();
    crew.options.warn_after_ms = 20;
    crew.options.call_timeout_ms = 1000000;
    crew_succeed(&crew);
    loop_switch_stop(ls);
    for (int r = 0; r < RANKS; r++) {
        const struct swagg_event *e = &told[r].last[SWAGG_EVENT_LATE];
        CU_ASSERT_EQUAL(told[r].times[SWAGG_EVENT_ENDED], 0);
        if (r == LATE)
            continue;
        CU_ASSERT(e->waited_ms >= 20 && e->ends_in_ms > 0 && e->ends_in_ms < 1000000);
        CU_ASSERT(e->status == 0 && e->node == NULL);
    }
    CU_ASSERT(all_is_well());
}

static struct loop_switch *box;

/* Between two calls the switch is killed, and started again once this rank has been told so. */
static int live_through_a_restart(struct crew_member *m)
{
    const struct tensor t = {.type = SWAGG_F32, .count = 1000, .seed = seed};
    if (swagg_on_event(m->job, on_event, &told[m->rank]) < 0 || crew_sum(m, &t, -1, true) < 0)
        return -1;
    loop_switch_kill(box);
    await_event(m->rank, SWAGG_EVENT_SWITCH_LOST);
    loop_switch_revive(box);
    await_event(m->rank, SWAGG_EVENT_SWITCH_FOUND);
    swagg_on_event(m->job, NULL, NULL);
    return crew_sum(m, &t, -1, true);
}

TEST(that_the_switch_is_lost_and_found_is_told_between_calls)
{
    box = loop_switch_start(&(struct loop_switch_config){.seed = seed, .lost_after_ms = 3000});
    struct crew crew = crew_of(1, box, "restart", live_through_a_restart, NULL);
    forget();
    crew_succeed(&crew);
    const struct swagg_event *lost = &told[0].last[SWAGG_EVENT_SWITCH_LOST];
    CU_ASSERT_EQUAL(told[0].times[SWAGG_EVENT_ENDED], 0);
    CU_ASSERT(lost->node != NULL && lost->rank_count == 0 && lost->ends_in_ms == -1);
    CU_ASSERT(all_is_well());
    loop_switch_stop(box);
}

static const struct tensor small = {.type = SWAGG_F32, .count = 10, .seed = 1};

/* One gives up, when all have left swagg_open, where they would hear of it otherwise. */
static void give_up(struct crew_member *m)
{
    atomic_fetch_add(&in, 1);
    while (m->rank == LATE && atomic_load(&in) < RANKS)
        sleep_ms(1);
    if (m->rank == LATE)
        swagg_abort(m->job, "no more of it");
}

/* The others hear of it without a call. */
static int end_without_a_call(struct crew_member *m)
{
    if (swagg_on_event(m->job, on_event, &told[m->rank]) < 0)
        return -1;
    give_up(m);
    await_event(m->rank, SWAGG_EVENT_ENDED);
    return crew_sum(m, &small, -1, true);
}

/* Plays this, in which one gives up; each is told so once. */
static void play_the_end(crew_fn *work)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(RANKS, ls, "ends", work, NULL);
    forget();
    crew_run(&crew);
    loop_switch_stop(ls);
    for (int r = 0; r < RANKS; r++) {
        CU_ASSERT_EQUAL(crew.member[r].status, SWAGG_ERR_ABORTED);
        CU_ASSERT_EQUAL(told[r].times[SWAGG_EVENT_ENDED], 1);
        CU_ASSERT_EQUAL(told[r].last[SWAGG_EVENT_ENDED].status, SWAGG_ERR_ABORTED);
        CU_ASSERT(says(told[r].text, "no more of it"));
    }
    CU_ASSERT(all_is_well());
}

TEST(that_the_job_has_ended_is_told_once_without_a_call)
{
    play_the_end(end_without_a_call);
}

static int ask_when_it_has_ended(struct crew_member *m)
{
    give_up(m);
    int rc = crew_sum(m, &small, -1, true);
    swagg_on_event(m->job, on_event, &told[m->rank]);
    return rc;
}

TEST(who_asks_after_the_end_is_told_it_at_once)
{
    play_the_end(ask_when_it_has_ended);
}

TEST(a_job_that_there_is_not_tells_nothing)
{
    CU_ASSERT_EQUAL(swagg_on_event(NULL, on_event, NULL), SWAGG_ERR_ARGUMENT);
}
