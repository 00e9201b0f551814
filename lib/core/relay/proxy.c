/* Memory, and what comes from below. proxy_above.c has what comes from above, proxy_jobs.c the jobs. */
#include "relay/proxy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/admission.h"
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
        !a->prepare || !a->release || !a->payload_bytes)
        return 0;
    return jobs_bytes(cfg) + routes_bytes(cfg) + cfg->max_jobs * (members_bytes(cfg) + table_bytes(cfg));
}

struct relay_proxy *relay_init(void *mem, const struct relay_config *cfg)
{
    struct relay_proxy *p = memset(mem, 0, relay_footprint(cfg));
    uint8_t *rest = (uint8_t *)mem + jobs_bytes(cfg);

    p->cfg = *cfg;
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

struct relay_route *relay_route_of(const struct relay_proxy *p, uint64_t incarnation)
{
    for (unsigned i = 0; i < p->cfg.max_processes; i++)
        if (incarnation != 0 && p->routes[i].incarnation == incarnation)
            return &p->routes[i];
    return NULL;
}

/* A free one, or that of the process heard longest ago which is in no job: it makes itself known again. */
static struct relay_route *new_route(struct relay_proxy *p)
{
    struct relay_route *oldest = NULL;

    for (unsigned i = 0; i < p->cfg.max_processes; i++) {
        struct relay_route *route = &p->routes[i];

        if (route->incarnation == 0)
            return route;
        if (relay_job_of(p, route) == NULL && (oldest == NULL || route->heard_at < oldest->heard_at))
            oldest = route;
    }
    return oldest;
}

bool relay_knows(const struct relay_proxy *p, const uint8_t *payload, size_t bytes)
{
    struct ctl_message m;

    return ctl_parse(&m, payload, bytes) == CTL_PARSED && ctl_type_from_worker(m.head.type) &&
           relay_route_of(p, m.head.incarnation) != NULL;
}

/* Messages */

uint64_t relay_boot_id(const struct relay_proxy *p, uint64_t boot_id)
{
    return boot_id == 0 ? 0 : boot_id ^ p->cfg.id;
}

void relay_send_down(const struct relay_proxy *p, const struct relay_route *route, struct ctl_message *m)
{
    uint8_t out[CTL_MESSAGE_MAX];

    m->head.version = CTL_VERSION;
    p->cfg.actions.send(p->cfg.actions.ctx, &route->endpoint, out, ctl_build(out, m));
}

void relay_send_message_up(const struct relay_proxy *p, unsigned uplink, const struct ctl_message *m)
{
    uint8_t out[CTL_MESSAGE_MAX];

    p->cfg.actions.send_up(p->cfg.actions.ctx, uplink, out, ctl_build(out, m));
}

/* To who is not let in, or is to wait. A boot id that he knows is not changed: nothing has restarted. */
static void answer(const struct relay_proxy *p, const struct ctl_endpoint *to, const struct ctl_message *m,
                   enum ctl_type type, const struct ctl_failure *why)
{
    const struct relay_route route = {.endpoint = *to};
    struct ctl_message a = {.head = m->head};

    a.head.type = (uint8_t)type;
    a.head.epoch = 0;
    a.head.sealed = false;
    if (a.head.boot_id == 0)
        a.head.boot_id = p->cfg.id;
    if (why != NULL)
        a.failure = *why;
    relay_send_down(p, &route, &a);
}

/* JOIN */

__attribute__((format(printf, 4, 5))) static bool no(struct ctl_failure *why, enum ctl_reason reason,
                                                     unsigned rank, const char *format, ...)
{
    va_list args;

    why->reason = (uint16_t)reason;
    why->rank = (uint16_t)rank;
    va_start(args, format);
    vsnprintf(why->text, sizeof(why->text), format, args);
    va_end(args);
    return false;
}

static bool is_switch_above(const struct relay_proxy *p, uint32_t ip)
{
    for (unsigned i = 0; i < p->cfg.uplinks; i++)
        if (p->cfg.uplink[i].ip == ip)
            return true;
    return false;
}

/* What is passed up is no longer, and asks for no more, than this switch can carry. */
static bool fit(struct relay_proxy *p, const struct ctl_message *m, uint16_t payload_bytes,
                struct agg_terms *wish, struct ctl_failure *why)
{
    const struct agg_protocol *protocol = ctl_registry_protocol(&p->limits, wish->protocol);
    const struct agg_limits limits = {.payload_bytes = payload_bytes};
    struct agg_refusal refusal;
    struct agg_terms fitting;

    if (m->join.resume)
        return true;
    if (!protocol->grant(wish, 1, &limits, &fitting, &refusal))
        return no(why, CTL_BAD_ARGUMENT, m->head.rank, "%s", refusal.text);
    *wish = fitting;
    return true;
}

/* Whether the rank may join through this switch. Then *tenant is whose it is, and m->join.terms are what is
 * to be passed up. */
static bool admits(struct relay_proxy *p, const struct ctl_endpoint *from, struct ctl_message *m,
                   uint16_t payload_bytes, int *tenant, struct ctl_failure *why)
{
    const struct relay_actions *a = &p->cfg.actions;
    const unsigned rank = m->head.rank;

    if (m->head.sealed)
        return no(
            why, CTL_BAD_KEY, rank,
            "this switch passes jobs of this name up to another (uplink), which it cannot do with keys");
    if (!ctl_admission_arguments(&p->limits, m, why))
        return false;
    if (m->join.hops >= CTL_LEVELS_MAX - 1 || is_switch_above(p, from->ip))
        return no(why, CTL_BAD_ARGUMENT, rank,
                  "the switches above one another (uplink) are a circle, or more than %d", CTL_LEVELS_MAX);
    if (!fit(p, m, payload_bytes, &m->join.terms, why))
        return false;
    *tenant = a->admit ? a->admit(a->ctx, from, &m->join, &m->join.terms, why->text) : 0;
    why->reason = CTL_NOT_ADMITTED;
    why->rank = (uint16_t)rank;
    return *tenant >= 0;
}

/* Who resumes, or is in the job, is no newcomer. */
static bool is_turned_away(struct relay_proxy *p, const struct relay_route *route,
                           const struct ctl_message *m, int tenant, struct ctl_failure *why)
{
    if (m->join.resume || (route != NULL && relay_job_of(p, route) != NULL) ||
        !relay_is_draining(p, tenant, m->join.name))
        return false;
    no(why, CTL_NOT_ADMITTED, m->head.rank,
       "the switch's operator lets the job of this name come to its end: nobody else may join");
    return true;
}

/* The number that the job had at the switch above, in the place of ours. */
static void shift_numbers(struct ctl_join *join)
{
    struct ctl_above *above = &join->above;

    join->job = above->levels > 0 ? above->number[0] : 0;
    if (above->levels == 0)
        return;
    above->levels--;
    memmove(above->number, above->number + 1, sizeof(above->number) - 1);
    above->number[sizeof(above->number) - 1] = 0;
}

static void pass_join_up(const struct relay_proxy *p, const struct relay_route *route, struct ctl_message *m)
{
    if (m->join.hops == 0) {
        m->join.host = route->endpoint.ip;
        m->join.via = p->cfg.ip;
    }
    m->join.hops++;
    m->join.data_port = p->cfg.uplink[route->uplink].data_port;
    shift_numbers(&m->join);
    m->head.boot_id = relay_boot_id(p, m->head.boot_id);
    relay_send_message_up(p, route->uplink, m);
}

static void on_join(struct relay_proxy *p, struct relay_route *route, const struct ctl_endpoint *from,
                    unsigned uplink, struct ctl_message *m, uint64_t now)
{
    const struct ctl_message said = *m;
    const uint16_t payload_bytes =
        p->cfg.actions.payload_bytes(p->cfg.actions.ctx, route ? route->uplink : uplink);
    struct ctl_failure why = {0};
    int tenant = 0;

    if (payload_bytes == 0) {
        answer(p, from, m, CTL_PENDING, NULL);
        return;
    }
    if (!admits(p, from, m, payload_bytes, &tenant, &why) || is_turned_away(p, route, m, tenant, &why)) {
        answer(p, from, &said, CTL_REFUSED, &why);
        return;
    }
    if (route == NULL && (route = new_route(p)) == NULL) {
        no(&why, CTL_NO_JOBS, m->head.rank, "this switch has %u processes below it, as many as it can have",
           p->cfg.max_processes);
        answer(p, from, &said, CTL_REFUSED, &why);
        return;
    }
    if (route->incarnation != m->head.incarnation)
        *route = (struct relay_route){.incarnation = m->head.incarnation, .uplink = uplink};
    if (m->head.serial > route->serial)
        route->endpoint = *from; /* a copy may come from another MAC address */
    route->serial = m->head.serial;
    route->heard_at = now;
    route->rank = m->head.rank;
    route->size = m->head.size;
    route->tenant = tenant;
    route->join = said.join;
    pass_join_up(p, route, m);
}

/* HEARTBEAT, LEAVE, ABORT */

/* The rank's packets and results follow it. A copy of a message moves nobody: it may come from elsewhere. */
static void follow(struct relay_proxy *p, struct relay_route *route, struct relay_job *job,
                   const struct ctl_endpoint *from)
{
    if (!ctl_endpoint_has_moved(&route->endpoint, from))
        return;
    route->endpoint = *from;
    if (job == NULL || job->entry.members[route->rank].state != CTL_MEMBER_JOINED)
        return;
    job->entry.members[route->rank].endpoint = *from;
    if (job->entry.state == CTL_ENTRY_RUNNING && p->cfg.actions.moved)
        p->cfg.actions.moved(p->cfg.actions.ctx, job, route->rank);
    relay_event(p, job, "rank %u speaks from another MAC address now", route->rank);
}

static void on_other(struct relay_proxy *p, struct relay_route *route, const struct ctl_endpoint *from,
                     struct ctl_message *m, uint64_t now)
{
    struct relay_job *job = relay_job_of(p, route);

    if (m->head.serial > route->serial) {
        route->heard_at = now;
        follow(p, route, job, from);
    }
    route->serial = m->head.serial;
    if (job != NULL && m->head.type == CTL_HEARTBEAT) {
        job->entry.members[route->rank].heartbeat = m->heartbeat;
        job->entry.members[route->rank].heard_at = now;
    }
    m->head.boot_id = relay_boot_id(p, m->head.boot_id);
    relay_send_message_up(p, route->uplink, m);
}

enum ctl_parse_error relay_receive(struct relay_proxy *p, const struct ctl_endpoint *from, unsigned uplink,
                                   const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct ctl_message m;
    const enum ctl_parse_error error = ctl_parse(&m, payload, bytes);
    struct relay_route *route = error == CTL_PARSED ? relay_route_of(p, m.head.incarnation) : NULL;

    if (error != CTL_PARSED || !ctl_type_from_worker(m.head.type))
        return error != CTL_PARSED ? error : CTL_BAD_TYPE;
    if (route != NULL && m.head.serial < route->serial)
        return CTL_PARSED; /* late */
    if (m.head.type == CTL_JOIN)
        on_join(p, route, from, uplink, &m, now);
    else if (route != NULL)
        on_other(p, route, from, &m, now);
    return CTL_PARSED;
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
        *route = (struct relay_route){0};
    }
    clear_failed(p);
}
