#include "control/registry.h"

#include <string.h>

#include "control/admission.h"
#include "control/job.h"

enum { IN_FLIGHT_MS = 100 /* what a dead process sent may arrive this much later */ };

size_t ctl_registry_footprint(const struct ctl_registry_config *cfg)
{
    const struct ctl_registry_actions *a = &cfg->actions;
    if (cfg->max_jobs < 1 || cfg->max_jobs > 256 || cfg->boot_id == 0 || cfg->lost_after_ns < 10 * CTL_MS ||
        cfg->lost_after_ns > 3600 * 1000 * CTL_MS || !a->send || !a->open_pool || !a->close_pool)
        return 0;
    return sizeof(struct ctl_registry) + cfg->max_jobs * sizeof(struct ctl_job);
}

struct ctl_registry *ctl_registry_init(void *mem, const struct ctl_registry_config *cfg)
{
    struct ctl_registry *r = mem;
    memset(r, 0, ctl_registry_footprint(cfg));
    r->cfg = *cfg;
    r->random = cfg->seed;
    r->last_epoch = (uint32_t)(cfg->seed >> 32 ^ cfg->boot_id);
    return r;
}

/* Answers to who asks */

static void answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                   uint8_t type)
{
    struct ctl_message m = {.head.type = type};
    ctl_answer(r, to, head, head->epoch, &m);
}

static void answer_pending(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                           const struct ctl_job *job, bool occupied, uint64_t now)
{
    struct ctl_message m = {.head.type = CTL_PENDING};
    m.pending.waited_ms = (uint32_t)((now - job->since) / CTL_MS);
    m.pending.occupied = occupied;
    m.pending.missing = ctl_job_in_state(job, occupied ? CTL_MEMBER_JOINED : CTL_MEMBER_ABSENT);
    ctl_answer(r, to, head, job->epoch, &m);
}

/* READY or ABORTED by the job's state; LEFT to one who has left. */
static void answer_member(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                          const struct ctl_job *job)
{
    if (job->members[head->rank].state == CTL_MEMBER_LEFT)
        answer(r, to, head, CTL_LEFT);
    else
        ctl_job_tell(r, job, head->rank, to);
}

/* JOIN */

static enum ctl_origin origin(const struct ctl_join *join)
{
    return join->resume ? CTL_RESUMES : join->waited ? CTL_WAITED : CTL_IS_NEW;
}

static void sit_down(struct ctl_registry *r, struct ctl_job *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, uint64_t now)
{
    struct ctl_member *member = &job->members[m->head.rank];
    *member = (struct ctl_member){.state = CTL_MEMBER_JOINED,
                                  .endpoint = *from,
                                  .data_port = m->join.data_port,
                                  .slots = m->join.slots,
                                  .chunk_bytes = m->join.chunk_bytes,
                                  .incarnation = m->head.incarnation,
                                  .joined_at = now,
                                  .heard_at = now,
                                  .serial = m->head.serial,
                                  .origin = origin(&m->join),
                                  .resume_tag = m->join.oldest_tag,
                                  .resume_job = m->join.job,
                                  .roster = m->join.roster};
    job->present++;
    job->resumed |= m->join.resume;
    ctl_job_event(r, job, "rank %u of %u has joined%s", m->head.rank, job->size,
                  m->join.resume ? " again" : "");
    if (job->present == job->size)
        ctl_job_run(r, job, now);
    else
        answer_pending(r, from, &m->head, job, false, now);
}

/* The rival's endpoint has another process now, so the rival is dead. */
static void replace_rival(struct ctl_registry *r, struct ctl_job *job, unsigned rank, uint64_t now)
{
    if (job->state == CTL_JOB_RUNNING) {
        struct ctl_failure why;
        ctl_failure_set(&why, CTL_RANK_LOST, rank, "rank %u is lost: its process ended and was started again",
                        rank);
        job->members[rank].state = CTL_MEMBER_LOST;
        job->present--;
        ctl_job_fail(r, job, &why, now);
    } else {
        ctl_job_part(r, job, rank, CTL_MEMBER_ABSENT);
    }
}

static void challenge(struct ctl_member *rival, const struct ctl_endpoint *from, const struct ctl_message *m,
                      uint64_t now)
{
    if (rival->challenge.since == 0)
        rival->challenge = (struct ctl_challenge){.since = now,
                                                  .head = m->head,
                                                  .endpoint = *from,
                                                  .format = m->join.format,
                                                  .mode = m->join.mode,
                                                  .checksum = m->join.checksum};
}

static void refuse_resume(struct ctl_registry *r, const struct ctl_endpoint *from,
                          const struct ctl_head *head)
{
    struct ctl_failure why;
    ctl_failure_set(&why, CTL_CANNOT_RESUME, head->rank, "the job has been started anew, without rank %u",
                    head->rank);
    ctl_answer_refused(r, from, head, &why);
}

/* The job that this rank was READY in has failed already while others tried to resume it; NULL: not so. */
static const struct ctl_job *find_failed_without(const struct ctl_registry *r, const struct ctl_join *join)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        const struct ctl_job *job = &r->jobs[i];
        for (unsigned rank = 0; job->state == CTL_JOB_FAILED && rank < job->size; rank++)
            if (job->members[rank].origin == CTL_RESUMES && job->members[rank].roster == join->roster)
                return job;
    }
    return NULL;
}

/* A JOIN by a process that is in no job. */
static void join_anew(struct ctl_registry *r, const struct ctl_endpoint *from, const struct ctl_message *m,
                      uint64_t now)
{
    struct ctl_failure why;
    struct ctl_job *job;
    const struct ctl_job *failed = m->join.resume ? find_failed_without(r, &m->join) : NULL;
    if (failed) {
        ctl_answer_refused(r, from, &m->head, &failed->failure);
        return;
    }
    while ((job = ctl_job_find(r, m->join.name))) {
        if (m->join.resume && (job->state == CTL_JOB_RUNNING || ctl_job_has(job, CTL_IS_NEW))) {
            refuse_resume(r, from, &m->head);
            return;
        }
        if (origin(&m->join) == CTL_IS_NEW && job->state == CTL_JOB_FORMING && job->resumed) {
            ctl_failure_set(&why, CTL_CANNOT_RESUME, m->head.rank,
                            "rank %u was started anew, so the job cannot resume", m->head.rank);
            ctl_job_fail(r, job, &why, now);
            continue;
        }
        int rank = ctl_admission_rival(job, from, m);
        if (rank < 0)
            break;
        struct ctl_member *rival = &job->members[rank];
        if (rival->state == CTL_MEMBER_LEFT || memcmp(&rival->endpoint, from, sizeof *from) != 0) {
            if (rival->state == CTL_MEMBER_JOINED)
                challenge(rival, from, m, now);
            answer_pending(r, from, &m->head, job, true, now);
            return;
        }
        replace_rival(r, job, (unsigned)rank, now);
    }
    if (!job && !(job = ctl_job_create(r, m, now))) {
        ctl_failure_set(&why, CTL_NO_JOBS, m->head.rank, "the switch has %u jobs, as many as its limits.jobs allows",
                        r->cfg.max_jobs);
        ctl_answer_refused(r, from, &m->head, &why);
        return;
    }
    sit_down(r, job, from, m, now);
}

static void join_again(struct ctl_registry *r, struct ctl_job *job, const struct ctl_endpoint *from,
                       const struct ctl_message *m, uint64_t now)
{
    struct ctl_member *member = &job->members[m->head.rank];
    if (job->state != CTL_JOB_FORMING) {
        answer_member(r, from, &m->head, job);
        return;
    }
    member->endpoint = *from;
    member->resume_tag = m->join.oldest_tag;
    answer_pending(r, from, &m->head, job, false, now);
}

static bool may_join(struct ctl_registry *r, const struct ctl_endpoint *from, const struct ctl_message *m,
                     struct ctl_failure *why)
{
    const struct ctl_registry_actions *a = &r->cfg.actions;
    why->reason = CTL_NOT_ADMITTED;
    why->rank = m->head.rank;
    return !a->may_join || a->may_join(a->ctx, from, m->join.name, why->text);
}

static void on_join(struct ctl_registry *r, struct ctl_job *job, const struct ctl_endpoint *from,
                    const struct ctl_message *m, uint64_t now)
{
    struct ctl_failure why;
    if (!ctl_admission_arguments(m, &why) || !may_join(r, from, m, &why))
        ctl_answer_refused(r, from, &m->head, &why);
    else if (m->head.boot_id != r->cfg.boot_id)
        answer(r, from, &m->head, CTL_PENDING); /* it may be a late copy from before a restart */
    else if (job)
        join_again(r, job, from, m, now);
    else
        join_anew(r, from, m, now);
}

/* HEARTBEAT, LEAVE, ABORT */

/* Who has left may be needed still: fails the job if somebody waits in a collective that the leaver is not
 * in. */
static void check_left_behind(struct ctl_registry *r, struct ctl_job *job, uint64_t now)
{
    for (unsigned w = 0; w < job->size; w++) {
        const struct ctl_member *waiter = &job->members[w];
        if (waiter->state != CTL_MEMBER_JOINED || !waiter->heartbeat.waiting)
            continue;
        for (unsigned l = 0; l < job->size; l++) {
            const struct ctl_member *leaver = &job->members[l];
            if (leaver->state != CTL_MEMBER_LEFT ||
                (int32_t)(waiter->heartbeat.calls - leaver->heartbeat.calls) < 0)
                continue;
            struct ctl_failure why;
            ctl_failure_set(&why, CTL_RANK_LEFT, l,
                            "rank %u left after %u collectives, but rank %u waits for it in another", l,
                            leaver->heartbeat.calls, w);
            ctl_job_fail(r, job, &why, now);
            return;
        }
    }
}

static void on_heartbeat(struct ctl_registry *r, struct ctl_job *job, const struct ctl_endpoint *from,
                         const struct ctl_message *m, uint64_t now)
{
    if (!job || m->head.epoch != job->epoch || m->head.boot_id != r->cfg.boot_id) {
        answer(r, from, &m->head, CTL_UNKNOWN);
        return;
    }
    struct ctl_member *member = &job->members[m->head.rank];
    if (job->state != CTL_JOB_RUNNING || member->state != CTL_MEMBER_JOINED) {
        answer_member(r, from, &m->head, job);
        return;
    }
    member->confirmed = true;
    member->heartbeat = m->heartbeat;
    answer(r, from, &m->head, CTL_ALIVE);
    check_left_behind(r, job, now);
}

static void on_leave(struct ctl_registry *r, struct ctl_job *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, uint64_t now)
{
    unsigned rank = m->head.rank;
    answer(r, from, &m->head, job ? CTL_LEFT : CTL_UNKNOWN);
    if (!job)
        return;
    struct ctl_member *member = &job->members[rank];
    if (member->state != CTL_MEMBER_JOINED) {
        member->state = CTL_MEMBER_LEFT;
        return;
    }
    member->heartbeat = m->heartbeat;
    ctl_job_event(r, job, "rank %u has left", rank);
    bool forget = job->state == CTL_JOB_FORMING && !job->resumed;
    if (!ctl_job_part(r, job, rank, forget ? CTL_MEMBER_ABSENT : CTL_MEMBER_LEFT))
        return;
    if (job->state == CTL_JOB_RUNNING) {
        check_left_behind(r, job, now);
    } else if (job->state == CTL_JOB_FORMING && !forget) {
        struct ctl_failure why;
        ctl_failure_set(&why, CTL_CANNOT_RESUME, rank, "rank %u left, so the job cannot resume", rank);
        ctl_job_fail(r, job, &why, now);
    }
}

static void on_abort(struct ctl_registry *r, struct ctl_job *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, uint64_t now)
{
    if (!job) {
        answer(r, from, &m->head, CTL_UNKNOWN);
    } else if (job->state == CTL_JOB_FAILED || job->members[m->head.rank].state != CTL_MEMBER_JOINED) {
        answer_member(r, from, &m->head, job);
    } else {
        struct ctl_failure why = m->failure;
        if (why.reason == CTL_OK || why.reason > CTL_RANK_LEFT)
            why.reason = CTL_APPLICATION;
        if (why.rank >= job->size)
            why.rank = m->head.rank;
        ctl_job_fail(r, job, &why, now);
    }
}

/* Receiving */

static void refuse_unparsed(struct ctl_registry *r, const struct ctl_endpoint *from,
                            const struct ctl_head *head, enum ctl_parse_error error)
{
    struct ctl_failure why;
    if (head->incarnation == 0 || !ctl_type_from_worker(head->type))
        return; /* an answer to an answer might go on for ever */
    switch (error) {
    case CTL_OTHER_VERSION:
        ctl_failure_set(&why, CTL_BAD_VERSION, head->rank,
                        "version %u of the control protocol is not spoken here, %u is", head->version,
                        CTL_VERSION);
        break;
    case CTL_BAD_TYPE:
        ctl_failure_set(&why, CTL_BAD_ARGUMENT, head->rank, "message type %u is not known here", head->type);
        break;
    case CTL_BAD_STRING:
        ctl_failure_set(&why, CTL_BAD_ARGUMENT, head->rank,
                        "a string in %s is empty, too long or not printable ASCII",
                        ctl_type_name(head->type));
        break;
    default:
        ctl_failure_set(&why, CTL_BAD_ARGUMENT, head->rank, "the message is too short for %s",
                        ctl_type_name(head->type));
        break;
    }
    ctl_answer_refused(r, from, head, &why);
}

static void settle_challenge(struct ctl_registry *r, struct ctl_job *job, unsigned rank, uint64_t now)
{
    struct ctl_challenge *c = &job->members[rank].challenge;
    if (c->since == 0 || now - c->since < IN_FLIGHT_MS * CTL_MS)
        return;
    struct ctl_failure why;
    ctl_admission_refusal(job, rank, &why);
    ctl_answer_refused(r, &c->endpoint, &c->head, &why);
    ctl_job_event(r, job, "turned away: %s", why.text);
    *c = (struct ctl_challenge){0};
}

/* A message from a member; false if it is older than one that came before. A copy is answered, but is no sign
 * of life. */
static bool note_heard(struct ctl_registry *r, struct ctl_job *job, const struct ctl_head *head, uint64_t now)
{
    struct ctl_member *member = &job->members[head->rank];
    if (head->serial <= member->serial)
        return head->serial == member->serial;
    member->serial = head->serial;
    member->heard_at = now;
    if (head->type == CTL_JOIN || head->type == CTL_HEARTBEAT)
        settle_challenge(r, job, head->rank, now);
    return true;
}

enum ctl_parse_error ctl_registry_receive(struct ctl_registry *r, const struct ctl_endpoint *from,
                                          const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct ctl_message m;
    enum ctl_parse_error error = ctl_parse(&m, payload, bytes);
    if (error == CTL_PARSED && !ctl_type_from_worker(m.head.type))
        error = CTL_BAD_TYPE;
    if (error != CTL_PARSED) {
        refuse_unparsed(r, from, &m.head, error);
        return error;
    }
    struct ctl_job *job = ctl_job_of(r, &m.head);
    if (job && !note_heard(r, job, &m.head, now))
        return CTL_PARSED;
    switch (m.head.type) {
    case CTL_JOIN:
        on_join(r, job, from, &m, now);
        break;
    case CTL_HEARTBEAT:
        on_heartbeat(r, job, from, &m, now);
        break;
    case CTL_LEAVE:
        on_leave(r, job, from, &m, now);
        break;
    case CTL_ABORT:
        on_abort(r, job, from, &m, now);
        break;
    }
    return CTL_PARSED;
}

bool ctl_registry_knows(struct ctl_registry *r, const struct ctl_head *head)
{
    return ctl_job_of(r, head) != NULL;
}

const struct ctl_job *ctl_registry_job(const struct ctl_registry *r, unsigned i)
{
    return &r->jobs[i];
}

bool ctl_job_had_number(const struct ctl_job *job, uint8_t number)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].origin == CTL_RESUMES && job->members[rank].resume_job == number)
            return true;
    return false;
}

const char *ctl_job_state_name(enum ctl_job_state state)
{
    static const char *const names[] = {
        [CTL_JOB_FREE] = "free",
        [CTL_JOB_FORMING] = "forming",
        [CTL_JOB_RUNNING] = "running",
        [CTL_JOB_FAILED] = "failed",
    };
    return (unsigned)state <= CTL_JOB_FAILED ? names[state] : "?";
}
