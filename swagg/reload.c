#include "reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/jobs_share.h"
#include "base/log.h"
#include "config/reload.h"
#include "datapath_make.h"
#include "registry/registry_added.h"
#include "show/views.h"

static int align(void *context, struct config *next)
{
    const struct reload *r = context;

    if (!config_align_ports(next, r->common.running))
        return log_fail(-ENOSPC, "%s: ports: there are no more than %d, with those that would be removed",
                        r->common.file, SWAGG_MAX_PORTS);
    config_align_vlans(next, r->common.running);
    return config_take_added(next, r->common.running);
}

/* Pools take their memory as jobs come. */
static int check_memory(const struct reload *r, const struct config *next)
{
    const size_t left = datapath_free_megabytes() + (r->dp->jobs.bytes >> 20);

    if (next->pool.megabytes <= r->common.running->pool.megabytes || left >= next->pool.megabytes)
        return 0;
    return log_fail(
        -ENOMEM,
        "%s: pool.megabytes: %u are more than the %zu that memory.megabytes (%u) has left, and that "
        "cannot be raised without a restart",
        r->common.file, next->pool.megabytes, left, next->memory.megabytes);
}

/* A port of another name cannot have a device that is still another's: DPDK would give it that one. */
static int check_devices(const struct reload *r, const struct config *next)
{
    const struct config *running = r->common.running;

    for (unsigned p = 0; p < next->ports; p++)
        for (unsigned other = 0; other < running->ports; other++) {
            const char *shared = NULL;
            size_t length;

            if (next->port[p].name[0] != '\0' && p != other && running->port[other].name[0] != '\0')
                shared = config_device_clash(next->port[p].device, running->port[other].device, &length);
            if (shared != NULL)
                return log_fail(
                    -EBUSY,
                    "%s: ports[%s].device: %.*s is port %s's: take that out, reload, and add this one",
                    r->common.file, next->port[p].name, (int)length, shared, running->port[other].name);
        }
    return 0;
}

static int prepare_ports(struct reload *r, struct config *next)
{
    const int rc = check_devices(r, next);

    return rc < 0 ? rc : datapath_prepare_ports(r->dp, next, &r->ports);
}

static int prepare_static_jobs(struct reload *r, const struct config *next, const int tenant[])
{
    const struct static_jobs_change change = {r->common.running, next, tenant};
    int rc = static_jobs_check_senders(&r->registrar->common, &change);

    if (rc < 0)
        return rc;
    view_lock(r->shown);
    rc = static_jobs_prepare(r->static_jobs, &change, &r->jobs);
    view_unlock(r->shown);
    return rc;
}

static int prepare(void *context, const struct registry_change *c)
{
    struct reload *r = context;
    int rc = check_memory(r, c->next);

    if (rc == 0)
        rc = prepare_ports(r, c->next);
    if (rc < 0)
        return rc;
    rc = prepare_static_jobs(r, c->next, c->tenant);
    if (rc < 0)
        datapath_forget_ports(r->dp, &r->ports);
    return rc;
}

static void forget(void *context, const struct registry_change *c)
{
    struct reload *r = context;

    (void)c;
    static_jobs_forget(r->static_jobs, &r->jobs);
    datapath_forget_ports(r->dp, &r->ports);
}

static bool same_impairments(const struct impair_config *a, const struct impair_config *b)
{
    for (unsigned k = 0; k < IMPAIR_KINDS; k++)
        if (a->rate[k].probability != b->rate[k].probability || a->rate[k].every != b->rate[k].every)
            return false;
    return a->hold_frames == b->hold_frames && a->hold_for == b->hold_for;
}

/* Which are different; with another seed, all that there are. */
static void change_impairments(const struct reload *r, const struct config *next)
{
    const struct config *running = r->common.running;

    for (uint64_t left = ports_there(&r->dp->ports) & ~r->ports.gone; left != 0; left &= left - 1) {
        const unsigned p = rte_bsf64(left);
        const struct config_impair *now = &running->port[p].impair, *to = &next->port[p].impair;
        const bool seed = next->seed != running->seed;
        const bool rx = !same_impairments(&now->rx, &to->rx) || (seed && impair_active(&to->rx));
        const bool tx = !same_impairments(&now->tx, &to->tx) || (seed && impair_active(&to->tx));

        if (rx || tx)
            impairing_change(r->impairing, p, rx ? &to->rx : NULL, tx ? &to->tx : NULL, next->seed);
    }
}

/* Their members' jobs end, before the ports do. */
static void cut_ports(const struct reload *r)
{
    for (uint64_t left = r->ports.gone; left != 0; left &= left - 1)
        registrar_cut(r->registrar, rte_bsf64(left), r->dp->port[rte_bsf64(left)].name);
}

static void commit_ports(const struct reload *r)
{
    datapath_commit_ports(r->dp, &r->ports, r->common.running);
    control_expect(r->control, r->ports.come);
}

/* From here on nothing can go wrong. */
static void commit(void *context, struct registry_change *c)
{
    struct reload *r = context;
    struct config *running = r->common.running;

    cut_ports(r);
    change_impairments(r, c->next);
    view_lock(r->shown);
    *running = *c->next;
    jobs_follow(&r->dp->jobs, running, c->tenant);
    static_jobs_commit(r->static_jobs, &r->jobs, running);
    registrar_take(r->registrar, c);
    commit_ports(r);
    view_unlock(r->shown);
    control_follow(r->control, running);
    datapath_follow(r->dp, running);
}

void reload_init(struct reload *r, const char *file, struct config *running)
{
    r->common = (struct registry_reload){.file = file,
                                         .running = running,
                                         .context = r,
                                         .load = config_load,
                                         .align = align,
                                         .prepare = prepare,
                                         .forget = forget,
                                         .commit = commit};
}

/* What is added, or deleted, is so in a copy of the running configuration first. NULL: no memory. */
static struct config *copy_running(const struct reload *r)
{
    struct config *next = malloc(sizeof(*next));

    if (next != NULL)
        *next = *r->common.running;
    return next;
}

/* Port p of the running configuration becomes this one; its name "": there is none any more. All else, and
 * what it names, stays as it is. */
static int change_port(struct reload *r, unsigned p, const struct config_port *port)
{
    struct config *next = copy_running(r);
    int rc = -ENOMEM;

    if (next != NULL) {
        next->port[p] = *port;
        next->ports = RTE_MAX(next->ports, p + 1);
        rc = prepare_ports(r, next);
    }
    if (rc == 0) {
        cut_ports(r);
        view_lock(r->shown);
        *r->common.running = *next;
        commit_ports(r);
        view_unlock(r->shown);
    }
    free(next);
    return rc;
}

int reload_add_port(struct reload *r, const struct config_port *port)
{
    unsigned p = 0;
    int rc = -ENOSPC;

    while (p < SWAGG_MAX_PORTS && r->common.running->port[p].name[0] != '\0')
        p++;
    if (p < SWAGG_MAX_PORTS)
        rc = change_port(r, p, port);
    else
        log_error("there are %d ports, and no more are possible", SWAGG_MAX_PORTS);
    if (rc == 0)
        log_notice("port %s: %s, added by the operator", port->name, port->device);
    return rc;
}

int reload_delete_port(struct reload *r, const char *name)
{
    static const struct config_port none;
    const uint64_t ports = ports_there(&r->dp->ports);
    const int p = config_find(r->common.running, "ports", name);
    int rc = -EBUSY;

    if (p >= 0 && (ports & (ports - 1)) != 0)
        rc = change_port(r, (unsigned)p, &none);
    else
        log_error("port %s: a switch has at least one port", name);
    if (rc == 0)
        log_notice("port %s: removed by the operator", name);
    return rc;
}

/* Static jobs become those of next, which is as the running configuration but for them. */
static int change_jobs(struct reload *r, const struct config *next)
{
    struct config *running = r->common.running;
    int same[CONFIG_TENANTS_MAX], rc;

    for (int t = 0; t < CONFIG_TENANTS_MAX; t++)
        same[t] = t;
    rc = prepare_static_jobs(r, next, same);
    if (rc < 0)
        return rc;
    view_lock(r->shown);
    *running = *next;
    jobs_follow(&r->dp->jobs, running, same);
    static_jobs_commit(r->static_jobs, &r->jobs, running);
    registry_host_follow(&r->registrar->common); /* what its tenants have */
    view_unlock(r->shown);
    return 0;
}

int reload_add_job(struct reload *r, const struct config *alone, const char *name)
{
    struct config *next = copy_running(r);
    int rc = next == NULL ? -ENOMEM : config_take_added(next, alone);

    if (rc == 0)
        rc = registry_check_quota(&r->registrar->common, next, name);
    if (rc == 0)
        rc = change_jobs(r, next);
    if (rc == 0)
        log_notice("job %s: added by the operator", name);
    free(next);
    return rc;
}

/* Of the lists that jobs are added to: one of another may be called the same, and goes on. */
static void reset_job(const struct reload *r, const char *name)
{
    struct static_jobs *s = r->static_jobs;

    for (unsigned i = 0; i < s->n; i++)
        if (config_job(r->common.running, i).may_change && strcmp(s->job[i].name, name) == 0)
            static_jobs_reset(s, &s->job[i]);
}

int reload_delete_job(struct reload *r, const char *name)
{
    struct config *next = copy_running(r);
    int rc = next == NULL ? -ENOMEM : config_delete_added(next, name);

    if (rc == 0) {
        reset_job(r, name);
        rc = change_jobs(r, next);
    }
    if (rc == 0)
        log_notice("job %s: deleted by the operator", name);
    free(next);
    return rc;
}
