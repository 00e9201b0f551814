#include "events.h"

void events_open(struct events *e)
{
    *e = (struct events){0};
    pthread_mutex_init(&e->lock, NULL);
}

void events_close(struct events *e)
{
    pthread_mutex_destroy(&e->lock);
}

void events_on(struct events *e, void (*tell)(void *ctx, const struct swagg_event *event), void *ctx)
{
    pthread_mutex_lock(&e->lock);
    e->tell = tell;
    e->ctx = ctx;
    pthread_mutex_unlock(&e->lock);
}

void events_tell(struct events *e, const struct swagg_event *event)
{
    pthread_mutex_lock(&e->lock);
    const bool again = e->ended && event->kind == SWAGG_EVENT_ENDED;
    e->ended |= event->kind == SWAGG_EVENT_ENDED;
    if (e->tell && !again)
        e->tell(e->ctx, event);
    pthread_mutex_unlock(&e->lock);
}
