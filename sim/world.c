#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "control/guard.h"
#include "flooder.h"
#include "forger.h"
#include "leaf_node.h"
#include "memory.h"
#include "operator.h"
#include "published.h"
#include "seats.h"
#include "stranger.h"
#include "switch_node.h"
#include "switchml/reasons.h"
#include "toy_keys.h"

struct world {
    struct scenario scenario;
    struct sim sim;
    uint64_t rng;
    struct star star;
    struct switch_node node;
    struct leaf_node leaf[SCENARIO_LEAVES_MAX];
    struct oracle oracle;
    struct stranger stranger;
    struct flooder flooder;
    struct forger forger;
    struct operator operator;
    struct published published;
    struct seats seats;
    bool fault_done[SCENARIO_FAULTS_MAX];
    uint64_t fixed_runs;                     /* of the static job, when last looked at */
    uint64_t over_at[SCENARIO_PROGRAMS_MAX]; /* when all its ranks had left; 0: they have not */
    unsigned switch_holds;                   /* faults that keep the switch down */
    unsigned leaf_holds[SCENARIO_LEAVES_MAX];
    uint64_t faults[FAULTS];
};

/* Frames */

static void at_host(void *ctx, struct frame *f)
{
    struct world *w = ctx;

    if (w->scenario.leaves > 0 && f->host >= w->scenario.leaf_base) {
        forger_see(&w->forger, f, false);
        leaf_receive(&w->leaf[f->host - w->scenario.leaf_base], f, true);
        return;
    }
    if (published_receive(&w->published, f))
        return;
    forger_see(&w->forger, f, false);
    struct process *p = w->seats.seat[f->host].process;
    if (!buffer_is_intact(f->buffer))
        oracle_fail(&w->oracle, "a result has changed on its way to host %u", f->host);
    if (frame_is_dropped(f) || p == NULL || !process_receive(p, f))
        frame_free(f);
}

static void at_switch(void *ctx, struct frame *f)
{
    struct world *w = ctx;

    forger_see(&w->forger, f, true);
    if (w->scenario.leaves > 0 && w->scenario.at[f->host] >= 0)
        leaf_receive(&w->leaf[w->scenario.at[f->host]], f, false);
    else
        switch_receive(&w->node, f);
}

/* Faults */

static void on_switch_start(void *ctx, uint64_t argument)
{
    struct world *w = ctx;

    (void)argument;
    if (--w->switch_holds == 0)
        switch_start(&w->node);
}

static void on_leaf_start(void *ctx, uint64_t leaf)
{
    struct world *w = ctx;

    if (--w->leaf_holds[leaf] == 0)
        leaf_start(&w->leaf[leaf]);
}

/* In a tree, any switch of it. */
static void kill_a_switch(struct world *w, const struct fault *f, uint64_t end)
{
    const unsigned which = scenario_killed(&w->scenario, f);

    if (which > 0) {
        leaf_kill(&w->leaf[which - 1]);
        w->leaf_holds[which - 1]++;
        sim_at(&w->sim, end, on_leaf_start, w, which - 1);
        return;
    }
    switch_kill(&w->node);
    w->switch_holds++;
    sim_at(&w->sim, end, on_switch_start, w, 0);
}

static void set_quality(struct world *w, unsigned host, const struct link_quality *q, bool up, bool down)
{
    if (up)
        w->star.up[host].quality = *q;
    if (down)
        w->star.down[host].quality = *q;
}

static void cut(struct world *w, const struct fault *f, bool is_cut)
{
    if (f->up)
        w->star.up[f->host].is_cut = is_cut;
    if (f->down)
        w->star.down[f->host].is_cut = is_cut;
}

static void on_link_mends(void *ctx, uint64_t argument)
{
    struct world *w = ctx;
    const struct fault *f = &w->scenario.fault[argument];

    sim_trace(&w->sim, "world", "%s is over on host %u", fault_names[f->kind], f->host);
    if (f->kind == FAULT_CUT)
        cut(w, f, false);
    else if (w->sim.now < w->scenario.calm_at)
        set_quality(w, f->host, &w->scenario.quality, f->up, f->down);
}

static bool inflict(struct world *w, unsigned index)
{
    const struct fault *f = &w->scenario.fault[index];
    uint64_t end = w->sim.now + f->lasts;

    switch (f->kind) {
    case FAULT_KILL_SWITCH:
        if (w->scenario.benign && !seats_outlive_switch(&w->seats))
            return false;
        kill_a_switch(w, f, end);
        return true;
    case FAULT_KILL_PROCESS:
        return seats_kill(&w->seats, f->host, f->lasts != 0 ? end : 0);
    case FAULT_STOP_PROCESS:
        return seats_stop(&w->seats, f->host, end);
    case FAULT_CUT:
        cut(w, f, true);
        sim_at(&w->sim, end, on_link_mends, w, index);
        return true;
    case FAULT_BAD_LINK:
        set_quality(w, f->host, &f->quality, f->up, f->down);
        sim_at(&w->sim, end, on_link_mends, w, index);
        return true;
    default:
        return false;
    }
}

static void consider_faults(struct world *w)
{
    for (unsigned i = 0; i < w->scenario.faults; i++) {
        const struct fault *f = &w->scenario.fault[i];
        if (w->fault_done[i] || w->sim.now >= w->scenario.calm_at ||
            (f->at_event ? w->sim.events < f->at_event : w->sim.now < f->at))
            continue;
        w->fault_done[i] = true;
        if (inflict(w, i)) {
            sim_trace(&w->sim, "world", "%s, host %u", fault_names[f->kind], f->host);
            w->faults[f->kind]++;
        }
    }
}

static void on_fault_time(void *ctx, uint64_t argument)
{
    (void)ctx, (void)argument; /* consider_faults looks after every event */
}

static void on_calm(void *ctx, uint64_t argument)
{
    struct world *w = ctx;
    struct link_quality sound = {.bits_per_s = w->scenario.quality.bits_per_s,
                                 .delay = w->scenario.quality.delay};

    (void)argument;
    sim_trace(&w->sim, "world", "is calm from here on");
    for (unsigned h = 0; h < w->scenario.all_hosts; h++)
        set_quality(w, h, &sound, true, true);
}

/* The stranger */

/* While a job forms a stranger may well take a rank's seat, and fail it so: nothing tells the two apart yet.
 */
static bool stranger_may_speak(void *ctx)
{
    const struct world *w = ctx;

    return !w->scenario.benign || seats_are_ready(&w->seats);
}

static uint16_t control_port_on(void *ctx, unsigned host)
{
    const struct world *w = ctx;
    const struct process *p = w->seats.seat[host].process;

    return p != NULL && !process_is_over(p) ? p->control.port : 0;
}

/* A leaf changes what it is shown itself, by what its own boot id makes of the host's address. */
static uint64_t boot_id_on(void *ctx, unsigned host)
{
    const struct ctl_guard guard = {.library = &toy_library};
    const struct world *w = ctx;
    uint64_t changed = 0;

    for (int at; w->scenario.leaves > 0 && (at = w->scenario.at[host]) >= 0;
         host = w->scenario.leaf_base + (unsigned)at) {
        const struct ctl_endpoint to = star_endpoint(host, 0);
        changed ^= ctl_guard_boot_id(&guard, w->leaf[at].id, &to);
    }
    const struct ctl_endpoint to = star_endpoint(host, 0);
    return changed ^ ctl_guard_boot_id(&guard, w->node.boot_id, &to);
}

static void admit_stranger(struct world *w)
{
    const struct stranger_config cfg = {
        .sim = &w->sim,
        .star = &w->star,
        .scenario = &w->scenario,
        .node = &w->node,
        .seed = w->scenario.seed + 1,
        .may_speak = stranger_may_speak,
        .control_port = control_port_on,
        .boot_id = boot_id_on,
        .ctx = w,
    };

    stranger_start(&w->stranger, &cfg);
}

/* Others */

static void admit_others(struct world *w)
{
    const struct forger_config forger = {.sim = &w->sim,
                                         .star = &w->star,
                                         .seed = w->scenario.seed + 2,
                                         .every = w->scenario.forger_every,
                                         .until = w->scenario.calm_at,
                                         .keyed = w->scenario.host_keyed};
    const struct operator_config operator= {.sim = &w->sim,
                                            .scenario = &w->scenario,
                                            .node = &w->node,
                                            .oracle = &w->oracle,
                                            .seed = w->scenario.seed + 3};

    const struct flooder_config flooder = {.sim = &w->sim,
                                           .scenario = &w->scenario,
                                           .node = &w->node,
                                           .seed = w->scenario.seed + 20,
                                           .may_speak = stranger_may_speak,
                                           .ctx = w};

    admit_stranger(w);
    flooder_start(&w->flooder, &flooder);
    forger_start(&w->forger, &forger);
    operator_start(&w->operator, & operator);
    published_start(&w->published, &w->sim, &w->star, &w->oracle, &w->scenario.switch_config.fixed,
                    &w->node.boots);
}

/* The static job's links are as bad, but have no narrow queues: its clients send again after a fixed time. */
static void open_links(struct world *w)
{
    struct link_quality wide = w->scenario.quality;

    wide.queue_bytes = 0;
    wide.bits_per_s = 0;
    star_init(&w->star, &w->sim, &w->rng, w->scenario.all_hosts, at_switch, w, at_host, w);
    for (unsigned h = 0; h < w->scenario.all_hosts; h++)
        set_quality(w, h, h < w->scenario.hosts ? &w->scenario.quality : &wide, true, true);
}

static void open_leaves(struct world *w)
{
    for (unsigned i = 0; i < w->scenario.leaves; i++) {
        const int above = w->scenario.above[i];
        const struct leaf_config cfg = {.sim = &w->sim,
                                        .star = &w->star,
                                        .host = w->scenario.leaf_base + i,
                                        .parent_ip = above < 0 ? UINT32_MAX
                                                               : w->scenario.leaf_base + (unsigned)above + 1,
                                        .lost_after_ns = w->scenario.switch_config.lost_after_ns,
                                        .tenancy = &w->scenario.switch_config.tenancy};
        uint64_t seed = w->scenario.seed + 4 + i;

        leaf_init(&w->leaf[i], &cfg, &seed);
        leaf_start(&w->leaf[i]);
    }
}

/* The whole */

static void open_world(struct world *w, const struct scenario *scenario, FILE *trace)
{
    w->scenario = *scenario;
    w->rng = ~scenario->seed;
    sim_init(&w->sim, trace);
    oracle_init(&w->oracle, &w->sim);
    open_links(w);
    switch_init(&w->node, &w->sim, &w->star, &w->rng, &w->scenario.switch_config);
    switch_start(&w->node);
    open_leaves(w);
    seats_open(&w->seats, &w->scenario, &w->sim, &w->star, &w->oracle, &w->rng);
    admit_others(w);
    for (unsigned i = 0; i < w->scenario.faults; i++)
        if (!w->scenario.fault[i].at_event)
            sim_at(&w->sim, w->scenario.fault[i].at, on_fault_time, w, 0);
    sim_at(&w->sim, w->scenario.calm_at, on_calm, w, 0);
}

static void close_world(struct world *w)
{
    seats_close(&w->seats);
    published_fini(&w->published);
    for (unsigned i = 0; i < w->scenario.leaves; i++)
        leaf_kill(&w->leaf[i]);
    switch_kill(&w->node);
    star_fini(&w->star);
    oracle_fini(&w->oracle);
    sim_fini(&w->sim);
    scenario_fini(&w->scenario);
}

/* Once nobody is left, the switch forgets all jobs: as soon as it counts the last ranks as lost. */
static void check_switch_forgets(struct world *w)
{
    w->stranger.gone = w->flooder.gone = w->forger.gone = w->operator.gone = true;
    uint64_t until = w->sim.now + 4 * w->scenario.switch_config.lost_after_ns + 20 * S;

    while (w->sim.now < until && sim_step(&w->sim) && (switch_jobs(&w->node) > 0 || w->switch_holds > 0))
        ;
    if (switch_jobs(&w->node) > 0 || w->node.slots.used > 0)
        oracle_fail(&w->oracle, "the switch still holds %u jobs and %u slots, and nobody is left",
                    switch_jobs(&w->node), w->node.slots.used);
}

static void check_leaves_forget(struct world *w)
{
    uint64_t until = w->sim.now + 4 * w->scenario.switch_config.lost_after_ns + 20 * S;

    for (unsigned i = 0; i < w->scenario.leaves; i++) {
        while (w->sim.now < until && sim_step(&w->sim) && leaf_pools(&w->leaf[i]) > 0)
            ;
        if (leaf_pools(&w->leaf[i]) > 0)
            oracle_fail(&w->oracle, "switch %u below still holds %u pools, and nobody is left", i,
                        leaf_pools(&w->leaf[i]));
        if (w->leaf[i].deceived > 0)
            oracle_fail(&w->oracle, "switch %u below has made something of a damaged packet", i);
    }
}

static void check_verdicts(struct world *w)
{
    static const enum sml_reason never[] = {
        SML_DROP_BAD_SLOT,     SML_DROP_BAD_LENGTH,   SML_DROP_BAD_TYPE,    SML_DROP_BAD_KIND,
        SML_DROP_BAD_CHECKSUM, SML_REFUSED_TOO_SHORT, SML_REFUSED_BAD_KIND, SML_REFUSED_BAD_SIZE_CODE,
        SML_REFUSED_BAD_SLOT,  SML_REFUSED_BAD_LENGTH};

    /* After a restart of the root a job may have a number that another had, of the same switch below:
     * docs/protocol.md, "Trees of switches". */
    const bool mixed = w->scenario.leaves > 0 && w->scenario.programs > 1;

    for (unsigned i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (w->node.reasons[never[i]] > 0 && !(mixed && never[i] == SML_DROP_BAD_SLOT))
            oracle_fail(&w->oracle, "the switch says %s to a worker's packet", sml_reasons[never[i]].name);
    if (w->node.deceived > 0)
        oracle_fail(&w->oracle, "the switch has made something of a damaged or forged packet");
    if (w->node.malformed > 0)
        oracle_fail(&w->oracle, "the switch cannot read a worker's control message");
}

/* Once all ranks of a program with a key have left, nobody founds a job of its name: a forger has but copies
 * of what they sent. In a benign scenario nobody comes back. */
static void check_ghosts(struct world *w, const struct program *program)
{
    if (!seats_have_left(&w->seats, program))
        return;
    uint64_t *over_at = &w->over_at[program - w->scenario.program];
    if (*over_at == 0)
        *over_at = w->sim.now;
    for (unsigned i = 0; switch_is_up(&w->node) && i < w->scenario.switch_config.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(w->node.registry, i);
        if (ctl_entry_is_live(job) && job->tenant == (int)program->tenant && job->since > *over_at &&
            strcmp(job->name, program->name) == 0)
            oracle_fail(&w->oracle, "job %s was founded by copies of what others sent, who have left",
                        job->name);
    }
}

static void check_all_ghosts(struct world *w)
{
    for (unsigned i = 0; w->scenario.benign && w->scenario.parts.forger && i < w->scenario.programs; i++)
        if (w->scenario.program[i].key != NULL)
            check_ghosts(w, &w->scenario.program[i]);
}

/* While its clients are at it, a static job does not start over, unless all that they send is lost. */
static void check_fixed(struct world *w)
{
    const uint64_t runs = w->node.fixed.runs;

    if (w->scenario.benign && runs > w->fixed_runs && published_are_at_it(&w->published))
        oracle_fail(&w->oracle, "the static job starts over while its clients are at it");
    w->fixed_runs = runs;
}

static void check_keeping(struct world *w)
{
    if (w->node.broken != NULL)
        oracle_fail(&w->oracle, "a pool or job %s", w->node.broken);
    if (w->node.busy.broken != NULL)
        oracle_fail(&w->oracle, "the busy switch %s", w->node.busy.broken);
}

static bool all_are_over(const struct world *w)
{
    return seats_are_over(&w->seats) && published_are_over(&w->published);
}

static void check_all_are_over(struct world *w)
{
    seats_check_over(&w->seats);
    if (!published_are_over(&w->published))
        oracle_fail(&w->oracle, "the static job hangs in run %u", w->published.run);
}

static struct world_result result_of(const struct world *w)
{
    struct world_result r = {.failed = w->oracle.failed,
                             .benign = w->scenario.benign,
                             .paper = w->scenario.switch_config.paper && !w->scenario.switch_config.chip,
                             .parts = w->scenario.parts,
                             .succeeded_first = w->oracle.succeeded_first,
                             .succeeded_last = w->oracle.succeeded_last,
                             .n = {.events = w->sim.events,
                                   .simulated_ns = w->sim.now,
                                   .oracle = w->oracle.n,
                                   .strangers = w->stranger.messages,
                                   .flooded = w->flooder.messages,
                                   .forged = w->forger.messages,
                                   .operated = w->operator.ended + w->operator.drained,
                                   .tensors = w->published.tensors,
                                   .refused = w->node.refused,
                                   .waited = w->node.busy.waited,
                                   .over_share = w->node.busy.lost,
                                   .heard = w->node.heard,
                                   .kept = w->node.kept,
                                   .referred = w->node.referred}};

    for (unsigned i = 0; i < w->scenario.leaves; i++) {
        r.n.heard.sends += w->leaf[i].heard.sends;
        r.n.heard.together += w->leaf[i].heard.together;
    }
    memcpy(r.text, w->oracle.text, sizeof(r.text));
    memcpy(r.n.faults, w->faults, sizeof(r.n.faults));
    memcpy(r.n.reasons, w->node.reasons, sizeof(r.n.reasons));
    for (unsigned i = 0; i < 2 * w->scenario.all_hosts; i++) {
        const struct link *l = i % 2 ? &w->star.up[i / 2] : &w->star.down[i / 2];
        r.n.frames += l->stats.sent;
        r.n.lost += l->stats.lost + l->stats.overflowed + l->stats.cut;
        r.n.duplicated += l->stats.duplicated;
        r.n.corrupted += l->stats.corrupted;
    }
    return r;
}

struct world_result world_play(uint64_t seed, bool chip, FILE *trace)
{
    struct scenario scenario;

    scenario_make(&scenario, seed, chip);
    return world_play_scenario(&scenario, trace);
}

struct world_result world_play_scenario(struct scenario *scenario, FILE *trace)
{
    struct world *w = memory_of(sizeof(*w));

    open_world(w, scenario, trace);
    if (trace != NULL)
        scenario_print(&w->scenario, trace);
    while (!w->oracle.failed && !all_are_over(w) && w->sim.now < w->scenario.over_by && sim_step(&w->sim)) {
        check_keeping(w);
        check_all_ghosts(w);
        check_fixed(w);
        consider_faults(w);
    }
    if (!w->oracle.failed) {
        check_all_are_over(w);
        check_switch_forgets(w);
        check_leaves_forget(w);
        check_verdicts(w);
        check_keeping(w);
        oracle_finish(&w->oracle, w->scenario.benign);
    }
    const struct world_result result = result_of(w);
    close_world(w);
    free(w);
    return result;
}
