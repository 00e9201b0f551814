/* What a program wants to be told while it computes or waits (swagg_on_event): one function of its, called by
 * whichever thread notices something, never by two at once. Any thread. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "swagg.h"

struct events {
    pthread_mutex_t lock;                                     /* during the program's function, too */
    void (*tell)(void *ctx, const struct swagg_event *event); /* NULL: nobody wants to know */
    void *ctx;
    bool ended; /* told, or to nobody */
};

void events_open(struct events *e);
void events_close(struct events *e);

void events_on(struct events *e, void (*tell)(void *ctx, const struct swagg_event *event), void *ctx);

/* That the job has ended is told once, however many notice. */
void events_tell(struct events *e, const struct swagg_event *event);
