#include "switches/world.h"

#include <inttypes.h>
#include <stdlib.h>

#include "memory.h"
#include "switches/rank.h"

enum { SUCCEEDED = SEEDS_OWN, RANKS_FAILED, GIVEN_UP, BACK, AGREED };

/* Frames */

static unsigned index_of(const struct switches_node *n)
{
    return (unsigned)(n - n->world->node);
}

static void at_host(void *ctx, struct frame *f)
{
    struct switches_node *n = ctx;
    const unsigned ranks = n->world->scenario->ranks;

    if (f->host >= ranks)
        leaf_receive(&n->leaf[f->host - ranks], f, true);
    else if (frame_is_dropped(f) || !switches_rank_receive(&n->world->rank[f->host], index_of(n), f))
        frame_free(f);
}

static void at_switch(void *ctx, struct frame *f)
{
    struct switches_node *n = ctx;
    const int leaf = n->world->scenario->tree[index_of(n)].at[f->host];

    if (leaf == SWITCHES_ROOT)
        switch_receive(&n->root, f);
    else
        leaf_receive(&n->leaf[leaf], f, false);
}

/* Faults */

static void cut(struct switches_world *w, const struct switches_fault *f, bool is_cut)
{
    struct star *star = &w->node[f->node].star;

    for (unsigned host = 0; host < star->hosts; host++) {
        const bool silent =
            f->kind == SWITCHES_SILENT && switches_is_at(w->scenario, f->node, f->which, host);
        const bool meant = f->kind == SWITCHES_CUT && host == f->host;
        if (silent || (meant && f->up))
            star->up[host].is_cut = is_cut;
        if (silent || (meant && f->down))
            star->down[host].is_cut = is_cut;
    }
}

static void start(struct switches_node *n, int which)
{
    if (which == SWITCHES_ROOT)
        switch_start(&n->root);
    else
        leaf_start(&n->leaf[which]);
}

static void kill_one(struct switches_node *n, int which)
{
    if (which == SWITCHES_ROOT)
        switch_kill(&n->root);
    else
        leaf_kill(&n->leaf[which]);
}

static void on_end(void *ctx, uint64_t index)
{
    struct switches_world *w = ctx;
    const struct switches_fault *f = &w->scenario->fault[index];

    sim_trace(&w->sim, "world", "fault %u is over", (unsigned)index);
    if (f->kind != SWITCHES_RESTART)
        cut(w, f, false);
    else if (--w->node[f->node].holds[1 + f->which] == 0)
        start(&w->node[f->node], f->which);
}

static void on_fault(void *ctx, uint64_t index)
{
    static const char *const kinds[] = {"cuts a cable to", "silences", "kills"};
    struct switches_world *w = ctx;
    const struct switches_fault *f = &w->scenario->fault[index];

    sim_trace(&w->sim, "world", "fault %u %s switch %u.%d, host %u", (unsigned)index, kinds[f->kind], f->node,
              f->which, f->host);
    sim_at(&w->sim, w->sim.now + f->lasts, on_end, w, index);
    if (f->kind != SWITCHES_RESTART) {
        cut(w, f, true);
        return;
    }
    kill_one(&w->node[f->node], f->which);
    w->node[f->node].holds[1 + f->which]++;
}

static void on_death(void *ctx, uint64_t rank)
{
    struct switches_world *w = ctx;

    switches_rank_kill(&w->rank[rank]);
}

static void begin_faults(struct switches_world *w)
{
    const struct switches_scenario *s = w->scenario;

    w->begun = true;
    for (unsigned i = 0; i < s->faults; i++)
        sim_at(&w->sim, w->sim.now + s->fault[i].at, on_fault, w, i);
    if (s->dies)
        sim_at(&w->sim, w->sim.now + s->dies_at, on_death, w, s->mortal);
}

/* What must be true in the end */

static bool all_are_over(const struct switches_world *w)
{
    for (unsigned rank = 0; rank < w->scenario->ranks; rank++)
        if (!w->rank[rank].dead && w->rank[rank].phase != RANK_OVER)
            return false;
    return true;
}

static void check(struct switches_world *w)
{
    const struct switches_scenario *s = w->scenario;

    for (unsigned rank = 0; rank < s->ranks; rank++) {
        const struct switches_rank *r = &w->rank[rank];
        if (r->dead)
            continue;
        if (r->phase != RANK_OVER)
            oracle_fail(&w->oracle, "%s hangs in phase %u, call %u of %u", r->name, r->phase, r->call,
                        s->calls);
        if (r->failed && s->benign)
            oracle_fail(&w->oracle, "%s fails for no good reason: %s", r->name, r->why);
        if (!r->failed && r->call != s->calls)
            oracle_fail(&w->oracle, "%s has left, in call %u, and has not failed", r->name, r->call);
    }
}

/* The whole */

static void open_node(struct switches_world *w, unsigned i)
{
    const struct switches_scenario *s = w->scenario;
    const struct switches_tree *tree = &s->tree[i];
    struct switches_node *n = &w->node[i];

    n->world = w;
    star_init(&n->star, &w->sim, &w->rng, s->ranks + tree->leaves, at_switch, n, at_host, n);
    for (unsigned host = 0; host < n->star.hosts; host++)
        n->star.up[host].quality = n->star.down[host].quality = s->quality[i];
    switch_init(&n->root, &w->sim, &n->star, &w->rng, &s->switch_config);
    start(n, SWITCHES_ROOT);
    for (unsigned leaf = 0; leaf < tree->leaves; leaf++) {
        const int above = tree->at[s->ranks + leaf];
        const struct leaf_config cfg = {.sim = &w->sim,
                                        .star = &n->star,
                                        .host = s->ranks + leaf,
                                        .parent_ip = above == SWITCHES_ROOT ? UINT32_MAX
                                                                            : s->ranks + (unsigned)above + 1,
                                        .lost_after_ns = s->switch_config.lost_after_ns,
                                        .tenancy = &s->switch_config.tenancy};
        leaf_init(&n->leaf[leaf], &cfg, &w->rng);
        start(n, (int)leaf);
    }
}

static void open_world(struct switches_world *w, const struct switches_scenario *s, FILE *trace)
{
    *w = (struct switches_world){.scenario = s, .rng = ~s->seed};
    sim_init(&w->sim, trace);
    oracle_init(&w->oracle, &w->sim);
    for (unsigned i = 0; i < s->nodes; i++)
        open_node(w, i);
    for (unsigned rank = 0; rank < s->ranks; rank++)
        switches_rank_start(&w->rank[rank], w, rank);
}

static void close_world(struct switches_world *w)
{
    for (unsigned rank = 0; rank < w->scenario->ranks; rank++)
        switches_rank_fini(&w->rank[rank]);
    for (unsigned i = 0; i < w->scenario->nodes; i++) {
        for (int which = SWITCHES_ROOT; which < (int)w->scenario->tree[i].leaves; which++)
            kill_one(&w->node[i], which);
        star_fini(&w->node[i].star);
    }
    oracle_fini(&w->oracle);
    sim_fini(&w->sim);
}

static uint64_t latest_end(const struct switches_scenario *s)
{
    return s->calls * (s->call_timeout_ns + s->compute_ns) + s->call_timeout_ns + 200 * S;
}

static struct seeds_end play(uint64_t seed, FILE *trace)
{
    struct switches_scenario s;
    struct switches_world *w = memory_of(sizeof *w);

    switches_draw(&s, seed);
    open_world(w, &s, trace);
    while (!w->oracle.failed && w->sim.now < latest_end(&s) && !all_are_over(w) && sim_step(&w->sim))
        if (!w->begun && w->open == s.ranks)
            begin_faults(w);
    if (!w->oracle.failed)
        check(w);
    struct seeds_end end = seeds_end_of(&w->oracle, s.benign, w->digest);
    end.count[SUCCEEDED] = w->succeeded;
    end.count[RANKS_FAILED] = w->failed;
    end.count[GIVEN_UP] = w->lost;
    end.count[BACK] = w->back;
    end.count[AGREED] = w->agreed;
    for (unsigned i = 0; i < s.nodes; i++)
        for (unsigned host = 0; host < w->node[i].star.hosts; host++) {
            end.count[SEEDS_FRAMES] +=
                w->node[i].star.up[host].stats.sent + w->node[i].star.down[host].stats.sent;
            end.count[SEEDS_LOST] +=
                w->node[i].star.up[host].stats.lost + w->node[i].star.down[host].stats.lost;
        }
    close_world(w);
    free(w);
    return end;
}

bool switches_run(uint64_t first, uint64_t count, bool trace)
{
    const struct seeds_tally t = seeds_run("switches", play, first, count, trace);

    printf("%" PRIu64 " scenarios of several switches (%" PRIu64 " benign), %" PRIu64 " failed; %" PRIu64
           " calls of a rank succeeded, %" PRIu64 " ranks failed; links were given up %" PRIu64
           " times and taken back %" PRIu64 " times, ranks agreed %" PRIu64 " times; %" PRIu64
           " events, %" PRIu64 " frames, %" PRIu64 " lost; %.0f s simulated in %.1f s\n",
           count, t.benign, t.failed, t.count[SUCCEEDED], t.count[RANKS_FAILED], t.count[GIVEN_UP],
           t.count[BACK], t.count[AGREED], t.count[SEEDS_EVENTS], t.count[SEEDS_FRAMES], t.count[SEEDS_LOST],
           (double)t.count[SEEDS_SIMULATED_NS] / 1e9, t.seconds);
    return t.failed == 0;
}
