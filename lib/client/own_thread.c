#include "own_thread.h"

#include <signal.h>
#include <time.h>

#include "monotonic.h"

int own_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}

void own_thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock, bool briefly)
{
    const uint64_t until = monotonic_ns() + OWN_THREAD_PROGRESS_US * NS_PER_US;
    const struct timespec at = {.tv_sec = (time_t)(until / NS_PER_SECOND),
                                .tv_nsec = (long)(until % NS_PER_SECOND)};
    if (briefly)
        pthread_cond_clockwait(changed, lock, CLOCK_MONOTONIC, &at);
    else
        pthread_cond_wait(changed, lock);
}

void own_thread_progress(pthread_mutex_t *lock, void (*progress)(void *ctx), void *ctx)
{
    if (!progress)
        return;
    pthread_mutex_unlock(lock);
    progress(ctx);
    pthread_mutex_lock(lock);
}
