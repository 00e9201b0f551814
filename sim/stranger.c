#include "stranger.h"

#include <string.h>

#include "switchml/terms.h"

enum { OWN_PORT = 900, OWN_PORTS = 8 };

/* In a job of this program's name, or of a name that is the stranger's alone. */
static void make_join(struct stranger *s, struct ctl_message *m, const struct program *p)
{
    bool same_terms = rng_below(&s->rng, 2);
    const bool resumes = s->cfg.scenario->switch_config.lasting && rng_below(&s->rng, 2);

    if (!same_terms) {
        m->head.size = (uint16_t)rng_between(&s->rng, 1, 4);
        m->head.rank = (uint16_t)rng_below(&s->rng, m->head.size);
    }
    m->join = (struct ctl_join){
        .data_port = (uint16_t)rng_between(&s->rng, 1, OWN_PORT),
        .resume = resumes,
        .roster = resumes ? SWITCH_NOBODYS_ROSTER : 0,
        .ticket = resumes ? rng_next(&s->rng) : 0,
    };
    const struct sml_terms wish = {.format = XFER_FORMAT_TYPED,
                                   .mode = same_terms ? p->mode : (enum xfer_mode)rng_below(&s->rng, 2),
                                   .checksum = same_terms ? p->checksum : XFER_CHECKSUM_NONE,
                                   .chunk_bytes = 64,
                                   .slots = 2,
                                   .resumed = resumes};

    sml_terms_build(&m->join.terms, &wish);
    if (rng_below(&s->rng, 3) == 0)
        snprintf(m->join.name, sizeof(m->join.name), "squat%u", (unsigned)rng_below(&s->rng, 40));
    else
        memcpy(m->join.name, p->name, sizeof(m->join.name));
}

static uint32_t epoch_of_some_job(struct stranger *s)
{
    const unsigned i = (unsigned)rng_below(&s->rng, s->cfg.node->cfg.max_jobs);

    return ctl_registry_entry(s->cfg.node->registry, i)->epoch;
}

static void speak(struct stranger *s)
{
    static const uint8_t types[] = {CTL_JOIN, CTL_JOIN, CTL_JOIN, CTL_HEARTBEAT, CTL_LEAVE, CTL_ABORT};
    const struct program *p = &s->cfg.scenario->program[rng_below(&s->rng, s->cfg.scenario->programs)];
    unsigned host = s->cfg.scenario->stranger_host;
    uint16_t port = (uint16_t)(OWN_PORT + rng_below(&s->rng, OWN_PORTS));
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m;

    memset(&m, 0, sizeof(m));
    m.head = (struct ctl_head){.type = types[rng_below(&s->rng, sizeof(types))],
                               .version = CTL_VERSION,
                               .incarnation = rng_next(&s->rng) | 1,
                               .epoch = epoch_of_some_job(s),
                               .rank = (uint16_t)rng_below(&s->rng, p->size),
                               .size = p->size,
                               .serial = 1};
    if (m.head.type == CTL_JOIN) {
        make_join(s, &m, p);
        if (rng_below(&s->rng, 4) == 0) {
            host = (unsigned)rng_below(&s->rng, s->cfg.scenario->hosts);
            port = s->cfg.control_port(s->cfg.ctx, host);
        }
    }
    if (port == 0)
        return;
    m.head.boot_id =
        s->cfg.boot_id(s->cfg.ctx, rng_below(&s->rng, 4) ? host : s->cfg.scenario->stranger_host);
    s->messages++;
    sim_trace(s->cfg.sim, "stranger", "%s as rank %u of %u, from host %u", ctl_type_name(m.head.type),
              m.head.rank, m.head.size, host);
    star_send_up(s->cfg.star, host, port, CTL_PORT, payload, ctl_build(payload, &m), false);
}

static void on_turn(void *ctx, uint64_t argument)
{
    struct stranger *s = ctx;
    struct sim *sim = s->cfg.sim;

    (void)argument;
    if (s->gone || sim->now >= s->cfg.scenario->calm_at)
        return;
    if (switch_is_up(s->cfg.node) && s->cfg.may_speak(s->cfg.ctx))
        speak(s);
    sim_at(sim, sim->now + rng_between(&s->rng, 1, 2 * s->cfg.scenario->stranger_every), on_turn, s, 0);
}

void stranger_start(struct stranger *s, const struct stranger_config *cfg)
{
    *s = (struct stranger){.cfg = *cfg, .rng = cfg->seed};
    if (cfg->scenario->stranger_every != 0)
        on_turn(s, 0);
}
