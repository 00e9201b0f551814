#include "registry/fair_queue.h"

#include <stddef.h>

bool fair_queue_put(struct fair_queue *q, unsigned lane, void *item)
{
    const unsigned n = q->lane[lane].items;

    if (n == FAIR_QUEUE_PLACES)
        return false;
    q->lane[lane].item[(q->lane[lane].first + n) % FAIR_QUEUE_PLACES] = item;
    q->lane[lane].items++;
    q->items++;
    return true;
}

void *fair_queue_take(struct fair_queue *q)
{
    void *item;
    unsigned lane;

    if (q->items == 0)
        return NULL;
    while (q->lane[q->next].items == 0)
        q->next = (q->next + 1) % FAIR_QUEUE_LANES;
    lane = q->next;
    item = q->lane[lane].item[q->lane[lane].first];
    q->lane[lane].first = (q->lane[lane].first + 1) % FAIR_QUEUE_PLACES;
    q->lane[lane].items--;
    q->items--;
    q->next = (lane + 1) % FAIR_QUEUE_LANES;
    return item;
}
