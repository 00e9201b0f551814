/* Storm control: how many frames that would go to every port a port may bring in. Each kind has a token
 * bucket of its own; frames to known stations pass none.
 *
 * Threads: a struct storm is one lcore's.
 */
#ifndef SWAGG_LCORE_STORM_H
#define SWAGG_LCORE_STORM_H

#include "base/counters.h"
#include "config/config.h"
#include "share/bucket.h"

enum { STORM_BURST_LEAST = 32 };

/* Of one port. */
struct storm {
    struct share_rate rate[CONFIG_STORM_KINDS]; /* each 0: no bound */
    struct share_bucket bucket[CONFIG_STORM_KINDS];
};

/* frames: a second, that this lcore may let in; 0: any number. A tenth of a second's may come at once. */
static inline void storm_set(struct storm *s, enum config_storm_kind kind, uint64_t frames, uint64_t hz)
{
    const uint64_t tenth = frames / 10;

    s->rate[kind] = (struct share_rate){0};
    if (frames > 0)
        s->rate[kind] = (struct share_rate){.each = frames < hz ? hz / frames : 1,
                                            .burst = tenth > STORM_BURST_LEAST ? tenth : STORM_BURST_LEAST};
}

/* Whether so many frames of this kind may be flooded. now: in the unit of hz. */
static inline bool storm_admits(struct storm *s, enum config_storm_kind kind, unsigned frames, uint64_t now)
{
    return s->rate[kind].each == 0 || share_take(&s->bucket[kind], &s->rate[kind], frames, now);
}

static inline enum drop storm_drops_as(enum config_storm_kind kind)
{
    return (enum drop)(DROP_STORM_BROADCAST + kind);
}

#endif
