/* Another configuration, fewer ports, or another process, for a registry that has jobs. */
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

static void copy_job(struct ctl_entry *to, const struct ctl_entry *from)
{
    struct ctl_member *members = to->members;
    *to = *from;
    to->members = members;
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
    r->back_at = old->back_at;
    r->old_jobs_until = old->old_jobs_until;
    r->expected_until = old->expected_until;
    r->preparations = old->preparations;
    if (old->cfg.keys > 0)
        r->guard.challenges = old->guard.challenges;
    for (unsigned i = 0; i < old->cfg.max_jobs; i++)
        if (old->entries[i].state != CTL_ENTRY_FREE) {
            copy_job(to, &old->entries[i]);
            to++->tenant = tenant[old->entries[i].tenant];
        }
    return r;
}

static bool has_known_keys(const struct ctl_registry *r, const struct ctl_entry *job)
{
    for (unsigned rank = 0; rank < job->size; rank++) {
        const unsigned key = job->members[rank].endpoint.key;
        if (key > r->cfg.keys || (key == 0) == job->keyed)
            return false;
    }
    return true;
}

/* A free place for a job that may go on here; NULL: it may not, or there is none. */
static struct ctl_entry *place_for(struct ctl_registry *r, const struct ctl_entry *job)
{
    struct ctl_entry *place = NULL;
    if (job->size == 0 || job->size > ctl_registry_workers(&r->cfg) || job->present > job->size ||
        job->name[0] == '\0' || !job->protocol || !has_known_keys(r, job))
        return NULL;
    for (unsigned i = r->cfg.max_jobs; i-- > 0;) {
        const struct ctl_entry *other = &r->entries[i];
        if (other->state == CTL_ENTRY_FREE)
            place = &r->entries[i];
        else if (other->epoch == job->epoch ||
                 (other->state == CTL_ENTRY_RUNNING && other->protocol == job->protocol &&
                  other->number == job->number))
            return NULL;
    }
    return place;
}

bool ctl_registry_restore(struct ctl_registry *r, const struct ctl_entry *job, uint64_t now)
{
    struct ctl_entry *place = place_for(r, job);
    if (!place)
        return false;
    copy_job(place, job);
    for (unsigned rank = 0; rank < place->size; rank++) {
        place->members[rank].confirmed = false;
        place->members[rank].challenge = (struct ctl_challenge){0};
    }
    ctl_entry_go_on(r, place, now);
    return true;
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
