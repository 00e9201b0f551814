#include "control/relays.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/secret.h"
#include "base/uplink_ports.h"
#include "registry/terms.h"
#include "sodium_keys.h"

/* Beyond these, ranks below hear that there is no room. */
enum { PROCESSES_MAX = 4096 };

struct relays {
    struct relays_parts parts;
    struct relay_uplink uplink[SWAGG_MAX_UPLINKS];
    unsigned jobs; /* that there are places for */
    struct relay_proxy *proxy;
};

static void send_down(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct relays *r = context;

    r->parts.shared.send(r->parts.shared.ctx, to, payload, bytes);
}

static void send_up(void *context, unsigned uplink, const uint8_t *payload, size_t bytes)
{
    const struct relays *r = context;

    uplinks_send(r->parts.uplinks, uplink, payload, bytes);
}

static int prepare(void *context, const struct relay_job *job, uint8_t *number, char text[CTL_TEXT_MAX])
{
    const struct relays *r = context;

    return pools_open_relayed(r->parts.pools, job, number, text);
}

static void release(void *context, const struct relay_job *job)
{
    const struct relays *r = context;

    pools_close(r->parts.pools, &job->entry);
}

static void moved(void *context, const struct relay_job *job, unsigned rank)
{
    const struct relays *r = context;

    r->parts.shared.moved(r->parts.shared.ctx, &job->entry, rank);
}

static void parent_moved(void *context, const struct relay_job *job)
{
    const struct relays *r = context;

    if (pools_move_parent(r->parts.pools, job) < 0)
        log_warning(
            "job %s: no memory to note the new MAC address of the switch above: raise memory.megabytes",
            job->entry.name);
}

static void proven(void *context, unsigned uplink, const struct ctl_endpoint *from)
{
    const struct relays *r = context;
    struct net_mac mac;

    memcpy(mac.addr_bytes, from->mac, sizeof(from->mac));
    uplinks_prove(r->parts.uplinks, uplink, &mac, from->port);
}

static void report(void *context, const struct ctl_entry *job, const char *what)
{
    const struct relays *r = context;

    r->parts.shared.event(r->parts.shared.ctx, job, what);
}

/* Its tenant here; and no more slots than a job may have here, for the root cannot know. */
static int admit(void *context, const struct ctl_endpoint *from, int key, const struct ctl_join *join,
                 struct agg_terms *wish, char text[CTL_TEXT_MAX])
{
    const struct relays *r = context;
    const struct ctl_registry_actions *shared = &r->parts.shared;
    const int tenant = shared->tenant_of(shared->ctx, from, key, join->name, text);
    const struct keys_shared any = {.library = keys_sodium()}, *shares = key >= 0 ? &any : NULL;
    const struct agg_protocol *protocol = NULL;
    int rc;

    for (unsigned i = 0; i < r->parts.protocols_known; i++)
        if (r->parts.protocols[i]->id == wish->protocol)
            protocol = r->parts.protocols[i];
    if (tenant < 0 || protocol == NULL)
        return tenant;
    if (shared->is_taken(shared->ctx, from, join->data_port, text))
        return -1;
    rc = join->resume ? terms_check(r->parts.cfg, protocol, 1, shares, wish, text)
                      : terms_check_wish(r->parts.cfg, protocol, shares, wish, text);
    return rc == 0 ? tenant : -1;
}

static uint64_t random64(void *context)
{
    const struct relays *r = context;

    return r->parts.shared.random(r->parts.shared.ctx);
}

static uint16_t payload_bytes(void *context, unsigned uplink)
{
    const struct relays *r = context;

    return uplinks_payload_bytes(r->parts.uplinks, uplink);
}

static struct relay_uplink uplink_of_config(const struct relays *r, unsigned u)
{
    const struct config *cfg = r->parts.cfg;
    const struct config_uplink *up = &cfg->uplink[u];
    const struct key_file *keys = &r->parts.keys->uplink[u];

    return (struct relay_uplink){
        .ip = up->parent,
        .data_port = (uint16_t)(UPLINK_DATA_PORT + u),
        .us = {.ip = cfg->vlans > 0 ? cfg->vlan[up->network].ip : cfg->ip, .udp_port = UPLINK_CONTROL_PORT},
        .key = keys->key,
        .keys = keys->keys};
}

static void take_uplinks(struct relays *r)
{
    for (unsigned u = 0; u < r->parts.cfg->uplinks; u++) {
        r->uplink[u] = uplink_of_config(r, u);
        uplinks_set_keyed(r->parts.uplinks, u, r->uplink[u].keys > 0);
    }
}

static struct relay_config proxy_config(struct relays *r)
{
    const struct config *cfg = r->parts.cfg;

    take_uplinks(r);
    return (struct relay_config){
        .protocols = r->parts.protocols,
        .protocols_known = r->parts.protocols_known,
        .uplink = r->uplink,
        .uplinks = cfg->uplinks,
        .max_jobs = (uint16_t)cfg->limits.jobs,
        .max_workers = (uint16_t)cfg->limits.workers,
        .max_processes = (uint16_t)RTE_MIN(cfg->limits.jobs * cfg->limits.workers, (uint32_t)PROCESSES_MAX),
        .id = secret64() | 1,
        .ip = cfg->ip, /* with VLANs, of the first */
        .lost_after_ns = cfg->timers.lost_after_ms * UINT64_C(1000000),
        .data_ports = r->parts.data_ports,
        .library = keys_sodium(),
        .key = r->parts.keys->key,
        .keys = r->parts.keys->keys,
        .actions = {.ctx = r,
                    .send = send_down,
                    .send_up = send_up,
                    .prepare = prepare,
                    .release = release,
                    .event = report,
                    .moved = moved,
                    .parent_moved = parent_moved,
                    .proven = proven,
                    .admit = admit,
                    .random = random64,
                    .payload_bytes = payload_bytes},
    };
}

struct relays *relays_open(const struct relays_parts *parts)
{
    struct relays *r = calloc(1, sizeof(*r));
    struct relay_config cfg;
    void *mem;

    if (r == NULL)
        return NULL;
    r->parts = *parts;
    cfg = proxy_config(r);
    mem = calloc(1, relay_footprint(&cfg));
    if (mem == NULL) {
        log_error("no memory for %u relayed jobs (limits.jobs)", parts->cfg->limits.jobs);
        free(r);
        return NULL;
    }
    r->jobs = cfg.max_jobs;
    r->proxy = relay_init(mem, &cfg);
    return r;
}

void relays_close(struct relays *r)
{
    if (r == NULL)
        return;
    free(r->proxy);
    free(r);
}

/* The uplink of the job that a message is about, of a process with this key; -1: it has none, or the message
 * is no JOIN. */
static int uplink_of(const struct relays *r, const struct ctl_message *m, const struct ctl_endpoint *from)
{
    const struct config *cfg = r->parts.cfg;
    int tenant;

    if (m->head.type != CTL_JOIN || m->join.root_here)
        return -1;
    tenant = config_tenant_of(cfg, from->ip, relay_key_owner(r->proxy, from), m->join.name);
    return tenant < 0 ? -1 : config_uplink_of(cfg, from->network, tenant, m->join.name);
}

void relays_list(const struct relays *r, struct ctl_known *to)
{
    if (r != NULL)
        relay_list_processes(r->proxy, to);
}

bool relays_receive(struct relays *r, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                    uint64_t now)
{
    struct ctl_endpoint sender = *from;
    struct ctl_message m;
    int uplink;

    if (r == NULL || relay_read(r->proxy, &m, &sender, payload, bytes) != CTL_PARSED)
        return false;
    uplink = uplink_of(r, &m, &sender);
    if (uplink < 0 && !relay_knows(r->proxy, &m, &sender))
        return false;
    relay_receive(r->proxy, from, uplink < 0 ? 0 : (unsigned)uplink, payload, bytes, now);
    return true;
}

enum ctl_parse_error relays_receive_up(struct relays *r, unsigned uplink, const struct ctl_endpoint *from,
                                       const uint8_t *payload, size_t bytes, uint64_t now)
{
    return relay_receive_up(r->proxy, uplink, from, payload, bytes, now);
}

void relays_tick(struct relays *r, uint64_t now)
{
    relay_tick(r->proxy, now);
}

bool relays_end(struct relays *r, int tenant, const char *name, uint64_t now)
{
    return relay_end(r->proxy, tenant, name, now);
}

bool relays_drain(struct relays *r, int tenant, const char *name, uint64_t now)
{
    return relay_drain(r->proxy, tenant, name, now);
}

void relays_cut(struct relays *r, ctl_is_there *is_there, const void *context, const char *where,
                uint64_t now)
{
    relay_cut(r->proxy, is_there, context, where, now);
}

bool relays_have_key(const struct relays *r, unsigned i)
{
    return r != NULL && relay_has_key(r->proxy, i);
}

bool relays_have_tenant(const struct relays *r, int tenant)
{
    return r != NULL && relay_has_tenant(r->proxy, tenant);
}

void relays_follow(struct relays *r, const int tenant[])
{
    take_uplinks(r);
    relay_follow(r->proxy, tenant, r->parts.keys->keys);
}

const struct relay_job *relays_job(const struct relays *r, unsigned i)
{
    return r != NULL && i < r->jobs ? relay_job(r->proxy, i) : NULL;
}
