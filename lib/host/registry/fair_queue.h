/* A bounded queue with lanes. They are served in turn, so a full lane does not delay the others.
 *
 * Pure: no malloc; items are the caller's. One thread. All zero: empty.
 */
#pragma once

#include <stdbool.h>

enum { FAIR_QUEUE_LANES = 64, FAIR_QUEUE_PLACES = 64 /* in a lane */ };

struct fair_queue {
    unsigned items, next; /* next: the lane whose turn it is */
    struct {
        unsigned first, items;
        void *item[FAIR_QUEUE_PLACES];
    } lane[FAIR_QUEUE_LANES];
};

/* False: the lane is full; the item stays the caller's. */
bool fair_queue_put(struct fair_queue *q, unsigned lane, void *item);

/* The oldest of the lane whose turn it is; NULL: the queue is empty. */
void *fair_queue_take(struct fair_queue *q);
