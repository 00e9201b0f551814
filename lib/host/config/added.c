/* Jobs that an operator adds while a switch runs, which are in no file: static ones, and RDMA clients'. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "config/config_parts.h"
#include "config/reload.h"

/* Who adds or deletes has one name for both lists. */
static int check_name(const struct config *c, const char *list, const char *name)
{
    if (config_find(c, "static", name) >= 0 || config_find(c, "roce", name) >= 0)
        return log_fail(-EEXIST, "%s[%s]: there is a job of this name", list, name);
    return 0;
}

static int no_more(const char *list, const char *name, int most)
{
    return log_fail(-ENOSPC, "%s[%s]: there are %d such jobs, and no more are possible", list, name, most);
}

static int check_ports(const struct config_static *job, const struct config_static *others)
{
    for (unsigned rank = 0; rank < job->workers; rank++) {
        const struct config_peer *worker = &job->worker[rank];
        const uint8_t *ip = (const uint8_t *)&worker->ip;

        if (config_find_same_ports(job, worker, others, others->workers) >= 0)
            return log_fail(-EADDRINUSE,
                            "static[%s].workers[%u]: the UDP ports from %u on of %u.%u.%u.%u are job %s's",
                            job->name, rank, worker->port, ip[0], ip[1], ip[2], ip[3], others->name);
    }
    return 0;
}

static int add_static(struct config *c, const struct config_static *job)
{
    int rc = c->static_jobs == CONFIG_STATIC_JOBS_MAX ? no_more("static", job->name, CONFIG_STATIC_JOBS_MAX)
                                                      : check_name(c, "static", job->name);

    for (unsigned i = 0; i < c->static_jobs && rc == 0; i++)
        rc = check_ports(job, &c->static_job[i]);
    if (rc == 0)
        c->static_job[c->static_jobs++] = *job;
    return rc;
}

static int check_addresses(const struct config_roce *job, const struct config_roce *others)
{
    for (unsigned rank = 0; rank < job->workers; rank++) {
        const struct config_rdma_peer *worker = &job->worker[rank];
        const uint8_t *ip = (const uint8_t *)&worker->ip;

        if (config_find_same_address(job, worker, others, others->workers) >= 0)
            return log_fail(-EADDRINUSE, "roce[%s].workers[%u]: %u.%u.%u.%u is in job %s", job->name, rank,
                            ip[0], ip[1], ip[2], ip[3], others->name);
    }
    return 0;
}

static int add_roce(struct config *c, const struct config_roce *job)
{
    int rc = c->roce_jobs == CONFIG_ROCE_JOBS_MAX ? no_more("roce", job->name, CONFIG_ROCE_JOBS_MAX)
                                                  : check_name(c, "roce", job->name);

    for (unsigned i = 0; i < c->roce_jobs && rc == 0; i++)
        rc = check_addresses(job, &c->roce[i]);
    if (rc == 0)
        c->roce[c->roce_jobs++] = *job;
    return rc;
}

/* Its tenant goes by its name. */
static int follow_tenant(const struct config *next, const struct config *from, const char *job, int *tenant)
{
    const char *name;

    if (*tenant < 0)
        return 0;
    name = from->tenant[*tenant].name;
    *tenant = config_find(next, "tenants", name);
    if (*tenant < 0)
        return log_fail(
            -EBUSY,
            "tenants: %s has the job %s, which an operator added: let that end first (swaggctl job del)",
            name, job);
    return 0;
}

static int take_static(struct config *next, const struct config *from, const struct config_static *job)
{
    struct config_static taken = *job;
    const int rc = follow_tenant(next, from, job->name, &taken.tenant);

    return rc < 0 ? rc : add_static(next, &taken);
}

/* They are large: what is wrong with its tenant does not keep it from being copied. */
static int take_roce(struct config *next, const struct config *from, const struct config_roce *job)
{
    const int rc = add_roce(next, job);

    return rc < 0 ? rc : follow_tenant(next, from, job->name, &next->roce[next->roce_jobs - 1].tenant);
}

int config_take_added(struct config *next, const struct config *from)
{
    int rc = 0;

    for (unsigned i = 0; i < from->static_jobs && rc == 0; i++)
        if (from->static_job[i].added)
            rc = take_static(next, from, &from->static_job[i]);
    for (unsigned i = 0; i < from->roce_jobs && rc == 0; i++)
        if (from->roce[i].added)
            rc = take_roce(next, from, &from->roce[i]);
    return rc;
}

/* Takes item `place` out of a list of `*n` items. */
static void take_out(void *list, size_t item_bytes, unsigned *n, unsigned place)
{
    uint8_t *at = (uint8_t *)list + place * item_bytes;

    --*n;
    memmove(at, at + item_bytes, (*n - place) * item_bytes);
    memset((uint8_t *)list + *n * item_bytes, 0, item_bytes);
}

int config_delete_added(struct config *c, const char *name)
{
    int place = config_find(c, "static", name);

    if (place >= 0 && c->static_job[place].added) {
        take_out(c->static_job, sizeof(c->static_job[0]), &c->static_jobs, (unsigned)place);
        return 0;
    }
    place = config_find(c, "roce", name);
    if (place >= 0 && c->roce[place].added) {
        take_out(c->roce, sizeof(c->roce[0]), &c->roce_jobs, (unsigned)place);
        return 0;
    }
    return log_fail(-EPERM, "job %s was not added by an operator: only such jobs are deleted", name);
}
