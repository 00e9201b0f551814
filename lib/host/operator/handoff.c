#include "operator/handoff.h"

#include <errno.h>
#include <unistd.h>

#include <sys/eventfd.h>

int handoff_open(struct handoff *h)
{
    *h = (struct handoff){.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (h->wake < 0)
        return -errno;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->done, NULL);
    return 0;
}

void handoff_free(struct handoff *h)
{
    close(h->wake);
    pthread_cond_destroy(&h->done);
    pthread_mutex_destroy(&h->lock);
}

bool handoff_call(struct handoff *h, handoff_fn *run, void *argument)
{
    bool ran;

    pthread_mutex_lock(&h->lock);
    h->run = run;
    h->argument = argument;
    eventfd_write(h->wake, 1); /* one call at a time never fills the counter */
    while (h->run != NULL && !h->closed)
        pthread_cond_wait(&h->done, &h->lock);
    ran = h->run == NULL;
    h->run = NULL;
    pthread_mutex_unlock(&h->lock);
    return ran;
}

/* Under the lock. */
static void finish(struct handoff *h)
{
    h->run = NULL;
    pthread_cond_signal(&h->done);
}

void handoff_serve(struct handoff *h)
{
    eventfd_t calls;

    if (eventfd_read(h->wake, &calls) < 0)
        return;
    pthread_mutex_lock(&h->lock);
    if (h->run != NULL)
        h->run(h->argument);
    if (!h->held)
        finish(h);
    pthread_mutex_unlock(&h->lock);
}

void handoff_hold(struct handoff *h)
{
    h->held = true;
}

void handoff_done(struct handoff *h)
{
    pthread_mutex_lock(&h->lock);
    h->held = false;
    finish(h);
    pthread_mutex_unlock(&h->lock);
}

void handoff_close(struct handoff *h)
{
    pthread_mutex_lock(&h->lock);
    h->closed = true;
    pthread_cond_signal(&h->done);
    pthread_mutex_unlock(&h->lock);
}
