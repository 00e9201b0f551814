/* What a program wants to be told while it computes or waits (swagg_on_event): one function of its, called by
 * whichever thread notices something, never by two at once. Any thread. */
#pragma once

#include <pthread.h>

#include "describe.h"
#include "swagg.h"

struct events {
    pthread_mutex_t lock;                                     /* during the program's function, too */
    void (*tell)(void *ctx, const struct swagg_event *event); /* NULL: nobody wants to know */
    void *ctx;
    int ended;                 /* enum swagg_status of how; 0: it has not */
    char end[CLIENT_TEXT_MAX]; /* the same in words */
};

void events_open(struct events *e);
void events_close(struct events *e);

void events_on(struct events *e, void (*tell)(void *ctx, const struct swagg_event *event), void *ctx);

/* Of anything but the end. */
void events_tell(struct events *e, const struct swagg_event *event);

/* That the job has ended is told once, however many notice, and at once to whom events_on names after it. */
void events_end(struct events *e, int status, const char *text);
