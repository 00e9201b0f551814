/* A token bucket: how often something may be done. It holds `burst` tokens at most, and a new one comes after
 * each `each`. Only one time is kept, that at which it will be full again (the virtual scheduling algorithm
 * of ITU-T I.371, Annex A).
 *
 * Pure. Times are in any unit that all of a bucket's callers use; a bucket of zeroes is full.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct share_rate {
    uint64_t each, burst; /* both 1.. */
};

struct share_bucket {
    uint64_t full_at;
};

/* Takes so many tokens; false: there are too few, and none was taken. More than the bucket can hold are given
 * when it is full, and then come off what follows. */
static inline bool share_take(struct share_bucket *b, const struct share_rate *r, uint64_t tokens,
                              uint64_t now)
{
    const uint64_t held = tokens < r->burst ? tokens : r->burst; /* at most this many must be there */

    if (b->full_at < now)
        b->full_at = now;
    if (b->full_at - now > (r->burst - held) * r->each)
        return false;
    b->full_at += tokens * r->each;
    return true;
}
