/* What operators hand over to the main lcore: it is run there, once, and nobody waits for a daemon that
 * stops. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include "operator/handoff.h"
#include "unit.h"

static struct handoff handoff;
static pthread_t ran_by;
static unsigned ran;

static void note(void *argument)
{
    ran_by = pthread_self();
    ran += *(unsigned *)argument;
}

/* The operators' thread; its result tells whether the call was run. */
static void *call(void *argument)
{
    return handoff_call(&handoff, note, argument) ? argument : NULL;
}

TEST(a_call_is_run_by_who_serves)
{
    unsigned five = 5;
    struct pollfd woken;
    pthread_t caller;
    void *result;

    CU_ASSERT_EQUAL_FATAL(handoff_open(&handoff), 0);
    woken = (struct pollfd){.fd = handoff.wake, .events = POLLIN};
    ran = 0;
    handoff_serve(&handoff); /* nothing waits */
    pthread_create(&caller, NULL, call, &five);
    CU_ASSERT_EQUAL(poll(&woken, 1, -1), 1);
    handoff_serve(&handoff);
    pthread_join(caller, &result);
    CU_ASSERT_PTR_EQUAL(result, &five);
    CU_ASSERT_EQUAL(ran, 5);
    CU_ASSERT(pthread_equal(ran_by, pthread_self()));
    handoff_serve(&handoff);
    CU_ASSERT_EQUAL(ran, 5);
    handoff_free(&handoff);
}

TEST(nobody_waits_for_a_daemon_that_stops)
{
    unsigned five = 5;
    struct pollfd woken;
    pthread_t caller;
    void *result;

    CU_ASSERT_EQUAL_FATAL(handoff_open(&handoff), 0);
    woken = (struct pollfd){.fd = handoff.wake, .events = POLLIN};
    ran = 0;
    pthread_create(&caller, NULL, call, &five);
    CU_ASSERT_EQUAL(poll(&woken, 1, -1), 1);
    handoff_close(&handoff);
    pthread_join(caller, &result);
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT(!handoff_call(&handoff, note, &five));
    handoff_serve(&handoff);
    CU_ASSERT_EQUAL(ran, 0);
    handoff_free(&handoff);
}

static void hold(void *argument)
{
    (void)argument;
    handoff_hold(&handoff);
}

static void *call_and_be_held(void *argument)
{
    return handoff_call(&handoff, hold, argument) ? argument : NULL;
}

/* The caller of something that takes time: until it is done, or the daemon stops. */
static void serve_and_hold(pthread_t *caller, unsigned *argument)
{
    struct pollfd woken;

    CU_ASSERT_EQUAL_FATAL(handoff_open(&handoff), 0);
    woken = (struct pollfd){.fd = handoff.wake, .events = POLLIN};
    pthread_create(caller, NULL, call_and_be_held, argument);
    CU_ASSERT_EQUAL(poll(&woken, 1, -1), 1);
    handoff_serve(&handoff);
    CU_ASSERT_PTR_NOT_NULL(handoff.run); /* it waits */
}

TEST(what_takes_time_is_waited_for)
{
    unsigned one = 1;
    pthread_t caller;
    void *result;

    serve_and_hold(&caller, &one);
    handoff_done(&handoff);
    pthread_join(caller, &result);
    CU_ASSERT_PTR_EQUAL(result, &one);
    handoff_free(&handoff);

    serve_and_hold(&caller, &one);
    handoff_close(&handoff);
    pthread_join(caller, &result);
    CU_ASSERT_PTR_NULL(result);
    handoff_free(&handoff);
}
