/* libswagg over real sockets: reduces from which ranks return before they are complete. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "job.h"
#include "unit.h"

enum { RANKS = 3 };

/* How far the ranks are. */
struct course {
    int (*root)(struct crew_member *m), (*other)(struct crew_member *m);
    struct impair_config link;
    atomic_uint in;       /* ranks that have opened the job */
    atomic_uint returned; /* ranks that have returned from their reduces */
    atomic_uint over;     /* the root is through */
    atomic_uint revived;  /* the switch has been killed and started again */
};

static struct course *course_of(const struct crew_member *m)
{
    return m->crew->arg;
}

static void wait_for(const atomic_uint *counter, unsigned least)
{
    while (atomic_load(counter) < least)
        sleep_ms(1);
}

static int take_course(struct crew_member *m)
{
    atomic_fetch_add(&course_of(m)->in, 1);
    wait_for(&course_of(m)->in, RANKS); /* whatever goes wrong, none of them is still joining */
    return m->rank == 0 ? course_of(m)->root(m) : course_of(m)->other(m);
}

static struct loop_switch *start(struct crew *crew, struct course *course)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){
        .seed = seed, .lost_after_ms = 10000, .in = course->link, .out = course->link});
    *crew = crew_of(RANKS, ls, "buffered", take_course, course);
    crew->options.reduce = SWAGG_REDUCE_BUFFERED;
    return ls;
}

static void succeed(struct course course)
{
    struct crew crew;
    struct loop_switch *ls = start(&crew, &course);
    crew_succeed(&crew);
    loop_switch_stop(ls);
}

static int reduce(struct crew_member *m, size_t count)
{
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = count, .seed = seed + count}, 0, false);
}

/* 40 calls of 800 chunks in all: as many as there are slots, nearly. */
static int reduce_often(struct crew_member *m)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 40; i++)
        rc = reduce(m, 365 * i);
    return rc;
}

static int return_early(struct crew_member *m)
{
    int rc = reduce_often(m);
    atomic_fetch_add(&course_of(m)->returned, 1);
    return rc < 0 ? rc : crew_sum_once(m);
}

static int come_when_all_have_returned(struct crew_member *m)
{
    wait_for(&course_of(m)->returned, RANKS - 1);
    int rc = reduce_often(m);
    return rc < 0 ? rc : crew_sum_once(m);
}

TEST(other_ranks_return_before_the_root_calls)
{
    succeed((struct course){.root = come_when_all_have_returned, .other = return_early});
}

/* More than leaves at once, and some of it lost: nobody but the membership threads, and close, can mend it.
 */
static int return_and_close(struct crew_member *m)
{
    int rc = reduce(m, 300000);
    atomic_fetch_add(&course_of(m)->returned, 1);
    return rc;
}

static int call_late(struct crew_member *m)
{
    wait_for(&course_of(m)->returned, RANKS - 1);
    sleep_ms(300);
    return reduce(m, 300000);
}

TEST(close_completes_what_is_buffered)
{
    succeed((struct course){.root = call_late,
                            .other = return_and_close,
                            .link = {.rate = {[IMPAIR_DROP] = {.probability = 0.02}}}});
}

/* What the caller's other communication sees while its rank completes reduces in swagg_close. */
struct closing {
    struct course course;
    atomic_uint driven, busy; /* how often it was driven; and found the job said to be busy */
};

static _Thread_local struct swagg_job *closed_here; /* by the rank whose thread this is */

static void look_while_closing(void *ctx)
{
    struct closing *c = ctx;
    if (!closed_here)
        return;
    atomic_fetch_add(&c->busy, atomic_load(&closed_here->busy));
    atomic_fetch_add(&c->driven, 1);
}

static int return_and_close_job(struct crew_member *m)
{
    int rc = reduce(m, 1000);
    closed_here = m->job;
    return rc;
}

static int call_when_others_close(struct crew_member *m)
{
    wait_for(&((struct closing *)m->crew->options.progress_ctx)->driven, 1);
    return reduce(m, 1000);
}

/* Else their membership threads would try for the lock again and again. */
TEST(close_says_that_it_keeps_the_lock)
{
    struct closing closing = {.course = {.root = call_when_others_close, .other = return_and_close_job}};
    struct crew crew;
    struct loop_switch *ls = start(&crew, &closing.course);
    crew.options.progress = look_while_closing;
    crew.options.progress_ctx = &closing;
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(closing.busy, closing.driven);
    loop_switch_stop(ls);
}

static int return_and_compute(struct crew_member *m)
{
    int rc = reduce(m, 300000);
    atomic_fetch_add(&course_of(m)->returned, 1);
    wait_for(&course_of(m)->over, 1);
    return rc;
}

static int call_after_the_restart(struct crew_member *m)
{
    wait_for(&course_of(m)->revived, 1);
    int rc = reduce(m, 300000);
    atomic_store(&course_of(m)->over, 1);
    return rc;
}

TEST(a_restart_of_the_switch_loses_nothing_that_is_buffered)
{
    struct course course = {.root = call_after_the_restart, .other = return_and_compute};
    struct crew crew;
    struct loop_switch *ls = start(&crew, &course);
    crew_start(&crew);
    wait_for(&course.returned, RANKS - 1);
    loop_switch_kill(ls);
    loop_switch_revive(ls);
    atomic_store(&course.revived, 1);
    crew_end_well(&crew);
    for (int r = 0; r < RANKS; r++)
        CU_ASSERT_EQUAL(crew.member[r].stats.resumed, 1);
    loop_switch_stop(ls);
}

/* What goes wrong later */

static void expect(const struct crew_member *m, int status, const char *words)
{
    CU_ASSERT_EQUAL(m->status, status);
    CU_ASSERT(strstr(m->error, words) != NULL);
    if (m->status != status || !strstr(m->error, words))
        printf("\n    rank %d: %d, no '%s' in: %s\n", m->rank, m->status, words, m->error);
}

static int leave(struct crew_member *m)
{
    wait_for(&course_of(m)->returned, RANKS - 1);
    return 0;
}

static int return_and_call(struct crew_member *m)
{
    int rc = reduce(m, 1000);
    atomic_fetch_add(&course_of(m)->returned, 1);
    return rc < 0 ? SWAGG_ERR_SYSTEM : crew_sum_once(m);
}

TEST(the_next_call_names_the_reduce_that_failed)
{
    struct course course = {.root = leave, .other = return_and_call};
    struct crew crew;
    struct loop_switch *ls = start(&crew, &course);
    crew_run(&crew);
    for (int r = 1; r < RANKS; r++) {
        expect(&crew.member[r], SWAGG_ERR_LOST, "rank 0");
        expect(&crew.member[r], SWAGG_ERR_LOST, "reduce of 1000 float32 (sum) to rank 0, from which rank");
    }
    loop_switch_stop(ls);
}

/* No call is needed to hear of it. */
static int return_and_read_the_log(struct crew_member *m)
{
    int rc = reduce(m, 1000);
    atomic_fetch_add(&course_of(m)->returned, 1);
    if (rc == 0)
        crew_await_line(m, "reduce of 1000 float32 (sum) to rank 0, from which rank");
    return rc;
}

TEST(the_log_names_the_reduce_that_failed)
{
    succeed((struct course){.root = leave, .other = return_and_read_the_log});
}

/* The others never call again before the root has heard: their membership threads tell. */
static int return_and_call_when_it_is_over(struct crew_member *m)
{
    int rc = reduce(m, 500);
    atomic_fetch_add(&course_of(m)->returned, 1);
    wait_for(&course_of(m)->over, 1);
    return rc < 0 ? rc : crew_sum_once(m);
}

static int call_something_else(struct crew_member *m)
{
    wait_for(&course_of(m)->returned, RANKS - 1);
    int rc = crew_sum_once(m);
    atomic_store(&course_of(m)->over, 1);
    return rc;
}

static int call_something_else_first(struct crew_member *m)
{
    int rc = crew_sum_once(m);
    atomic_store(&course_of(m)->over, 1);
    return rc;
}

TEST(a_mismatch_is_told_while_its_rank_computes)
{
    int (*const roots[])(struct crew_member *) = {call_something_else, call_something_else_first};
    for (int i = 0; i < 2; i++) {
        struct course course = {.root = roots[i], .other = return_and_call_when_it_is_over};
        struct crew crew;
        struct loop_switch *ls = start(&crew, &course);
        crew_run(&crew);
        for (int r = 0; r < RANKS; r++) {
            expect(&crew.member[r], SWAGG_ERR_MISMATCH, "allreduce of 1000 float32");
            expect(&crew.member[r], SWAGG_ERR_MISMATCH, "reduce of 500 float32 (sum) to rank 0");
        }
        loop_switch_stop(ls);
    }
}

/* Makes no call that a peer could see, until its job has failed. */
static int never_call(struct crew_member *m)
{
    int rc;
    while ((rc = swagg_allreduce(m->job, NULL, NULL, 1, SWAGG_F32, SWAGG_SUM)) == SWAGG_ERR_ARGUMENT)
        sleep_ms(1);
    return rc;
}

static int return_and_leave(struct crew_member *m)
{
    return reduce(m, 1000);
}

/* For a root that never comes close waits by the deadline of a call; then the log says what became of it. */
static bool names_the_reduce(int deadline_ms)
{
    static const char words[] = "reduce of 1000 float32 (sum) to rank 0, from which";
    struct course course = {.root = never_call, .other = return_and_leave};
    struct crew crew;
    struct loop_switch *ls = start(&crew, &course);
    crew.options.call_timeout_ms = deadline_ms;
    crew_run(&crew);
    bool named = crew.member[0].status == SWAGG_ERR_ABORTED && strstr(crew.member[0].error, words);
    for (int r = 1; r < RANKS; r++)
        named = named && crew.member[r].status == 0 && strstr(crew.member[r].log, words);
    loop_switch_stop(ls);
    return crew_told(&crew, named);
}

TEST(close_names_the_reduce_that_failed)
{
    crew_give_up(names_the_reduce);
}
