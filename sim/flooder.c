#include "flooder.h"

#include "switchml/terms.h"

enum {
    HOST = 0xFFFF, /* no rank's; those of forged addresses are beyond */
    PORT = 900,
    AT_ONCE = 16, /* messages */
    TIMES = 4,    /* as many as the switch handles */
    MOST = 100000,
};

/* His own job's entry; NULL: he is in none. */
static const struct ctl_entry *own_job(const struct flooder *f)
{
    const struct switch_node *node = f->cfg.node;

    for (unsigned i = 0; i < node->cfg.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(node->registry, i);
        if (job->state == CTL_ENTRY_RUNNING && job->members[0].incarnation == f->incarnation)
            return job;
    }
    return NULL;
}

static struct ctl_message join(uint64_t boot_id)
{
    const struct sml_terms wish = {.format = XFER_FORMAT_TYPED, .chunk_bytes = 64, .slots = 2};
    struct ctl_message m = {.head = {.type = CTL_JOIN, .version = CTL_VERSION, .boot_id = boot_id, .size = 1},
                            .join = {.name = "flood", .data_port = PORT}};

    sml_terms_build(&m.join.terms, &wish);
    return m;
}

static struct ctl_message next_message(struct flooder *f)
{
    const uint64_t boot_id = f->cfg.node->boot_id;
    const bool is_member = f->cfg.scenario->flood == FLOOD_MEMBER;
    const struct ctl_entry *job = is_member ? own_job(f) : NULL;
    struct ctl_message m = join(is_member ? boot_id : 0); /* without it a JOIN founds nothing */

    if (job != NULL || (!is_member && rng_below(&f->rng, 2)))
        m = (struct ctl_message){.head = {.type = CTL_HEARTBEAT,
                                          .version = CTL_VERSION,
                                          .boot_id = boot_id,
                                          .epoch = job != NULL ? job->epoch : 1,
                                          .size = 1}};
    m.head.incarnation = f->incarnation;
    m.head.serial = ++f->serial;
    return m;
}

static void speak(struct flooder *f)
{
    const struct ctl_message m = next_message(f);
    const bool forged = f->cfg.scenario->flood == FLOOD_FORGED;
    const unsigned host = forged ? HOST + 1 + (unsigned)rng_below(&f->rng, 1 << 24) : HOST;
    uint8_t payload[CTL_MESSAGE_MAX];

    f->messages++;
    switch_receive(f->cfg.node, frame_new(host, CTL_PORT, PORT, payload, ctl_build(payload, &m), false));
}

static void on_turn(void *ctx, uint64_t argument)
{
    struct flooder *f = ctx;
    struct sim *sim = f->cfg.sim;

    (void)argument;
    if (f->gone || sim->now >= f->cfg.scenario->calm_at || f->messages >= MOST)
        return;
    for (unsigned i = 0; i < AT_ONCE && switch_is_up(f->cfg.node) && f->cfg.may_speak(f->cfg.ctx); i++)
        speak(f);
    sim_at(sim, sim->now + AT_ONCE * f->cfg.node->cfg.message_ns / TIMES, on_turn, f, 0);
}

void flooder_start(struct flooder *f, const struct flooder_config *cfg)
{
    *f = (struct flooder){.cfg = *cfg, .rng = cfg->seed, .incarnation = splitmix_hash(cfg->seed) | 1};
    if (cfg->scenario->flood != FLOOD_NONE)
        on_turn(f, 0);
}
