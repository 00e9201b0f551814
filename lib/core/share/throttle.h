/* How often each source may do something: a token bucket for each source. A source may do `burst` things at
 * once, and then `per_second`. The table is small and fixed; a new source takes the entry of the one whose
 * bucket is nearest to full, so that sources that are being held back stay in it. A source is any number: an
 * address, or a hash of what tells sources apart.
 *
 * Pure: no clock (now in ns, monotonic), no malloc. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "share/bucket.h"

enum { THROTTLE_SETS = 256, THROTTLE_WAYS = 4 };

struct throttle_rate {
    uint32_t burst, per_second; /* both 1.. */
};

struct throttle_source {
    uint64_t source;
    struct share_bucket bucket; /* full: the entry is free */
};

struct throttle {
    struct throttle_rate rate;
    uint64_t seed; /* of the hash; random, so that nobody can choose which sources share a set */
    struct throttle_source entry[THROTTLE_SETS][THROTTLE_WAYS];
};

void throttle_init(struct throttle *t, struct throttle_rate rate, uint64_t seed);

/* Whether the source may do it now; if so, takes a token. */
bool throttle_admit(struct throttle *t, uint64_t source, uint64_t now);
