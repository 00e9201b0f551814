#include "operator.h"

/* Live jobs of all other tenants and names. */
static unsigned others_of(const struct switch_node *node, int tenant, const char *name)
{
    unsigned n = 0;

    for (unsigned i = 0; i < node->cfg.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(node->registry, i);
        n += ctl_entry_is_live(job) && (job->tenant != tenant || strcmp(job->name, name) != 0);
    }
    return n;
}

/* A job that the registry has; NULL: none lives. */
static const struct ctl_entry *some_job(struct operator* o)
{
    const struct switch_node *node = o->cfg.node;
    const unsigned first = (unsigned)rng_below(&o->rng, node->cfg.max_jobs);

    for (unsigned i = 0; i < node->cfg.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(node->registry, (first + i) % node->cfg.max_jobs);
        if (ctl_entry_is_live(job))
            return job;
    }
    return NULL;
}

/* In a benign scenario he only has the door shut behind jobs that run: whoever is in stays in. */
static void act(struct operator* o)
{
    struct switch_node *node = o->cfg.node;
    const struct ctl_entry *job = some_job(o);
    char name[CTL_NAME_MAX];

    if (job == NULL || (o->cfg.scenario->benign && job->state != CTL_ENTRY_RUNNING))
        return;
    const bool ends = !o->cfg.scenario->benign && rng_below(&o->rng, 2);
    const int tenant = job->tenant;
    memcpy(name, job->name, sizeof(name));
    const unsigned others = others_of(node, tenant, name);

    sim_trace(o->cfg.sim, "operator", "%s job %s of tenant %d", ends ? "ends" : "drains", name, tenant);
    *(ends ? &o->ended : &o->drained) += 1;
    if (!(ends ? ctl_registry_end : ctl_registry_drain)(node->registry, tenant, name, o->cfg.sim->now))
        oracle_fail(o->cfg.oracle, "the operator finds no job %s, which lives", name);
    if (others_of(node, tenant, name) != others)
        oracle_fail(o->cfg.oracle, "the operator has changed another job than %s", name);
    if (ends && ctl_entry_is_live(job) && job->tenant == tenant && strcmp(job->name, name) == 0)
        oracle_fail(o->cfg.oracle, "job %s lives, though the operator has ended it", name);
}

static void on_turn(void *ctx, uint64_t argument)
{
    struct operator* o = ctx;
    struct sim *sim = o->cfg.sim;

    (void)argument;
    if (o->gone || sim->now >= o->cfg.scenario->calm_at)
        return;
    if (switch_is_up(o->cfg.node))
        act(o);
    sim_at(sim, sim->now + rng_between(&o->rng, 1, 2 * o->cfg.scenario->operator_every), on_turn, o, 0);
}

void operator_start(struct operator* o, const struct operator_config *cfg)
{
    *o = (struct operator){.cfg = *cfg, .rng = cfg->seed};
    if (cfg->scenario->operator_every != 0)
        sim_at(cfg->sim, cfg->sim->now + rng_between(&o->rng, 1, 2 * cfg->scenario->operator_every), on_turn,
               o, 0);
}
