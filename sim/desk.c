#include "desk.h"

void desk_init(struct desk *d, const struct desk_config *cfg)
{
    *d = (struct desk){.cfg = *cfg};
}

void desk_open(struct desk *d, uint64_t seed)
{
    ctl_intake_rules_init(&d->rules, 0, seed);
    ctl_intake_init(&d->intake, &d->rules);
    d->stint++;
    d->handling = false;
}

void desk_close(struct desk *d)
{
    frame_line_drop(&d->members);
    frame_line_drop(&d->strangers);
    d->stint++;
}

void desk_list_members(struct desk *d)
{
    if (d->cfg.message_ns == 0)
        return;
    ctl_known_begin(&d->rules.members);
    d->cfg.list_members(d->cfg.ctx, &d->rules.members);
    ctl_known_show(&d->rules.members);
}

/* Returns how many were handled. */
static unsigned handle_some(struct desk *d, struct frame_line *line, unsigned most)
{
    unsigned n = 0;

    for (; n < most && line->n > 0; n++)
        d->cfg.handle(d->cfg.ctx, frame_line_take(line));
    return n;
}

static void on_turn(void *ctx, uint64_t stint)
{
    struct desk *d = ctx;

    if (stint != d->stint)
        return;
    const unsigned members = handle_some(d, &d->members, DESK_MEMBERS_AT_ONCE);
    const unsigned strangers = handle_some(d, &d->strangers, DESK_STRANGERS_AT_ONCE);

    if (strangers > 0)
        desk_list_members(d); /* they may be some now */
    d->handling = members + strangers > 0;
    if (d->handling)
        sim_at(d->cfg.sim, d->cfg.sim->now + (members + strangers) * d->cfg.message_ns, on_turn, d, stint);
}

static void let_wait(struct desk *d, struct frame_line *line, struct frame *f)
{
    if (line->n == DESK_PLACES) {
        frame_free(f);
        return;
    }
    frame_line_put(line, f);
    if (!d->handling) {
        d->handling = true;
        sim_at(d->cfg.sim, d->cfg.sim->now, on_turn, d, d->stint);
    }
}

void desk_put(struct desk *d, struct frame *f, const struct ctl_endpoint *from)
{
    if (d->cfg.message_ns == 0) {
        d->cfg.handle(d->cfg.ctx, f);
        return;
    }
    switch (ctl_intake_admit(&d->intake, from, false, f->payload, f->bytes, d->cfg.sim->now)) {
    case CTL_INTAKE_MEMBER:
        let_wait(d, &d->members, f);
        break;
    case CTL_INTAKE_STRANGER:
        let_wait(d, &d->strangers, f);
        break;
    case CTL_INTAKE_MEMBER_RATE:
    case CTL_INTAKE_STRANGER_RATE:
        frame_free(f);
        break;
    }
}
