#include "hosts/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/rank.h"
#include "memory.h"

enum { CABLES = HOSTS_MAX };
enum { SUCCEEDED = SEEDS_OWN, RANKS_FAILED, DEATHS, RESTARTS, RESUMED };

/* Frames */

static void at_host(void *ctx, struct frame *f)
{
    struct hosts_world *w = ctx;

    for (unsigned rank = 0; rank < w->scenario->ranks && !frame_is_dropped(f); rank++)
        if (w->plan.host[rank] == f->host && w->rank[rank].has_rail && rail_receive(&w->rank[rank].rail, f))
            return;
    frame_free(f);
}

static void at_switch(void *ctx, struct frame *f)
{
    struct hosts_world *w = ctx;

    switch_receive(&w->node, f);
}

/* Restarts of the switch, which no job outlives of which somebody leaves meanwhile, or is about to */

static bool is_outlived(const struct hosts_world *w)
{
    for (unsigned rank = 0; rank < w->scenario->ranks; rank++) {
        const struct hosts_rank *r = &w->rank[rank];
        if (r->phase >= RANK_OVER || r->call + 1 >= w->scenario->calls)
            return false;
    }
    return true;
}

static void on_switch_start(void *ctx, uint64_t argument)
{
    struct hosts_world *w = ctx;

    (void)argument;
    if (--w->switch_holds == 0)
        switch_start(&w->node);
}

static void on_restart(void *ctx, uint64_t index)
{
    struct hosts_world *w = ctx;

    if (w->scenario->benign && !is_outlived(w))
        return;
    sim_trace(&w->sim, "world", "the switch is killed");
    switch_kill(&w->node);
    w->switch_holds++;
    w->restarts++;
    sim_at(&w->sim, w->sim.now + w->scenario->restart[index].lasts, on_switch_start, w, 0);
}

/* What must be true in the end */

static bool all_are_over(const struct hosts_world *w)
{
    for (unsigned rank = 0; rank < w->scenario->ranks; rank++)
        if (!hosts_rank_is_over(&w->rank[rank]))
            return false;
    return true;
}

/* Whether a rank's words are about one that has died: it, or its host, which other hosts know it by. */
static bool names_the_dead(const struct hosts_world *w, const char *text)
{
    char rank[24], host[24];

    for (unsigned r = 0; r < w->scenario->ranks; r++) {
        snprintf(rank, sizeof rank, "rank %u ", r);
        snprintf(host, sizeof host, "host %u (", w->plan.host[r]);
        if (w->rank[r].phase == RANK_DEAD && (strstr(text, rank) != NULL || strstr(text, host) != NULL))
            return true;
    }
    return false;
}

/* Whether a rank has called something aside, and another one of its host sees it. */
static bool has_witness(const struct hosts_world *w)
{
    const struct hosts_scenario *s = w->scenario;

    return s->differs.aside && w->plan.locals[w->plan.host[s->differs.rank]] > 1;
}

static void check_rank(struct hosts_world *w, const struct hosts_rank *r)
{
    const struct hosts_scenario *s = w->scenario;

    if (!hosts_rank_is_over(r))
        oracle_fail(&w->oracle, "%s hangs in phase %u, call %u", r->name, r->phase, r->call);
    if (r->phase == RANK_OVER && !r->failed && r->call != s->calls)
        oracle_fail(&w->oracle, "%s has left, in call %u, and has not failed", r->name, r->call);
    if (r->failed && s->benign)
        oracle_fail(&w->oracle, "%s fails for no good reason: %s", r->name, r->why.text);
    if (r->failed && s->prompt && s->restarts == 0 && !s->differs.does && !names_the_dead(w, r->why.text))
        oracle_fail(&w->oracle, "%s does not name who has died: %s", r->name, r->why.text);
    if (r->failed && s->prompt && s->restarts == 0 && has_witness(w) && r->why.reason == CTL_DEADLINE)
        oracle_fail(&w->oracle, "%s hears at its deadline only of another call: %s", r->name, r->why.text);
}

static void check(struct hosts_world *w)
{
    for (unsigned rank = 0; rank < w->scenario->ranks; rank++)
        check_rank(w, &w->rank[rank]);
    for (unsigned host = 0; w->plan.hosts == 1 && host < CABLES; host++)
        if (w->star.up[host].stats.sent > 0)
            oracle_fail(&w->oracle, "a job on one host has sent something");
}

/* The whole */

static void open_world(struct hosts_world *w, const struct hosts_scenario *s, FILE *trace)
{
    uint64_t ids[HOSTS_RANKS_MAX];

    *w = (struct hosts_world){.scenario = s, .rng = ~s->seed};
    sim_init(&w->sim, trace);
    oracle_init(&w->oracle, &w->sim);
    star_init(&w->star, &w->sim, &w->rng, CABLES, at_switch, w, at_host, w);
    for (unsigned host = 0; host < CABLES; host++)
        w->star.up[host].quality = w->star.down[host].quality = s->quality;
    switch_init(&w->node, &w->sim, &w->star, &w->rng, &s->switch_config);
    switch_start(&w->node);
    for (unsigned rank = 0; rank < s->ranks; rank++)
        ids[rank] = 1 + s->host[rank];
    local_plan_make(&w->plan, ids, s->ranks);
    for (unsigned host = 0; host < w->plan.hosts; host++)
        w->board[host] = memory_of(local_board_bytes(w->plan.locals[host], s->block_bytes));
    for (unsigned rank = 0; rank < s->ranks; rank++)
        hosts_rank_start(&w->rank[rank], w, rank);
    for (unsigned i = 0; i < s->restarts; i++)
        sim_at(&w->sim, s->restart[i].at, on_restart, w, i);
}

static void close_world(struct hosts_world *w)
{
    for (unsigned rank = 0; rank < w->scenario->ranks; rank++)
        hosts_rank_fini(&w->rank[rank]);
    for (unsigned host = 0; host < w->plan.hosts; host++)
        free(w->board[host]);
    switch_kill(&w->node);
    star_fini(&w->star);
    oracle_fini(&w->oracle);
    sim_fini(&w->sim);
}

/* Each call within its deadline, and what rails wait for in joining and leaving. */
static uint64_t latest_end(const struct hosts_scenario *s)
{
    return s->join_timeout_ns + s->calls * (s->call_timeout_ns + s->compute_ns) + 20 * S;
}

static struct seeds_end play(uint64_t seed, FILE *trace)
{
    struct hosts_scenario s;
    struct hosts_world *w = memory_of(sizeof *w);
    struct seeds_end end;

    hosts_draw(&s, seed);
    open_world(w, &s, trace);
    while (!w->oracle.failed && w->sim.now < latest_end(&s) && !all_are_over(w) && sim_step(&w->sim))
        ;
    if (!w->oracle.failed)
        check(w);
    end = seeds_end_of(&w->oracle, s.benign, w->digest);
    end.count[SUCCEEDED] = w->succeeded;
    end.count[RANKS_FAILED] = w->failed;
    end.count[DEATHS] = w->deaths;
    end.count[RESTARTS] = w->restarts;
    for (unsigned rank = 0; rank < s.ranks; rank++)
        end.count[RESUMED] += w->rank[rank].has_rail && w->rank[rank].rail.p.formation->resumed;
    for (unsigned host = 0; host < CABLES; host++) {
        end.count[SEEDS_FRAMES] += w->star.up[host].stats.sent + w->star.down[host].stats.sent;
        end.count[SEEDS_LOST] += w->star.up[host].stats.lost + w->star.down[host].stats.lost;
    }
    close_world(w);
    free(w);
    return end;
}

bool hosts_run(uint64_t first, uint64_t count, bool trace)
{
    const struct seeds_tally t = seeds_run("hosts", play, first, count, trace);

    printf("%" PRIu64 " scenarios of hosts (%" PRIu64 " benign), %" PRIu64 " failed; %" PRIu64
           " calls of a rank succeeded, %" PRIu64 " ranks failed, %" PRIu64
           " died; the switch restarted %" PRIu64 " times, which %" PRIu64
           " members of rails outlived; %" PRIu64 " events, %" PRIu64 " frames, %" PRIu64
           " lost; %.0f s simulated in %.1f s\n",
           count, t.benign, t.failed, t.count[SUCCEEDED], t.count[RANKS_FAILED], t.count[DEATHS],
           t.count[RESTARTS], t.count[RESUMED], t.count[SEEDS_EVENTS], t.count[SEEDS_FRAMES],
           t.count[SEEDS_LOST], (double)t.count[SEEDS_SIMULATED_NS] / 1e9, t.seconds);
    return t.failed == 0;
}
