#include "events.h"

#include <stdio.h>

void events_open(struct events *e)
{
    *e = (struct events){0};
    pthread_mutex_init(&e->lock, NULL);
}

void events_close(struct events *e)
{
    pthread_mutex_destroy(&e->lock);
}

/* The lock is held. */
static void tell_ended(const struct events *e)
{
    if (e->tell)
        e->tell(e->ctx, &(struct swagg_event){.struct_size = sizeof(struct swagg_event),
                                              .kind = SWAGG_EVENT_ENDED,
                                              .text = e->end,
                                              .ends_in_ms = -1,
                                              .status = e->ended});
}

void events_on(struct events *e, void (*tell)(void *ctx, const struct swagg_event *event), void *ctx)
{
    pthread_mutex_lock(&e->lock);
    e->tell = tell;
    e->ctx = ctx;
    if (e->ended)
        tell_ended(e);
    pthread_mutex_unlock(&e->lock);
}

void events_tell(struct events *e, const struct swagg_event *event)
{
    pthread_mutex_lock(&e->lock);
    if (e->tell)
        e->tell(e->ctx, event);
    pthread_mutex_unlock(&e->lock);
}

void events_end(struct events *e, int status, const char *text)
{
    pthread_mutex_lock(&e->lock);
    if (!e->ended) {
        e->ended = status;
        snprintf(e->end, sizeof e->end, "%s", text);
        tell_ended(e);
    }
    pthread_mutex_unlock(&e->lock);
}
