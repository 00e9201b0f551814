/* What comes from below. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/admission.h"
#include "relay/protocol.h"
#include "relay/proxy.h"
#include "relay/proxy_state.h"

enum { SILENT_MS = 1000, MS = 1000000 }; /* a switch that is there answers sooner */

/* Of a message from below. */
struct sender {
    struct ctl_endpoint from; /* with its key */
    unsigned uplink;          /* of its job, as the caller has it */
    uint64_t challenge;       /* that it repeats */
};

/* To who is not let in, or is to wait. A boot id that he knows is not changed: nothing has restarted. */
static void answer(const struct relay_proxy *p, const struct sender *s, const struct ctl_message *m,
                   enum ctl_type type, const struct ctl_failure *why)
{
    const struct relay_route route = {.endpoint = s->from};
    struct ctl_message a = {.head = m->head};

    a.head.type = (uint8_t)type;
    a.head.epoch = 0;
    if (a.head.boot_id == 0)
        a.head.boot_id = relay_shown_boot_id(p, &s->from, s->uplink);
    if (type == CTL_PENDING && why != NULL) {
        ctl_ranks_add(&a.pending.missing, m->head.rank);
        a.pending.turned_away = *why;
    } else if (why != NULL)
        a.failure = *why;
    relay_send_down(p, &route, &a);
}

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
    relay_event(p, job, CTL_EVENT_NOTE, "rank %u speaks from another MAC address now", route->rank);
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
    const struct agg_limits limits = {.payload_bytes = payload_bytes, .passed_on = true};
    struct agg_refusal refusal;
    struct agg_terms fitting;

    if (m->join.resume)
        return true;
    if (!relay_takes(protocol, wish, refusal.text) || !protocol->grant(wish, 1, &limits, &fitting, &refusal))
        return no(why, CTL_BAD_ARGUMENT, m->head.rank, "%s", refusal.text);
    *wish = fitting;
    return true;
}

/* Whether the rank may join through this switch. Then *tenant is whose it is, and m->join.terms are what is
 * to be passed up. */
static bool admits(struct relay_proxy *p, const struct ctl_endpoint *from, unsigned uplink,
                   struct ctl_message *m, uint16_t payload_bytes, int *tenant, struct ctl_failure *why)
{
    const struct relay_actions *a = &p->cfg.actions;
    const unsigned rank = m->head.rank;

    if (from->key != 0 && p->cfg.uplink[uplink].keys == 0)
        return no(why, CTL_BAD_KEY, rank,
                  "this switch passes jobs of this name up to another, with whom it shares no key (uplink: "
                  "key_file in its configuration)");
    if (!ctl_admission_arguments(&p->limits, m, why))
        return false;
    if (m->join.hops >= CTL_LEVELS_MAX - 1 || is_switch_above(p, from->ip))
        return no(why, CTL_BAD_ARGUMENT, rank,
                  "the switches above one another (uplink) are a circle, or more than %d", CTL_LEVELS_MAX);
    if (!fit(p, m, payload_bytes, &m->join.terms, why))
        return false;
    *tenant =
        a->admit ? a->admit(a->ctx, from, relay_key_owner(p, from), &m->join, &m->join.terms, why->text) : 0;
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
    m->join.queue_pair = 0; /* its packets end here */
    shift_numbers(&m->join);
    m->head.boot_id = relay_boot_id(p, &route->endpoint, m->head.boot_id);
    relay_send_message_up(p, route, m);
}

/* From now on the switch above owes an answer, if it did not before. */
static void expect_answer_above(struct relay_proxy *p, unsigned uplink, uint64_t now)
{
    if (p->parents[uplink].silent_since == 0)
        p->parents[uplink].silent_since = now;
}

/* Whether the switch above has answered nothing for long, since who joined first in that time. */
static bool is_silent_above(const struct relay_proxy *p, unsigned uplink, uint64_t now,
                            struct ctl_failure *why)
{
    const uint8_t *here = (const uint8_t *)&p->cfg.ip, *above = (const uint8_t *)&p->cfg.uplink[uplink].ip;
    const uint64_t silent_ms = (now - p->parents[uplink].silent_since) / MS;

    if (silent_ms < SILENT_MS)
        return false;
    no(why, CTL_NOT_ADMITTED, CTL_NO_RANK,
       "switch %u.%u.%u.%u: the switch above, %u.%u.%u.%u, has not answered for %.1f s: does swagg run "
       "there?",
       here[0], here[1], here[2], here[3], above[0], above[1], above[2], above[3], (double)silent_ms / 1000);
    return true;
}

/* Whether the process has heard from this switch at its address: it repeats what that is shown. Until the
 * switch above has shown its boot id there is nothing to repeat. */
static bool is_proven(const struct relay_proxy *p, const struct sender *s, const struct ctl_message *m)
{
    return p->parents[s->uplink].boot_id == 0 ||
           m->head.boot_id == relay_shown_boot_id(p, &s->from, s->uplink);
}

static void on_join(struct relay_proxy *p, struct relay_route *route, struct sender *s, struct ctl_message *m,
                    uint64_t now)
{
    const struct ctl_endpoint *from = &s->from;
    const unsigned uplink = route != NULL ? route->uplink : s->uplink;
    const struct ctl_message said = *m;
    const uint16_t payload_bytes = p->cfg.actions.payload_bytes(p->cfg.actions.ctx, uplink);
    struct ctl_failure why = {.rank = m->head.rank};
    const struct relay_job *ended;
    int tenant = 0;

    if (payload_bytes == 0) { /* it is being asked what passes */
        expect_answer_above(p, uplink, now);
        answer(p, s, m, CTL_PENDING, is_silent_above(p, uplink, now, &why) ? &why : NULL);
        return;
    }
    if (!admits(p, from, uplink, m, payload_bytes, &tenant, &why) ||
        is_turned_away(p, route, m, tenant, &why) ||
        (route == NULL && ctl_guard_is_retired(&p->guard, from, &why))) {
        answer(p, s, &said, CTL_REFUSED, &why);
        return;
    }
    if (said.join.resume && route != NULL && (ended = relay_failed_here(p, route, route->epoch)) != NULL) {
        why = ended->entry.failure; /* the switch above has restarted meanwhile, and knows nothing of it */
        answer(p, s, &said, CTL_REFUSED, &why);
        return;
    }
    if (route == NULL && !is_proven(p, s, m)) { /* it may be forged; a live process JOINs again at once */
        m->head.boot_id = 0;
        answer(p, s, m, CTL_PENDING, NULL);
        return;
    }
    if (route == NULL && !ctl_guard_is_fresh(&p->guard, from, m->head.incarnation, s->challenge)) {
        answer(p, s, m, CTL_PENDING, NULL); /* a live process learns the challenge from it */
        return;
    }
    if (route == NULL && (route = relay_new_route(p)) == NULL) {
        no(&why, CTL_NO_JOBS, m->head.rank, "this switch has %u processes below it, as many as it can have",
           p->cfg.max_processes);
        answer(p, s, &said, CTL_REFUSED, &why);
        return;
    }
    if (route->incarnation != m->head.incarnation)
        *route = (struct relay_route){
            .incarnation = m->head.incarnation, .uplink = uplink, .answered = m->head.serial};
    if (m->head.serial > route->serial) {
        follow(p, route, relay_job_of(p, route), from); /* a rank goes on to join until READY gets to it */
        route->endpoint = *from;
    }
    route->serial = m->head.serial;
    route->heard_at = now;
    route->rank = m->head.rank;
    route->size = m->head.size;
    route->tenant = tenant;
    route->join = said.join;
    pass_join_up(p, route, m);
    expect_answer_above(p, uplink, now);
    if (!said.join.resume && is_silent_above(p, uplink, now, &why))
        answer(p, s, &said, CTL_PENDING, &why);
}

/* HEARTBEAT, LEAVE, ABORT. A rank of a job that this switch has failed says that with each heartbeat, until
 * the switch above has heard it. */

static void on_other(struct relay_proxy *p, struct relay_route *route, const struct ctl_endpoint *from,
                     struct ctl_message *m, uint64_t now)
{
    struct relay_job *job = relay_job_of(p, route);
    const struct relay_job *failed = relay_failed_here(p, route, m->head.epoch);

    if (m->head.serial > route->serial) {
        route->heard_at = now;
        follow(p, route, job, from);
    }
    route->serial = m->head.serial;
    if (failed != NULL && m->head.type == CTL_HEARTBEAT) {
        m->head.type = CTL_ABORT;
        m->failure = failed->entry.failure;
    }
    if (job != NULL && m->head.type == CTL_HEARTBEAT) {
        job->entry.members[route->rank].heartbeat = m->heartbeat;
        job->entry.members[route->rank].heard_at = now;
    }
    m->head.boot_id = relay_boot_id(p, &route->endpoint, m->head.boot_id);
    relay_send_message_up(p, route, m);
}

/* Receiving */

static enum ctl_parse_error read_message(const struct relay_proxy *p, struct ctl_message *m, struct sender *s,
                                         const uint8_t *payload, size_t bytes)
{
    const enum ctl_parse_error error = ctl_parse(m, payload, bytes);

    if (error != CTL_PARSED)
        return error;
    return ctl_type_from_worker(m->head.type)
               ? ctl_guard_check(&p->guard, &m->head, payload, bytes, &s->from, &s->challenge)
               : CTL_BAD_TYPE;
}

enum ctl_parse_error relay_read(const struct relay_proxy *p, struct ctl_message *m, struct ctl_endpoint *from,
                                const uint8_t *payload, size_t bytes)
{
    struct sender s = {.from = *from};
    const enum ctl_parse_error error = read_message(p, m, &s, payload, bytes);

    *from = s.from;
    return error;
}

enum ctl_parse_error relay_receive(struct relay_proxy *p, const struct ctl_endpoint *from, unsigned uplink,
                                   const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct sender s = {.from = *from, .uplink = uplink};
    struct ctl_message m;
    const enum ctl_parse_error error = read_message(p, &m, &s, payload, bytes);
    struct relay_route *route =
        error == CTL_PARSED ? relay_route_below(p, &s.from, m.head.incarnation) : NULL;

    if (error != CTL_PARSED || (route != NULL && m.head.serial < route->serial)) /* or late */
        return error;
    if (m.head.type == CTL_JOIN)
        on_join(p, route, &s, &m, now);
    else if (route != NULL)
        on_other(p, route, &s.from, &m, now);
    return CTL_PARSED;
}
