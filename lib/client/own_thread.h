/* Threads of the library's in the application's process. Signals are the application's business: they take
 * none, nor do threads that they start. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

enum { OWN_THREAD_PROGRESS_US = 900 }; /* between calls of options.progress; swagg.h promises 1 ms */

/* Returns 0 or -errno. */
int own_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* How one of the application's waits, with the lock. Briefly: until options.progress is due, which is called
 * without the lock; NULL: there is none. */
void own_thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock, bool briefly);
void own_thread_progress(pthread_mutex_t *lock, void (*progress)(void *ctx), void *ctx);
