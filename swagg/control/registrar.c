#include "control/registrar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_random.h>

#include "aggregate/jobs_rates.h"
#include "aggregate/jobs_senders.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/uplink_ports.h"
#include "control/post.h"
#include "control/registrar_state.h"
#include "port/frame.h"
#include "port/steer.h"
#include "registry/tenants.h"
#include "registry/terms.h"

enum { PAUSES_PER_LOSS = 8 };

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

static int tenant_of(void *context, const struct ctl_endpoint *from, int key, const char *name,
                     char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;

    return tenants_admit(r->cfg, from, key, name, text);
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

static uint64_t random64(void *context)
{
    (void)context;
    return secret64();
}

static void report(void *context, const struct ctl_entry *job, const char *what)
{
    struct registrar *r = context;

    if (job_lines_admit(&r->lines, clock_ns()))
        log_notice("job %s: %s", job->name, what);
}

static void report_lines_left_out(struct registrar *r)
{
    char text[JOB_LINES_TEXT_MAX];

    if (job_lines_left_out(&r->lines, clock_ns(), text))
        log_notice("%s", text);
}

struct ctl_registry_config registrar_config(struct registrar *r, const struct config *cfg,
                                            const struct keyring *keys)
{
    return (struct ctl_registry_config){
        .protocols = r->parts.protocols,
        .protocols_known = r->parts.protocols_known,
        .max_jobs = (uint16_t)cfg->limits.jobs,
        .max_workers = (uint16_t)cfg->limits.workers,
        .tenants_known = cfg->tenants + cfg->leaving,
        .tenants = r->tenant,
        .jobs_per_host = (uint16_t)cfg->limits.jobs_per_host,
        .forming_max_ns = cfg->timers.forming_s * UINT64_C(1000000000),
        .boot_id = r->parts.boot_id,
        .lost_after_ns = cfg->timers.lost_after_ms * UINT64_C(1000000),
        .data_ports = r->parts.data_ports,
        .payload_bytes = terms_payload_bytes(cfg),
        .library = keys_sodium(),
        .key = keys->key,
        .keys = keys->keys,
        .actions = {.ctx = r,
                    .send = send_message,
                    .prepare = prepare,
                    .release = release,
                    .moved = moved,
                    .heard = heard,
                    .random = random64,
                    .event = report,
                    .tenant_of = tenant_of,
                    .is_taken = is_taken},
    };
}

static bool receives(const struct lcore *lc)
{
    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        if (lc->tasks->queues.rx[q] != 0)
            return true;
    return false;
}

/* Of the registry's clock, which does not wait for lcores that do not receive. The main lcore's. */
static uint64_t registry_time(struct registrar *r)
{
    const uint64_t now = clock_ns();
    uint64_t rounds[SWAGG_MAX_LCORES];

    for (unsigned i = 0; i < r->parts.lcores->n; i++)
        rounds[i] = receives(r->parts.lcores->lcore[i])
                        ? counter_read(&r->parts.lcores->lcore[i]->counters.event[EVENT_ROUNDS])
                        : now;
    return listening_time(&r->listening, rounds, r->parts.lcores->n, now);
}

/* Short pauses of a polling thread count as time, since it may go on being slow for long. */
static uint64_t pause_ns(const struct config *cfg)
{
    const uint64_t ms = RTE_MIN(cfg->timers.lost_after_ms / PAUSES_PER_LOSS, (uint32_t)LISTENING_PAUSE_MS);

    return ms * 1000000 + cfg->idle.until_due_us * UINT64_C(1000);
}

void registrar_follow(struct registrar *r)
{
    const struct config *cfg = r->cfg;

    tenants_list(cfg, r->tenant);
    job_lines_follow(&r->lines, cfg);
    r->listening.pause_ns = pause_ns(cfg);
}

static struct relays *open_relays(struct registrar *r, const struct ctl_registry_config *like)
{
    const struct relays_parts parts = {.cfg = r->cfg,
                                       .uplinks = r->parts.uplinks,
                                       .pools = &r->pools,
                                       .protocols = like->protocols,
                                       .protocols_known = like->protocols_known,
                                       .data_ports = like->data_ports,
                                       .keys = &r->keyring,
                                       .shared = like->actions};

    return relays_open(&parts);
}

int registrar_open(struct registrar **out, const struct registrar_parts *parts, const struct config *cfg)
{
    struct registrar *r = calloc(1, sizeof(*r));
    struct ctl_registry_config rc;
    void *mem;

    *out = NULL;
    if (r == NULL)
        return -ENOMEM;
    r->parts = *parts;
    r->host = &lcores_main(parts->lcores)->host;
    r->cfg = cfg;
    r->pools = (struct pools){.jobs = parts->jobs, .host = r->host, .cfg = cfg};
    job_lines_init(&r->lines, cfg, rte_rand());
    listening_init(&r->listening, pause_ns(cfg), clock_ns());
    registrar_follow(r);
    if (keyring_load(&r->keyring, cfg) < 0) {
        free(r);
        return -EINVAL;
    }
    rc = registrar_config(r, cfg, &r->keyring);
    mem = malloc(ctl_registry_footprint(&rc));
    if (mem == NULL) {
        log_error("no memory for %u jobs (limits.jobs)", cfg->limits.jobs);
        free(r);
        return -ENOMEM;
    }
    pthread_mutex_init(&r->lock, NULL);
    r->registry = ctl_registry_init(mem, &rc);
    if (cfg->uplinks > 0) {
        r->relays = open_relays(r, &rc);
        if (r->relays == NULL) {
            registrar_close(r);
            return -ENOMEM;
        }
    }
    *out = r;
    return 0;
}

void registrar_close(struct registrar *r)
{
    if (r == NULL)
        return;
    pthread_mutex_destroy(&r->lock);
    relays_close(r->relays);
    free(r->registry);
    keys_erase(&r->keyring, sizeof(r->keyring));
    free(r);
}

/* The main lcore alone changes the registry, so it reads without the lock. */
void registrar_list_members(const struct registrar *r, struct ctl_known *to)
{
    ctl_known_begin(to);
    ctl_registry_list_members(r->registry, to);
    relays_list(r->relays, to);
    ctl_known_show(to);
}

/* A message from a worker, or from a switch below. */
static enum ctl_parse_error receive_below(struct registrar *r, const struct ctl_endpoint *from,
                                          const struct frame_udp *f)
{
    const size_t bytes = frame_payload_bytes(f);

    return relays_receive(r->relays, from, f->payload, bytes, r->now)
               ? CTL_PARSED
               : ctl_registry_receive(r->registry, from, f->payload, bytes, r->now);
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
                                       r->now)
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
    r->lines.heard = f->ip.src_addr;
    pthread_mutex_lock(&r->lock);
    r->now = registry_time(r);
    e = inbox_is_from_above(m) ? receive_above(r, &from, m) : receive_below(r, &from, f);
    pthread_mutex_unlock(&r->lock);
    r->lines.heard = 0;
    if (e != CTL_PARSED)
        count_drop(r->host->counters, m->port, DROP_CONTROL_TOO_SHORT + (e - CTL_TOO_SHORT), 1);
    rte_pktmbuf_free(m);
}

uint64_t registrar_tick(struct registrar *r)
{
    pthread_mutex_lock(&r->lock);
    r->now = registry_time(r);
    ctl_registry_tick(r->registry, r->now);
    if (r->relays != NULL) {
        relays_tick(r->relays, r->now);
        uplinks_tick(r->parts.uplinks, clock_ns());
    }
    jobs_reclaim(r->parts.jobs);
    pthread_mutex_unlock(&r->lock);
    jobs_rates_tick(r->parts.jobs, clock_ns());
    report_lines_left_out(r);
    return r->now;
}

static bool change_job(struct registrar *r, int tenant, const char *name,
                       bool (*change)(struct ctl_registry *, int, const char *, uint64_t))
{
    bool any;

    pthread_mutex_lock(&r->lock);
    r->now = registry_time(r);
    any = change(r->registry, tenant, name, r->now);
    pthread_mutex_unlock(&r->lock);
    return any;
}

/* Of a job that goes on to a switch above. */
static bool change_relayed(struct registrar *r, int tenant, const char *name,
                           bool (*change)(struct relays *, int, const char *, uint64_t))
{
    bool any;

    pthread_mutex_lock(&r->lock);
    any = r->relays != NULL && change(r->relays, tenant, name, r->now);
    pthread_mutex_unlock(&r->lock);
    return any;
}

bool registrar_end_job(struct registrar *r, int tenant, const char *name)
{
    return change_job(r, tenant, name, ctl_registry_end) || change_relayed(r, tenant, name, relays_end);
}

bool registrar_drain_job(struct registrar *r, int tenant, const char *name)
{
    return change_job(r, tenant, name, ctl_registry_drain) || change_relayed(r, tenant, name, relays_drain);
}

void registrar_visit(struct registrar *r, registrar_visitor *visit, void *context)
{
    const struct relay_job *relayed;

    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < r->cfg->limits.jobs; i++)
        if (ctl_registry_entry(r->registry, i)->state != CTL_ENTRY_FREE &&
            !ctl_registry_is_superseded(r->registry, i))
            visit(context,
                  &(struct registrar_job){.entry = ctl_registry_entry(r->registry, i), .now = r->now});
    for (unsigned i = 0; (relayed = relays_job(r->relays, i)) != NULL; i++)
        if (relayed->entry.state != CTL_ENTRY_FREE)
            visit(context,
                  &(struct registrar_job){.entry = &relayed->entry, .relayed = relayed, .now = r->now});
    pthread_mutex_unlock(&r->lock);
}
