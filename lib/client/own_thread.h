/* Threads of the library's in the application's process. Signals are the application's business: they take
 * none, nor do threads that they start. */
#pragma once

#include <pthread.h>

/* Returns 0 or -errno. */
int own_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
