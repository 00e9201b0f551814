/* Memory, processes and time. proxy_below.c and proxy_above.c have what comes from either side, proxy_jobs.c
 * the jobs. */
#include "relay/proxy.h"

#include <string.h>

#include "relay/proxy_state.h"

enum {
    MS = 1000000,
    FORGET_AFTER_MS = 10000, /* beside twice lost_after */
};

/* Memory */

static uint16_t workers(const struct relay_config *cfg)
{
    return cfg->max_workers ? cfg->max_workers : CTL_RANKS_MAX;
}

static size_t jobs_bytes(const struct relay_config *cfg)
{
    return sizeof(struct relay_proxy) + cfg->max_jobs * sizeof(struct relay_job);
}

static size_t routes_bytes(const struct relay_config *cfg)
{
    return cfg->max_processes * sizeof(struct relay_route);
}

static size_t members_bytes(const struct relay_config *cfg)
{
    return workers(cfg) * sizeof(struct ctl_member);
}

static size_t table_bytes(const struct relay_config *cfg)
{
    return (workers(cfg) * sizeof(uint16_t) + 7) / 8 * 8;
}

size_t relay_footprint(const struct relay_config *cfg)
{
    const struct relay_actions *a = &cfg->actions;

    if (cfg->max_jobs < 1 || cfg->max_processes < 1 || cfg->uplinks < 1 || cfg->id == 0 ||
        cfg->protocols_known == 0 || cfg->max_workers > CTL_RANKS_MAX || !a->send || !a->send_up ||
        !a->prepare || !a->release || !a->payload_bytes || (cfg->library && !a->random))
        return 0;
    return jobs_bytes(cfg) + routes_bytes(cfg) + cfg->max_jobs * (members_bytes(cfg) + table_bytes(cfg));
}

struct relay_proxy *relay_init(void *mem, const struct relay_config *cfg)
{
    struct relay_proxy *p = memset(mem, 0, relay_footprint(cfg));
    uint8_t *rest = (uint8_t *)mem + jobs_bytes(cfg);

    p->cfg = *cfg;
    p->guard = (struct ctl_guard){.library = cfg->library, .key = cfg->key, .keys = cfg->keys};
    if (cfg->library != NULL)
        ctl_guard_make_secret(p->guard.challenges.secret, cfg->actions.random, cfg->actions.ctx);
    p->limits = (struct ctl_registry_config){.protocols = cfg->protocols,
                                             .protocols_known = cfg->protocols_known,
                                             .max_workers = cfg->max_workers};
    p->routes = (struct relay_route *)rest;
    rest += routes_bytes(cfg);
    for (unsigned i = 0; i < cfg->max_jobs; i++) {
        p->jobs[i].entry.members = (struct ctl_member *)rest;
        rest += members_bytes(cfg);
        p->jobs[i].contributor = (uint16_t *)rest;
        rest += table_bytes(cfg);
    }
    return p;
}

const struct relay_job *relay_job(const struct relay_proxy *p, unsigned i)
{
    return &p->jobs[i];
}

/* Processes */

struct relay_route *relay_route_below(const struct relay_proxy *p, const struct ctl_endpoint *from,
                                      uint64_t incarnation)
{
    const int owner = relay_key_owner(p, from);

    for (unsigned i = 0; i < p->cfg.max_processes; i++)
        if (incarnation != 0 && p->routes[i].incarnation == incarnation &&
            relay_key_owner(p, &p->routes[i].endpoint) == owner)
            return &p->routes[i];
    return NULL;
}

static void forget_route(struct relay_proxy *p, struct relay_route *route)
{
    if (relay_is_keyed(route))
        ctl_guard_note_gone(&p->guard, route->incarnation);
    *route = (struct relay_route){0};
}

struct relay_route *relay_new_route(struct relay_proxy *p)
{
    struct relay_route *oldest = NULL;

    for (unsigned i = 0; i < p->cfg.max_processes; i++) {
        struct relay_route *route = &p->routes[i];

        if (route->incarnation == 0)
            return route;
        if (relay_job_of(p, route) == NULL && (oldest == NULL || route->heard_at < oldest->heard_at))
            oldest = route;
    }
    if (oldest != NULL)
        forget_route(p, oldest);
    return oldest;
}

int relay_key_owner(const struct relay_proxy *p, const struct ctl_endpoint *from)
{
    return ctl_guard_tenant(&p->guard, from);
}

bool relay_knows(const struct relay_proxy *p, const struct ctl_message *m, const struct ctl_endpoint *from)
{
    return relay_route_below(p, from, m->head.incarnation) != NULL;
}

void relay_list_processes(const struct relay_proxy *p, struct ctl_known *to)
{
    for (unsigned i = 0; i < p->cfg.max_processes; i++)
        if (p->routes[i].incarnation != 0) {
            ctl_known_add(to, p->routes[i].incarnation, &p->routes[i].endpoint);
            ctl_known_add(to, p->routes[i].incarnation, NULL);
        }
}

/* Messages */

uint64_t relay_boot_id(const struct relay_proxy *p, uint64_t boot_id)
{
    return boot_id == 0 || boot_id == p->cfg.id ? boot_id : boot_id ^ p->cfg.id;
}

void relay_send_down(const struct relay_proxy *p, const struct relay_route *route, struct ctl_message *m)
{
    struct ctl_endpoint outside = route->endpoint;
    uint8_t out[CTL_MESSAGE_MAX];
    size_t bytes;

    m->head.version = CTL_VERSION;
    bytes = ctl_guard_build(&p->guard, &route->endpoint, route->challenge, m, out);
    outside.key = 0;
    p->cfg.actions.send(p->cfg.actions.ctx, &outside, out, bytes);
}

void relay_send_message_up(const struct relay_proxy *p, const struct relay_route *route,
                           struct ctl_message *m)
{
    const struct relay_uplink *up = &p->cfg.uplink[route->uplink];
    uint8_t out[CTL_MESSAGE_MAX];
    size_t bytes;

    m->head.sealed = relay_is_keyed(route);
    if (m->head.sealed && up->keys == 0)
        return; /* the configuration is another since the process joined */
    bytes = ctl_build(out, m);
    if (m->head.sealed)
        bytes = ctl_seal_append(out, bytes, p->cfg.library, &up->key[0], &up->us, route->challenge);
    p->cfg.actions.send_up(p->cfg.actions.ctx, route->uplink, out, bytes);
}

/* Time */

/* Nothing was received while nobody called. */
static uint64_t absence(struct relay_proxy *p, uint64_t now)
{
    const uint64_t gap = p->ticked_at != 0 ? now - p->ticked_at : 0;

    p->ticked_at = now;
    return gap > p->cfg.lost_after_ns / 2 ? gap : 0;
}

/* Jobs that have failed are shown as long as one of their processes is remembered. */
static void clear_failed(struct relay_proxy *p)
{
    for (unsigned i = 0; i < p->cfg.max_jobs; i++) {
        struct relay_job *job = &p->jobs[i];
        bool remembered = false;

        for (unsigned j = 0; j < p->cfg.max_processes && job->entry.state == CTL_ENTRY_FAILED; j++)
            remembered =
                remembered || (p->routes[j].incarnation != 0 && p->routes[j].epoch == job->entry.epoch);
        if (job->entry.state == CTL_ENTRY_FAILED && !remembered)
            relay_clear(job);
    }
}

void relay_tick(struct relay_proxy *p, uint64_t now)
{
    const uint64_t absent = absence(p, now);
    const uint64_t limit = 2 * p->cfg.lost_after_ns + (uint64_t)FORGET_AFTER_MS * MS;

    for (unsigned i = 0; i < p->cfg.max_processes; i++) {
        struct relay_route *route = &p->routes[i];
        struct relay_job *job;

        if (route->incarnation == 0)
            continue;
        route->heard_at = route->heard_at + absent < now ? route->heard_at + absent : now;
        if (now - route->heard_at < limit)
            continue;
        job = relay_job_of(p, route);
        if (job != NULL)
            relay_part(p, job, route->rank, CTL_MEMBER_LOST, now);
        forget_route(p, route);
    }
    clear_failed(p);
}
