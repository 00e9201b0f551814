/* Another configuration, or fewer ports, for a registry that has jobs. */
#include <string.h>

#include "control/life.h"
#include "control/registry.h"
#include "control/tell.h"

void ctl_registry_in_use(const struct ctl_registry *r, unsigned *jobs, unsigned *workers)
{
    *jobs = *workers = 0;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        const struct ctl_entry *job = &r->entries[i];
        if (job->state == CTL_ENTRY_FREE)
            continue;
        ++*jobs;
        if (job->size > *workers)
            *workers = job->size;
    }
}

static bool job_has_key(const struct ctl_entry *job, unsigned key)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].endpoint.key == key + 1 ||
            job->members[rank].challenge.endpoint.key == key + 1)
            return true;
    return false;
}

bool ctl_registry_has_key(const struct ctl_registry *r, unsigned key)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (r->entries[i].state != CTL_ENTRY_FREE && job_has_key(&r->entries[i], key))
            return true;
    return false;
}

static void move_job(struct ctl_entry *to, const struct ctl_entry *from, const int tenant[])
{
    struct ctl_member *members = to->members;
    *to = *from;
    to->members = members;
    to->tenant = tenant[from->tenant];
    if (from->first_left)
        to->first_left = members + (from->first_left - from->members);
    memcpy(members, from->members, from->size * sizeof *members);
}

struct ctl_registry *ctl_registry_move(void *mem, const struct ctl_registry_config *cfg,
                                       const struct ctl_registry *old, const int tenant[])
{
    struct ctl_registry *r = ctl_registry_init(mem, cfg);
    struct ctl_entry *to = r->entries;
    r->ticked_at = old->ticked_at;
    r->old_jobs_until = old->old_jobs_until;
    r->expected_until = old->expected_until;
    r->preparations = old->preparations;
    if (old->cfg.keys > 0)
        r->guard = old->guard;
    for (unsigned i = 0; i < old->cfg.max_jobs; i++)
        if (old->entries[i].state != CTL_ENTRY_FREE)
            move_job(to++, &old->entries[i], tenant);
    return r;
}

void ctl_registry_cut(struct ctl_registry *r, ctl_is_there *is_there, const void *ctx, const char *where,
                      uint64_t now)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        for (unsigned rank = 0; ctl_entry_is_live(job) && rank < job->size; rank++) {
            const struct ctl_member *member = &job->members[rank];
            struct ctl_failure why;
            char who[CTL_WHO_MAX];
            if (member->state != CTL_MEMBER_JOINED || !is_there(ctx, &member->endpoint))
                continue;
            ctl_failure_set(&why, CTL_RANK_LOST, rank, "%s was %s", ctl_entry_who_is(job, rank, who), where);
            ctl_entry_fail(r, job, &why, now);
        }
    }
}
