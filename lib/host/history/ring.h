/* The last so many of something, in memory that was set aside for them. One thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
    void *items;
    size_t each;
    unsigned room;
    uint64_t put; /* ever */
};

/* False: no memory. */
bool ring_open(struct ring *r, size_t each, unsigned room);
void ring_close(struct ring *r);

/* A place for one more, in which may be the oldest. */
void *ring_put(struct ring *r);

static inline unsigned ring_count(const struct ring *r)
{
    return r->put < r->room ? (unsigned)r->put : r->room;
}

/* The i-th of them, the oldest first. */
static inline void *ring_at(const struct ring *r, unsigned i)
{
    return (char *)r->items + (r->put - ring_count(r) + i) % r->room * r->each;
}
