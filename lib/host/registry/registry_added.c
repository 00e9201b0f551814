#include "registry/registry_added.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

struct search {
    const struct config_static *job;
    bool found;
};

/* Whether its data packets would come to the worker's job. */
static bool sends_as(const struct config_static *s, const struct config_peer *worker,
                     const struct ctl_entry *job, const struct ctl_member *m)
{
    return m->state == CTL_MEMBER_JOINED && job->network == s->common.network &&
           m->endpoint.ip == worker->ip && m->data_port >= worker->port &&
           m->data_port < worker->port + s->threads;
}

static void say_taken(const struct config_static *s, unsigned worker, const struct ctl_entry *job,
                      unsigned rank)
{
    const uint8_t *ip = (const uint8_t *)&s->worker[worker].ip;

    log_error("static[%s].workers[%u]: UDP port %u of %u.%u.%u.%u is rank %u's of job %s, which has joined: "
              "give the worker another, or let that job come to its end first (swaggctl job drain)",
              s->common.name, worker, job->members[rank].data_port, ip[0], ip[1], ip[2], ip[3], rank,
              job->name);
}

static void compare(void *context, const struct registry_job *job)
{
    struct search *search = context;
    const struct config_static *s = search->job;

    for (unsigned w = 0; w < s->common.workers && ctl_entry_is_live(job->entry); w++)
        for (unsigned rank = 0; rank < job->entry->size; rank++)
            if (!search->found && sends_as(s, &s->worker[w], job->entry, &job->entry->members[rank])) {
                say_taken(s, w, job->entry, rank);
                search->found = true;
            }
}

int registry_check_senders(struct registry_host *h, const struct config_static *job)
{
    struct search search = {.job = job};

    registry_host_visit(h, compare, &search);
    return search.found ? -EBUSY : 0;
}

struct count {
    int tenant; /* -1: nobody */
    unsigned jobs;
};

static void count_live(void *context, const struct registry_job *job)
{
    struct count *c = context;

    c->jobs += ctl_entry_is_live(job->entry) && job->entry->tenant == c->tenant;
}

/* Of those that operators may add; -1: nobody's. */
static int tenant_of(const struct config *c, const char *name)
{
    for (unsigned i = 0; i < config_jobs(c); i++) {
        const struct config_job job = config_job(c, i);

        if (job.may_change && strcmp(job.name, name) == 0)
            return job.tenant;
    }
    return -1;
}

int registry_check_quota(struct registry_host *h, const struct config *next, const char *name)
{
    struct count joined = {.tenant = tenant_of(next, name)};
    const struct config_tenant *tenant = joined.tenant < 0 ? NULL : &next->tenant[joined.tenant];

    if (tenant == NULL || tenant->quota.jobs == 0)
        return 0;
    registry_host_visit(h, count_live, &joined);
    joined.jobs += config_jobs_of(next, (unsigned)joined.tenant);
    if (joined.jobs <= tenant->quota.jobs)
        return 0;
    return log_fail(-EDQUOT, "job %s: tenant %s has %u jobs, as many as its quota.jobs allows", name,
                    tenant->name, joined.jobs - 1);
}
