#include "switches/scenario.h"

enum { LONG_BYTES = 256 << 10 /* behind three such calls ranks agree */ };

static void draw_quality(struct switches_scenario *s, uint64_t *r)
{
    static const uint64_t speeds[] = {200000000, 1000000000, 10000000000};
    const bool loses = rng_below(r, 2), doubles = rng_below(r, 2), jitters = rng_below(r, 2);

    for (unsigned i = 0; i < s->nodes; i++)
        s->quality[i] =
            (struct link_quality){.bits_per_s = speeds[rng_below(r, 3)],
                                  .delay = rng_magnitude(r, 1 * US, 200 * US),
                                  .jitter = jitters ? rng_magnitude(r, 1 * US, 500 * US) : 0,
                                  .loss_ppm = loses ? (uint32_t)rng_magnitude(r, 100, 10000) : 0,
                                  .duplicate_ppm = doubles ? (uint32_t)rng_magnitude(r, 100, 10000) : 0,
                                  .delay_ppm = jitters ? (uint32_t)rng_magnitude(r, 100, 10000) : 0,
                                  .held_ns = rng_magnitude(r, 10 * US, 20 * MS)};
}

/* In half of the scenarios: ranks at any leaves, or at the root, and leaves below others. */
static void draw_trees(struct switches_scenario *s, uint64_t *r)
{
    for (unsigned i = 0; i < s->nodes; i++) {
        struct switches_tree *t = &s->tree[i];
        t->leaves = s->trees ? (unsigned)rng_between(r, 1, SWITCHES_LEAVES_MAX) : 0;
        for (unsigned host = 0; host < s->ranks + t->leaves; host++)
            t->at[host] = (int)rng_below(r, host < s->ranks ? t->leaves + 1 : host - s->ranks + 1) - 1;
    }
}

bool switches_is_at(const struct switches_scenario *s, unsigned node, int which, unsigned host)
{
    return s->tree[node].at[host] == which || (which != SWITCHES_ROOT && host == s->ranks + (unsigned)which);
}

static void draw_faults(struct switches_scenario *s, uint64_t *r)
{
    const unsigned good = (unsigned)rng_below(r, s->nodes);

    s->faults = (unsigned)rng_between(r, 1, SWITCHES_FAULTS_MAX);
    for (unsigned i = 0; i < s->faults; i++) {
        struct switches_fault *f = &s->fault[i];
        *f = (struct switches_fault){.kind = (enum switches_fault_kind)rng_below(r, 3),
                                     .at = rng_magnitude(r, 1 * MS, s->calls * (s->compute_ns + 5 * MS)),
                                     .lasts = rng_magnitude(r, 1 * MS, 3 * S),
                                     .node = (unsigned)rng_below(r, s->nodes),
                                     .up = rng_below(r, 3) > 0};
        f->down = !f->up || rng_below(r, 2);
        if (s->benign && f->node == good)
            f->node = (good + 1 + (unsigned)rng_below(r, s->nodes - 1)) % s->nodes;
        f->which = (int)rng_below(r, s->tree[f->node].leaves + 1) - 1;
        f->host = (unsigned)rng_below(r, s->ranks + s->tree[f->node].leaves);
    }
}

void switches_draw(struct switches_scenario *s, uint64_t seed)
{
    uint64_t r = seed;

    *s = (struct switches_scenario){.seed = seed, .benign = rng_below(&r, 4) > 0};
    s->ranks = (unsigned)rng_between(&r, 2, SWITCHES_RANKS_MAX);
    s->nodes = (unsigned)rng_between(&r, 2, SWITCHES_MAX);
    s->calls = (unsigned)rng_between(&r, 1, 40);
    s->long_count = LONG_BYTES / 4 + rng_below(&r, 1000);
    s->short_count = rng_magnitude(&r, 1, 3000);
    s->compute_ns = rng_magnitude(&r, 1 * MS, 300 * MS);
    s->link_timeout_ns = rng_magnitude(&r, 50 * MS, 1 * S);
    s->call_timeout_ns = s->benign ? 120 * S : rng_magnitude(&r, 100 * MS, 20 * S);
    s->slots = (uint16_t)rng_magnitude(&r, 16, 128);
    s->chunk_bytes = (uint16_t)(4 * rng_magnitude(&r, 256, 365));
    s->switch_config = (struct switch_config){.slots_max = 4096,
                                              .max_jobs = 16,
                                              .lost_after_ns = rng_magnitude(&r, 500 * MS, 3 * S),
                                              .keep_ppm = (uint32_t)rng_below(&r, PPM + 1),
                                              .refer = rng_below(&r, 2)};
    draw_quality(s, &r);
    s->trees = rng_below(&r, 2);
    draw_trees(s, &r);
    draw_faults(s, &r);
    s->dies = !s->benign && rng_below(&r, 2);
    s->mortal = (unsigned)rng_below(&r, s->ranks);
    s->dies_at = rng_magnitude(&r, 1 * MS, s->calls * s->compute_ns);
}
