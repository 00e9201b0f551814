/* Another configuration, or fewer ports, for a registrar whose jobs go on. */
#include <errno.h>
#include <stdlib.h>

#include "control/registrar_state.h"
#include "registry/registry_next.h"

struct registrar_next {
    struct registry_next registry;
};

uint64_t registrar_tenants(const struct registrar *r)
{
    uint64_t tenants = registry_tenants(r->registry, r->cfg->limits.jobs);

    for (unsigned t = 0; t < r->cfg->tenants + r->cfg->leaving; t++)
        if (relays_have_tenant(r->relays, (int)t))
            tenants |= RTE_BIT64(t);
    return tenants;
}

static bool key_is_used(const void *registrar, unsigned key)
{
    const struct registrar *r = registrar;

    return ctl_registry_has_key(r->registry, key) || relays_have_key(r->relays, key);
}

static void forget(struct registrar_next *next)
{
    registry_next_forget(&next->registry);
    free(next);
}

int registrar_prepare(struct registrar *r, const struct config *cfg, const int tenant[],
                      struct registrar_next **out)
{
    struct registrar_next *next = calloc(1, sizeof(*next));
    const struct keyring_before before = {&r->keyring, tenant, key_is_used, r};
    struct ctl_registry_config config;
    int rc;

    *out = NULL;
    if (next == NULL)
        return -ENOMEM;
    rc = registry_next_read(&next->registry, r->registry, &before, cfg);
    config = registrar_config(r, cfg, &next->registry.keyring);
    if (rc == 0)
        rc = registry_next_reserve(&next->registry, &config);
    if (rc < 0) {
        forget(next);
        return rc;
    }
    *out = next;
    return 0;
}

void registrar_compare(const struct registrar *r, const struct registrar_next *next, const struct config *cfg,
                       const int tenant[], struct config_changes *changes)
{
    const struct keyring_before before = {&r->keyring, tenant, key_is_used, r};

    registry_next_compare(&next->registry, &before, cfg, changes);
}

void registrar_commit(struct registrar *r, struct registrar_next *next, const int tenant[])
{
    struct ctl_registry_config config;

    pthread_mutex_lock(&r->lock);
    registrar_follow(r);
    r->keyring = next->registry.keyring;
    config = registrar_config(r, r->cfg, &r->keyring);
    r->registry = registry_next_take(&next->registry, &config, r->registry, tenant);
    if (r->relays != NULL)
        relays_follow(r->relays, tenant);
    pthread_mutex_unlock(&r->lock);
    forget(next);
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
    pthread_mutex_lock(&r->lock);
    ctl_registry_cut(r->registry, is_at, &cut, where, r->now);
    if (r->relays != NULL) {
        relays_cut(r->relays, is_at, &cut, where, r->now);
        uplinks_cut(r->parts.uplinks, port, name);
    }
    pthread_mutex_unlock(&r->lock);
    send_flush(r->host->send);
}
