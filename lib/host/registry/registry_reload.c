#include "registry/registry_reload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "config/reload.h"
#include "registry/registry_relays.h"
#include "registry/registry_reserve.h"

/* --- the registry's part ------------------------------------------------------------------------------- */

static bool key_is_used(const void *host, unsigned key)
{
    return registry_host_has_key(host, key);
}

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

__attribute__((format(printf, 4, 5))) static void list_keys(struct settings_changes *changes,
                                                            const struct keyring_changes *keys,
                                                            const char *gone, const char *format, ...)
{
    struct settings_change change = {.from = "-", .when = SETTING_AT_ONCE};
    va_list args;

    if (keys->added == 0 && keys->gone == 0)
        return;
    va_start(args, format);
    vsnprintf(change.key, sizeof(change.key), format, args);
    va_end(args);
    snprintf(change.to, sizeof(change.to), "%u new, %u %s", keys->added, keys->gone, gone);
    settings_changes_add(changes, &change);
}

/* What the configurations themselves do not show. */
static void compare_keys(const struct registry_change *c, const struct keyring_before *before)
{
    for (unsigned t = 0; t < c->next->tenants; t++) {
        const struct keyring_changes keys = keyring_compare(&c->keyring, before, t);

        list_keys(c->list, &keys, "retired", "tenants[%s].key_file: keys", c->next->tenant[t].name);
    }
    for (unsigned u = 0; u < c->next->uplinks; u++) {
        const struct keyring_changes keys = keyring_compare_uplink(&c->keyring, before->ring, u);

        list_keys(c->list, &keys, "gone", "uplink[%u].key_file: keys", u);
    }
}

int registry_change_prepare(struct registry_change *c)
{
    struct registry_host *h = c->host;
    const struct keyring_before before = {&h->keyring, c->tenant, key_is_used, h};
    struct ctl_registry_config config;
    int rc = check_limits(h->registry, &c->next->limits);

    if (rc == 0)
        rc = keyring_load(&c->keyring, c->next);
    if (rc == 0)
        rc = keyring_follow(&c->keyring, &before, c->next);
    if (rc < 0)
        return rc;
    config = registry_host_config(h, c->next, &c->keyring);
    c->memory = registry_host_memory(&config);
    if (c->memory == NULL)
        return -ENOMEM;
    compare_keys(c, &before);
    return 0;
}

void registry_change_take(struct registry_change *c)
{
    struct registry_host *h = c->host;

    registry_host_follow(h);
    h->keyring = c->keyring;
    h->config = registry_host_config(h, h->parts.cfg, &h->keyring);
    h->registry = ctl_registry_move(c->memory, &h->config, h->registry, c->tenant);
    free(h->memory);
    h->memory = c->memory;
    c->memory = NULL;
    relays_follow(h, c->tenant);
    if (h->reserved.n > 0) {
        reserved_follow(&h->reserved, c->tenant);
        registry_reserved_keep(h);
    }
}

void registry_change_forget(struct registry_change *c)
{
    free(c->memory);
    keys_erase(&c->keyring, sizeof(c->keyring));
}

/* --- the whole ----------------------------------------------------------------------------------------- */

/* The tenants whom jobs belong to, those that joined and those of the file: bit t is that of tenant t. */
static uint64_t tenants_with_jobs(const struct registry_host *h, const struct config *running)
{
    uint64_t tenants = registry_host_tenants(h);

    for (unsigned i = 0; i < config_jobs(running); i++) {
        const int tenant = config_job(running, i).tenant;

        tenants |= tenant < 0 ? 0 : UINT64_C(1) << tenant;
    }
    return tenants;
}

static int read_next(struct registry_change *c, const struct registry_reload *how)
{
    int rc = how->load(c->next, how->file, log_report, NULL);

    if (rc == 0 && how->align != NULL)
        rc = how->align(how->context, c->next);
    if (rc < 0)
        return rc;
    if (!config_keep_tenants(c->next, how->running, tenants_with_jobs(c->host, how->running), c->tenant))
        return log_fail(
            -ENOSPC, "%s: tenants: there are no more than %d, with those that are gone but whose jobs go on",
            how->file, CONFIG_TENANTS_MAX);
    config_compare(c->list, how->running, c->next);
    if (how->judge != NULL)
        how->judge(c->list);
    return 0;
}

/* -EPERM: there are changes that need a restart. */
static int check(const struct settings_changes *list, const char *file)
{
    for (unsigned i = 0; i < list->n; i++) {
        const struct settings_change *change = &list->change[i];

        if (change->when == SETTING_RESTART)
            log_error("%s: %s: %s -> %s needs a restart", file, change->key, change->from, change->to);
    }
    return list->of[SETTING_RESTART] > 0 ? -EPERM : 0;
}

static int prepare(struct registry_change *c, const struct registry_reload *how)
{
    int rc = read_next(c, how);

    if (rc == 0)
        rc = check(c->list, how->file);
    if (rc == 0 && how->prepare != NULL)
        rc = how->prepare(how->context, c);
    if (rc < 0)
        return rc;
    rc = registry_change_prepare(c);
    if (rc < 0 && how->forget != NULL)
        how->forget(how->context, c);
    return rc;
}

/* Logs what has changed, or that nothing has, for the file is not good (rc < 0). */
static void tell(const char *file, const struct settings_changes *changes, int rc)
{
    static const char *const when[SETTING_WHENS] = {[SETTING_NEW_JOBS] = ", for jobs that begin from now on"};

    if (rc < 0) {
        log_error("reload: %s is not good for what runs, and nothing has changed", file);
        return;
    }
    for (unsigned i = 0; i < changes->n; i++) {
        const struct settings_change *change = &changes->change[i];

        log_notice("reload: %s: %s -> %s%s", change->key, change->from, change->to,
                   when[change->when] == NULL ? "" : when[change->when]);
    }
    log_notice("reload: %s: %s", file, changes->n == 0 ? "nothing has changed" : "done");
}

int registry_reload(struct registry_host *h, const struct registry_reload *how,
                    struct settings_changes *changes)
{
    struct registry_change c = {.host = h, .list = changes, .next = malloc(sizeof(*c.next))};
    int rc = c.next == NULL ? -ENOMEM : prepare(&c, how);

    if (rc == 0) {
        how->commit(how->context, &c);
        log_set_level(how->running->log_level);
    }
    registry_change_forget(&c);
    tell(how->file, changes, rc);
    free(c.next);
    return rc;
}

int registry_reload_would(struct registry_host *h, const struct registry_reload *how,
                          struct settings_changes *changes)
{
    struct registry_change c = {.host = h, .list = changes, .next = malloc(sizeof(*c.next))};
    int rc = c.next == NULL ? -ENOMEM : read_next(&c, how);

    if (rc == 0)
        rc = registry_change_prepare(&c);
    registry_change_forget(&c);
    free(c.next);
    return rc;
}

void registry_reload_on_signal(struct registry_host *h, const struct registry_reload *how)
{
    struct settings_changes *changes = malloc(sizeof(*changes));
    struct history_note note = {HISTORY_OPERATED, "", "", "SIGHUP", "reload"};

    if (changes == NULL)
        log_error("reload: no memory");
    else if (registry_reload(h, how, changes) < 0)
        note.text = "reload: not done: the log says why";
    history_note(h->parts.history, &note);
    free(changes);
}
