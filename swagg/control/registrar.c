#include "control/registrar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/jobs_rates.h"
#include "aggregate/jobs_senders.h"
#include "base/clock.h"
#include "base/log.h"
#include "control/post.h"
#include "port/frame.h"
#include "port/steer.h"
#include "registry/registry_reload.h"

static const struct registrar *of_host(const struct registry_host *h)
{
    return (const struct registrar *)h;
}

static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct registrar *r = context;
    const struct post post = {.host = r->host, .bridge = r->parts.bridge};
    struct post_address address = {
        .network = to->network, .port = to->port, .ip = to->ip, .udp_port = to->udp_port};

    memcpy(address.mac.addr_bytes, to->mac, sizeof(address.mac.addr_bytes));
    count_event(r->host->counters, EVENT_CONTROL_SENT, post_send(&post, CTL_PORT, &address, payload, bytes));
}

static int prepare(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;

    return pools_open(&r->pools, job, terms, number, text);
}

static bool is_taken(void *context, const struct ctl_endpoint *from, uint16_t data_port,
                     char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;
    const struct agg_sender sender = {
        .ip = from->ip, .port = rte_cpu_to_be_16(data_port), .network = from->network};
    const uint8_t *at = (const uint8_t *)&from->ip;
    const struct agg_seat *seat;
    const struct job *job = jobs_of_sender(r->parts.jobs, &sender, &seat);

    if (job != NULL)
        snprintf(
            text, CTL_TEXT_MAX,
            "UDP port %u of %u.%u.%u.%u is worker %u's of job %s in the switch's configuration (static): "
            "send from another, or take it out there",
            data_port, at[0], at[1], at[2], at[3], seat->rank, job->name);
    return job != NULL;
}

static void release(void *context, const struct ctl_entry *job)
{
    const struct registrar *r = context;

    pools_close(&r->pools, job);
}

static void moved(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct registrar *r = context;

    if (pools_move(&r->pools, job, rank) < 0)
        log_warning("job %s: no memory to note the new MAC address of rank %u: raise memory.megabytes",
                    job->name, rank);
}

static bool heard(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct registrar *r = context;

    return pools_heard(&r->pools, job, rank);
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
    const struct lcores *lcores = of_host(h)->parts.lcores;

    for (unsigned i = 0; i < lcores->n; i++)
        of[i] =
            receives(lcores->lcore[i]) ? counter_read(&lcores->lcore[i]->counters.event[EVENT_ROUNDS]) : now;
    return lcores->n;
}

static bool has_key(const struct registry_host *h, unsigned key)
{
    return relays_have_key(of_host(h)->relays, key);
}

static uint64_t tenants(const struct registry_host *h)
{
    uint64_t found = 0;

    for (unsigned t = 0; t < h->config.tenants_known; t++)
        if (relays_have_tenant(of_host(h)->relays, (int)t))
            found |= RTE_BIT64(t);
    return found;
}

static bool end(struct registry_host *h, enum registry_host_end how, int tenant, const char *name)
{
    struct relays *relays = of_host(h)->relays;

    if (relays == NULL)
        return false;
    return how == REGISTRY_HOST_KILL ? relays_end(relays, tenant, name, h->now)
                                     : relays_drain(relays, tenant, name, h->now);
}

static const struct registry_host_kind kind = {.actions = {.send = send_message,
                                                           .prepare = prepare,
                                                           .release = release,
                                                           .moved = moved,
                                                           .heard = heard,
                                                           .is_taken = is_taken},
                                               .rounds = rounds,
                                               .has_key = has_key,
                                               .tenants = tenants,
                                               .end = end};

static struct relays *open_relays(struct registrar *r)
{
    const struct ctl_registry_config *like = &r->common.config;
    const struct relays_parts parts = {.cfg = r->common.parts.cfg,
                                       .uplinks = r->parts.uplinks,
                                       .pools = &r->pools,
                                       .protocols = like->protocols,
                                       .protocols_known = like->protocols_known,
                                       .data_ports = like->data_ports,
                                       .keys = &r->common.keyring,
                                       .shared = like->actions};

    return relays_open(&parts);
}

int registrar_open(struct registrar **out, const struct registrar_parts *parts, const struct config *cfg)
{
    const struct registry_host_parts common = {.kind = &kind,
                                               .cfg = cfg,
                                               .protocols = parts->protocols,
                                               .protocols_known = parts->protocols_known,
                                               .boot_id = parts->boot_id,
                                               .data_ports = parts->data_ports};
    struct registrar *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (r == NULL)
        return -ENOMEM;
    r->parts = *parts;
    r->host = &lcores_main(parts->lcores)->host;
    r->pools = (struct pools){.jobs = parts->jobs, .host = r->host, .cfg = cfg};
    rc = registry_host_open(&r->common, &common, clock_ns());
    if (rc == 0) {
        registry_host_begin(&r->common);
        r->relays = cfg->uplinks == 0 ? NULL : open_relays(r);
        rc = cfg->uplinks > 0 && r->relays == NULL ? -ENOMEM : 0;
    }
    if (rc < 0)
        registrar_close(r);
    else
        *out = r;
    return rc;
}

void registrar_close(struct registrar *r)
{
    if (r == NULL)
        return;
    relays_close(r->relays);
    registry_host_close(&r->common);
    free(r);
}

/* The main lcore alone changes the registry, so it reads without the lock. */
void registrar_list_members(const struct registrar *r, struct ctl_known *to)
{
    ctl_known_begin(to);
    ctl_registry_list_members(r->common.registry, to);
    relays_list(r->relays, to);
    ctl_known_show(to);
}

/* A message from a worker, or from a switch below. */
static enum ctl_parse_error receive_below(struct registrar *r, const struct ctl_endpoint *from,
                                          const struct frame_udp *f)
{
    const size_t bytes = frame_payload_bytes(f);

    return relays_receive(r->relays, from, f->payload, bytes, r->common.now)
               ? CTL_PARSED
               : ctl_registry_receive(r->common.registry, from, f->payload, bytes, r->common.now);
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
    return control ? relays_receive_up(r->relays, (unsigned)uplink, from, f->payload, frame_payload_bytes(f),
                                       r->common.now)
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
    registry_host_enter(&r->common, f->ip.src_addr, clock_ns());
    e = inbox_is_from_above(m) ? receive_above(r, &from, m) : receive_below(r, &from, f);
    registry_host_leave(&r->common);
    if (e != CTL_PARSED)
        count_drop(r->host->counters, m->port, DROP_CONTROL_TOO_SHORT + (e - CTL_TOO_SHORT), 1);
    rte_pktmbuf_free(m);
}

uint64_t registrar_tick(struct registrar *r)
{
    registry_host_tick(&r->common, clock_ns());
    pthread_mutex_lock(&r->common.lock);
    if (r->relays != NULL) {
        relays_tick(r->relays, r->common.now);
        uplinks_tick(r->parts.uplinks, clock_ns());
    }
    jobs_reclaim(r->parts.jobs);
    pthread_mutex_unlock(&r->common.lock);
    jobs_rates_tick(r->parts.jobs, clock_ns());
    return r->common.now;
}

void registrar_visit(struct registrar *r, registrar_visitor *visit, void *context)
{
    const struct relay_job *relayed;

    pthread_mutex_lock(&r->common.lock);
    for (unsigned i = 0; i < r->common.config.max_jobs; i++)
        if (ctl_registry_entry(r->common.registry, i)->state != CTL_ENTRY_FREE &&
            !ctl_registry_is_superseded(r->common.registry, i))
            visit(context, &(struct registrar_job){.entry = ctl_registry_entry(r->common.registry, i),
                                                   .now = r->common.now});
    for (unsigned i = 0; (relayed = relays_job(r->relays, i)) != NULL; i++)
        if (relayed->entry.state != CTL_ENTRY_FREE)
            visit(context, &(struct registrar_job){
                               .entry = &relayed->entry, .relayed = relayed, .now = r->common.now});
    pthread_mutex_unlock(&r->common.lock);
}

void registrar_take(struct registrar *r, struct registry_change *c)
{
    pthread_mutex_lock(&r->common.lock);
    registry_change_take(c);
    if (r->relays != NULL)
        relays_follow(r->relays, c->tenant);
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
    pthread_mutex_lock(&r->common.lock);
    ctl_registry_cut(r->common.registry, is_at, &cut, where, r->common.now);
    if (r->relays != NULL) {
        relays_cut(r->relays, is_at, &cut, where, r->common.now);
        uplinks_cut(r->parts.uplinks, port, name);
    }
    pthread_mutex_unlock(&r->common.lock);
    send_flush(r->host->send);
}
