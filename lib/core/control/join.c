#include "control/join.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "control/admission.h"
#include "control/guard.h"
#include "control/life.h"
#include "control/tell.h"

/* Places: who gets one of the registry's entries */

/* Whose jobs are counted against a bound, or compared. */
enum scope { OF_ALL, OF_TENANT, OF_HOST, OF_HOST_BELOW };

struct founder {
    int tenant;
    uint32_t ip, below;
    const char *name; /* of the job; NULL where it does not matter */
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

/* Entries that are free, and not for this one. */
static unsigned kept(const struct ctl_registry *r, enum scope scope, const struct founder *f)
{
    const struct ctl_registry_actions *a = &r->cfg.actions;
    return a->kept && f->name && scope <= OF_TENANT ? a->kept(a->ctx, f->tenant, f->name, scope == OF_TENANT)
                                                    : 0;
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
        if (held(r, scope, f) + kept(r, scope, f) >= bound(r, scope, f))
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

/* The job that gives its entry to another: a forming one, unless it comes back. It makes room for a job that
 * comes back after a restart, and for a job of a host that has founded clearly fewer. Of several, the
 * youngest job of the host that has founded most. Who has reached a bound of his own gives up a job that
 * counts against it. */
static struct ctl_entry *find_yielding(struct ctl_registry *r, const struct founder *f, enum scope own,
                                       bool comes_back)
{
    struct ctl_entry *best = NULL;
    int most = comes_back ? INT_MIN : 1;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (job->state != CTL_ENTRY_FORMING || (job->resumed && job->came_back) || !counts(job, own, f))
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
    unsigned most = bound(r, scope, f), reserved = kept(r, scope, f);
    char and_kept[48] = "";
    if (reserved > 0)
        snprintf(and_kept, sizeof and_kept, " and %u places that are reserved", reserved);
    if (scope == OF_HOST)
        ctl_failure_set(
            why, CTL_NO_JOBS, rank,
            "%u.%u.%u.%u has founded %u jobs, as many as the switch's limits.jobs_per_host allows", ip[0],
            ip[1], ip[2], ip[3], most);
    else if (scope == OF_TENANT)
        ctl_failure_set(why, CTL_NO_JOBS, rank,
                        "tenant %s has %u jobs%s, as many as the switch's tenants[%d].quota.jobs allows",
                        r->cfg.tenants[f->tenant].name, most - reserved, and_kept, f->tenant);
    else
        ctl_failure_set(why, CTL_NO_JOBS, rank, "the switch has %u jobs%s, as many as its limits.jobs allows",
                        most - reserved, and_kept);
    list_jobs(r, scope, f, why->text);
}

static struct founder founder_of(int tenant, const struct ctl_endpoint *from, const struct ctl_message *m)
{
    return (struct founder){
        .tenant = tenant, .ip = from->ip, .below = m->join.hops > 0 ? m->join.host : 0, .name = m->join.name};
}

static bool is_left(const struct ctl_registry *r, const struct founder *f)
{
    return held(r, OF_ALL, f) + kept(r, OF_ALL, f) < bound(r, OF_ALL, f);
}

/* A free entry for the tenant's job that this JOIN founds; NULL if there is none for it, with the reason in
 * *why. */
static struct ctl_entry *find_place(struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                                    const struct ctl_message *m, uint64_t now, struct ctl_failure *why)
{
    const struct founder f = founder_of(tenant, from, m);
    const enum scope own = reached(r, &f);
    struct ctl_entry *job = own == OF_ALL && is_left(r, &f) ? find_unused(r) : NULL;
    if (!job)
        job = find_yielding(r, &f, own, m->join.resume && ctl_entry_old_go_first(r, now));
    if (!job)
        refuse(r, own, &f, m->head.rank, why);
    return job;
}

/* A worker asks so often, in some 0.7 s, before it is refused. */
enum { JOINS_TO_FOUND = 5 };

/* Whoever's host has founded its share may yet be in a job that another host's rank founds, whose JOIN may be
 * a moment behind. If he were refused at once, the others would wait for him in vain. His serial says how
 * often he has asked. */
static bool may_be_founded_yet(const struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                               const struct ctl_message *m)
{
    const struct founder f = founder_of(tenant, from, m);
    return m->head.size > 1 && m->head.serial < JOINS_TO_FOUND && reached(r, &f) == OF_HOST && is_left(r, &f);
}

static enum ctl_origin origin_of(const struct ctl_join *join)
{
    return join->resume ? CTL_RESUMES : join->waited ? CTL_WAITED : CTL_IS_NEW;
}

/* Finding the job */

/* It is too late for this rank: its old job has failed while others tried to resume it, or goes on with
 * another process in its place. */
static bool is_too_late(struct ctl_registry *r, const struct ctl_endpoint *from, const struct ctl_message *m)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        const struct ctl_entry *job = &r->entries[i];
        struct ctl_failure why;
        if (!job->resumed || job->roster != m->join.roster || job->keyed != (from->key != 0) ||
            job->network != from->network)
            continue;
        if (job->state == CTL_ENTRY_FAILED)
            why = job->failure;
        else if (job->state == CTL_ENTRY_RUNNING)
            ctl_failure_set(&why, CTL_CANNOT_RESUME, m->head.rank,
                            "the job goes on with another process as rank %u", m->head.rank);
        else
            continue;
        ctl_answer_refused(r, from, &m->head, m->join.name, &why);
        return true;
    }
    return false;
}

/* Whoever was not in the job has no ticket for it. */
static bool is_not_believed(struct ctl_registry *r, const struct ctl_endpoint *from,
                            const struct ctl_message *m)
{
    struct ctl_failure why;
    if (ctl_guard_believes(&r->guard, m))
        return false;
    ctl_failure_set(&why, CTL_CANNOT_RESUME, m->head.rank,
                    "nothing shows that rank %u was in the job before the switch restarted: its %s",
                    m->head.rank,
                    m->join.ticket == 0 ? "JOIN has no ticket, as of a library, or a switch below, that is "
                                          "older than this switch"
                                        : "ticket is not of this switch's secret (state)");
    ctl_answer_refused(r, from, &m->head, m->join.name, &why);
    return true;
}

static bool is_resuming(const struct ctl_entry *job)
{
    return ctl_entry_is_forming(job) && job->resumed;
}

/* To newcomers. Of jobs that form, only one that did run before: anybody may say so later. */
static bool is_closed(const struct ctl_entry *job)
{
    return job->state == CTL_ENTRY_RUNNING || (is_resuming(job) && job->came_back);
}

/* Whether a process at this end may mean the job by this name. */
static bool is_called(const struct ctl_entry *job, int tenant, const struct ctl_endpoint *from,
                      const char *name)
{
    return job->tenant == tenant && job->keyed == (from->key != 0) && job->network == from->network &&
           strcmp(job->name, name) == 0;
}

/* The tenant's job of this name that concerns a rank which does not resume: one that resumes, where it may
 * belong if it has waited since before a restart; else the one that is closed to newcomers; else the one that
 * is forming. */
static struct ctl_entry *find_by_name(struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                                      const char *name, bool is_new)
{
    struct ctl_entry *best = NULL;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (!ctl_entry_is_live(job) || !is_called(job, tenant, from, name))
            continue;
        if (is_resuming(job)) {
            if (!is_new || is_closed(job))
                return job;
        } else if (!best || is_closed(job)) {
            best = job;
        }
    }
    return best;
}

/* The job has only newcomers so far, and ranks that have waited since before the restart. Removes the
 * newcomers, who cannot be members of the job that resumes; the others may be. Returns whether anybody is
 * left. Later, when anybody may say that he resumes, newcomers keep the job to themselves. */
static bool clear_for_resumers(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_message *m,
                               uint64_t now)
{
    bool differ = ctl_admission_terms_differ(job, m);
    if (!ctl_entry_old_go_first(r, now) && (differ || ctl_entry_has(job, CTL_IS_NEW)))
        return false;
    if (differ) {
        ctl_entry_drop(r, job, "gives way to a job that ran before the switch restarted");
        return false;
    }
    for (unsigned rank = 0, size = job->size; rank < size; rank++) {
        const struct ctl_member *member = &job->members[rank];
        if (member->state != CTL_MEMBER_JOINED || member->origin != CTL_IS_NEW)
            continue;
        ctl_entry_event(r, job, CTL_EVENT_NOTE, rank, "rank %u gives way to the ranks that come back", rank);
        if (!ctl_entry_part(r, job, rank, CTL_MEMBER_ABSENT))
            return false;
    }
    return true;
}

/* Found by its roster, which only its members know; anybody can use its name. */
static struct ctl_entry *find_to_resume(struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                                        const struct ctl_message *m, uint64_t now)
{
    struct ctl_entry *open = NULL;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (!ctl_entry_is_forming(job) || !is_called(job, tenant, from, m->join.name))
            continue;
        if (!job->resumed)
            open = job;
        else if (job->roster == m->join.roster)
            return job;
    }
    return open && clear_for_resumers(r, open, m, now) ? open : NULL;
}

/* Getting a seat */

/* Whether a member makes room for a newcomer with a stronger claim (enum ctl_origin): a newcomer of this
 * switch's only as long as old jobs go first. If both have waited since before a restart, only the roster of
 * a job that resumes can tell which of them is right, so each gets its turn. */
static bool gives_way(const struct ctl_registry *r, const struct ctl_entry *job,
                      const struct ctl_member *member, enum ctl_origin newcomer, uint64_t now)
{
    if (member->state != CTL_MEMBER_JOINED)
        return false;
    if (member->origin == CTL_IS_NEW)
        return newcomer != CTL_IS_NEW && ctl_entry_old_go_first(r, now);
    return member->origin < newcomer ||
           (job->resumed && member->origin == CTL_WAITED && newcomer == CTL_WAITED);
}

/* The member that keeps this one out; -1: none does, or it has just made room. *job becomes NULL if it was
 * the job's last member. */
static int keep_out(struct ctl_registry *r, struct ctl_entry **job, const struct ctl_endpoint *from,
                    const struct ctl_message *m, uint64_t now)
{
    enum ctl_origin origin = origin_of(&m->join);
    for (;;) {
        int rank = ctl_admission_rival(*job, from, m);
        if (rank < 0 || !ctl_entry_is_forming(*job) ||
            !gives_way(r, *job, &(*job)->members[rank], origin, now))
            return rank;
        ctl_entry_event(r, *job, CTL_EVENT_NOTE, (uint16_t)rank,
                        "rank %d gives way to one that was there before the switch restarted", rank);
        if (!ctl_entry_part(r, *job, (unsigned)rank, CTL_MEMBER_ABSENT)) {
            *job = NULL;
            return -1;
        }
    }
}

/* The member in the way must prove that it is alive. The newcomer's newest message is the one that will be
 * answered. */
static void challenge(struct ctl_member *rival, const struct ctl_endpoint *from, const struct ctl_message *m,
                      uint64_t now)
{
    struct ctl_challenge *c = &rival->challenge;
    if (rival->state == CTL_MEMBER_JOINED && c->since == 0)
        *c = (struct ctl_challenge){.since = now, .head = m->head, .endpoint = *from, .wish = m->join.terms};
    else if (c->since && c->head.incarnation == m->head.incarnation && c->head.serial < m->head.serial)
        c->head.serial = m->head.serial;
}

static void sit_down(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, enum ctl_origin origin, uint64_t now)
{
    const struct ctl_member before = job->members[m->head.rank];
    job->members[m->head.rank] =
        (struct ctl_member){.state = CTL_MEMBER_JOINED,
                            .endpoint = *from,
                            .data_port = m->join.data_port,
                            .queue_pair = m->join.queue_pair,
                            .hops = m->join.hops,
                            .host = m->join.host,
                            .via = m->join.via,
                            .wish = m->join.terms,
                            .incarnation = m->head.incarnation,
                            .heard_at = now,
                            .serial = m->head.serial,
                            .endpoint_serial = m->head.serial,
                            .origin = origin,
                            .proven = origin == CTL_RESUMES || before.state == CTL_MEMBER_RECALLED,
                            .restarts = before.restarts + (before.incarnation != 0),
                            .resume_job = m->join.job};
    job->present++;
    if (job->turned_away.rank == m->head.rank)
        job->turned_away = (struct ctl_failure){0};
    if (m->join.resume && !job->resumed)
        ctl_entry_resume(r, job, m->join.roster, now);
    ctl_entry_event(r, job, CTL_EVENT_NOTE, m->head.rank, "rank %u of %u has joined%s", m->head.rank,
                    job->size, m->join.resume ? " again" : "");
    if (job->present == job->size)
        ctl_entry_run(r, job, now);
    if (ctl_entry_is_forming(job))
        ctl_answer_pending(r, from, &m->head, job, false, now);
}

/* They may not come back all, and leave their places. */
static bool some_come_back(const struct ctl_registry *r)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (is_resuming(&r->entries[i]) && r->entries[i].came_back)
            return true;
    return false;
}

void ctl_join_anew(struct ctl_registry *r, int tenant, const struct ctl_endpoint *from,
                   const struct ctl_message *m, uint64_t now)
{
    struct ctl_failure why;
    enum ctl_origin origin = origin_of(&m->join);
    if (origin == CTL_RESUMES && (is_not_believed(r, from, m) || is_too_late(r, from, m)))
        return;
    struct ctl_entry *job = origin == CTL_RESUMES
                                ? find_to_resume(r, tenant, from, m, now)
                                : find_by_name(r, tenant, from, m->join.name, origin == CTL_IS_NEW);
    int rival = job ? keep_out(r, &job, from, m, now) : -1;
    if (job && (rival >= 0 || (origin == CTL_IS_NEW && is_closed(job)))) {
        if (rival >= 0)
            challenge(&job->members[rival], from, m, now);
        ctl_answer_pending(r, from, &m->head, job, true, now);
        return;
    }
    if (!job) {
        job = find_place(r, tenant, from, m, now, &why);
        if (!job) {
            if (origin == CTL_RESUMES)
                ctl_entry_expect_old(r, now); /* it will ask again */
            if (origin != CTL_RESUMES && (some_come_back(r) || may_be_founded_yet(r, tenant, from, m)))
                ctl_answer_no_place(r, from, &m->head);
            else
                ctl_answer_refused(r, from, &m->head, m->join.name, &why);
            return;
        }
        ctl_entry_found(r, job, tenant, from, m, now);
    }
    sit_down(r, job, from, m, origin, now);
}

/* A rank that never heard READY has waited, whether it knows of the restart or not. */
void ctl_join_back(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                   const struct ctl_message *m, uint64_t now)
{
    sit_down(r, job, from, m, m->join.resume ? CTL_RESUMES : CTL_WAITED, now);
}

/* Whatever it says now, it is still one of this job. */
void ctl_join_again(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                    const struct ctl_message *m, uint64_t now)
{
    struct ctl_member *member = &job->members[m->head.rank];
    if (member->endpoint_serial != m->head.serial) { /* a copy may come from another MAC address */
        member->endpoint = *from;
        member->data_port = m->join.data_port;
        member->queue_pair = m->join.queue_pair;
    }
    member->endpoint_serial = m->head.serial;
    if (member->origin == origin_of(&m->join) && !ctl_admission_terms_differ(job, m))
        member->wish = m->join.terms;
    ctl_answer_pending(r, from, &m->head, job, false, now);
}

struct ctl_entry *ctl_join_follow(struct ctl_registry *r, struct ctl_entry *job, unsigned rank, int tenant)
{
    if (!job || job->state != CTL_ENTRY_FORMING || job->tenant == tenant ||
        job->members[rank].state != CTL_MEMBER_JOINED)
        return job;
    ctl_entry_event(r, job, CTL_EVENT_NOTE, rank,
                    "rank %u leaves: by the present configuration it is another tenant's", rank);
    ctl_entry_part(r, job, rank, CTL_MEMBER_ABSENT);
    return NULL;
}
