#include "control/job.h"

#include <errno.h>
#include <string.h>

#include "control/admission.h"

enum {
    PUSH_FIRST_MS = 100,
    REPORT_FIRST_MS = 2000,
    FORMING_MAX_MS = 600000,
};

/* Finding */

struct ctl_job *ctl_job_of(struct ctl_registry *r, const struct ctl_head *head)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_job *job = &r->jobs[i];
        if (job->state == CTL_JOB_FREE || head->rank >= job->size)
            continue;
        const struct ctl_member *member = &job->members[head->rank];
        if (member->state != CTL_MEMBER_ABSENT && member->incarnation == head->incarnation)
            return job;
    }
    return NULL;
}

struct ctl_ranks ctl_job_in_state(const struct ctl_job *job, enum ctl_member_state state)
{
    struct ctl_ranks set = {0};
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == state)
            ctl_ranks_add(&set, rank);
    return set;
}

struct ctl_ranks ctl_job_silent(const struct ctl_job *job, uint64_t since)
{
    struct ctl_ranks set = {0};
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && job->members[rank].heard_at < since)
            ctl_ranks_add(&set, rank);
    return set;
}

bool ctl_job_has(const struct ctl_job *job, enum ctl_origin origin)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && job->members[rank].origin == origin)
            return true;
    return false;
}

/* Starting */

uint64_t ctl_job_come_back_ns(const struct ctl_registry *r)
{
    return r->cfg.lost_after_ns > FORMING_LOST_AFTER ? r->cfg.lost_after_ns : FORMING_LOST_AFTER;
}

void ctl_job_note_start(struct ctl_registry *r, uint64_t now)
{
    if (r->old_jobs_until == 0)
        r->old_jobs_until = now + ctl_job_come_back_ns(r);
}

void ctl_job_expect_old(struct ctl_registry *r, uint64_t now)
{
    uint64_t heartbeat = r->cfg.lost_after_ns / 4, join = CTL_JOIN_INTERVAL_MAX_MS * CTL_MS;
    r->expected_until = now + (heartbeat > join ? heartbeat : join);
}

/* Changing */

static void enter(struct ctl_job *job, enum ctl_job_state state, uint64_t now)
{
    job->state = state;
    job->since = now;
    job->push_every = PUSH_FIRST_MS * CTL_MS;
    job->push_at = now + job->push_every;
    job->report_every = REPORT_FIRST_MS * CTL_MS;
    job->report_at = now + job->report_every;
}

static bool is_epoch_of_a_job(const struct ctl_registry *r, uint32_t epoch)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (r->jobs[i].state != CTL_JOB_FREE && r->jobs[i].epoch == epoch)
            return true;
    return false;
}

static uint32_t new_epoch(const struct ctl_registry *r)
{
    uint32_t epoch;
    do
        epoch = (uint32_t)r->cfg.actions.random(r->cfg.actions.ctx);
    while (epoch == 0 || is_epoch_of_a_job(r, epoch));
    return epoch;
}

static uint64_t forming_ends(const struct ctl_registry *r, const struct ctl_job *job)
{
    return job->since + (r->cfg.forming_max_ns ? r->cfg.forming_max_ns : FORMING_MAX_MS * CTL_MS);
}

struct ctl_job *ctl_job_create(struct ctl_registry *r, const struct ctl_endpoint *from,
                               const struct ctl_message *m, uint64_t now, struct ctl_failure *why)
{
    struct ctl_job *job = ctl_place_find(r, from, m, why);
    if (!job)
        return NULL;
    job->epoch = new_epoch(r);
    memcpy(job->name, m->join.name, sizeof job->name);
    job->founder = from->ip;
    job->size = m->head.size;
    job->format = m->join.format;
    job->mode = m->join.mode;
    job->checksum = m->join.checksum;
    enter(job, CTL_JOB_FORMING, now);
    job->give_up_at = forming_ends(r, job);
    return job;
}

void ctl_job_resume(struct ctl_registry *r, struct ctl_job *job, uint64_t roster, uint64_t now)
{
    job->resumed = true;
    job->roster = roster;
    job->give_up_at = now + ctl_job_come_back_ns(r);
}

void ctl_job_drop(struct ctl_registry *r, struct ctl_job *job, const char *why)
{
    if (job->state == CTL_JOB_RUNNING)
        r->cfg.actions.close_pool(r->cfg.actions.ctx, job);
    ctl_job_event(r, job, "%s", why);
    memset(job, 0, sizeof *job);
}

/* Jobs from before a restart have the first choice of what room there is. */
static bool others_go_first(const struct ctl_registry *r, const struct ctl_job *job, uint64_t now)
{
    if (job->resumed || now >= r->old_jobs_until)
        return false;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (r->jobs[i].state == CTL_JOB_FORMING && r->jobs[i].resumed)
            return true;
    return now < r->expected_until;
}

/* Not everybody is who they were: of those that have waited, one is another. False: of those that resume. */
static bool forget_waited(struct ctl_registry *r, struct ctl_job *job)
{
    if (!ctl_job_has(job, CTL_WAITED))
        return false;
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].origin == CTL_WAITED) {
            ctl_job_event(r, job, "rank %u is not, or may not be, the process that it was before the restart",
                          rank);
            ctl_job_part(r, job, rank, CTL_MEMBER_ABSENT);
        }
    return true;
}

static bool open_pool(struct ctl_registry *r, struct ctl_job *job, uint64_t now)
{
    struct ctl_failure why = {.rank = UINT16_MAX};
    int rc = r->cfg.actions.open_pool(r->cfg.actions.ctx, job, &job->slots, &job->number, why.text);
    if (rc >= 0)
        return true;
    why.reason = rc == -EMFILE ? CTL_NO_JOBS : rc == -EINVAL ? CTL_BAD_ARGUMENT : CTL_NO_SLOTS;
    if (!job->resumed || rc == -EINVAL) {
        ctl_job_fail(r, job, &why, now);
        return false;
    }
    if (!job->no_room)
        ctl_job_event(r, job, "all ranks are back, but there is no room yet: %s", why.text);
    job->no_room = true;
    job->failure = why;
    return false;
}

void ctl_job_run(struct ctl_registry *r, struct ctl_job *job, uint64_t now)
{
    struct ctl_failure why = {0};
    if (others_go_first(r, job, now) ||
        (job->resumed && job->roster != ctl_admission_roster(job) && forget_waited(r, job)))
        return;
    job->first_tag = (uint32_t)r->cfg.actions.random(r->cfg.actions.ctx);
    if (!ctl_admission_terms(job, r->cfg.payload_bytes, &why)) {
        ctl_job_fail(r, job, &why, now);
        return;
    }
    if (!open_pool(r, job, now))
        return;
    enter(job, CTL_JOB_RUNNING, now);
    for (unsigned rank = 0; rank < job->size; rank++)
        job->members[rank].heard_at = now; /* JOINs may come more rarely than heartbeats */
    ctl_job_event(r, job, "%s: %u ranks, number %u, %u slots, %u bytes a chunk",
                  job->resumed ? "resumed" : "ready", job->size, job->number, job->slots, job->chunk_bytes);
    ctl_job_push(r, job);
}

void ctl_job_fail(struct ctl_registry *r, struct ctl_job *job, const struct ctl_failure *why, uint64_t now)
{
    if (job->state == CTL_JOB_RUNNING)
        r->cfg.actions.close_pool(r->cfg.actions.ctx, job);
    job->failure = *why;
    enter(job, CTL_JOB_FAILED, now);
    ctl_job_event(r, job, "failed (%s): %s", ctl_reason_name(why->reason), why->text);
    ctl_job_push(r, job);
}

bool ctl_job_part(struct ctl_registry *r, struct ctl_job *job, unsigned rank, enum ctl_member_state state)
{
    job->members[rank].state = state;
    if (--job->present > 0) {
        if (job->state == CTL_JOB_FORMING && job->resumed && !ctl_job_has(job, CTL_RESUMES)) {
            job->resumed = false;
            job->give_up_at = forming_ends(r, job);
        }
        return true;
    }
    ctl_job_drop(r, job, "over: nobody is left in it");
    return false;
}
