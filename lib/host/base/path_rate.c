#include "base/path_rate.h"

/* All together: 10,000 a second. Times are in ns. */
static const struct share_rate answer_rate = {.burst = 64, .each = 100000};

/* One address: a quarter of them. */
static const struct throttle_rate asker_rate = {.burst = 16, .per_second = 2500};

void path_rate_init(struct path_rate *r, uint64_t seed)
{
    r->answers = (struct share_bucket){0};
    throttle_init(&r->askers, asker_rate, seed);
}

bool path_rate_admit(struct path_rate *r, uint32_t asker, uint64_t now)
{
    return throttle_admit(&r->askers, asker, now) && share_take(&r->answers, &answer_rate, 1, now);
}
