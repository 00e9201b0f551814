#include "control/places.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "control/life.h"
#include "control/tell.h"

/* Whose jobs are counted against a bound, or compared. */
enum scope { OF_ALL, OF_TENANT, OF_HOST, OF_HOST_BELOW };

struct founder {
    int tenant;
    uint32_t ip, below;
};

static bool counts(const struct ctl_entry *job, enum scope scope, const struct founder *f)
{
    return ctl_entry_is_live(job) && (scope != OF_TENANT || job->tenant == f->tenant) &&
           (scope < OF_HOST || job->founder == f->ip) &&
           (scope < OF_HOST_BELOW || job->founder_below == f->below);
}

static unsigned elsewhere(const struct ctl_registry *r, enum scope scope, const struct founder *f)
{
    bool known = scope == OF_TENANT && (unsigned)f->tenant < r->cfg.tenants_known;
    return known ? r->cfg.tenants[f->tenant].elsewhere : 0;
}

static unsigned held(const struct ctl_registry *r, enum scope scope, const struct founder *f)
{
    unsigned n = elsewhere(r, scope, f);
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        n += counts(&r->entries[i], scope, f);
    return n;
}

/* How many jobs one host may have founded: some entries are always left to others. */
static unsigned share(const struct ctl_registry *r)
{
    return r->cfg.jobs_per_host ? r->cfg.jobs_per_host : r->cfg.max_jobs - r->cfg.max_jobs / 4u;
}

/* How many jobs of this scope there may be at once; UINT_MAX: there is no bound. */
static unsigned bound(const struct ctl_registry *r, enum scope scope, const struct founder *f)
{
    if (scope == OF_ALL)
        return r->cfg.max_jobs;
    if (scope == OF_HOST)
        return share(r);
    if ((unsigned)f->tenant >= r->cfg.tenants_known || r->cfg.tenants[f->tenant].jobs == 0)
        return UINT_MAX;
    return r->cfg.tenants[f->tenant].jobs;
}

/* The bound that the founder has reached, apart from that on all jobs; OF_ALL: none. */
static enum scope reached(const struct ctl_registry *r, const struct founder *f)
{
    for (enum scope scope = OF_TENANT; scope <= OF_HOST; scope++)
        if (held(r, scope, f) >= bound(r, scope, f))
            return scope;
    return OF_ALL;
}

/* A free entry; if there is none, that of the job that failed longest ago, which is forgotten; NULL: all are
 * needed. */
static struct ctl_entry *find_unused(struct ctl_registry *r)
{
    struct ctl_entry *oldest = NULL;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (job->state == CTL_ENTRY_FREE)
            return job;
        if (job->state == CTL_ENTRY_FAILED && (!oldest || job->since < oldest->since))
            oldest = job;
    }
    if (oldest)
        ctl_entry_drop(r, oldest, "forgotten: its place is needed");
    return oldest;
}

/* How many live jobs more this one's host has founded than the founder. Of two hosts below one switch each
 * counts for itself. */
static int excess(const struct ctl_registry *r, const struct ctl_entry *job, const struct founder *f)
{
    const struct founder its = {.ip = job->founder, .below = job->founder_below};
    const enum scope scope = job->founder == f->ip ? OF_HOST_BELOW : OF_HOST;
    return (int)held(r, scope, &its) - (int)held(r, scope, f);
}

/* The job that gives its entry to another: a forming one of newcomers. It makes room for a job that comes
 * back after a restart, and for a job of a host that has founded clearly fewer. Of several, the youngest job
 * of the host that has founded most. Who has reached a bound of his own gives up a job that counts against
 * it. */
static struct ctl_entry *find_yielding(struct ctl_registry *r, const struct founder *f, enum scope own,
                                       bool comes_back)
{
    struct ctl_entry *best = NULL;
    int most = comes_back ? INT_MIN : 1;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (job->state != CTL_ENTRY_FORMING || job->resumed || !counts(job, own, f))
            continue;
        int its = excess(r, job, f);
        if (its > most || (best && its == most && job->since > best->since)) {
            best = job;
            most = its;
        }
    }
    if (best)
        ctl_entry_drop(r, best,
                       comes_back ? "gives its place to a job that ran before the switch restarted"
                                  : "gives its place to a host that has fewer");
    return best;
}

/* Appends the names of the jobs that count, as many as there is room for: ": a, b, c, ...". */
static void list_jobs(const struct ctl_registry *r, enum scope scope, const struct founder *f, char *text)
{
    size_t used = strlen(text);
    const char *before = ": ";
    if (elsewhere(r, scope, f) > 0) {
        used += (size_t)snprintf(text + used, CTL_TEXT_MAX - used, ": %u in the switch's configuration",
                                 elsewhere(r, scope, f));
        before = ", ";
    }
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        const struct ctl_entry *job = &r->entries[i];
        if (!counts(job, scope, f))
            continue;
        if (used + strlen(before) + strlen(job->name) + sizeof ", ..." > CTL_TEXT_MAX) {
            snprintf(text + used, CTL_TEXT_MAX - used, "%s...", before);
            return;
        }
        used += (size_t)snprintf(text + used, CTL_TEXT_MAX - used, "%s%s", before, job->name);
        before = ", ";
    }
}

static void refuse(const struct ctl_registry *r, enum scope scope, const struct founder *f, unsigned rank,
                   struct ctl_failure *why)
{
    const uint8_t *ip = (const uint8_t *)&f->ip;
    unsigned most = bound(r, scope, f);
    if (scope == OF_HOST)
        ctl_failure_set(
            why, CTL_NO_JOBS, rank,
            "%u.%u.%u.%u has founded %u jobs, as many as the switch's limits.jobs_per_host allows", ip[0],
            ip[1], ip[2], ip[3], most);
    else if (scope == OF_TENANT)
        ctl_failure_set(why, CTL_NO_JOBS, rank,
                        "tenant %s has %u jobs, as many as the switch's tenants[%d].quota.jobs allows",
                        r->cfg.tenants[f->tenant].name, most, f->tenant);
    else
        ctl_failure_set(why, CTL_NO_JOBS, rank, "the switch has %u jobs, as many as its limits.jobs allows",
                        most);
    list_jobs(r, scope, f, why->text);
}

struct ctl_entry *ctl_place_find(struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                                 const struct ctl_message *m, uint64_t now, struct ctl_failure *why)
{
    const struct founder f = {.tenant = tenant, .ip = from->ip, .below = m->join.hops > 0 ? m->join.host : 0};
    const enum scope own = reached(r, &f);
    struct ctl_entry *job = own == OF_ALL ? find_unused(r) : NULL;
    if (!job)
        job = find_yielding(r, &f, own, m->join.resume && ctl_entry_old_go_first(r, now));
    if (!job)
        refuse(r, own, &f, m->head.rank, why);
    return job;
}
