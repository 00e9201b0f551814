/* The collectives that a stream has in progress: it sends their chunks one behind the other, under running
 * positions, and they end in the order in which they began. They are numbered as struct xfer_call counts
 * them, modulo 2^32. What belongs to one lies in arrays of the stream's, at xfer_queue_slot of its number,
 * and stays there, after its end, too, until `room` more have begun. Pure; memory is the caller's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XFER_CALLS_MAX = 128 }; /* in progress at once */

struct xfer_queue {
    uint64_t *base; /* [room]: the first position of each */
    uint32_t room;  /* a power of two, at most XFER_CALLS_MAX */
    uint32_t first; /* the oldest in progress, or next if none is */
    uint32_t next;  /* to begin */
};

/* How many a stream with this wish has room for; 0 stands for one. 0: it is none to have. */
static inline uint32_t xfer_queue_room(uint32_t calls)
{
    if (calls == 0)
        return 1;
    return calls <= XFER_CALLS_MAX && (calls & (calls - 1)) == 0 ? calls : 0;
}

static inline bool xfer_queue_empty(const struct xfer_queue *q)
{
    return q->first == q->next;
}
static inline bool xfer_queue_full(const struct xfer_queue *q)
{
    return q->next - q->first == q->room;
}
static inline uint32_t xfer_queue_slot(const struct xfer_queue *q, uint32_t number)
{
    return number & (q->room - 1);
}

/* Another begins at this position; returns its slot. Not if it is full. */
static inline uint32_t xfer_queue_begin(struct xfer_queue *q, uint64_t position)
{
    const uint32_t slot = xfer_queue_slot(q, q->next++);

    q->base[slot] = position;
    return slot;
}

/* The number of the one that a position belongs to, from the oldest one's first on; of several that begin at
 * a position, all but the last have no chunks. Not if it is empty. */
static inline uint32_t xfer_queue_find(const struct xfer_queue *q, uint64_t position)
{
    uint32_t low = 0, high = q->next - q->first - 1; /* ahead of the oldest */

    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (q->base[xfer_queue_slot(q, q->first + middle)] <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return q->first + low;
}

/* Where the oldest in progress ends; end: where the last does. Not if it is empty. */
static inline uint64_t xfer_queue_oldest_end(const struct xfer_queue *q, uint64_t end)
{
    return q->first + 1 == q->next ? end : q->base[xfer_queue_slot(q, q->first + 1)];
}
