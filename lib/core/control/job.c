#include "control/job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/admission.h"

enum {
    PUSH_FIRST_MS = 100,
    REPORT_FIRST_MS = 2000,
    FORMING_MAX_MS = 600000,
    WHO_HOSTS = 3, /* that a text names */
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

/* Telling */

static void append(char text[CTL_WHO_MAX], size_t *used, const char *words, uint32_t ip)
{
    const uint8_t *b = (const uint8_t *)&ip;
    *used +=
        (size_t)snprintf(text + *used, CTL_WHO_MAX - *used, "%s%u.%u.%u.%u", words, b[0], b[1], b[2], b[3]);
}

const char *ctl_job_who(const struct ctl_job *job, const struct ctl_ranks *set, char text[CTL_WHO_MAX])
{
    char ranks[CTL_RANKS_TEXT_MAX];
    uint32_t host[WHO_HOSTS];
    unsigned hosts = 0;
    size_t used = (size_t)snprintf(text, CTL_WHO_MAX, "%s", ctl_ranks_text(set, ranks));
    for (unsigned rank = 0; rank < job->size; rank++) {
        uint32_t ip = job->members[rank].endpoint.ip;
        unsigned i = 0;
        if (ip == 0 || !ctl_ranks_has(set, rank))
            continue;
        while (i < hosts && host[i] != ip)
            i++;
        if (i < hosts)
            continue;
        if (hosts == WHO_HOSTS) {
            used += (size_t)snprintf(text + used, CTL_WHO_MAX - used, ", ...");
            break;
        }
        append(text, &used, hosts ? ", " : " (", ip);
        host[hosts++] = ip;
    }
    if (hosts > 0)
        snprintf(text + used, CTL_WHO_MAX - used, ")");
    return text;
}

const char *ctl_job_who_is(const struct ctl_job *job, unsigned rank, char text[CTL_WHO_MAX])
{
    struct ctl_ranks one = {0};
    ctl_ranks_add(&one, rank);
    return ctl_job_who(job, &one, text);
}

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
