/* What this switch's operator changes: jobs that end, ports that go, tenants that get other numbers. */
#include <string.h>

#include "control/tell.h"
#include "relay/proxy.h"
#include "relay/proxy_state.h"

static bool is_named(const struct relay_job *job, int tenant, const char *name)
{
    return ctl_entry_is_live(&job->entry) && job->entry.tenant == tenant &&
           strcmp(job->entry.name, name) == 0;
}

bool relay_is_draining(const struct relay_proxy *p, int tenant, const char *name)
{
    for (unsigned i = 0; i < p->cfg.max_jobs; i++)
        if (is_named(&p->jobs[i], tenant, name) && p->jobs[i].entry.draining)
            return true;
    return false;
}

static void end(struct relay_proxy *p, struct relay_job *job)
{
    relay_fail(p, job, CTL_APPLICATION, "its operator has ended the job");
}

static void drain(struct relay_proxy *p, struct relay_job *job)
{
    if (job->entry.state != CTL_ENTRY_RUNNING) {
        end(p, job);
        return;
    }
    job->entry.draining = true;
    relay_event(p, job, CTL_EVENT_NOTE,
                "the operator lets it come to its end: nobody else may join by this switch");
}

static bool for_jobs_of(struct relay_proxy *p, int tenant, const char *name, uint64_t now,
                        void (*act)(struct relay_proxy *, struct relay_job *))
{
    bool any = false;

    for (unsigned i = 0; i < p->cfg.max_jobs; i++) {
        if (!is_named(&p->jobs[i], tenant, name))
            continue;
        p->jobs[i].parent_heard_at = now;
        act(p, &p->jobs[i]);
        any = true;
    }
    return any;
}

bool relay_end(struct relay_proxy *p, int tenant, const char *name, uint64_t now)
{
    return for_jobs_of(p, tenant, name, now, end);
}

bool relay_drain(struct relay_proxy *p, int tenant, const char *name, uint64_t now)
{
    return for_jobs_of(p, tenant, name, now, drain);
}

void relay_cut(struct relay_proxy *p, ctl_is_there *is_there, const void *ctx, const char *where,
               uint64_t now)
{
    for (unsigned i = 0; i < p->cfg.max_jobs; i++) {
        struct relay_job *job = &p->jobs[i];

        for (unsigned rank = 0; ctl_entry_is_live(&job->entry) && rank < job->entry.size; rank++) {
            const struct ctl_member *member = &job->entry.members[rank];
            char who[CTL_WHO_MAX];

            if (member->state != CTL_MEMBER_JOINED || !is_there(ctx, &member->endpoint))
                continue;
            job->parent_heard_at = now;
            relay_fail(p, job, CTL_RANK_LOST, "%s was %s", ctl_entry_who_is(&job->entry, rank, who), where);
        }
    }
}

bool relay_has_key(const struct relay_proxy *p, unsigned i)
{
    for (unsigned r = 0; r < p->cfg.max_processes; r++)
        if (p->routes[r].incarnation != 0 && p->routes[r].endpoint.key == i + 1)
            return true;
    return false;
}

bool relay_has_tenant(const struct relay_proxy *p, int tenant)
{
    for (unsigned i = 0; i < p->cfg.max_processes; i++)
        if (p->routes[i].incarnation != 0 && p->routes[i].tenant == tenant)
            return true;
    for (unsigned i = 0; i < p->cfg.max_jobs; i++)
        if (p->jobs[i].entry.state != CTL_ENTRY_FREE && p->jobs[i].entry.tenant == tenant)
            return true;
    return false;
}

void relay_follow(struct relay_proxy *p, const int tenant[], unsigned keys)
{
    p->guard.keys = keys;
    for (unsigned i = 0; i < p->cfg.max_processes; i++)
        if (p->routes[i].incarnation != 0)
            p->routes[i].tenant = tenant[p->routes[i].tenant];
    for (unsigned i = 0; i < p->cfg.max_jobs; i++)
        if (p->jobs[i].entry.state != CTL_ENTRY_FREE)
            p->jobs[i].entry.tenant = tenant[p->jobs[i].entry.tenant];
}
