#include "control/join.h"
#include "control/guard.h"

#include <string.h>

#include "control/admission.h"
#include "control/life.h"
#include "control/places.h"
#include "control/tell.h"

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
        ctl_answer_refused(r, from, &m->head, &why);
        return true;
    }
    return false;
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
        ctl_entry_event(r, job, "rank %u gives way to the ranks that come back", rank);
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
        ctl_entry_event(r, *job, "rank %d gives way to one that was there before the switch restarted", rank);
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
                            .hops = m->join.hops,
                            .host = m->join.host,
                            .via = m->join.via,
                            .wish = m->join.terms,
                            .incarnation = m->head.incarnation,
                            .joined_at = now,
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
    ctl_entry_event(r, job, "rank %u of %u has joined%s", m->head.rank, job->size,
                    m->join.resume ? " again" : "");
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
    if (origin == CTL_RESUMES && is_too_late(r, from, m))
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
        job = ctl_place_find(r, tenant, from, m, now, &why);
        if (!job) {
            if (origin == CTL_RESUMES)
                ctl_entry_expect_old(r, now); /* it will ask again */
            if (origin != CTL_RESUMES && some_come_back(r))
                ctl_answer_no_place(r, from, &m->head);
            else
                ctl_answer_refused(r, from, &m->head, &why);
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
    ctl_entry_event(r, job, "rank %u leaves: by the present configuration it is another tenant's", rank);
    ctl_entry_part(r, job, rank, CTL_MEMBER_ABSENT);
    return NULL;
}
