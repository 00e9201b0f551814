#include "registry/registry_next.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

static int check_limits(const struct ctl_registry *registry, const struct config_limits *limits)
{
    unsigned jobs, workers;

    ctl_registry_in_use(registry, &jobs, &workers);
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

int registry_next_read(struct registry_next *next, const struct ctl_registry *registry,
                       const struct keyring_before *before, const struct config *cfg)
{
    int rc = check_limits(registry, &cfg->limits);

    if (rc == 0)
        rc = keyring_load(&next->keyring, cfg);
    return rc < 0 ? rc : keyring_follow(&next->keyring, before, cfg);
}

int registry_next_reserve(struct registry_next *next, const struct ctl_registry_config *config)
{
    const size_t bytes = ctl_registry_footprint(config);

    next->memory = bytes == 0 ? NULL : calloc(1, bytes);
    if (next->memory != NULL)
        return 0;
    log_error("no memory for %u jobs of %u workers (limits.jobs, limits.workers)", config->max_jobs,
              config->max_workers);
    return -ENOMEM;
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

void registry_next_compare(const struct registry_next *next, const struct keyring_before *before,
                           const struct config *cfg, struct config_changes *changes)
{
    for (unsigned t = 0; t < cfg->tenants; t++) {
        const struct keyring_changes keys = keyring_compare(&next->keyring, before, t);

        list_keys(changes, &keys, "retired", "tenants[%s].key_file: keys", cfg->tenant[t].name);
    }
    for (unsigned u = 0; u < cfg->uplinks; u++) {
        const struct keyring_changes keys = keyring_compare_uplink(&next->keyring, before->ring, u);

        list_keys(changes, &keys, "gone", "uplink[%u].key_file: keys", u);
    }
}

struct ctl_registry *registry_next_take(struct registry_next *next, const struct ctl_registry_config *config,
                                        struct ctl_registry *old, const int tenant[])
{
    struct ctl_registry *registry = ctl_registry_move(next->memory, config, old, tenant);

    free(old);
    next->memory = NULL;
    return registry;
}

void registry_next_forget(struct registry_next *next)
{
    free(next->memory);
    keys_erase(&next->keyring, sizeof(next->keyring));
}

uint64_t registry_tenants(const struct ctl_registry *registry, unsigned entries)
{
    uint64_t tenants = 0;

    for (unsigned i = 0; i < entries; i++) {
        const struct ctl_entry *job = ctl_registry_entry(registry, i);

        if (job->state != CTL_ENTRY_FREE)
            tenants |= UINT64_C(1) << job->tenant;
    }
    return tenants;
}
