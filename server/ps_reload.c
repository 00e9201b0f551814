#include "ps_reload.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "config/machine.h"
#include "ps_registry.h"
#include "registry/registry_next.h"
#include "registry/reread.h"
#include "registry/tenants.h"

/* A change on its way. */
struct change {
    struct ps *ps;
    struct config *next;
    int tenant[CONFIG_TENANTS_MAX]; /* by the number until now: that in next; -1: it is gone */
    struct registry_next registry;
    struct config_changes *list;
};

static void report(void *context, const char *message)
{
    (void)context;
    log_error("%s", message);
}

static bool key_is_used(const void *ps, unsigned key)
{
    return ctl_registry_has_key(((const struct ps *)ps)->registry, key);
}

static int read_next(struct change *c)
{
    const struct ps *ps = c->ps;
    int rc = config_load_server(c->next, ps->file, report, NULL);

    if (rc == 0)
        rc = reread_keep_tenants(ps->file, c->next, ps->cfg,
                                 registry_tenants(ps->registry, ps->cfg->limits.jobs), c->tenant);
    if (rc == 0 && !machine_suits(c->next))
        rc = -ENOMEM;
    if (rc < 0)
        return rc;
    config_compare(c->list, ps->cfg, c->next);
    return reread_check(ps->file, c->list);
}

static int prepare(struct change *c)
{
    struct ps *ps = c->ps;
    const struct keyring_before before = {&ps->keys, c->tenant, key_is_used, ps};
    struct ctl_registry_config config;
    int rc = read_next(c);

    if (rc == 0)
        rc = registry_next_read(&c->registry, ps->registry, &before, c->next);
    if (rc < 0)
        return rc;
    config = ps_registry_config(ps, c->next, &c->registry.keyring);
    rc = registry_next_reserve(&c->registry, &config);
    if (rc == 0)
        registry_next_compare(&c->registry, &before, c->next, c->list);
    return rc;
}

/* From here on nothing can go wrong. */
static void commit(struct change *c)
{
    struct ps *ps = c->ps;
    struct ctl_registry_config config;

    *ps->cfg = *c->next;
    ps->keys = c->registry.keyring;
    tenants_list(ps->cfg, ps->tenant);
    config = ps_registry_config(ps, ps->cfg, &ps->keys);
    ps->registry = registry_next_take(&c->registry, &config, ps->registry, c->tenant);
    jobs_follow(&ps->jobs, c->tenant);
    job_lines_follow(&ps->lines, ps->cfg);
    anteroom_follow(&ps->anteroom, ps->cfg);
    log_set_level((enum log_level)ps->cfg->log_level);
}

int ps_reload(struct ps *ps, struct config_changes *changes)
{
    struct change c = {.ps = ps, .list = changes, .next = malloc(sizeof(*c.next))};
    int rc = -ENOMEM;

    pthread_mutex_lock(&ps->lock);
    if (c.next != NULL)
        rc = prepare(&c);
    if (rc == 0)
        commit(&c);
    pthread_mutex_unlock(&ps->lock);
    registry_next_forget(&c.registry);
    reread_tell(ps->file, changes, rc);
    free(c.next);
    return rc;
}
