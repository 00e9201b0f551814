#include "share/throttle.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)

void throttle_init(struct throttle *t, struct throttle_rate rate, uint64_t seed)
{
    memset(t, 0, sizeof(*t));
    t->rate = rate;
    t->seed = seed | 1;
}

static unsigned set_of(const struct throttle *t, uint64_t source)
{
    uint64_t h = (source + t->seed) * UINT64_C(0x9E3779B97F4A7C15);

    return (unsigned)((h ^ h >> 32) * t->seed >> 32) % THROTTLE_SETS;
}

/* The source's entry; if it has none, that of the source whose bucket is nearest to full. */
static struct throttle_source *entry_of(struct throttle *t, uint64_t source)
{
    struct throttle_source *set = t->entry[set_of(t, source)], *least = set;

    for (unsigned i = 0; i < THROTTLE_WAYS; i++) {
        if (set[i].source == source)
            return &set[i];
        if (set[i].bucket.full_at < least->bucket.full_at)
            least = &set[i];
    }
    *least = (struct throttle_source){.source = source};
    return least;
}

bool throttle_admit(struct throttle *t, uint64_t source, uint64_t now)
{
    const struct share_rate rate = {.each = SECOND / t->rate.per_second, .burst = t->rate.burst};

    return share_take(&entry_of(t, source)->bucket, &rate, 1, now);
}
