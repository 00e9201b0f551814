#include "scale/run.h"

#include <stdlib.h>

#include "memory.h"

enum { START_WITHIN_NS = 10000, NUMBERS_BELOW = 1 << 16 };

/* Cables */

static bool is_lost(struct scale_node *n, struct parcel *p)
{
    if (!rng_chance(&n->losses, n->run->cfg.loss_ppm))
        return false;
    n->run->lost++;
    free(p);
    return true;
}

static void at_switch_above(void *ctx, struct parcel *p)
{
    struct scale_node *n = ctx;

    if (!is_lost(n, p))
        scale_switch_receive(n->above, p);
}

static void at_switch_below(void *ctx, struct parcel *p)
{
    struct scale_node *n = ctx;

    if (!is_lost(n, p))
        scale_switch_receive((struct scale_switch *)n, p);
}

static void at_worker(void *ctx, struct parcel *p)
{
    struct scale_node *n = ctx;

    if (!is_lost(n, p))
        scale_worker_receive((struct scale_worker *)n, p);
}

/* The tree */

/* The i-th of its level; that of the root is 0. */
static struct scale_node node_of(struct scale_run *run, unsigned level, unsigned i, uint64_t *rng)
{
    const struct scale_config *cfg = &run->cfg;
    const unsigned fan_in = level > 0 ? cfg->tree.fan_in[level - 1] : 1;
    const struct server cable = {.sim = &run->sim, .delay_ns = cfg->delay_ns};

    return (struct scale_node){.run = run,
                               .above = level > 0 ? &run->level[level - 1][i / fan_in] : NULL,
                               .place = (uint16_t)(i % fan_in),
                               .up = cable,
                               .down = cable,
                               .losses = rng_fork(rng)};
}

/* Its cable hands packets on with the node as their context, wherever it lies. */
static void connect(struct scale_node *n, server_hand_on *at_node)
{
    n->up.hand_on = at_switch_above;
    n->down.hand_on = at_node;
    n->up.ctx = n->down.ctx = n;
}

static void open_switches(struct scale_run *run, uint64_t *rng)
{
    for (unsigned l = 0; l < run->cfg.tree.levels; l++) {
        const unsigned n = scale_at_level(&run->cfg.tree, l);

        run->level[l] = memory_of(n * sizeof(*run->level[l]));
        for (unsigned i = 0; i < n; i++) {
            struct scale_switch *s = &run->level[l][i];

            s->node = node_of(run, l, i, rng);
            s->level = l;
            s->first = i * run->cfg.tree.fan_in[l];
            connect(&s->node, at_switch_below);
            scale_switch_open(s);
        }
    }
}

static void open_workers(struct scale_run *run, uint64_t *rng)
{
    run->worker = memory_of(run->ranks * sizeof(*run->worker));
    for (unsigned r = 0; r < run->ranks; r++) {
        struct scale_worker *w = &run->worker[r];

        w->node = node_of(run, run->cfg.tree.levels, r, rng);
        w->rank = r;
        connect(&w->node, at_worker);
        scale_worker_open(w);
        sim_at(&run->sim, rng_below(rng, START_WITHIN_NS), scale_worker_start, w, 0);
    }
}

/* All ranks' contributions lie in one row of numbers, each a place further, so a sum is the difference of two
 * sums from the row's beginning. */
static void draw_numbers(struct scale_run *run, uint64_t *rng)
{
    const uint64_t row = run->elements + run->ranks;
    int64_t sum = 0;

    run->numbers = memory_of(row * sizeof(*run->numbers));
    run->expected = memory_of(run->elements * sizeof(*run->expected));
    run->got = memory_of(run->elements * sizeof(*run->got));
    for (uint64_t i = 0; i < row; i++)
        run->numbers[i] = (int32_t)rng_below(rng, NUMBERS_BELOW);
    for (unsigned r = 0; r < run->ranks; r++)
        sum += run->numbers[r];
    for (uint64_t i = 0; i < run->elements; i++) {
        run->expected[i] = (int32_t)sum;
        sum += run->numbers[i + run->ranks] - run->numbers[i];
    }
}

static void open_run(struct scale_run *run, const struct scale_config *cfg)
{
    uint64_t rng = cfg->seed;

    *run = (struct scale_run){.cfg = *cfg, .ranks = scale_workers(&cfg->tree)};
    run->elements = (cfg->chunks * SCALE_CARRIED_BYTES - XFER_CALL_BYTES) / sizeof(int32_t);
    sim_init(&run->sim, NULL);
    draw_numbers(run, &rng);
    open_switches(run, &rng);
    open_workers(run, &rng);
}

static void close_node(struct scale_node *n)
{
    server_fini(&n->up);
    server_fini(&n->down);
}

static void close_run(struct scale_run *run)
{
    for (unsigned l = 0; l < run->cfg.tree.levels; l++) {
        for (unsigned i = 0; i < scale_at_level(&run->cfg.tree, l); i++) {
            close_node(&run->level[l][i].node);
            scale_switch_close(&run->level[l][i]);
        }
        free(run->level[l]);
    }
    for (unsigned r = 0; r < run->ranks; r++) {
        close_node(&run->worker[r].node);
        free(run->worker[r].stream);
    }
    free(run->worker);
    free(run->numbers);
    free(run->expected);
    free(run->got);
    sim_fini(&run->sim);
}

/* What came of it */

static void add_lcores(const struct scale_run *run, struct scale_result *result)
{
    uint64_t busiest = 0;

    for (unsigned l = 0; l < run->cfg.tree.levels; l++)
        for (unsigned i = 0; i < scale_at_level(&run->cfg.tree, l); i++)
            for (unsigned c = 0; c < run->cfg.lcores; c++) {
                const struct server *lcore = &run->level[l][i].lcore[c];

                busiest = lcore->busy_ps > busiest ? lcore->busy_ps : busiest;
                result->waiting = lcore->longest > result->waiting ? lcore->longest : result->waiting;
            }
    result->busiest = (double)busiest / 1e3 / (double)run->sim.now;
}

static struct scale_result result_of(const struct scale_run *run)
{
    const double ideal = scale_ideal_s(&run->cfg), part = 3.0 / 8;
    struct scale_result result = {.exact = !run->wrong,
                                  .seconds = (double)run->sim.now / (double)S,
                                  .steady = part * ideal * S / (double)(run->nearly_at - run->halfway_at),
                                  .frames = run->frames,
                                  .lost = run->lost,
                                  .events = run->sim.events};

    result.share = ideal / result.seconds;
    for (unsigned r = 0; r < run->ranks; r++) {
        struct xfer_stats stats;

        sml_stream_stats(run->worker[r].stream, &stats);
        result.probes += stats.probes;
        result.retransmitted += stats.retransmitted;
        result.exact &= sml_stream_status(run->worker[r].stream) == XFER_DONE;
    }
    add_lcores(run, &result);
    return result;
}

struct scale_result scale_run(const struct scale_config *cfg)
{
    struct scale_run run;
    struct scale_result result;

    open_run(&run, cfg);
    const uint64_t all = cfg->chunks * run.ranks;
    while (run.results < all && !run.wrong) {
        if (!sim_step(&run.sim))
            sim_die("nothing is left to happen, and the sum is not there");
        if (run.halfway_at == 0 && run.results >= all / 2)
            run.halfway_at = run.sim.now;
        if (run.nearly_at == 0 && run.results >= all / 8 * 7)
            run.nearly_at = run.sim.now;
    }
    result = result_of(&run);
    close_run(&run);
    return result;
}
