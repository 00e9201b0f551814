/* What comes from the switch above. */
#include <stdio.h>
#include <string.h>

#include "relay/proxy.h"
#include "relay/proxy_state.h"

/* How a message shows that it is the switch above's. */
struct proof {
    const struct keys_key *key; /* NULL: it is not sealed */
    struct ctl_seal seal;
};

/* Names the switch that said it, unless it names one already. */
static void name_speaker(const struct relay_proxy *p, unsigned uplink, struct ctl_failure *f)
{
    const uint8_t *ip = (const uint8_t *)&p->cfg.uplink[uplink].ip;
    char said[CTL_TEXT_MAX];

    if (strncmp(f->text, "switch ", 7) == 0)
        return;
    memcpy(said, f->text, sizeof(said));
    snprintf(f->text, sizeof(f->text), "switch %u.%u.%u.%u: %.170s", ip[0], ip[1], ip[2], ip[3], said);
}

/* A key of that uplink's by which the switch above has sealed the message, CTL_PARSED if there is none to
 * compare, or what is wrong with it. */
static enum ctl_parse_error check_seal(const struct relay_proxy *p, unsigned uplink,
                                       const struct ctl_head *head, const uint8_t *payload, size_t bytes,
                                       struct proof *proof)
{
    const struct relay_uplink *up = &p->cfg.uplink[uplink];

    *proof = (struct proof){0};
    if (!head->sealed)
        return CTL_PARSED;
    if (!ctl_seal_parse(&proof->seal, payload, bytes))
        return CTL_TOO_SHORT;
    for (unsigned i = 0; i < up->keys; i++)
        if (up->key[i].id == proof->seal.key_id)
            proof->key = &up->key[i];
    if (proof->key == NULL)
        return CTL_UNKNOWN_KEY;
    return ctl_seal_holds(payload, bytes, p->cfg.library, proof->key, &up->us) ? CTL_PARSED : CTL_BAD_SEAL;
}

/* The process that an answer is for. Whether it is sealed tells processes with a key from others. */
static struct relay_route *find_route(const struct relay_proxy *p, unsigned uplink,
                                      const struct ctl_head *head, bool keyed)
{
    for (unsigned i = 0; i < p->cfg.max_processes; i++) {
        struct relay_route *route = &p->routes[i];

        if (route->incarnation != 0 && route->incarnation == head->incarnation && route->uplink == uplink &&
            relay_is_keyed(route) == keyed)
            return route;
    }
    return NULL;
}

static bool answers(const struct relay_route *route, const struct ctl_head *head)
{
    return route != NULL && route->rank == head->rank && head->boot_id != 0 &&
           head->serial >= route->answered && head->serial <= route->serial;
}

/* A refusal that nobody has proven, perhaps since the switch above does not know our key. The process shows
 * it if it hears nothing better. */
static void pass_hint_down(const struct relay_proxy *p, const struct relay_route *route,
                           struct ctl_message *m)
{
    struct relay_route unproven = *route;

    unproven.endpoint.key = 0;
    name_speaker(p, route->uplink, &m->failure);
    m->head.boot_id = relay_boot_id(p, &route->endpoint, m->head.boot_id);
    relay_send_down(p, &unproven, m);
}

static void pass_down(struct relay_proxy *p, const struct relay_route *route, struct ctl_message *m)
{
    m->head.boot_id = relay_boot_id(p, &route->endpoint, m->head.boot_id);
    relay_send_down(p, route, m);
}

static void on_aborted(struct relay_proxy *p, struct relay_route *route, struct ctl_message *m, uint64_t now)
{
    struct relay_job *job = relay_job_of(p, route);

    name_speaker(p, route->uplink, &m->failure);
    if (job != NULL && job->entry.epoch == m->head.epoch)
        relay_close(p, job, &m->failure, now);
}

/* The switch above does not know the rank in this life of its job (any more), so it counts no sum of ours. */
static void on_unknown(struct relay_proxy *p, struct relay_route *route, const struct ctl_message *m,
                       uint64_t now)
{
    struct relay_job *job = relay_job_of(p, route);

    if (job != NULL && job->entry.epoch == m->head.epoch)
        relay_close(p, job, NULL, now);
}

static void on_left(struct relay_proxy *p, struct relay_route *route, uint64_t now)
{
    struct relay_job *job = relay_job_of(p, route);

    if (job != NULL)
        relay_part(p, job, route->rank, CTL_MEMBER_LEFT, now);
}

/* Sums follow the switch above, or its router. An answer that is not newer may be a copy. */
static void follow_parent(struct relay_proxy *p, struct relay_job *job, const struct ctl_endpoint *from)
{
    if (!ctl_endpoint_has_moved(&job->parent, from))
        return;
    job->parent = *from;
    if (job->entry.state == CTL_ENTRY_RUNNING && p->cfg.actions.parent_moved)
        p->cfg.actions.parent_moved(p->cfg.actions.ctx, job);
    relay_event(p, job, CTL_EVENT_NOTE, "the switch above speaks from another MAC address now");
}

static void on_message(struct relay_proxy *p, struct relay_route *route, const struct ctl_endpoint *from,
                       struct ctl_message *m, uint64_t now)
{
    struct relay_job *job = relay_job_of(p, route);

    if (job != NULL && m->head.serial > route->answered) { /* else it may be a copy */
        job->parent_heard_at = now;
        follow_parent(p, job, from);
    }
    route->answered = m->head.serial;
    if (m->head.type != CTL_UNKNOWN) /* which may be under another one, that only recalls the rank */
        p->parents[route->uplink].boot_id = m->head.boot_id;
    switch (m->head.type) {
    case CTL_READY:
        relay_ready(p, route, from, m, now);
        return;
    case CTL_REFUSED:
        name_speaker(p, route->uplink, &m->failure);
        break;
    case CTL_ABORTED:
        on_aborted(p, route, m, now);
        break;
    case CTL_UNKNOWN:
        on_unknown(p, route, m, now);
        break;
    case CTL_LEFT:
        on_left(p, route, now);
        break;
    default:
        break;
    }
    pass_down(p, route, m);
}

/* What a sealed message has for this switch itself. */
static void take_proof(const struct relay_proxy *p, struct relay_route *route, struct ctl_message *m,
                       const struct proof *proof)
{
    const struct keys_life life = {
        .boot_id = m->head.boot_id, .incarnation = m->head.incarnation, .epoch = m->head.epoch};

    if (proof->key == NULL)
        return;
    route->challenge = proof->seal.challenge;
    if (m->head.type == CTL_READY)
        keys_cover(m->ready.covered, p->cfg.library, proof->key, &life, m->ready.covered);
}

enum ctl_parse_error relay_receive_up(struct relay_proxy *p, unsigned uplink, const struct ctl_endpoint *from,
                                      const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct ctl_message m;
    struct proof proof;
    enum ctl_parse_error error = ctl_parse(&m, payload, bytes);
    struct relay_route *route;

    if (error != CTL_PARSED || ctl_type_from_worker(m.head.type))
        return error != CTL_PARSED ? error : CTL_BAD_TYPE;
    error = check_seal(p, uplink, &m.head, payload, bytes, &proof);
    if (error != CTL_PARSED)
        return error;
    p->parents[uplink].silent_since = 0;
    route = find_route(p, uplink, &m.head, m.head.sealed);
    if (answers(route, &m.head)) {
        if (proof.key != NULL && m.head.serial > route->answered &&
            p->cfg.actions.proven) /* else it may be a copy */
            p->cfg.actions.proven(p->cfg.actions.ctx, uplink, from);
        take_proof(p, route, &m, &proof);
        on_message(p, route, from, &m, now);
    } else if (!m.head.sealed && m.head.type == CTL_REFUSED) {
        route = find_route(p, uplink, &m.head, true);
        if (answers(route, &m.head))
            pass_hint_down(p, route, &m);
    }
    return CTL_PARSED;
}
