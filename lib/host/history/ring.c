#include "history/ring.h"

#include <stdlib.h>

bool ring_open(struct ring *r, size_t each, unsigned room)
{
    *r = (struct ring){.items = calloc(room, each), .each = each, .room = room};
    return r->items != NULL;
}

void ring_close(struct ring *r)
{
    free(r->items);
}

void *ring_put(struct ring *r)
{
    return (char *)r->items + r->put++ % r->room * r->each;
}
