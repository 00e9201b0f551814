/* What comes from the switch above. */
#include <stdio.h>
#include <string.h>

#include "relay/proxy.h"
#include "relay/proxy_state.h"

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

static void pass_down(struct relay_proxy *p, const struct relay_route *route, struct ctl_message *m)
{
    m->head.boot_id = relay_boot_id(p, m->head.boot_id);
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
    relay_event(p, job, "the switch above speaks from another MAC address now");
}

static void on_message(struct relay_proxy *p, struct relay_route *route, const struct ctl_endpoint *from,
                       struct ctl_message *m, uint64_t now)
{
    struct relay_job *job = relay_job_of(p, route);

    if (job != NULL) {
        job->parent_heard_at = now;
        if (m->head.serial > route->answered)
            follow_parent(p, job, from);
    }
    route->answered = m->head.serial;
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

enum ctl_parse_error relay_receive_up(struct relay_proxy *p, unsigned uplink, const struct ctl_endpoint *from,
                                      const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct ctl_message m;
    const enum ctl_parse_error error = ctl_parse(&m, payload, bytes);
    struct relay_route *route;

    if (error != CTL_PARSED || ctl_type_from_worker(m.head.type))
        return error != CTL_PARSED ? error : CTL_BAD_TYPE;
    route = relay_route_of(p, m.head.incarnation);
    if (route == NULL || route->uplink != uplink || route->rank != m.head.rank || m.head.sealed ||
        m.head.boot_id == 0 || m.head.serial < route->answered || m.head.serial > route->serial)
        return CTL_PARSED;
    on_message(p, route, from, &m, now);
    return CTL_PARSED;
}
