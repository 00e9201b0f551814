/* Another configuration, or fewer ports, for a registrar whose jobs go on. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "control/registrar_state.h"

struct registrar_next {
    struct keyring keyring;
    void *memory; /* for the registry */
};

uint64_t registrar_tenants(const struct registrar *r)
{
    uint64_t tenants = 0;
    const struct relay_job *relayed;

    for (unsigned i = 0; i < r->cfg->limits.jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(r->registry, i);

        if (job->state != CTL_ENTRY_FREE)
            tenants |= RTE_BIT64(job->tenant);
    }
    for (unsigned i = 0; (relayed = relays_job(r->relays, i)) != NULL; i++)
        if (relayed->entry.state != CTL_ENTRY_FREE)
            tenants |= RTE_BIT64(relayed->entry.tenant);
    return tenants;
}

static int check_limits(const struct registrar *r, const struct config_limits *limits)
{
    unsigned jobs, workers;

    ctl_registry_in_use(r->registry, &jobs, &workers);
    if (jobs > limits->jobs)
        log_error("limits.jobs: %u are too few for the %u jobs that there are: let some come to their end "
                  "first (swaggctl job drain)",
                  limits->jobs, jobs);
    else if (workers > limits->workers)
        log_error("limits.workers: %u are too few for a job that has %u workers: let it come to its end "
                  "first (swaggctl job drain)",
                  limits->workers, workers);
    else
        return 0;
    return -EBUSY;
}

static bool key_is_used(const void *registrar, unsigned key)
{
    const struct registrar *r = registrar;

    return ctl_registry_has_key(r->registry, key) || relays_have_key(r->relays, key);
}

static void forget(struct registrar_next *next)
{
    if (next == NULL)
        return;
    free(next->memory);
    keys_erase(&next->keyring, sizeof(next->keyring));
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
    rc = check_limits(r, &cfg->limits);
    if (rc == 0)
        rc = keyring_load(&next->keyring, cfg);
    if (rc == 0)
        rc = keyring_follow(&next->keyring, &before, cfg);
    config = registrar_config(r, cfg, &next->keyring);
    if (rc == 0)
        next->memory = malloc(ctl_registry_footprint(&config));
    if (rc == 0 && next->memory == NULL) {
        log_error("no memory for %u jobs (limits.jobs)", cfg->limits.jobs);
        rc = -ENOMEM;
    }
    if (rc < 0) {
        forget(next);
        return rc;
    }
    *out = next;
    return 0;
}

__attribute__((format(printf, 4, 5))) static void list_keys(struct config_changes *changes,
                                                            const struct keyring_changes *keys,
                                                            const char *gone, const char *format, ...)
{
    struct config_change change = {.from = "-", .reload = CONFIG_AT_ONCE};
    va_list args;

    if (keys->added == 0 && keys->gone == 0)
        return;
    va_start(args, format);
    vsnprintf(change.key, sizeof(change.key), format, args);
    va_end(args);
    snprintf(change.to, sizeof(change.to), "%u new, %u %s", keys->added, keys->gone, gone);
    config_changes_add(changes, &change);
}

void registrar_compare(const struct registrar *r, const struct registrar_next *next, const struct config *cfg,
                       const int tenant[], struct config_changes *changes)
{
    const struct keyring_before before = {&r->keyring, tenant, key_is_used, r};

    for (unsigned t = 0; t < cfg->tenants; t++) {
        const struct keyring_changes keys = keyring_compare(&next->keyring, &before, t);

        list_keys(changes, &keys, "retired", "tenants[%s].key_file: keys", cfg->tenant[t].name);
    }
    for (unsigned u = 0; u < cfg->uplinks; u++) {
        const struct keyring_changes keys = keyring_compare_uplink(&next->keyring, &r->keyring, u);

        list_keys(changes, &keys, "gone", "uplink[%u].key_file: keys", u);
    }
}

void registrar_commit(struct registrar *r, struct registrar_next *next, const int tenant[])
{
    struct ctl_registry *old = r->registry;
    struct ctl_registry_config config;

    pthread_mutex_lock(&r->lock);
    registrar_follow(r);
    r->keyring = next->keyring;
    config = registrar_config(r, r->cfg, &r->keyring);
    r->registry = ctl_registry_move(next->memory, &config, old, tenant);
    if (r->relays != NULL)
        relays_follow(r->relays, tenant);
    pthread_mutex_unlock(&r->lock);
    free(old);
    next->memory = NULL;
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
