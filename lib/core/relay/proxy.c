/* Memory, processes, the lives of jobs, and time. proxy_below.c and proxy_above.c have what comes from either
 * side. */
#include "relay/proxy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/entry.h"
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

static size_t parents_bytes(const struct relay_config *cfg)
{
    return cfg->uplinks * sizeof(struct relay_parent);
}

size_t relay_footprint(const struct relay_config *cfg)
{
    const struct relay_actions *a = &cfg->actions;

    if (cfg->max_jobs < 1 || cfg->max_processes < 1 || cfg->uplinks < 1 || cfg->id == 0 ||
        cfg->protocols_known == 0 || cfg->max_workers > CTL_RANKS_MAX || !a->send || !a->send_up ||
        !a->prepare || !a->release || !a->payload_bytes || (cfg->library && !a->random))
        return 0;
    return jobs_bytes(cfg) + routes_bytes(cfg) + parents_bytes(cfg) +
           cfg->max_jobs * (members_bytes(cfg) + table_bytes(cfg));
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
                                             .hears_nics = cfg->hears_nics,
                                             .protocols_known = cfg->protocols_known,
                                             .max_workers = cfg->max_workers};
    p->routes = (struct relay_route *)rest;
    rest += routes_bytes(cfg);
    p->parents = (struct relay_parent *)rest;
    rest += parents_bytes(cfg);
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

uint64_t relay_boot_id(const struct relay_proxy *p, const struct ctl_endpoint *e, uint64_t boot_id)
{
    const uint64_t own = ctl_guard_boot_id(&p->guard, p->cfg.id, e);

    return boot_id == 0 || boot_id == own ? boot_id : boot_id ^ own;
}

uint64_t relay_shown_boot_id(const struct relay_proxy *p, const struct ctl_endpoint *e, unsigned uplink)
{
    const uint64_t above = p->parents[uplink].boot_id;

    return above != 0 ? relay_boot_id(p, e, above) : ctl_guard_boot_id(&p->guard, p->cfg.id, e);
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

/* Jobs */

void relay_event(const struct relay_proxy *p, const struct relay_job *job, enum ctl_event_kind kind,
                 const char *format, ...)
{
    char text[CTL_TEXT_MAX + 100];
    const struct ctl_event event = {.kind = kind, .text = text, .rank = CTL_NO_RANK};
    va_list args;

    if (!p->cfg.actions.event)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    p->cfg.actions.event(p->cfg.actions.ctx, &job->entry, &event);
}

/* Whether it is in this life that the job is. Who has no key is in no job of those that have one. */
static bool is_life(const struct relay_job *job, const struct relay_route *route, uint32_t epoch)
{
    return job->entry.epoch == epoch && job->uplink == route->uplink &&
           job->entry.keyed == relay_is_keyed(route);
}

struct relay_job *relay_job_of(struct relay_proxy *p, const struct relay_route *route)
{
    for (unsigned i = 0; route->epoch != 0 && i < p->cfg.max_jobs; i++) {
        struct relay_job *job = &p->jobs[i];

        if (ctl_entry_is_live(&job->entry) && is_life(job, route, route->epoch))
            return job;
    }
    return NULL;
}

/* Also one that has FAILED. */
static struct relay_job *find_life(struct relay_proxy *p, const struct relay_route *route, uint32_t epoch)
{
    for (unsigned i = 0; i < p->cfg.max_jobs; i++)
        if (p->jobs[i].entry.state != CTL_ENTRY_FREE && is_life(&p->jobs[i], route, epoch))
            return &p->jobs[i];
    return NULL;
}

const struct relay_job *relay_failed_here(struct relay_proxy *p, const struct relay_route *route,
                                          uint32_t epoch)
{
    const struct relay_job *job = epoch == 0 ? NULL : find_life(p, route, epoch);

    return job != NULL && job->entry.state == CTL_ENTRY_FAILED && job->refused ? job : NULL;
}

static void clear_job(struct relay_job *job)
{
    *job = (struct relay_job){.entry.members = job->entry.members, .contributor = job->contributor};
}

/* A free place, or that of the job which has failed longest ago; NULL: all are in use. */
static struct relay_job *find_place(struct relay_proxy *p)
{
    struct relay_job *best = NULL;

    for (unsigned i = 0; i < p->cfg.max_jobs; i++) {
        struct relay_job *job = &p->jobs[i];

        if (job->entry.state == CTL_ENTRY_FREE)
            return job;
        if (job->entry.state == CTL_ENTRY_FAILED && (best == NULL || job->entry.since < best->entry.since))
            best = job;
    }
    return best;
}

void relay_close(struct relay_proxy *p, struct relay_job *job, const struct ctl_failure *why, uint64_t now)
{
    if (job->entry.state == CTL_ENTRY_RUNNING)
        p->cfg.actions.release(p->cfg.actions.ctx, job);
    if (why == NULL) {
        relay_event(p, job, CTL_EVENT_ENDS,
                    "over here: the switch above has ended this life of it, or all ranks have left");
        clear_job(job);
        return;
    }
    job->entry.state = CTL_ENTRY_FAILED;
    job->entry.since = now;
    job->entry.failure = *why;
    relay_event(p, job, CTL_EVENT_FAILS, "failed (%s): %s", ctl_reason_name(why->reason), why->text);
}

void relay_part(struct relay_proxy *p, struct relay_job *job, unsigned rank, enum ctl_member_state state,
                uint64_t now)
{
    if (job->entry.members[rank].state != CTL_MEMBER_JOINED)
        return;
    job->entry.members[rank].state = state;
    if (--job->entry.present == 0)
        relay_close(p, job, NULL, now);
}

/* As if one of its ranks had said it, that has not left: the root fails the job, and names that rank's
 * switch. Where that is lost, heartbeats of ranks bring it (relay_failed_here). */
static void abort_up(struct relay_proxy *p, const struct relay_job *job, const struct ctl_failure *why)
{
    for (unsigned i = 0; i < p->cfg.max_processes; i++) {
        struct relay_route *route = &p->routes[i];
        struct ctl_message m = {.head = {.type = CTL_ABORT,
                                         .version = CTL_VERSION,
                                         .boot_id = job->parent_boot_id,
                                         .incarnation = route->incarnation,
                                         .epoch = job->entry.epoch,
                                         .rank = route->rank,
                                         .size = route->size,
                                         .serial = route->serial + 1},
                                .failure = *why};

        if (route->incarnation == 0 || route->epoch == 0 || !is_life(job, route, route->epoch) ||
            job->entry.members[route->rank].state != CTL_MEMBER_JOINED)
            continue;
        route->serial++; /* so that its answer is not taken for one to something else */
        relay_send_message_up(p, route, &m);
        return;
    }
}

void relay_fail(struct relay_proxy *p, struct relay_job *job, enum ctl_reason reason, const char *format, ...)
{
    const uint8_t *ip = (const uint8_t *)&p->cfg.ip;
    struct ctl_failure why = {.reason = (uint16_t)reason, .rank = UINT16_MAX};
    char text[CTL_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(why.text, sizeof(why.text), "switch %u.%u.%u.%u: %.170s", ip[0], ip[1], ip[2], ip[3], text);
    job->refused = true;
    abort_up(p, job, &why);
    relay_close(p, job, &why, job->parent_heard_at);
}

/* READY */

static void found(struct relay_proxy *p, struct relay_job *job, const struct relay_route *route,
                  const struct ctl_endpoint *parent, const struct ctl_message *m, uint64_t now)
{
    struct ctl_entry *e = &job->entry;

    clear_job(job);
    memset(e->members, 0, route->size * sizeof(*e->members));
    e->state = CTL_ENTRY_FORMING;
    e->since = now;
    memcpy(e->name, route->join.name, sizeof(e->name));
    e->tenant = route->tenant;
    e->keyed = relay_is_keyed(route);
    e->epoch = m->head.epoch;
    e->size = route->size;
    e->network = route->endpoint.network;
    e->founder = route->endpoint.ip;
    e->terms = m->ready.terms;
    e->protocol = ctl_registry_protocol(&p->limits, e->terms.protocol);
    e->roster = m->ready.roster;
    e->resumed = false;
    job->uplink = route->uplink;
    job->parent = *parent;
    job->parent_boot_id = m->head.boot_id;
    job->parent_number = m->ready.job;
    job->parent_data_port = m->ready.data_port;
    job->parent_data_ports = m->ready.data_ports;
    job->above = m->ready.above;
    job->lost_after_ms = m->ready.lost_after_ms;
    job->parent_heard_at = now;
    job->bundle = m->ready.bundle;
    if (!e->keyed)
        return;
    ctl_guard_make_secret(e->secret, p->cfg.actions.random, p->cfg.actions.ctx);
    memcpy(job->parent_secret, m->ready.covered, sizeof(job->parent_secret));
}

static void sit_down(struct relay_job *job, const struct relay_route *route, bool resumed)
{
    struct ctl_member *member = &job->entry.members[route->rank];

    job->entry.present += member->state != CTL_MEMBER_JOINED;
    job->entry.resumed |= resumed;
    *member = (struct ctl_member){.state = CTL_MEMBER_JOINED,
                                  .endpoint = route->endpoint,
                                  .data_port = route->join.data_port,
                                  .queue_pair = route->join.queue_pair,
                                  .hops = route->join.hops,
                                  .host = route->join.host,
                                  .via = route->join.via,
                                  .wish = route->join.terms,
                                  .incarnation = route->incarnation,
                                  .heard_at = route->heard_at,
                                  .serial = route->serial,
                                  .origin = resumed ? CTL_RESUMES : CTL_IS_NEW,
                                  .resume_job = route->join.job,
                                  .confirmed = true};
}

static uint8_t data_ports(const struct relay_proxy *p, const struct agg_protocol *protocol)
{
    const unsigned has = protocol->udp_ports.last - protocol->udp_ports.first + 1u;

    return p->cfg.data_ports < has ? p->cfg.data_ports : (uint8_t)has;
}

/* The numbers above this switch. */
static struct ctl_above numbers_above(const struct relay_job *job)
{
    struct ctl_above above = {.levels = (uint8_t)(job->above.levels + 1), .number = {job->parent_number}};

    if (above.levels == CTL_LEVELS_MAX)
        above.levels--;
    memcpy(above.number + 1, job->above.number, sizeof(above.number) - 1);
    return above;
}

static void tell_ready(const struct relay_proxy *p, const struct relay_job *job,
                       const struct relay_route *route)
{
    const struct ctl_entry *e = &job->entry;
    struct ctl_message m = {.head = {.type = CTL_READY,
                                     .boot_id = relay_boot_id(p, &route->endpoint, job->parent_boot_id),
                                     .incarnation = route->incarnation,
                                     .epoch = e->epoch,
                                     .rank = route->rank,
                                     .size = e->size,
                                     .serial = route->serial},
                            .ready = {.job = e->number,
                                      .data_port = e->protocol->udp_ports.first,
                                      .data_ports = data_ports(p, e->protocol),
                                      .nic = ctl_nic_of(e->members[route->rank].queue_pair),
                                      .lost_after_ms = job->lost_after_ms,
                                      .resumed = e->members[route->rank].origin == CTL_RESUMES,
                                      .roster = e->roster,
                                      .terms = e->terms,
                                      .above = numbers_above(job),
                                      .bundle = ctl_tree_bundle(e, route->rank),
                                      .ticket = route->ticket}};

    memcpy(m.ready.covered, e->secret, sizeof(e->secret));
    relay_send_down(p, route, &m);
}

/* The rank has READY, but others that come by this switch have not. */
static void tell_pending(const struct relay_proxy *p, const struct relay_job *job,
                         const struct relay_route *route, uint64_t now)
{
    const struct ctl_entry *e = &job->entry;
    struct ctl_message m = {.head = {.type = CTL_PENDING,
                                     .boot_id = relay_boot_id(p, &route->endpoint, job->parent_boot_id),
                                     .incarnation = route->incarnation,
                                     .rank = route->rank,
                                     .size = e->size,
                                     .serial = route->serial},
                            .pending = {.waited_ms = (uint32_t)((now - e->since) / UINT64_C(1000000))}};

    for (unsigned rank = 0; rank < e->size; rank++)
        if (ctl_ranks_has(&job->bundle, rank) && e->members[rank].state != CTL_MEMBER_JOINED)
            ctl_ranks_add(&m.pending.missing, rank);
    relay_send_down(p, route, &m);
}

static void run(struct relay_proxy *p, struct relay_job *job, uint8_t number, uint64_t now)
{
    const uint8_t *ip = (const uint8_t *)&p->cfg.uplink[job->uplink].ip;

    job->entry.state = CTL_ENTRY_RUNNING;
    job->entry.since = now;
    job->entry.number = number;
    relay_event(
        p, job, CTL_EVENT_BEGINS,
        "%s: %u of its %u ranks come by this switch, number %u, number %u at switch %u.%u.%u.%u above",
        job->entry.resumed ? "resumed" : "ready", job->entry.present, job->entry.size, number,
        job->parent_number, ip[0], ip[1], ip[2], ip[3]);
    for (unsigned i = 0; i < p->cfg.max_processes; i++)
        if (p->routes[i].incarnation != 0 && relay_job_of(p, &p->routes[i]) == job)
            tell_ready(p, job, &p->routes[i]);
}

static enum ctl_reason reason_of(int rc)
{
    return rc == -EMFILE ? CTL_NO_JOBS : rc == -EINVAL ? CTL_BAD_ARGUMENT : CTL_NO_SLOTS;
}

/* All ranks that come by this switch have READY. */
static void prepare(struct relay_proxy *p, struct relay_job *job, uint64_t now)
{
    char text[CTL_TEXT_MAX] = "";
    uint8_t number;
    int rc;

    job->contributors = ctl_tree_contributors(&job->entry, job->contributor, NULL);
    rc = p->cfg.actions.prepare(p->cfg.actions.ctx, job, &number, text);
    if (rc < 0)
        relay_fail(p, job, reason_of(rc), "%s", text);
    else
        run(p, job, number, now);
}

/* Whether READY makes sense here: of this protocol, and with the rank among those that come by this switch.
 */
static bool is_sane(const struct relay_proxy *p, const struct relay_route *route, const struct ctl_message *m)
{
    return m->head.epoch != 0 && m->ready.data_port != 0 && ctl_ranks_has(&m->ready.bundle, route->rank) &&
           m->head.size == route->size && ctl_registry_protocol(&p->limits, m->ready.terms.protocol) != NULL;
}

/* Whether it is a READY of this job's ranks. Later ones may name fewer, when some have left. */
static bool is_of(const struct ctl_message *m, const struct relay_job *job)
{
    return m->head.size == job->entry.size && ctl_ranks_has(&job->bundle, m->head.rank);
}

/* The route's process is in this life now, and no longer in another. */
static void enter_life(struct relay_proxy *p, struct relay_route *route, uint32_t epoch, uint64_t now)
{
    struct relay_job *old = route->epoch != epoch ? relay_job_of(p, route) : NULL;

    if (old != NULL)
        relay_close(p, old, NULL, now);
    route->epoch = epoch;
}

void relay_ready(struct relay_proxy *p, struct relay_route *route, const struct ctl_endpoint *parent,
                 const struct ctl_message *m, uint64_t now)
{
    struct relay_job *job;

    if (!is_sane(p, route, m))
        return;
    enter_life(p, route, m->head.epoch, now);
    route->ticket = m->ready.ticket;
    job = find_life(p, route, m->head.epoch);
    if (job == NULL && (job = find_place(p)) == NULL)
        return; /* the root repeats it, and gives up in the end */
    if (job->entry.state == CTL_ENTRY_FREE || job->entry.epoch != m->head.epoch)
        found(p, job, route, parent, m, now);
    if (!is_of(m, job))
        return;
    if (job->entry.state == CTL_ENTRY_FAILED) {
        if (job->refused)
            abort_up(p, job, &job->entry.failure);
        return;
    }
    if (job->entry.state == CTL_ENTRY_RUNNING) {
        tell_ready(p, job, route);
        return;
    }
    sit_down(job, route, m->ready.resumed);
    if (job->entry.state == CTL_ENTRY_FORMING && job->entry.present == ctl_ranks_count(&job->bundle))
        prepare(p, job, now);
    if (job->entry.state == CTL_ENTRY_FORMING)
        tell_pending(p, job, route, now);
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
            clear_job(job);
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
