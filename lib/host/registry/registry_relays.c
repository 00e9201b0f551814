#include "registry/registry_relays.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/secret.h"
#include "base/uplink_ports.h"
#include "monotonic.h"
#include "registry/terms.h"
#include "sodium_keys.h"

/* Beyond these, ranks below hear that there is no room. */
enum { PROCESSES_MAX = 4096 };

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

static struct relay_uplink uplink_of_config(const struct registry_host *h, unsigned u)
{
    const struct config *cfg = h->parts.cfg;
    const struct config_uplink *up = &cfg->uplink[u];
    const struct key_file *keys = &h->keyring.uplink[u];

    return (struct relay_uplink){
        .ip = up->parent,
        .data_port = (uint16_t)(UPLINK_DATA_PORT + u),
        .us = {.ip = cfg->vlans > 0 ? cfg->vlan[up->network].ip : cfg->ip, .udp_port = UPLINK_CONTROL_PORT},
        .key = keys->key,
        .keys = keys->keys};
}

static void take_uplinks(struct registry_host *h)
{
    for (unsigned u = 0; u < h->parts.cfg->uplinks; u++)
        h->uplink[u] = uplink_of_config(h, u);
}

static struct relay_config proxy_config(struct registry_host *h)
{
    const struct config *cfg = h->parts.cfg;
    const uint32_t processes = cfg->limits.jobs * cfg->limits.workers;
    struct relay_config config = {.protocols = h->parts.protocols,
                                  .protocols_known = h->parts.protocols_known,
                                  .uplink = h->uplink,
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

    config.actions.ctx = h;
    config.actions.send = h->config.actions.send;
    config.actions.event = h->config.actions.event;
    config.actions.random = h->config.actions.random;
    config.actions.admit = admit;
    return config;
}

int relays_open(struct registry_host *h)
{
    struct relay_config cfg;
    void *mem;

    take_uplinks(h);
    cfg = proxy_config(h);
    mem = calloc(1, relay_footprint(&cfg));
    if (mem == NULL)
        return log_fail(-ENOMEM, "no memory for %u relayed jobs (limits.jobs)", h->parts.cfg->limits.jobs);
    h->relayed_max = cfg.max_jobs;
    h->proxy = relay_init(mem, &cfg);
    return 0;
}

/* The uplink of the job that a message is about, of a process with this key; -1: it has none, or the message
 * is no JOIN. */
static int uplink_of(const struct registry_host *h, const struct ctl_message *m,
                     const struct ctl_endpoint *from)
{
    const struct config *cfg = h->parts.cfg;
    int tenant;

    if (m->head.type != CTL_JOIN || m->join.root_here)
        return -1;
    tenant = config_tenant_of(cfg, from->ip, relay_key_owner(h->proxy, from), m->join.name);
    return tenant < 0 ? -1 : config_uplink_of(cfg, from->network, tenant, m->join.name);
}

bool relays_receive(struct registry_host *h, const struct ctl_endpoint *from, const uint8_t *payload,
                    size_t bytes)
{
    struct ctl_endpoint sender = *from;
    struct ctl_message m;
    int uplink;

    if (h->proxy == NULL || relay_read(h->proxy, &m, &sender, payload, bytes) != CTL_PARSED)
        return false;
    uplink = uplink_of(h, &m, &sender);
    if (uplink < 0 && !relay_knows(h->proxy, &m, &sender))
        return false;
    relay_receive(h->proxy, from, uplink < 0 ? 0 : (unsigned)uplink, payload, bytes, h->now);
    return true;
}

void relays_follow(struct registry_host *h, const int tenant[])
{
    if (h->proxy == NULL)
        return;
    take_uplinks(h);
    relay_follow(h->proxy, tenant, h->keyring.keys);
}
