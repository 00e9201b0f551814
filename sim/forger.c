#include "forger.h"

#include <string.h>

#include "toy_keys.h"

enum { OWN_SECRET = 255, AT_ONCE_ONE_OF = 8 /* before others have it, and while it counts */ };

/* Whether it is not just a copy. A result is for all, so who gets it does not matter. */
static bool is_untrue(const struct forger_message *m, const struct forger_message *was)
{
    return m->bytes != was->bytes || memcmp(m->payload, was->payload, m->bytes) != 0 ||
           (m->up && (m->host != was->host || m->host_port != was->host_port));
}

static void inject(struct forger *f, const struct forger_message *m, const struct forger_message *was)
{
    struct frame *frame = frame_new(m->host, m->switch_port, m->host_port, m->payload, m->bytes, false);

    frame->forged = true;
    frame->untrue = is_untrue(m, was);
    f->messages++;
    sim_trace(f->cfg.sim, "forger", "%s, %s host %u",
              m->switch_port == CTL_PORT ? ctl_type_name(m->payload[5]) : "data", m->up ? "from" : "to",
              m->host);
    link_send(m->up ? &f->cfg.star->up[m->host] : &f->cfg.star->down[m->host], frame);
}

/* Another type of message of the same end, later than all before, as the worker or the switch it is about
 * would send it. */
static void retell(struct forger *f, struct forger_message *to)
{
    static const uint8_t ups[] = {CTL_JOIN, CTL_HEARTBEAT, CTL_LEAVE, CTL_ABORT},
                         downs[] = {CTL_READY, CTL_REFUSED, CTL_LEFT, CTL_ABORTED, CTL_UNKNOWN};
    struct ctl_message m, other = {0};

    if (ctl_parse(&m, to->payload, to->bytes) != CTL_PARSED)
        return;
    other.head = m.head;
    other.head.serial += (uint32_t)rng_below(&f->rng, 100);
    other.head.type = to->up ? ups[rng_below(&f->rng, sizeof ups)] : downs[rng_below(&f->rng, sizeof downs)];
    if (other.head.type == m.head.type)
        other = m;
    if (other.head.type == CTL_JOIN && other.join.name[0] == '\0')
        snprintf(other.join.name, sizeof other.join.name, "job0");
    other.head.sealed = rng_below(&f->rng, 2);
    to->bytes = (uint16_t)ctl_build(to->payload, &other);
}

/* With the right key's name, and a tag by another. */
static void seal(struct forger *f, struct forger_message *to, const struct ctl_seal *from)
{
    const struct ctl_address address = {.ip = to->host + 1, .udp_port = to->host_port};
    struct keys_key key = toy_key(OWN_SECRET);

    if (rng_below(&f->rng, 2))
        key.id = from->key_id;
    to->bytes =
        (uint16_t)ctl_seal_append(to->payload, to->bytes, &toy_library, &key, &address, from->challenge);
}

/* To or from another end of which he has seen such a frame. */
static void redirect(struct forger *f, struct forger_message *to)
{
    const unsigned known = f->seen < FORGER_SEEN ? f->seen : FORGER_SEEN;
    const struct forger_message *other = &f->message[rng_below(&f->rng, known)];

    if (other->up != to->up || other->switch_port != to->switch_port)
        return;
    to->host = other->host;
    to->host_port = other->host_port;
}

static void flip(struct forger *f, struct forger_message *to)
{
    to->payload[rng_below(&f->rng, to->bytes)] ^= (uint8_t)(1u << rng_below(&f->rng, 8));
}

static void forge(struct forger *f, struct forger_message *to)
{
    struct ctl_seal from;

    switch (rng_below(&f->rng, to->switch_port == CTL_PORT ? 4 : 3)) {
    case 0: /* again, as it was */
        break;
    case 1: /* elsewhere, as it was or changed */
        redirect(f, to);
        if (rng_below(&f->rng, 2))
            flip(f, to);
        break;
    case 2:
        flip(f, to);
        break;
    default:
        ctl_seal_parse(&from, to->payload, to->bytes);
        retell(f, to);
        struct ctl_message m;
        if (ctl_parse(&m, to->payload, to->bytes) == CTL_PARSED && m.head.sealed)
            seal(f, to, &from);
        break;
    }
}

static void imitate(struct forger *f, const struct forger_message *was)
{
    struct forger_message m = *was;

    forge(f, &m);
    inject(f, &m, was);
}

/* Whoever changes what is neither sealed nor keyed does harm, and nobody has promised otherwise. */
static bool may_imitate(const struct forger *f, const struct frame *frame)
{
    struct ctl_message m;

    if (frame->switch_port != CTL_PORT)
        return f->cfg.keyed != NULL && f->cfg.keyed[frame->host] && frame->bytes <= FORGER_BYTES_MAX;
    return ctl_parse(&m, frame->payload, frame->bytes) == CTL_PARSED && m.head.sealed;
}

/* A damaged frame teaches it nothing; and a bit of it that it happened to turn back would make a true one. */
void forger_see(struct forger *f, const struct frame *frame, bool up)
{
    struct forger_message *to = &f->message[f->seen % FORGER_SEEN];

    if (f->cfg.every == 0 || frame->forged || frame->damaged || !may_imitate(f, frame))
        return;
    *to = (struct forger_message){.up = up,
                                  .host = frame->host,
                                  .host_port = frame->host_port,
                                  .switch_port = frame->switch_port,
                                  .bytes = frame->bytes};
    memcpy(to->payload, frame->payload, frame->bytes);
    f->seen++;
    if (frame->switch_port != CTL_PORT && rng_below(&f->rng, AT_ONCE_ONE_OF) == 0)
        imitate(f, to);
}

static void on_turn(void *ctx, uint64_t argument)
{
    struct forger *f = ctx;

    (void)argument;
    if (f->gone || f->cfg.sim->now >= f->cfg.until)
        return;
    if (f->seen > 0) {
        const unsigned known = f->seen < FORGER_SEEN ? f->seen : FORGER_SEEN;

        imitate(f, &f->message[rng_below(&f->rng, known)]);
    }
    sim_at(f->cfg.sim, f->cfg.sim->now + rng_between(&f->rng, 1, 2 * f->cfg.every), on_turn, f, 0);
}

void forger_start(struct forger *f, const struct forger_config *cfg)
{
    *f = (struct forger){.cfg = *cfg, .rng = cfg->seed};
    if (cfg->every != 0)
        on_turn(f, 0);
}
