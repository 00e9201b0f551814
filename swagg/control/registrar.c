#include "control/registrar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/jobs_share.h"
#include "base/log.h"
#include "base/uplink_ports.h"
#include "control/post.h"
#include "monotonic.h"
#include "port/frame.h"
#include "port/steer.h"
#include "protocol/heard.h"
#include "registry/registry_reload.h"
#include "registry/registry_reserve.h"
#include "registry/terms.h"
#include "relay/protocol.h"
#include "sodium_keys.h"

static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct registrar *r = context;
    const struct post post = {.host = r->host, .bridge = r->parts.bridge};
    struct post_address address = {
        .network = to->network, .port = to->port, .ip = to->ip, .udp_port = to->udp_port};

    memcpy(address.mac.addr_bytes, to->mac, sizeof(address.mac.addr_bytes));
    count_event(r->host->counters, EVENT_CONTROL_SENT, post_send(&post, CTL_PORT, &address, payload, bytes));
}

static bool is_taken(void *context, const struct ctl_endpoint *from, uint16_t data_port,
                     char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;
    const struct agg_sender sender = {
        .ip = from->ip, .port = rte_cpu_to_be_16(data_port), .network = from->network};
    const uint8_t *at = (const uint8_t *)&from->ip;
    const struct agg_seat *seat;
    const struct switch_job *job = jobs_of_sender(r->parts.jobs, &sender, &seat);

    if (job != NULL)
        snprintf(
            text, CTL_TEXT_MAX,
            "UDP port %u of %u.%u.%u.%u is worker %u's of job %s in the switch's configuration (static): "
            "send from another, or take it out there",
            data_port, at[0], at[1], at[2], at[3], seat->rank, job->name);
    return job != NULL;
}

static bool receives(const struct lcore *lc)
{
    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        if (lc->tasks->queues.rx[q] != 0)
            return true;
    return false;
}

/* The clock does not wait for lcores that do not receive. */
static unsigned rounds(const struct registry_host *h, uint64_t of[SWAGG_MAX_LCORES], uint64_t now)
{
    const struct lcores *lcores = ((const struct registrar *)h)->parts.lcores;

    for (unsigned i = 0; i < lcores->n; i++)
        of[i] =
            receives(lcores->lcore[i]) ? counter_read(&lcores->lcore[i]->counters.event[EVENT_ROUNDS]) : now;
    return lcores->n;
}

/* --- pools of jobs whose ranks are all there ------------------------------------------------------------ */

static struct jobs_member member_at(const struct ctl_endpoint *e, uint16_t data_port)
{
    struct jobs_member m = {.port = e->port, .ip = e->ip, .udp_port = rte_cpu_to_be_16(data_port)};

    memcpy(m.mac.addr_bytes, e->mac, sizeof(m.mac.addr_bytes));
    return m;
}

/* Its members: ranks, or switches that send for several. Fills in contributor. */
static void plan_members(struct jobs_plan *plan, const struct ctl_entry *job, uint16_t contributor[])
{
    uint16_t first[AGG_MAX_WORKERS];

    plan->size = ctl_tree_contributors(job, contributor, first);
    for (uint16_t i = 0; i < plan->size; i++) {
        const struct ctl_member *member = &job->members[first[i]];

        plan->member[i] = member_at(&member->endpoint, member->data_port);
        plan->member[i].queue_pair = member->queue_pair;
    }
    for (unsigned n = 0; n < JOBS_MAX; n++)
        if (ctl_entry_had_number(job, (uint8_t)n))
            plan->unusable[n / 64] |= RTE_BIT64(n % 64);
}

static struct jobs_plan plan_for(const struct ctl_entry *job, const struct agg_terms *terms, bool as_it_is,
                                 uint32_t founder)
{
    struct jobs_plan plan = {.protocol = job->protocol,
                             .terms = *terms,
                             .as_it_is = as_it_is,
                             .network = job->network,
                             .tenant = job->tenant,
                             .founder = founder};

    snprintf(plan.name, sizeof(plan.name), "%s", job->name);
    return plan;
}

static int open_job(const struct registrar *r, struct jobs_plan *plan, uint8_t *number,
                    char text[CTL_TEXT_MAX])
{
    const struct jobs_identity us = {.mac = r->host->mac, .ip = host_ip(r->host, plan->network)};

    if (plan->tree != NULL) {
        if (!relay_takes(plan->protocol, &plan->terms, text))
            return -EINVAL;
        plan->protocol = relay_protocol_of(plan->protocol);
    }
    return jobs_open(r->parts.jobs, plan, &us, number, text);
}

static int prepare(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;
    uint16_t contributor[AGG_MAX_WORKERS];
    const struct agg_node tree = {.ranks = job->size, .contributor = contributor};
    struct keys_secret shared = {.library = keys_sodium()};
    struct jobs_plan plan = plan_for(job, terms, job->resumed, ctl_entry_debtor(job));
    int rc;

    plan_members(&plan, job, contributor);
    plan.tree = ctl_tree_has_switches(job) ? &tree : NULL;
    if (job->keyed) {
        memcpy(shared.secret, job->secret, sizeof(shared.secret));
        plan.shared = &shared;
    }
    rc = terms_check(r->common.parts.cfg, plan.protocol, plan.size, plan.shared, &plan.terms, text);
    if (rc == 0)
        rc = open_job(r, &plan, number, text);
    keys_erase(&shared, sizeof(shared));
    *terms = plan.terms;
    return rc;
}

static void release(void *context, const struct ctl_entry *job)
{
    const struct registrar *r = context;

    jobs_close(r->parts.jobs, job->protocol->id, job->number);
}

static struct jobs_location location_of(const struct ctl_endpoint *e)
{
    struct jobs_location to = {.port = e->port};

    memcpy(to.mac.addr_bytes, e->mac, sizeof(to.mac.addr_bytes));
    return to;
}

/* A member is found by its address: its number is that of its switch, if it comes by one. */
static struct agg_sender sender_of(const struct ctl_member *m)
{
    return (struct agg_sender){
        .ip = m->endpoint.ip, .port = rte_cpu_to_be_16(m->data_port), .network = m->endpoint.network};
}

static void moved(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct registrar *r = context;
    const struct ctl_member *m = &job->members[rank];
    const struct agg_sender at = sender_of(m);
    const struct switch_job *running = jobs_find(r->parts.jobs, job->protocol->id, job->number);
    const struct agg_seat *seat = running == NULL ? NULL : agg_job_find(&running->common, &at);
    const struct jobs_location to = location_of(&m->endpoint);

    /* without a seat it has ended */
    if (seat != NULL && jobs_move(r->parts.jobs, job->protocol->id, job->number, seat->rank, &to) < 0)
        log_warning("job %s: no memory to note the new MAC address of rank %u: raise memory.megabytes",
                    job->name, rank);
}

static bool heard(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct registrar *r = context;
    const struct agg_sender at = sender_of(&job->members[rank]);
    const struct switch_job *running = jobs_find(r->parts.jobs, job->protocol->id, job->number);

    return running != NULL && agg_heard_member(&running->common, &at);
}

/* --- jobs that go on to a switch above ----------------------------------------------------------------- */

static void send_up(void *context, unsigned uplink, const uint8_t *payload, size_t bytes)
{
    const struct registrar *r = context;

    uplinks_send(r->parts.uplinks, uplink, payload, bytes);
}

/* What the root has granted is the same at all switches, data_keys may not be. */
static int check_data_keys(const struct registrar *r, const struct jobs_plan *plan, char text[CTL_TEXT_MAX])
{
    const struct agg_pool_config pool = {.workers = plan->size, .terms = plan->terms, .shared = plan->shared};
    const struct config_tenant *tenant = &r->common.parts.cfg->tenant[plan->tenant];
    struct agg_footprint f;

    if (plan->shared == NULL || !tenant->data_keys || !plan->protocol->footprint(&pool, &f) || f.keyed)
        return 0;
    snprintf(text, CTL_TEXT_MAX,
             "data packets of tenant %s are keyed here, and the job's root does not key them: set data_keys: "
             "true there, or false here",
             tenant->name);
    return -EINVAL;
}

static int prepare_relayed(void *context, const struct relay_job *job, uint8_t *number,
                           char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;
    uint16_t contributor[AGG_MAX_WORKERS];
    struct agg_node tree = {.ranks = job->entry.size,
                            .contributor = contributor,
                            .has_parent = true,
                            .parent_job = job->parent_number};
    struct jobs_plan plan = plan_for(&job->entry, &job->entry.terms, true, ctl_entry_host(&job->entry));
    struct keys_secret ours = {.library = keys_sodium()}, parents = ours;
    int rc;

    plan_members(&plan, &job->entry, contributor);
    plan.tree = &tree;
    if (job->entry.keyed) {
        memcpy(ours.secret, job->entry.secret, sizeof(ours.secret));
        memcpy(parents.secret, job->parent_secret, sizeof(parents.secret));
        plan.shared = &ours;
        tree.parent_shared = &parents;
    }
    plan.parent = (struct jobs_parent){
        .uplink = job->uplink,
        .ports = job->parent_data_ports,
        .from_port = rte_cpu_to_be_16((uint16_t)(UPLINK_DATA_PORT + job->uplink)),
        .at = member_at(&job->parent, job->parent_data_port),
    };
    rc = check_data_keys(r, &plan, text);
    if (rc == 0 && !job->entry.resumed && !registry_admits(&r->common, &job->entry, text))
        rc = -EMFILE;
    if (rc == 0)
        rc = open_job(r, &plan, number, text);
    keys_erase(&ours, sizeof(ours));
    keys_erase(&parents, sizeof(parents));
    return rc;
}

static void release_relayed(void *context, const struct relay_job *job)
{
    release(context, &job->entry);
}

static void moved_relayed(void *context, const struct relay_job *job, unsigned rank)
{
    moved(context, &job->entry, rank);
}

static void parent_moved(void *context, const struct relay_job *job)
{
    const struct registrar *r = context;
    const struct jobs_location to = location_of(&job->parent);

    if (jobs_move_parent(r->parts.jobs, job->entry.protocol->id, job->entry.number, &to) < 0)
        log_warning(
            "job %s: no memory to note the new MAC address of the switch above: raise memory.megabytes",
            job->entry.name);
}

static void proven(void *context, unsigned uplink, const struct ctl_endpoint *from)
{
    const struct registrar *r = context;
    struct net_mac mac;

    memcpy(mac.addr_bytes, from->mac, sizeof(from->mac));
    uplinks_prove(r->parts.uplinks, uplink, &mac, from->port);
}

static uint16_t payload_bytes(void *context, unsigned uplink)
{
    const struct registrar *r = context;

    return uplinks_payload_bytes(r->parts.uplinks, uplink);
}

static void set_keyed(const struct registrar *r)
{
    for (unsigned u = 0; u < r->common.parts.cfg->uplinks; u++)
        uplinks_set_keyed(r->parts.uplinks, u, r->common.keyring.uplink[u].keys > 0);
}

static bool has_room(const struct registry_host *h, const struct room_job *asked, char text[AGG_TEXT_MAX])
{
    return jobs_have_room_for(((const struct registrar *)h)->parts.jobs, asked, text);
}

static const struct registry_host_kind kind = {.actions = {.send = send_message,
                                                           .prepare = prepare,
                                                           .release = release,
                                                           .moved = moved,
                                                           .heard = heard,
                                                           .is_taken = is_taken},
                                               .relay = {.send_up = send_up,
                                                         .prepare = prepare_relayed,
                                                         .release = release_relayed,
                                                         .moved = moved_relayed,
                                                         .parent_moved = parent_moved,
                                                         .proven = proven,
                                                         .payload_bytes = payload_bytes},
                                               .rounds = rounds,
                                               .has_room = has_room};

int registrar_open(struct registrar **out, const struct registrar_parts *parts)
{
    struct registrar *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (r == NULL)
        return -ENOMEM;
    r->parts = *parts;
    r->parts.common.kind = &kind;
    r->parts.common.hears_nics = true;
    r->host = &lcores_main(parts->lcores)->host;
    rc = registry_host_open(&r->common, &r->parts.common, monotonic_ns());
    if (rc == 0)
        rc = registry_host_begin(&r->common);
    if (rc < 0) {
        registrar_close(r);
        return rc;
    }
    parts->jobs->reserved = &r->common.reserved;
    set_keyed(r);
    *out = r;
    return 0;
}

void registrar_close(struct registrar *r)
{
    if (r == NULL)
        return;
    registry_host_close(&r->common);
    free(r);
}

/* What came to UPLINK_CONTROL_PORT. */
static enum ctl_parse_error receive_above(struct registrar *r, const struct ctl_endpoint *from,
                                          const struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    bool control;
    const int uplink = uplinks_receive(r->parts.uplinks, m, &control);

    if (uplink < 0)
        count_drop(r->host->counters, m->port, DROP_NOT_PARENT, 1);
    return control ? registry_host_receive_up(&r->common, (unsigned)uplink, from, f->payload,
                                              frame_payload_bytes(f), monotonic_ns())
                   : CTL_PARSED;
}

void registrar_receive(struct registrar *r, struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    const struct ctl_endpoint from = inbox_sender(m);
    enum ctl_parse_error e;

    static_assert(DROP_CONTROL_BAD_SEAL - DROP_CONTROL_TOO_SHORT == CTL_BAD_SEAL - CTL_TOO_SHORT,
                  "in the same order");
    count_event(r->host->counters, EVENT_CONTROL_RECEIVED, 1);
    e = inbox_is_from_above(m)
            ? receive_above(r, &from, m)
            : registry_host_receive(&r->common, &from, f->payload, frame_payload_bytes(f), monotonic_ns());
    if (e != CTL_PARSED)
        count_drop(r->host->counters, m->port, DROP_CONTROL_TOO_SHORT + (e - CTL_TOO_SHORT), 1);
    rte_pktmbuf_free(m);
}

uint64_t registrar_tick(struct registrar *r)
{
    registry_host_tick(&r->common, monotonic_ns());
    pthread_mutex_lock(&r->common.lock);
    if (r->common.proxy != NULL)
        uplinks_tick(r->parts.uplinks, monotonic_ns());
    jobs_reclaim(r->parts.jobs);
    pthread_mutex_unlock(&r->common.lock);
    jobs_rates_tick(r->parts.jobs, monotonic_ns());
    return r->common.now;
}

void registrar_take(struct registrar *r, struct registry_change *c)
{
    pthread_mutex_lock(&r->common.lock);
    registry_change_take(c);
    set_keyed(r);
    pthread_mutex_unlock(&r->common.lock);
}

struct port_cut {
    const struct registrar *registrar;
    unsigned port;
};

/* Where the bridge knows a station, or where it joined. */
static bool is_at(const void *port_cut, const struct ctl_endpoint *e)
{
    const struct port_cut *cut = port_cut;
    const int known = bridge_lookup(bridge_of(cut->registrar->parts.bridge, e->network), e->mac);

    return (known < 0 ? e->port : (unsigned)known) == cut->port;
}

void registrar_cut(struct registrar *r, unsigned port, const char *name)
{
    const struct port_cut cut = {r, port};
    char where[CTL_TEXT_MAX];

    snprintf(where, sizeof(where), "on port %s, which the switch's operator has removed", name);
    registry_host_cut(&r->common, is_at, &cut, where, monotonic_ns());
    if (r->common.proxy != NULL)
        uplinks_cut(r->parts.uplinks, port, name);
    send_flush(r->host->send);
}
