#include "registry/registry_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/secret.h"
#include "monotonic.h"
#include "registry/registry_relays.h"
#include "registry/registry_reserve.h"
#include "registry/reserved_file.h"
#include "registry/terms.h"
#include "sodium_keys.h"

enum { PAUSES_PER_LOSS = 8 };

/* --- what every registry asks for ---------------------------------------------------------------------- */

static uint64_t random64(void *context)
{
    (void)context;
    return secret64();
}

static void log_job(enum log_level level, const struct ctl_entry *job, const struct ctl_event *event)
{
    struct log_subject about = {.job = job->name};
    char rank[8], host[VIEW_IP_MAX];

    if (event->rank < job->size) {
        const struct ctl_member *m = &job->members[event->rank];

        snprintf(rank, sizeof(rank), "%u", event->rank);
        about.rank = rank;
        about.host = view_ip(host, m->hops > 0 ? m->host : m->endpoint.ip);
    }
    if (event->kind == CTL_EVENT_FAILS)
        about.reason = ctl_reason_name(job->failure.reason);
    log_about(level, &about, "job %s: %s", job->name, event->text);
}

static void report(void *context, const struct ctl_entry *job, const struct ctl_event *event)
{
    struct registry_host *h = context;
    const bool warns = event->kind == CTL_EVENT_WARNING || event->kind == CTL_EVENT_FAILS;

    if (job_lines_admit(&h->lines, h->now))
        log_job(warns ? LOG_LEVEL_WARNING : LOG_LEVEL_NOTICE, job, event);
    history_note_job(h->parts.history, h->tenant[job->tenant].name, job, event);
}

static void refused(void *context, const struct ctl_endpoint *from, const char *name,
                    const struct ctl_failure *why)
{
    const struct registry_host *h = context;
    char who[VIEW_ADDRESS_MAX];

    view_address(who, from->ip, from->udp_port, 1);
    history_note(h->parts.history, &(struct history_note){HISTORY_REFUSED, name, "", who, why->text});
}

/* Whose job of this name the process may join. */
static int tenant_of(void *context, const struct ctl_endpoint *from, int key, const char *name,
                     char text[CTL_TEXT_MAX])
{
    const struct config *cfg = ((const struct registry_host *)context)->parts.cfg;
    const uint8_t *ip = (const uint8_t *)&from->ip;
    const int tenant = config_tenant_of(cfg, from->ip, key, name), owner = config_key_owner(cfg, name);

    if (tenant >= 0 && config_has_job(cfg, tenant, name)) {
        snprintf(text, CTL_TEXT_MAX,
                 "a job of this name is in the %s's configuration, and nobody joins that one: call yours "
                 "otherwise",
                 config_word(cfg));
        return -1;
    }
    if (tenant >= 0)
        return tenant;
    if (key >= 0)
        snprintf(text, CTL_TEXT_MAX, "the key is tenant %s's, who has no jobs of this name at %u.%u.%u.%u",
                 cfg->tenant[key].name, ip[0], ip[1], ip[2], ip[3]);
    else if (owner >= 0)
        snprintf(
            text, CTL_TEXT_MAX,
            "jobs of this name need the key of tenant %s: set options.key_file, or SWAGG_KEY_FILE, to its "
            "key file",
            cfg->tenant[owner].name);
    else
        snprintf(text, CTL_TEXT_MAX, "none of the %s's tenants has %u.%u.%u.%u and jobs of this name",
                 config_word(cfg), ip[0], ip[1], ip[2], ip[3]);
    return tenant;
}

struct ctl_registry_config registry_host_config(struct registry_host *h, const struct config *cfg,
                                                const struct keyring *keys)
{
    const struct registry_host_parts *p = &h->parts;
    struct ctl_registry_config config = {
        .protocols = p->protocols,
        .protocols_known = p->protocols_known,
        .max_jobs = (uint16_t)cfg->limits.jobs,
        .max_workers = p->max_workers != 0 ? p->max_workers : (uint16_t)cfg->limits.workers,
        .tenants_known = cfg->tenants + cfg->leaving,
        .tenants = h->tenant,
        .jobs_per_host = (uint16_t)cfg->limits.jobs_per_host,
        .forming_max_ns = cfg->timers.forming_s * NS_PER_SECOND,
        .late_after_ns = cfg->timers.late_after_ms * NS_PER_MS,
        .late_ends_ns = cfg->timers.late_ends_s * NS_PER_SECOND,
        .boot_id = p->boot_id,
        .lost_after_ns = cfg->timers.lost_after_ms * NS_PER_MS,
        .data_ports = p->data_ports,
        .hears_nics = p->hears_nics,
        .payload_bytes = p->payload_bytes != 0 ? p->payload_bytes : terms_payload_bytes(cfg),
        .first_group = ntohl(cfg->server.first_group),
        .groups = cfg->server.groups,
        .library = keys_sodium(),
        .key = keys->key,
        .keys = keys->keys,
        .lasting = h->has_lasting ? &h->lasting : NULL,
        .actions = p->kind->actions};

    config.actions.ctx = h;
    config.actions.random = random64;
    config.actions.event = report;
    config.actions.refused = refused;
    config.actions.tenant_of = tenant_of;
    config.actions.kept = registry_kept;
    return config;
}

/* --- life ---------------------------------------------------------------------------------------------- */

/* Short pauses of a receiving thread count as time, since it may go on being slow for long. */
static uint64_t pause_ns(const struct config *cfg)
{
    const uint64_t ms = cfg->timers.lost_after_ms / PAUSES_PER_LOSS;

    return (ms < LISTENING_PAUSE_MS ? ms : LISTENING_PAUSE_MS) * NS_PER_MS +
           cfg->idle.until_due_us * UINT64_C(1000);
}

/* By their numbers, with those that are leaving, and how many jobs of theirs are in the file. */
static void list_tenants(struct registry_host *h)
{
    const struct config *cfg = h->parts.cfg;

    for (unsigned i = 0; i < cfg->tenants + cfg->leaving; i++)
        h->tenant[i] = (struct ctl_tenant){.name = cfg->tenant[i].name,
                                           .jobs = (uint16_t)cfg->tenant[i].quota.jobs,
                                           .elsewhere = (uint16_t)config_jobs_of(cfg, i),
                                           .data_keys = cfg->tenant[i].data_keys};
}

void registry_host_follow(struct registry_host *h)
{
    list_tenants(h);
    job_lines_follow(&h->lines, h->parts.cfg);
    h->listening.pause_ns = pause_ns(h->parts.cfg);
}

void *registry_host_memory(const struct ctl_registry_config *config)
{
    const size_t bytes = ctl_registry_footprint(config);
    void *memory = bytes == 0 ? NULL : malloc(bytes);

    if (memory == NULL)
        log_error("no memory for %u jobs of %u workers (limits.jobs, limits.workers)", config->max_jobs,
                  config->max_workers);
    return memory;
}

int registry_host_open(struct registry_host *h, const struct registry_host_parts *parts, uint64_t now)
{
    const struct config *cfg = parts->cfg;

    *h = (struct registry_host){.parts = *parts, .now = now};
    pthread_mutex_init(&h->lock, NULL);
    job_lines_init(&h->lines, cfg, secret64());
    listening_init(&h->listening, pause_ns(cfg), now);
    registry_host_follow(h);
    if (keyring_load(&h->keyring, cfg) < 0)
        return -EINVAL;
    h->has_lasting = cfg->state[0] != '\0';
    if (h->has_lasting && lasting_open(&h->lasting, cfg->state) < 0)
        return -EINVAL;
    if (parts->kind->has_room != NULL)
        reserved_file_read(&h->reserved, cfg, now);
    h->config = registry_host_config(h, cfg, &h->keyring);
    h->memory = registry_host_memory(&h->config);
    return h->memory == NULL ? -ENOMEM : 0;
}

int registry_host_begin(struct registry_host *h)
{
    h->config.boot_id = h->parts.boot_id;
    h->registry = ctl_registry_init(h->memory, &h->config);
    return h->parts.cfg->uplinks == 0 ? 0 : relays_open(h);
}

void registry_host_close(struct registry_host *h)
{
    pthread_mutex_destroy(&h->lock);
    free(h->proxy);
    free(h->memory);
    keys_erase(&h->keyring, sizeof(h->keyring));
    keys_erase(&h->lasting, sizeof(h->lasting));
}

/* --- calls --------------------------------------------------------------------------------------------- */

void registry_host_enter(struct registry_host *h, uint32_t heard, uint64_t now)
{
    uint64_t rounds[SWAGG_MAX_LCORES];
    unsigned receivers;

    pthread_mutex_lock(&h->lock);
    receivers = h->parts.kind->rounds == NULL ? 0 : h->parts.kind->rounds(h, rounds, now);
    h->now = listening_time(&h->listening, rounds, receivers, now);
    h->lines.heard = heard;
}

void registry_host_leave(struct registry_host *h)
{
    h->lines.heard = 0;
    if (h->parts.kind->changed != NULL)
        h->parts.kind->changed(h);
    pthread_mutex_unlock(&h->lock);
}

enum ctl_parse_error registry_host_receive(struct registry_host *h, const struct ctl_endpoint *from,
                                           const uint8_t *payload, size_t bytes, uint64_t now)
{
    enum ctl_parse_error e;

    registry_host_enter(h, from->ip, now);
    e = relays_receive(h, from, payload, bytes)
            ? CTL_PARSED
            : ctl_registry_receive(h->registry, from, payload, bytes, h->now);
    registry_host_leave(h);
    return e;
}

enum ctl_parse_error registry_host_receive_up(struct registry_host *h, unsigned uplink,
                                              const struct ctl_endpoint *from, const uint8_t *payload,
                                              size_t bytes, uint64_t now)
{
    enum ctl_parse_error e;

    registry_host_enter(h, from->ip, now);
    e = relay_receive_up(h->proxy, uplink, from, payload, bytes, h->now);
    registry_host_leave(h);
    return e;
}

void registry_host_tick(struct registry_host *h, uint64_t now)
{
    char text[JOB_LINES_TEXT_MAX];

    registry_host_enter(h, 0, now);
    ctl_registry_tick(h->registry, h->now);
    if (h->proxy != NULL)
        relay_tick(h->proxy, h->now);
    registry_expire(h);
    if (job_lines_left_out(&h->lines, h->now, text))
        log_notice("%s", text);
    registry_host_leave(h);
}

bool registry_host_end(struct registry_host *h, enum registry_host_end how, int tenant, const char *name,
                       uint64_t now)
{
    bool any;

    registry_host_enter(h, 0, now);
    if (how == REGISTRY_HOST_KILL)
        any = ctl_registry_end(h->registry, tenant, name, h->now) ||
              (h->proxy != NULL && relay_end(h->proxy, tenant, name, h->now));
    else
        any = ctl_registry_drain(h->registry, tenant, name, h->now) ||
              (h->proxy != NULL && relay_drain(h->proxy, tenant, name, h->now));
    registry_host_leave(h);
    return any;
}

void registry_host_cut(struct registry_host *h, ctl_is_there *is_there, const void *context,
                       const char *where, uint64_t now)
{
    registry_host_enter(h, 0, now);
    ctl_registry_cut(h->registry, is_there, context, where, h->now);
    if (h->proxy != NULL)
        relay_cut(h->proxy, is_there, context, where, h->now);
    registry_host_leave(h);
}

/* --- looks --------------------------------------------------------------------------------------------- */

/* The thread that changes the registry reads it without the lock. */
void registry_host_list_members(const struct registry_host *h, struct ctl_known *to)
{
    ctl_known_begin(to);
    ctl_registry_list_members(h->registry, to);
    if (h->proxy != NULL)
        relay_list_processes(h->proxy, to);
    ctl_known_show(to);
}

bool registry_host_has_key(const struct registry_host *h, unsigned i)
{
    return ctl_registry_has_key(h->registry, i) || (h->proxy != NULL && relay_has_key(h->proxy, i));
}

uint64_t registry_host_tenants(const struct registry_host *h)
{
    uint64_t tenants = 0;

    for (unsigned t = 0; t < h->config.tenants_known; t++)
        if (h->proxy != NULL && relay_has_tenant(h->proxy, (int)t))
            tenants |= UINT64_C(1) << t;
    for (unsigned i = 0; i < h->config.max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(h->registry, i);

        if (job->state != CTL_ENTRY_FREE)
            tenants |= UINT64_C(1) << job->tenant;
    }
    return tenants;
}

struct registry_shown registry_host_shown(const struct registry_host *h)
{
    return (struct registry_shown){
        .registry = h->registry, .entries = h->config.max_jobs, .tenants = h->tenant, .now = h->now};
}

void registry_host_visit(struct registry_host *h, registry_visitor *visit, void *context)
{
    struct registry_job job = {0};

    pthread_mutex_lock(&h->lock);
    job.now = h->now;
    for (unsigned i = 0; i < h->config.max_jobs; i++) {
        job.entry = ctl_registry_entry(h->registry, i);
        if (job.entry->state != CTL_ENTRY_FREE && !ctl_registry_is_superseded(h->registry, i))
            visit(context, &job);
    }
    for (unsigned i = 0; (job.relayed = registry_host_relayed(h, i)) != NULL; i++) {
        job.entry = &job.relayed->entry;
        if (job.entry->state != CTL_ENTRY_FREE)
            visit(context, &job);
    }
    pthread_mutex_unlock(&h->lock);
}
