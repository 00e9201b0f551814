#include "registry/registry_relays.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/secret.h"
#include "base/uplink_ports.h"
#include "monotonic.h"
#include "registry/registry_host.h"
#include "registry/terms.h"
#include "sodium_keys.h"

/* Beyond these, ranks below hear that there is no room. */
enum { PROCESSES_MAX = 4096 };

struct relays {
    struct registry_host *host;
    struct relay_uplink uplink[SWAGG_MAX_UPLINKS];
    unsigned jobs; /* that there are places for */
    struct relay_proxy *proxy;
};

/* Its tenant here; and no more slots than a job may have here, for the root cannot know. */
static int admit(void *context, const struct ctl_endpoint *from, int key, const struct ctl_join *join,
                 struct agg_terms *wish, char text[CTL_TEXT_MAX])
{
    const struct registry_host *h = context;
    const struct ctl_registry_actions *root = &h->config.actions;
    const int tenant = root->tenant_of(context, from, key, join->name, text);
    const struct keys_secret any = {.library = keys_sodium()}, *shares = key >= 0 ? &any : NULL;
    const struct agg_protocol *protocol = ctl_registry_protocol(&h->config, wish->protocol);
    int rc;

    if (tenant < 0 || protocol == NULL)
        return tenant;
    if (root->is_taken(context, from, join->data_port, text))
        return -1;
    rc = join->resume ? terms_check(h->parts.cfg, protocol, 1, shares, wish, text)
                      : terms_check_wish(h->parts.cfg, protocol, shares, wish, text);
    return rc == 0 ? tenant : -1;
}

static struct relay_uplink uplink_of_config(const struct relays *r, unsigned u)
{
    const struct config *cfg = r->host->parts.cfg;
    const struct config_uplink *up = &cfg->uplink[u];
    const struct key_file *keys = &r->host->keyring.uplink[u];

    return (struct relay_uplink){
        .ip = up->parent,
        .data_port = (uint16_t)(UPLINK_DATA_PORT + u),
        .us = {.ip = cfg->vlans > 0 ? cfg->vlan[up->network].ip : cfg->ip, .udp_port = UPLINK_CONTROL_PORT},
        .key = keys->key,
        .keys = keys->keys};
}

static void take_uplinks(struct relays *r)
{
    for (unsigned u = 0; u < r->host->parts.cfg->uplinks; u++)
        r->uplink[u] = uplink_of_config(r, u);
}

static struct relay_config proxy_config(struct relays *r)
{
    const struct registry_host *h = r->host;
    const struct config *cfg = h->parts.cfg;
    const uint32_t processes = cfg->limits.jobs * cfg->limits.workers;
    struct relay_config config = {.protocols = h->parts.protocols,
                                  .protocols_known = h->parts.protocols_known,
                                  .uplink = r->uplink,
                                  .uplinks = cfg->uplinks,
                                  .max_jobs = (uint16_t)cfg->limits.jobs,
                                  .max_workers = (uint16_t)cfg->limits.workers,
                                  .max_processes =
                                      (uint16_t)(processes < PROCESSES_MAX ? processes : PROCESSES_MAX),
                                  .id = secret64() | 1,
                                  .ip = cfg->ip, /* with VLANs, of the first */
                                  .lost_after_ns = cfg->timers.lost_after_ms * NS_PER_MS,
                                  .data_ports = h->parts.data_ports,
                                  .hears_nics = h->parts.hears_nics,
                                  .library = keys_sodium(),
                                  .key = h->keyring.key,
                                  .keys = h->keyring.keys,
                                  .actions = h->parts.kind->relay};

    config.actions.ctx = r->host;
    config.actions.send = h->config.actions.send;
    config.actions.event = h->config.actions.event;
    config.actions.random = h->config.actions.random;
    config.actions.admit = admit;
    return config;
}

struct relays *relays_open(struct registry_host *h)
{
    struct relays *r = calloc(1, sizeof(*r));
    struct relay_config cfg;
    void *mem;

    if (r == NULL)
        return NULL;
    r->host = h;
    take_uplinks(r);
    cfg = proxy_config(r);
    mem = calloc(1, relay_footprint(&cfg));
    if (mem == NULL) {
        log_error("no memory for %u relayed jobs (limits.jobs)", h->parts.cfg->limits.jobs);
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
    const struct config *cfg = r->host->parts.cfg;
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
    if (r != NULL)
        relay_tick(r->proxy, now);
}

bool relays_end(struct relays *r, int tenant, const char *name, uint64_t now)
{
    return r != NULL && relay_end(r->proxy, tenant, name, now);
}

bool relays_drain(struct relays *r, int tenant, const char *name, uint64_t now)
{
    return r != NULL && relay_drain(r->proxy, tenant, name, now);
}

void relays_cut(struct relays *r, ctl_is_there *is_there, const void *context, const char *where,
                uint64_t now)
{
    if (r != NULL)
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
    if (r == NULL)
        return;
    take_uplinks(r);
    relay_follow(r->proxy, tenant, r->host->keyring.keys);
}

const struct relay_job *relays_job(const struct relays *r, unsigned i)
{
    return r != NULL && i < r->jobs ? relay_job(r->proxy, i) : NULL;
}
