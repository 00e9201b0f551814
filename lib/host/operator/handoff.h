/* What an operator changes is changed by the main lcore: the operators' thread hands it over, and waits.
 *
 * Threads: handoff_call is the operators', the rest the main lcore's.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

typedef void handoff_fn(void *argument);

struct handoff {
    int wake; /* readable when something is to be done */
    pthread_mutex_t lock;
    pthread_cond_t done;
    handoff_fn *run; /* NULL: nothing is to be done */
    void *argument;
    bool held;   /* it was run, and is not done yet */
    bool closed; /* nothing will be done any more */
};

/* 0, or -errno. */
int handoff_open(struct handoff *h);
void handoff_free(struct handoff *h);

/* Has the main lcore run it, and returns when it has; or false, without it, because the daemon is stopping.
 */
bool handoff_call(struct handoff *h, handoff_fn *run, void *argument);

/* Runs what is waiting; returns at once if nothing is. */
void handoff_serve(struct handoff *h);

/* From inside what handoff_serve runs: it is not done when it returns, but by handoff_done. */
void handoff_hold(struct handoff *h);
void handoff_done(struct handoff *h);

/* From here on nothing is run, and nobody waits. */
void handoff_close(struct handoff *h);
