#include "impair/impair.h"

#include <string.h>

#include "base/counter.h"
#include "random/splitmix.h"

enum { PROBABILITY_BITS = 53 }; /* a double has no more */

/* The start of one of many streams under one seed: hashed twice, so that neighbouring numbers give unrelated
 * streams. */
static uint64_t stream_state(uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;

    state = splitmix_next(&state) ^ stream;
    return splitmix_next(&state);
}

bool impair_active(const struct impair_config *cfg)
{
    for (unsigned k = 0; k < IMPAIR_KINDS; k++) {
        if (cfg->rate[k].probability > 0 || cfg->rate[k].every > 0)
            return true;
    }
    return false;
}

void impair_init(struct impair *im, const struct impair_config *cfg, uint64_t seed, uint64_t stream)
{
    memset(im, 0, sizeof(*im));
    for (unsigned k = 0; k < IMPAIR_KINDS; k++) {
        im->threshold[k] = (uint64_t)(cfg->rate[k].probability * (double)(UINT64_C(1) << PROBABILITY_BITS));
        im->every[k] = cfg->rate[k].every;
        im->random[k] = stream_state(seed, stream * IMPAIR_KINDS + k);
    }
    im->hold_frames = cfg->hold_frames;
    im->hold_for = cfg->hold_for;
}

/* Draws a number for every frame, hit or not, so that no kind's decisions depend on another's. */
static bool hits(struct impair *im, enum impair_kind k)
{
    bool by_chance = splitmix_next(&im->random[k]) >> (64 - PROBABILITY_BITS) < im->threshold[k];

    return by_chance || (im->every[k] > 0 && im->stats.frames % im->every[k] == 0);
}

struct impair_decision impair_decide(struct impair *im, uint32_t bytes)
{
    struct impair_decision d = {0};

    counter_add(&im->stats.frames, 1);
    d.drop = hits(im, IMPAIR_DROP);
    d.duplicate = hits(im, IMPAIR_DUPLICATE);
    d.hold = hits(im, IMPAIR_REORDER);
    d.corrupt = hits(im, IMPAIR_CORRUPT) && bytes > 0;
    if (d.corrupt)
        d.corrupt_bit = (uint32_t)(splitmix_next(&im->random[IMPAIR_CORRUPT]) % (UINT64_C(8) * bytes));

    if (d.drop)
        d = (struct impair_decision){.drop = true};
    if (d.hold && im->held == IMPAIR_HELD_MAX) {
        d.hold = false;
        counter_add(&im->stats.hold_full, 1);
    }
    counter_add(&im->stats.hit[IMPAIR_DROP], d.drop);
    counter_add(&im->stats.hit[IMPAIR_DUPLICATE], d.duplicate);
    counter_add(&im->stats.hit[IMPAIR_REORDER], d.hold);
    counter_add(&im->stats.hit[IMPAIR_CORRUPT], d.corrupt);
    return d;
}

void impair_hold(struct impair *im, void *frame, uint64_t now)
{
    im->hold[(im->oldest + im->held++) % IMPAIR_HELD_MAX] = (struct impair_held){
        .frame = frame,
        .until_frame = im->stats.frames + im->hold_frames,
        .until_time = im->hold_for > 0 ? now + im->hold_for : UINT64_MAX,
    };
}

void *impair_release(struct impair *im, uint64_t now)
{
    const struct impair_held *h = &im->hold[im->oldest];

    if (im->held == 0 || (im->stats.frames < h->until_frame && now < h->until_time))
        return NULL;
    return impair_flush(im);
}

uint64_t impair_due_at(const struct impair *im)
{
    return im->held == 0 ? UINT64_MAX : im->hold[im->oldest].until_time;
}

void *impair_flush(struct impair *im)
{
    void *frame = im->hold[im->oldest].frame;

    if (im->held == 0)
        return NULL;
    im->oldest = (im->oldest + 1) % IMPAIR_HELD_MAX;
    im->held--;
    return frame;
}

const char *impair_kind_name(enum impair_kind kind)
{
    static const char *const names[IMPAIR_KINDS] = {"drop", "duplicate", "reorder", "corrupt"};

    return names[kind];
}
