/* One lcore decides, another thread reads the statistics; built with the thread sanitizer, which notices
 * races. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/counter.h"
#include "impair/impair.h"
#include "unit.h"

enum { FRAMES = 100000 };

struct shared {
    struct impair im;
    atomic_bool done;
};

static void *decide(void *shared)
{
    struct shared *s = shared;

    for (unsigned i = 0; i < FRAMES; i++)
        if (impair_decide(&s->im, 64).hold)
            impair_hold(&s->im, s, i); /* until there is no room */
    atomic_store(&s->done, true);
    return NULL;
}

static uint64_t sum_of(const struct impair_stats *stats)
{
    uint64_t sum = counter_read(&stats->frames) + counter_read(&stats->hold_full);

    for (enum impair_kind k = 0; k < IMPAIR_KINDS; k++)
        sum += counter_read(&stats->hit[k]);
    return sum;
}

TEST(statistics_are_read_meanwhile)
{
    const struct impair_config cfg = {
        .rate = {{.probability = 0.2}, {.probability = 0.2}, {.probability = 0.2}, {.probability = 0.2}},
        .hold_frames = 2 * FRAMES,
    };
    struct shared shared = {.done = false};
    uint64_t last = 0;
    pthread_t decider;

    impair_init(&shared.im, &cfg, 1, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&decider, NULL, decide, &shared), 0);
    while (!atomic_load(&shared.done)) {
        const uint64_t sum = sum_of(&shared.im.stats);

        CU_ASSERT(sum >= last);
        last = sum;
    }
    pthread_join(decider, NULL);
    CU_ASSERT_EQUAL(counter_read(&shared.im.stats.frames), FRAMES);
    CU_ASSERT(counter_read(&shared.im.stats.hold_full) > 0);
}
