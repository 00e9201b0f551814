/* Calls that take turns: in the order in which they were made, one at a time, whoever makes them. */
#include <stdatomic.h>
#include <stdlib.h>

#include "local/turns.h"
#include "unit.h"

enum { CALLS = 2000, MAKERS = 4 };

static struct swagg_request *calls[CALLS];
static struct turns turns;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER; /* of making calls, here */
static int begun, inside;
static atomic_int made, progressed;
static bool posted = true, in_order = true, alone = true;

/* Only one thread is in here at a time, so nothing in it is atomic. */
static void be_made(uint64_t expected)
{
    alone = alone && ++inside == 1;
    in_order = in_order && atomic_load(&made) == (int)expected;
    atomic_fetch_add(&made, 1);
    inside--;
}

static int make(void *ctx, struct swagg_request *r)
{
    in_order = in_order && ctx == &turns;
    be_made(r->turn);
    return (int)r->turn;
}

static void end(void *ctx, struct swagg_request *r, int status)
{
    (void)ctx;
    r->status = status + 1;
}

static const struct turns_posts posts = {make, end};

static void progress(void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void open_turns(void)
{
    atomic_store(&made, 0);
    begun = 0;
    atomic_store(&progressed, 0);
    in_order = alone = true;
    turns_open(&turns, &posts, &turns);
}

EACH_TEST(open_turns, NULL)

/* Every fifth is not posted, but waits for its turn. Whoever waits has the order's lock no more. */
static void *make_some(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&order);
        const int i = begun;
        const bool is_posted = i % 5 != 0;
        begun += i < CALLS;
        if (i < CALLS && is_posted) {
            calls[i] = calloc(1, sizeof *calls[i]);
            posted = posted && turns_post(&turns, calls[i]) == 0;
        }
        pthread_mutex_unlock(&order);
        if (i == CALLS)
            return NULL;
        if (!is_posted) {
            struct swagg_request own = {0};
            turns_take(&turns, &own, NULL, NULL);
            be_made((uint64_t)atomic_load(&made));
            turns_over(&turns);
        }
    }
}

TEST(each_comes_at_its_turn_whoever_makes_it)
{
    pthread_t maker[MAKERS];
    for (int i = 0; i < MAKERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&maker[i], NULL, make_some, NULL), 0);
    for (int i = 0; i < MAKERS; i++)
        pthread_join(maker[i], NULL);
    turns_close(&turns);
    CU_ASSERT_EQUAL(atomic_load(&made), CALLS);
    CU_ASSERT(in_order);
    CU_ASSERT(alone);
    CU_ASSERT(posted);
    for (int i = 0; i < CALLS; i++) {
        CU_ASSERT(!calls[i] || calls[i]->status == (int)calls[i]->turn + 1);
        free(calls[i]);
    }
}

static void *wait_and_make(void *arg)
{
    struct swagg_request own = {0};
    *(bool *)arg = turns_take(&turns, &own, progress, &progressed);
    be_made(1);
    turns_over(&turns);
    return NULL;
}

TEST(who_waits_for_his_turn_lets_others_progress)
{
    pthread_t waiter;
    struct swagg_request own = {0};
    bool waited = false;
    CU_ASSERT(!turns_take(&turns, &own, NULL, NULL));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter, NULL, wait_and_make, &waited), 0);
    while (atomic_load(&progressed) < 3)
        sched_yield();
    be_made(0);
    turns_over(&turns);
    pthread_join(waiter, NULL);
    CU_ASSERT(waited);
    CU_ASSERT(in_order);
    turns_close(&turns);
}

TEST(what_is_posted_is_made_before_the_end)
{
    struct swagg_request own = {0}, first = {.call = {.count = 7}}, second = {.call = {.count = 8}};
    struct xfer_call oldest;
    turns_take(&turns, &own, NULL, NULL);
    CU_ASSERT_EQUAL(turns_post(&turns, &first), 0);
    CU_ASSERT_EQUAL(turns_post(&turns, &second), 0);
    CU_ASSERT(turns_posted(&turns, &oldest));
    CU_ASSERT_EQUAL(oldest.count, 7);
    be_made(0);
    turns_over(&turns);
    turns_close(&turns);
    CU_ASSERT_EQUAL(atomic_load(&made), 3);
    CU_ASSERT(in_order);
}

static uint32_t passed_at;

static void note_pass(void *ctx, const struct xfer_call *call)
{
    in_order = in_order && ctx == &turns;
    passed_at = call->seq;
}

/* Who makes one that takes no turn waits for nobody. */
TEST(all_calls_have_places_in_one_sequence)
{
    struct swagg_request own = {0}, first = {0}, second = {0};
    struct xfer_call aside = {0};
    turns_take(&turns, &own, NULL, NULL);
    CU_ASSERT_EQUAL(turns_post(&turns, &first), 0);
    turns_pass(&turns, &aside, note_pass);
    CU_ASSERT_EQUAL(turns_post(&turns, &second), 0);
    CU_ASSERT_EQUAL(own.call.seq, 0);
    CU_ASSERT_EQUAL(first.call.seq, 1);
    CU_ASSERT_EQUAL(passed_at, 2);
    CU_ASSERT_EQUAL(second.call.seq, 3);
    CU_ASSERT_EQUAL(second.turn, 2);
    be_made(0);
    turns_over(&turns);
    turns_close(&turns);
    CU_ASSERT_EQUAL(atomic_load(&made), 3);
    CU_ASSERT(in_order);
}

int main(void)
{
    return unit_main();
}
