#include "usr1.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_t thread;
static pid_t owner; /* a child that inherits the handler by fork has no thread */
static sem_t signals;
static bool started;
static atomic_bool stopping;
static void (*tell_all)(void);

/* Nothing but calls that a handler may make. */
static void on_signal(int number)
{
    const int before = errno;
    if (getpid() == owner) {
        sem_post(&signals);
    } else { /* what would happen without this handler */
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = before;
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&signals) < 0 && errno == EINTR)
            ;
        if (stopping)
            return NULL;
        tell_all();
    }
}

/* With all signals blocked: they are the program's threads'. */
static bool start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

void usr1_start(void (*tell)(void))
{
    struct sigaction present, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (sigaction(SIGUSR1, NULL, &present) < 0 || present.sa_handler != SIG_DFL ||
        sem_init(&signals, 0, 0) < 0)
        return;
    owner = getpid();
    tell_all = tell;
    stopping = false;
    started = start_thread();
    if (started)
        sigaction(SIGUSR1, &ours, NULL);
}

void usr1_stop(void)
{
    struct sigaction present;
    if (!started)
        return;
    started = false;
    sigaction(SIGUSR1, NULL, &present);
    if (present.sa_handler == on_signal)
        signal(SIGUSR1, SIG_DFL);
    stopping = true;
    sem_post(&signals);
    pthread_join(thread, NULL);
}
