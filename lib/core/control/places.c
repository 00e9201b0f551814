#include "control/places.h"

#include "control/life.h"
#include "control/tell.h"

/* Live jobs that were founded from this address. */
static unsigned held_by(const struct ctl_registry *r, uint32_t ip)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        n += ctl_entry_is_live(&r->entries[i]) && r->entries[i].founder == ip;
    return n;
}

/* How many jobs one host may have founded: some entries are always left to others. */
static unsigned share(const struct ctl_registry *r)
{
    return r->cfg.jobs_per_host ? r->cfg.jobs_per_host : r->cfg.max_jobs - r->cfg.max_jobs / 4u;
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

/* The job that gives its entry to another: a forming one of newcomers. It makes room for a job that resumes,
 * and for a job of a host that has founded clearly fewer. Of several, the youngest job of the host that has
 * founded most. A host that has its share gives up a job of its own. */
static struct ctl_entry *find_yielding(struct ctl_registry *r, uint32_t ip, bool resumes)
{
    struct ctl_entry *best = NULL;
    const bool own = held_by(r, ip) >= share(r);
    unsigned most = resumes ? 0 : held_by(r, ip) + 1;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (job->state != CTL_ENTRY_FORMING || job->resumed || (own && job->founder != ip))
            continue;
        unsigned held = held_by(r, job->founder);
        if (held > most || (best && held == most && job->since > best->since)) {
            best = job;
            most = held;
        }
    }
    if (best)
        ctl_entry_drop(r, best,
                       resumes ? "gives its place to a job that ran before the switch restarted"
                               : "gives its place to a host that has fewer");
    return best;
}

struct ctl_entry *ctl_place_find(struct ctl_registry *r, const struct ctl_endpoint *from,
                                 const struct ctl_message *m, struct ctl_failure *why)
{
    const bool has_its_share = held_by(r, from->ip) >= share(r);
    struct ctl_entry *job = has_its_share ? NULL : find_unused(r);
    if (!job)
        job = find_yielding(r, from->ip, m->join.resume);
    if (!job && has_its_share) {
        const uint8_t *ip = (const uint8_t *)&from->ip;
        ctl_failure_set(
            why, CTL_NO_JOBS, m->head.rank,
            "%u.%u.%u.%u has founded %u jobs, as many as the switch's limits.jobs_per_host allows", ip[0],
            ip[1], ip[2], ip[3], share(r));
    } else if (!job) {
        ctl_failure_set(why, CTL_NO_JOBS, m->head.rank,
                        "the switch has %u jobs, as many as its limits.jobs allows", r->cfg.max_jobs);
    }
    return job;
}
