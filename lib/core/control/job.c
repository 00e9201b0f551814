#include "control/job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/admission.h"

enum { PUSH_FIRST_MS = 100, REPORT_FIRST_MS = 2000 };

/* Finding */

static bool is_live(const struct ctl_job *job)
{
    return job->state == CTL_JOB_FORMING || job->state == CTL_JOB_RUNNING;
}

struct ctl_job *ctl_job_find(struct ctl_registry *r, const char *name)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (is_live(&r->jobs[i]) && strcmp(r->jobs[i].name, name) == 0)
            return &r->jobs[i];
    return NULL;
}

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

/* Telling */

void ctl_job_event(struct ctl_registry *r, const struct ctl_job *job, const char *format, ...)
{
    if (!r->cfg.actions.event)
        return;
    char text[CTL_TEXT_MAX + 100];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->cfg.actions.event(r->cfg.actions.ctx, job, text);
}

void ctl_answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                uint32_t epoch, struct ctl_message *m)
{
    uint8_t out[CTL_MESSAGE_MAX];
    uint8_t type = m->head.type;
    m->head = *head;
    m->head.type = type;
    m->head.version = CTL_VERSION;
    m->head.boot_id = r->cfg.boot_id;
    m->head.epoch = epoch;
    size_t bytes = ctl_build(out, m);
    r->cfg.actions.send(r->cfg.actions.ctx, to, out, bytes);
}

void ctl_answer_refused(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                        const struct ctl_failure *why)
{
    struct ctl_message m = {.head.type = CTL_REFUSED, .failure = *why};
    ctl_answer(r, to, head, 0, &m);
}

void ctl_job_tell(struct ctl_registry *r, const struct ctl_job *job, unsigned rank,
                  const struct ctl_endpoint *to)
{
    const struct ctl_member *member = &job->members[rank];
    struct ctl_head about = {.incarnation = member->incarnation,
                             .rank = (uint16_t)rank,
                             .size = job->size,
                             .serial = member->serial};
    struct ctl_message m = {0};
    if (job->state == CTL_JOB_RUNNING) {
        m.head.type = CTL_READY;
        m.ready = (struct ctl_ready){.job = job->number,
                                     .slots = job->slots,
                                     .chunk_bytes = job->chunk_bytes,
                                     .data_port = r->cfg.data_port,
                                     .data_ports = r->cfg.data_ports,
                                     .first_tag = job->first_tag,
                                     .lost_after_ms = (uint32_t)(r->cfg.lost_after_ns / CTL_MS),
                                     .resumed = member->origin == CTL_RESUMES,
                                     .roster = job->roster};
    } else {
        m.head.type = CTL_ABORTED;
        m.failure = job->failure;
    }
    ctl_answer(r, to, &about, job->epoch, &m);
}

static bool may_not_know(const struct ctl_job *job, const struct ctl_member *member)
{
    if (job->state == CTL_JOB_RUNNING)
        return member->state == CTL_MEMBER_JOINED && !member->confirmed;
    return member->state == CTL_MEMBER_JOINED || member->state == CTL_MEMBER_LOST;
}

void ctl_job_push(struct ctl_registry *r, const struct ctl_job *job)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (may_not_know(job, &job->members[rank]))
            ctl_job_tell(r, job, rank, &job->members[rank].endpoint);
}

/* Changing */

/* SplitMix64. */
static uint64_t next_random(struct ctl_registry *r)
{
    uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static struct ctl_job *find_place(struct ctl_registry *r)
{
    struct ctl_job *oldest = NULL;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_job *job = &r->jobs[i];
        if (job->state == CTL_JOB_FREE)
            return job;
        if (job->state == CTL_JOB_FAILED && (!oldest || job->since < oldest->since))
            oldest = job;
    }
    if (oldest)
        ctl_job_drop(r, oldest, "forgotten: its place is needed");
    return oldest;
}

static void enter(struct ctl_job *job, enum ctl_job_state state, uint64_t now)
{
    job->state = state;
    job->since = now;
    job->push_every = PUSH_FIRST_MS * CTL_MS;
    job->push_at = now + job->push_every;
    job->report_every = REPORT_FIRST_MS * CTL_MS;
    job->report_at = now + job->report_every;
}

struct ctl_job *ctl_job_create(struct ctl_registry *r, const struct ctl_message *m, uint64_t now)
{
    struct ctl_job *job = find_place(r);
    if (!job)
        return NULL;
    if (++r->last_epoch == 0)
        r->last_epoch = 1;
    job->epoch = r->last_epoch;
    memcpy(job->name, m->join.name, sizeof job->name);
    job->size = m->head.size;
    job->format = m->join.format;
    job->mode = m->join.mode;
    job->checksum = m->join.checksum;
    enter(job, CTL_JOB_FORMING, now);
    return job;
}

void ctl_job_drop(struct ctl_registry *r, struct ctl_job *job, const char *why)
{
    if (job->state == CTL_JOB_RUNNING)
        r->cfg.actions.close_pool(r->cfg.actions.ctx, job);
    ctl_job_event(r, job, "%s", why);
    memset(job, 0, sizeof *job);
}

void ctl_job_run(struct ctl_registry *r, struct ctl_job *job, uint64_t now)
{
    struct ctl_failure why = {0};
    job->first_tag = (uint32_t)next_random(r);
    if (!ctl_admission_terms(job, &why)) {
        ctl_job_fail(r, job, &why, now);
        return;
    }
    int rc = r->cfg.actions.open_pool(r->cfg.actions.ctx, job, &job->slots, &job->number, why.text);
    if (rc < 0) {
        why.reason = rc == -EMFILE ? CTL_NO_JOBS : rc == -EINVAL ? CTL_BAD_ARGUMENT : CTL_NO_SLOTS;
        why.rank = UINT16_MAX;
        ctl_job_fail(r, job, &why, now);
        return;
    }
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
        if (job->state == CTL_JOB_FORMING)
            job->resumed = ctl_job_has(job, CTL_RESUMES);
        return true;
    }
    ctl_job_drop(r, job, "over: nobody is left in it");
    return false;
}
