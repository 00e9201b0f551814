#include "reload.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "config/config_align.h"
#include "datapath_hotplug.h"
#include "datapath_make.h"
#include "registry/reread.h"
#include "show/views.h"

/* A change on its way. */
struct change {
    const struct reload *reload;
    struct config *next;
    int tenant[CONFIG_TENANTS_MAX]; /* by the number until now: that in next; -1: it is gone */
    struct registrar_next *registrar;
    struct static_jobs_next static_jobs;
    struct datapath_ports_next ports;
    struct config_changes *list;
};

static void report(void *context, const char *message)
{
    (void)context;
    log_error("%s", message);
}

/* Of those that jobs belong to. */
static uint64_t tenants_with_jobs(const struct reload *r)
{
    uint64_t tenants = registrar_tenants(r->registrar);

    for (unsigned i = 0; i < r->static_jobs->n; i++)
        if (r->static_jobs->job[i].plan.tenant >= 0)
            tenants |= RTE_BIT64(r->static_jobs->job[i].plan.tenant);
    return tenants;
}

static int read_next(struct change *c)
{
    const struct config *running = c->reload->running;
    int rc = config_load(c->next, c->reload->file, report, NULL);

    if (rc < 0)
        return rc;
    if (!config_align_ports(c->next, running)) {
        log_error("%s: ports: there are no more than %d, with those that would be removed", c->reload->file,
                  SWAGG_MAX_PORTS);
        return -ENOSPC;
    }
    config_align_vlans(c->next, running);
    rc = reread_keep_tenants(c->reload->file, c->next, running, tenants_with_jobs(c->reload), c->tenant);
    if (rc < 0)
        return rc;
    config_compare(c->list, running, c->next);
    return 0;
}

/* Pools take their memory as jobs come. */
static int check_memory(const struct change *c)
{
    const struct jobs *jobs = &c->reload->dp->jobs;
    const size_t left = datapath_free_megabytes() + (jobs->bytes >> 20);

    if (c->next->pool.megabytes <= c->reload->running->pool.megabytes || left >= c->next->pool.megabytes)
        return 0;
    log_error("%s: pool.megabytes: %u are more than the %zu that memory.megabytes (%u) has left, and that "
              "cannot be raised without a restart",
              c->reload->file, c->next->pool.megabytes, left, c->next->memory.megabytes);
    return -ENOMEM;
}

/* A port of another name cannot have a device that is still another's: DPDK would give it that one. */
static int check_devices(const struct change *c)
{
    const struct config *running = c->reload->running, *next = c->next;

    for (unsigned p = 0; p < next->ports; p++)
        for (unsigned other = 0; other < running->ports; other++) {
            const char *shared = NULL;
            size_t length;

            if (next->port[p].name[0] != '\0' && p != other && running->port[other].name[0] != '\0')
                shared = config_device_clash(next->port[p].device, running->port[other].device, &length);
            if (shared != NULL) {
                log_error("%s: ports[%s].device: %.*s is port %s's: take that out, reload, and add this one",
                          c->reload->file, next->port[p].name, (int)length, shared,
                          running->port[other].name);
                return -EBUSY;
            }
        }
    return 0;
}

static int prepare_jobs(struct change *c)
{
    const struct reload *r = c->reload;
    const struct static_jobs_change change = {r->running, c->next, c->tenant};
    int rc = static_jobs_check_senders(r->registrar, &change);

    if (rc < 0)
        return rc;
    view_lock(r->shown);
    rc = static_jobs_prepare(r->static_jobs, &change, &c->static_jobs);
    view_unlock(r->shown);
    if (rc < 0)
        return rc;
    rc = registrar_prepare(r->registrar, c->next, c->tenant, &c->registrar);
    if (rc == 0)
        registrar_compare(r->registrar, c->registrar, c->next, c->tenant, c->list);
    else
        static_jobs_forget(r->static_jobs, &c->static_jobs);
    return rc;
}

static int prepare_ports(struct change *c)
{
    const int rc = check_devices(c);

    return rc < 0 ? rc : datapath_prepare_ports(c->reload->dp, c->next, &c->ports);
}

static int prepare(struct change *c)
{
    const struct reload *r = c->reload;
    int rc = read_next(c);

    if (rc == 0)
        rc = reread_check(r->file, c->list);
    if (rc == 0)
        rc = check_memory(c);
    if (rc == 0)
        rc = prepare_ports(c);
    if (rc < 0)
        return rc;
    rc = prepare_jobs(c);
    if (rc < 0)
        datapath_forget_ports(r->dp, &c->ports);
    return rc;
}

static bool same_impairments(const struct impair_config *a, const struct impair_config *b)
{
    for (unsigned k = 0; k < IMPAIR_KINDS; k++)
        if (a->rate[k].probability != b->rate[k].probability || a->rate[k].every != b->rate[k].every)
            return false;
    return a->hold_frames == b->hold_frames && a->hold_for == b->hold_for;
}

/* Which are different; with another seed, all that there are. */
static void change_impairments(const struct change *c)
{
    const struct config *next = c->next, *running = c->reload->running;

    for (uint64_t left = ports_there(&c->reload->dp->ports) & ~c->ports.gone; left != 0; left &= left - 1) {
        const unsigned p = rte_bsf64(left);
        const struct config_impair *now = &running->port[p].impair, *to = &next->port[p].impair;
        const bool seed = next->seed != running->seed;
        const bool rx = !same_impairments(&now->rx, &to->rx) || (seed && impair_active(&to->rx));
        const bool tx = !same_impairments(&now->tx, &to->tx) || (seed && impair_active(&to->tx));

        if (rx || tx)
            impairing_change(c->reload->impairing, p, rx ? &to->rx : NULL, tx ? &to->tx : NULL, next->seed);
    }
}

/* Their members' jobs end, before the ports do. */
static void cut_ports(const struct change *c)
{
    for (uint64_t left = c->ports.gone; left != 0; left &= left - 1)
        registrar_cut(c->reload->registrar, rte_bsf64(left), c->reload->dp->port[rte_bsf64(left)].name);
}

static void commit_ports(const struct change *c)
{
    datapath_commit_ports(c->reload->dp, &c->ports, c->reload->running);
    control_expect(c->reload->control, c->ports.come);
}

/* From here on nothing can go wrong. */
static void commit(struct change *c)
{
    const struct reload *r = c->reload;

    cut_ports(c);
    change_impairments(c);
    view_lock(r->shown);
    *r->running = *c->next;
    jobs_follow(&r->dp->jobs, r->running, c->tenant);
    static_jobs_commit(r->static_jobs, &c->static_jobs, r->running);
    registrar_commit(r->registrar, c->registrar, c->tenant);
    commit_ports(c);
    view_unlock(r->shown);
    control_follow(r->control, r->running);
    datapath_follow(r->dp, r->running);
    log_set_level((enum log_level)r->running->log_level);
}

int reload_run(const struct reload *r, struct config_changes *changes)
{
    struct change c = {.reload = r, .list = changes, .next = malloc(sizeof(*c.next))};
    int rc = c.next == NULL ? -ENOMEM : prepare(&c);

    if (rc == 0)
        commit(&c);
    reread_tell(r->file, changes, rc);
    free(c.next);
    return rc;
}

/* Port p of the running configuration becomes this one; its name "": there is none any more. All else, and
 * what it names, stays as it is. */
static int change_port(const struct reload *r, unsigned p, const struct config_port *port)
{
    struct change c = {.reload = r, .next = malloc(sizeof(*c.next))};
    int rc = -ENOMEM;

    if (c.next != NULL) {
        *c.next = *r->running;
        c.next->port[p] = *port;
        c.next->ports = RTE_MAX(c.next->ports, p + 1);
        rc = prepare_ports(&c);
    }
    if (rc == 0) {
        cut_ports(&c);
        view_lock(r->shown);
        *r->running = *c.next;
        commit_ports(&c);
        view_unlock(r->shown);
    }
    free(c.next);
    return rc;
}

int reload_add_port(const struct reload *r, const struct config_port *port)
{
    unsigned p = 0;
    int rc = -ENOSPC;

    while (p < SWAGG_MAX_PORTS && r->running->port[p].name[0] != '\0')
        p++;
    if (p < SWAGG_MAX_PORTS)
        rc = change_port(r, p, port);
    else
        log_error("there are %d ports, and no more are possible", SWAGG_MAX_PORTS);
    if (rc == 0)
        log_notice("port %s: %s, added by the operator", port->name, port->device);
    return rc;
}

int reload_delete_port(const struct reload *r, const char *name)
{
    static const struct config_port none;
    const uint64_t ports = ports_there(&r->dp->ports);
    const int p = config_find(r->running, CONFIG_GROUP_PORTS, name);
    int rc = -EBUSY;

    if (p >= 0 && (ports & (ports - 1)) != 0)
        rc = change_port(r, (unsigned)p, &none);
    else
        log_error("port %s: a switch has at least one port", name);
    if (rc == 0)
        log_notice("port %s: removed by the operator", name);
    return rc;
}
