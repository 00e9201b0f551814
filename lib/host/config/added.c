/* Static jobs that an operator adds while a switch runs, which are in no file. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "config/config_parts.h"
#include "config/reload.h"

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

int config_add_static(struct config *c, const struct config_static *job)
{
    int rc = 0;

    if (c->static_jobs == CONFIG_STATIC_JOBS_MAX)
        return log_fail(-ENOSPC, "static[%s]: there are %d such jobs, and no more are possible", job->name,
                        CONFIG_STATIC_JOBS_MAX);
    if (config_find(c, "static", job->name) >= 0)
        return log_fail(-EEXIST, "static[%s]: there is a job of this name", job->name);
    for (unsigned i = 0; i < c->static_jobs && rc == 0; i++)
        rc = check_ports(job, &c->static_job[i]);
    if (rc == 0)
        c->static_job[c->static_jobs++] = *job;
    return rc;
}

void config_delete_static(struct config *c, unsigned place)
{
    c->static_jobs--;
    memmove(&c->static_job[place], &c->static_job[place + 1],
            (c->static_jobs - place) * sizeof(c->static_job[0]));
    memset(&c->static_job[c->static_jobs], 0, sizeof(c->static_job[0]));
}

static int keep_added(struct config *next, const struct config *running, const struct config_static *job)
{
    struct config_static kept = *job;

    if (job->tenant >= 0)
        kept.tenant = config_find(next, "tenants", running->tenant[job->tenant].name);
    if (job->tenant >= 0 && kept.tenant < 0)
        return log_fail(
            -EBUSY,
            "tenants: %s has the job %s, which an operator added: let that end first (swaggctl job del)",
            running->tenant[job->tenant].name, job->name);
    return config_add_static(next, &kept);
}

int config_keep_added(struct config *next, const struct config *running)
{
    int rc = 0;

    for (unsigned i = 0; i < running->static_jobs && rc == 0; i++)
        if (running->static_job[i].added)
            rc = keep_added(next, running, &running->static_job[i]);
    return rc;
}
