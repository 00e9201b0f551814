#include "control/registry.h"

#include <string.h>

#include "control/admission.h"
#include "control/join.h"
#include "control/life.h"
#include "control/tell.h"

enum { IN_FLIGHT_MS = 100 /* packets of a dead process may arrive this much later */ };

static size_t without_members(const struct ctl_registry_config *cfg)
{
    return sizeof(struct ctl_registry) + cfg->max_jobs * sizeof(struct ctl_entry);
}

static size_t members_bytes(const struct ctl_registry_config *cfg)
{
    return ctl_registry_workers(cfg) * sizeof(struct ctl_member);
}

size_t ctl_registry_footprint(const struct ctl_registry_config *cfg)
{
    const struct ctl_registry_actions *a = &cfg->actions;
    if (cfg->max_jobs < 1 || cfg->max_jobs > 256 || cfg->boot_id == 0 || cfg->lost_after_ns < 10 * CTL_MS ||
        cfg->lost_after_ns > 3600 * 1000 * CTL_MS || !a->send || !a->prepare || !a->release || !a->random ||
        cfg->protocols_known == 0 || cfg->max_workers > CTL_RANKS_MAX)
        return 0;
    return without_members(cfg) + cfg->max_jobs * members_bytes(cfg);
}

struct ctl_registry *ctl_registry_init(void *mem, const struct ctl_registry_config *cfg)
{
    struct ctl_registry *r = mem;
    uint8_t *members = (uint8_t *)mem + without_members(cfg);
    memset(r, 0, without_members(cfg));
    r->cfg = *cfg;
    for (unsigned i = 0; i < cfg->max_jobs; i++)
        r->entries[i].members = (struct ctl_member *)(members + i * members_bytes(cfg));
    r->guard = (struct ctl_guard){
        .library = cfg->library, .key = cfg->key, .keys = cfg->keys, .lasting = cfg->lasting};
    if (cfg->keys > 0)
        ctl_guard_make_secret(r->guard.challenges.secret, cfg->actions.random, cfg->actions.ctx);
    return r;
}

/* Answers to who asks */

static void answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                   uint8_t type)
{
    struct ctl_message m = {.head.type = type};
    ctl_answer(r, to, head, head->epoch, &m);
}

/* READY or ABORTED by the job's state; LEFT if the member has left. */
static void answer_member(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                          const struct ctl_entry *job)
{
    if (job->members[head->rank].state == CTL_MEMBER_LEFT)
        answer(r, to, head, CTL_LEFT);
    else
        ctl_entry_tell(r, job, head->rank, to);
}

/* JOIN */

/* What may keep it out says so in *why, which has CTL_NOT_ADMITTED and its rank until then. */

/* -1: it may not join. */
static int tenant_of(struct ctl_registry *r, const struct ctl_endpoint *from, const struct ctl_message *m,
                     struct ctl_failure *why)
{
    const struct ctl_registry_actions *a = &r->cfg.actions;
    int key = ctl_guard_tenant(&r->guard, from);
    if (a->tenant_of)
        return a->tenant_of(a->ctx, from, key, m->join.name, why->text);
    return key == CTL_NO_KEY ? 0 : key;
}

static bool is_named(const struct ctl_entry *job, int tenant, const char *name)
{
    return ctl_entry_is_live(job) && job->tenant == tenant && strcmp(job->name, name) == 0;
}

/* Whether the operator lets the tenant's job of this name come to its end, without newcomers. Who resumes is
 * none: its job is another, or this one. */
static bool is_draining(const struct ctl_registry *r, int tenant, const struct ctl_message *m,
                        struct ctl_failure *why)
{
    for (unsigned i = 0; i < r->cfg.max_jobs && !m->join.resume; i++)
        if (is_named(&r->entries[i], tenant, m->join.name) && r->entries[i].draining) {
            ctl_failure_set(
                why, CTL_NOT_ADMITTED, m->head.rank,
                "the switch's operator lets the job of this name come to its end: nobody else may join");
            return true;
        }
    return false;
}

/* Whether its data packets would be another's, of a job that nobody joins. */
static bool is_taken(const struct ctl_registry *r, const struct ctl_endpoint *from,
                     const struct ctl_message *m, struct ctl_failure *why)
{
    const struct ctl_registry_actions *a = &r->cfg.actions;
    return a->is_taken && a->is_taken(a->ctx, from, m->join.data_port, why->text);
}

/* Of which tenant a process is, or would be; -1: it may not join. A member of a job that does not form any
 * more was asked before, and need not be a second time. */
static int tenant_for(struct ctl_registry *r, const struct ctl_entry *job, const struct ctl_endpoint *from,
                      const struct ctl_message *m, struct ctl_failure *why)
{
    if (!ctl_admission_arguments(&r->cfg, m, why))
        return -1;
    return job && !ctl_entry_is_forming(job) ? job->tenant : tenant_of(r, from, m, why);
}

/* Those of a forming job who wait for this rank learn why it does not come. */
static void note_turned_away(struct ctl_entry *job, unsigned rank, const struct ctl_failure *why)
{
    if (!ctl_entry_is_forming(job) || (rank < job->size && job->members[rank].state != CTL_MEMBER_ABSENT))
        return;
    job->turned_away = *why;
    job->turned_away.rank = (uint16_t)rank;
}

/* Whichever tenant's the job is. */
static void note_not_admitted(struct ctl_registry *r, const struct ctl_endpoint *from,
                              const struct ctl_message *m, const struct ctl_failure *why)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (job->keyed == (from->key != 0) && job->network == from->network &&
            strcmp(job->name, m->join.name) == 0)
            note_turned_away(job, m->head.rank, why);
    }
}

static bool knows_boot_id(const struct ctl_registry *r, const struct ctl_endpoint *from,
                          const struct ctl_message *m)
{
    return m->head.boot_id == ctl_guard_boot_id(&r->guard, r->cfg.boot_id, from);
}

/* Jobs of which a switch below has restarted: all members are to join again, as if this switch had (life.h).
 */

/* Whether this member is to join again. */
static bool expects(const struct ctl_entry *job, unsigned rank)
{
    return job->members[rank].state == CTL_MEMBER_RECALLED;
}

/* A rank that was READY in this life of the job says that its switch has restarted. That was not this one, so
 * it was one below. */
static bool calls_for_recall(const struct ctl_entry *job, const struct ctl_message *m)
{
    return job->state == CTL_ENTRY_RUNNING && job->members[m->head.rank].state == CTL_MEMBER_JOINED &&
           m->join.resume && m->join.hops > 0 && m->head.epoch == job->epoch;
}

/* A JOIN of a member. True: it was handled here, since it says that a switch below has restarted, or is one
 * of those that are expected. */
static bool join_recalled(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                          const struct ctl_message *m, uint64_t now)
{
    const bool calls = calls_for_recall(job, m);
    if (calls)
        ctl_entry_recall(r, job, m->head.rank, now);
    if (!ctl_entry_is_forming(job) || !expects(job, m->head.rank))
        return calls; /* then it has failed */
    ctl_join_back(r, job, from, m, now);
    return true;
}

/* To a member that is to join again: UNKNOWN under another boot id, as of a switch that has restarted. It
 * learns ours from the answer to its JOIN. */
static void answer_recalled(struct ctl_registry *r, const struct ctl_endpoint *to,
                            const struct ctl_head *head)
{
    struct ctl_message m = {.head.type = CTL_UNKNOWN};
    ctl_answer_as(r, to, head, head->epoch, &m, ~ctl_guard_boot_id(&r->guard, r->cfg.boot_id, to));
}

static void on_join(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                    const struct ctl_message *m, uint64_t challenge, uint64_t now)
{
    struct ctl_failure why = {.reason = CTL_NOT_ADMITTED, .rank = m->head.rank};
    int tenant = tenant_for(r, job, from, m, &why);
    if (tenant >= 0 && knows_boot_id(r, from, m))
        job = ctl_join_follow(r, job, m->head.rank, tenant);
    if (tenant < 0) {
        note_not_admitted(r, from, m, &why);
        ctl_answer_refused(r, from, &m->head, m->join.name, &why);
    } else if (!knows_boot_id(r, from, m))
        answer(r, from, &m->head, CTL_PENDING); /* it may be a late copy from before a restart, or forged */
    else if (!job && (ctl_guard_is_retired(&r->guard, from, &why) || is_draining(r, tenant, m, &why) ||
                      is_taken(r, from, m, &why)))
        ctl_answer_refused(r, from, &m->head, m->join.name, &why);
    else if (job && join_recalled(r, job, from, m, now))
        return;
    else if (job && ctl_entry_is_forming(job))
        ctl_join_again(r, job, from, m, now);
    else if (job)
        answer_member(r, from, &m->head, job);
    else if (!ctl_guard_is_fresh(&r->guard, from, m->head.incarnation, challenge))
        answer(r, from, &m->head, CTL_PENDING); /* it may be a copy of what one that has gone sent */
    else
        ctl_join_anew(r, tenant, from, m, now);
}

/* HEARTBEAT, LEAVE, ABORT */

/* Fails the job if this member waits in a collective that a rank which has left took no part in, and not
 * enough do without it; then returns true. */
static bool is_left_behind(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_member *waiter,
                           uint64_t now)
{
    const struct ctl_member *leaver = job->first_left;
    struct ctl_failure why;
    char gone[CTL_WHO_MAX], here[CTL_WHO_MAX];
    if (!leaver || waiter->state != CTL_MEMBER_JOINED || !waiter->heartbeat.waiting ||
        (int32_t)(waiter->heartbeat.calls - leaver->heartbeat.calls) < 0 ||
        ctl_entry_count_in(job, waiter) >= ctl_entry_needs(job))
        return false;
    unsigned left = (unsigned)(leaver - job->members);
    ctl_failure_set(&why, CTL_RANK_LEFT, left, "%s left after %u collectives, but %s waits for it in another",
                    ctl_entry_who_is(job, left, gone), leaver->heartbeat.calls,
                    ctl_entry_who_is(job, (unsigned)(waiter - job->members), here));
    ctl_entry_fail(r, job, &why, now);
    return true;
}

static void note_left(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_member *leaver,
                      uint64_t now)
{
    if (job->first_left && (int32_t)(leaver->heartbeat.calls - job->first_left->heartbeat.calls) >= 0)
        return;
    job->first_left = leaver;
    for (unsigned rank = 0; rank < job->size; rank++)
        if (is_left_behind(r, job, &job->members[rank], now))
            return;
}

/* Whether it is not known to have finished as many calls as who asks. One that does not tell is not. */
static bool is_behind(const struct ctl_member *member, const struct ctl_heartbeat *asker)
{
    const struct ctl_heartbeat *h = &member->heartbeat;
    const bool told = member->state == CTL_MEMBER_LEFT || member->confirmed;
    if (member->state != CTL_MEMBER_LEFT && member->state != CTL_MEMBER_JOINED)
        return false;
    return !told || (h->tells_finished && (int32_t)(asker->finished - h->finished) > 0);
}

static void answer_alive(struct ctl_registry *r, const struct ctl_entry *job, const struct ctl_endpoint *to,
                         const struct ctl_message *heartbeat)
{
    struct ctl_message m = {.head.type = CTL_ALIVE};
    for (unsigned rank = 0; heartbeat->heartbeat.tells_finished && rank < job->size; rank++)
        m.alive.behind = (uint16_t)(m.alive.behind + is_behind(&job->members[rank], &heartbeat->heartbeat));
    ctl_answer(r, to, &heartbeat->head, job->epoch, &m);
}

/* What it has waited before the job ran here, or was here again, it has waited for this switch. */
static uint32_t waited_for_others(const struct ctl_registry *r, const struct ctl_entry *job,
                                  const struct ctl_heartbeat *h, uint64_t now)
{
    const uint64_t here = (now - (job->since > r->back_at ? job->since : r->back_at)) / CTL_MS;
    return h->stalled_ms < here ? h->stalled_ms : (uint32_t)here;
}

static void on_heartbeat(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                         const struct ctl_message *m, uint64_t now)
{
    /* A member knows what was shown to the address that it joined from. */
    const bool knows = knows_boot_id(r, job ? &job->members[m->head.rank].endpoint : from, m);
    if (!job || ctl_entry_is_forming(job) || m->head.epoch != job->epoch || !knows) {
        if (m->head.boot_id != 0 && !knows) /* 0: it only asks whether we are here */
            ctl_entry_expect_old(r, now);
        if (job && expects(job, m->head.rank))
            answer_recalled(r, from, &m->head);
        else
            answer(r, from, &m->head, CTL_UNKNOWN);
        return;
    }
    struct ctl_member *member = &job->members[m->head.rank];
    if (job->state != CTL_ENTRY_RUNNING || member->state != CTL_MEMBER_JOINED) {
        answer_member(r, from, &m->head, job);
        return;
    }
    member->confirmed = true;
    member->heartbeat = m->heartbeat;
    member->heartbeat.stalled_ms = waited_for_others(r, job, &m->heartbeat, now);
    ctl_entry_heard_from(r, job, m->head.rank, from, m->head.serial);
    answer_alive(r, job, from, m);
    is_left_behind(r, job, member, now);
}

static void leaves_unresumed(struct ctl_registry *r, struct ctl_entry *job, unsigned rank, uint64_t now)
{
    struct ctl_failure why;
    char who[CTL_WHO_MAX];
    ctl_failure_set(&why, CTL_LEFT_RESUMING, rank, "%s left, so the job cannot resume",
                    ctl_entry_who_is(job, rank, who));
    ctl_entry_fail(r, job, &why, now);
}

/* It has sat down in a job that resumes, and nothing shows yet that it was in it. */
static bool may_not_be_in(const struct ctl_entry *job, unsigned rank)
{
    const struct ctl_member *member = &job->members[rank];
    return ctl_entry_is_forming(job) && job->resumed && member->state == CTL_MEMBER_JOINED && !member->proven;
}

static void on_leave(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, uint64_t now)
{
    unsigned rank = m->head.rank;
    answer(r, from, &m->head, job ? CTL_LEFT : CTL_UNKNOWN);
    if (!job)
        return;
    struct ctl_member *member = &job->members[rank];
    if (ctl_entry_is_forming(job) && expects(job, rank)) {
        member->state = CTL_MEMBER_LEFT;
        leaves_unresumed(r, job, rank, now);
        return;
    }
    if (member->state != CTL_MEMBER_JOINED) {
        member->state = CTL_MEMBER_LEFT;
        return;
    }
    member->heartbeat = m->heartbeat;
    ctl_entry_event(r, job, CTL_EVENT_NOTE, rank, "rank %u has left", rank);
    bool forget = ctl_entry_is_forming(job) && (!job->resumed || may_not_be_in(job, rank));
    if (!forget && !ctl_entry_let_go(r, job))
        return;
    if (!forget && ctl_entry_is_forming(job)) {
        member->state = CTL_MEMBER_LEFT; /* it need not hear that the job fails */
        leaves_unresumed(r, job, rank, now);
    }
    if (ctl_entry_part(r, job, rank, forget ? CTL_MEMBER_ABSENT : CTL_MEMBER_LEFT) &&
        job->state == CTL_ENTRY_RUNNING)
        note_left(r, job, member, now);
}

/* Others are the switch's to say. */
static bool is_of_members(unsigned reason)
{
    return (reason != CTL_OK && reason <= CTL_RANK_LEFT) || reason == CTL_MOVED_BACK;
}

static void on_abort(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_endpoint *from,
                     const struct ctl_message *m, uint64_t now)
{
    if (!job || may_not_be_in(job, m->head.rank)) {
        answer(r, from, &m->head, CTL_UNKNOWN);
        if (job)
            ctl_entry_part(r, job, m->head.rank, CTL_MEMBER_ABSENT);
    } else if (job->state == CTL_ENTRY_FAILED ||
               (job->members[m->head.rank].state != CTL_MEMBER_JOINED && !expects(job, m->head.rank))) {
        answer_member(r, from, &m->head, job);
    } else {
        struct ctl_failure why = m->failure;
        if (!is_of_members(why.reason))
            why.reason = CTL_APPLICATION;
        if (why.rank >= job->size)
            why.rank = m->head.rank;
        if (ctl_entry_let_go(r, job))
            ctl_entry_fail(r, job, &why, now);
    }
}

/* Receiving */

static void settle_challenge(struct ctl_registry *r, struct ctl_entry *job, unsigned rank, uint64_t now)
{
    struct ctl_challenge *c = &job->members[rank].challenge;
    if (c->since == 0 || now - c->since < IN_FLIGHT_MS * CTL_MS)
        return;
    struct ctl_failure why;
    ctl_admission_refusal(&r->cfg, job, rank, &why);
    ctl_answer_refused(r, &c->endpoint, &c->head, job->name, &why);
    note_turned_away(job, c->head.rank, &why);
    ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK, "turned away: %s", why.text);
    *c = (struct ctl_challenge){0};
}

/* Notes a message from a member; false if it is older than the member's last. A copy of the last one is
 * answered, but does not show that the member is alive. */
static bool note_heard(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_head *head,
                       uint64_t now)
{
    struct ctl_member *member = &job->members[head->rank];
    if (head->serial <= member->serial)
        return head->serial == member->serial;
    member->serial = head->serial;
    member->heard_at = now;
    if (member->state == CTL_MEMBER_LOST && job->state == CTL_ENTRY_RUNNING) {
        member->state = CTL_MEMBER_JOINED;
        job->present++;
        ctl_entry_event(r, job, CTL_EVENT_NOTE, head->rank, "rank %u is heard again, and counts as there",
                        head->rank);
    }
    if (head->type == CTL_JOIN || head->type == CTL_HEARTBEAT)
        settle_challenge(r, job, head->rank, now);
    return true;
}

/* From one end, where from->key is filled in, or an error. */
static enum ctl_parse_error read_message(const struct ctl_registry *r, struct ctl_message *m,
                                         const uint8_t *payload, size_t bytes, struct ctl_endpoint *from,
                                         uint64_t *challenge)
{
    enum ctl_parse_error error = ctl_parse(m, payload, bytes);
    if (error == CTL_PARSED && !ctl_type_from_worker(m->head.type))
        error = CTL_BAD_TYPE;
    return error == CTL_PARSED ? ctl_guard_check(&r->guard, &m->head, payload, bytes, from, challenge)
                               : error;
}

enum ctl_parse_error ctl_registry_receive(struct ctl_registry *r, const struct ctl_endpoint *origin,
                                          const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct ctl_message m;
    struct ctl_endpoint from = *origin;
    uint64_t challenge;
    enum ctl_parse_error error = read_message(r, &m, payload, bytes, &from, &challenge);
    if (error != CTL_PARSED) {
        ctl_answer_unparsed(r, &from, &m.head, error);
        return error;
    }
    ctl_entry_note_start(r, now);
    struct ctl_entry *job = ctl_entry_of(r, &m.head, &from);
    if (job && !note_heard(r, job, &m.head, now))
        return CTL_PARSED;
    switch (m.head.type) {
    case CTL_JOIN:
        on_join(r, job, &from, &m, challenge, now);
        break;
    case CTL_HEARTBEAT:
        on_heartbeat(r, job, &from, &m, now);
        break;
    case CTL_LEAVE:
        on_leave(r, job, &from, &m, now);
        break;
    case CTL_ABORT:
        on_abort(r, job, &from, &m, now);
        break;
    }
    return CTL_PARSED;
}

void ctl_registry_prepared(struct ctl_registry *r, uint64_t preparation, const struct ctl_prepared *p,
                           uint64_t now)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (r->entries[i].state == CTL_ENTRY_PREPARING && r->entries[i].preparation == preparation) {
            ctl_entry_prepared(r, &r->entries[i], p, now);
            return;
        }
}

/* By the operator. */
static void end(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    struct ctl_failure why;
    ctl_failure_set(&why, CTL_ENDED, UINT16_MAX, "the switch's operator has ended the job");
    ctl_entry_fail(r, job, &why, now);
}

static void drain(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    if (job->state != CTL_ENTRY_RUNNING) {
        end(r, job, now);
        return;
    }
    job->draining = true;
    ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK,
                    "the operator lets it come to its end: nobody else may join");
}

static bool for_jobs_of(struct ctl_registry *r, int tenant, const char *name, uint64_t now,
                        void (*act)(struct ctl_registry *, struct ctl_entry *, uint64_t))
{
    bool any = false;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (is_named(&r->entries[i], tenant, name)) {
            act(r, &r->entries[i], now);
            any = true;
        }
    return any;
}

bool ctl_registry_end(struct ctl_registry *r, int tenant, const char *name, uint64_t now)
{
    return for_jobs_of(r, tenant, name, now, end);
}

bool ctl_registry_drain(struct ctl_registry *r, int tenant, const char *name, uint64_t now)
{
    return for_jobs_of(r, tenant, name, now, drain);
}

void ctl_registry_list_members(const struct ctl_registry *r, struct ctl_known *to)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        const struct ctl_entry *job = &r->entries[i];
        for (unsigned rank = 0; job->state != CTL_ENTRY_FREE && rank < job->size; rank++)
            if (job->members[rank].state != CTL_MEMBER_ABSENT)
                ctl_known_add(to, job->members[rank].incarnation, &job->members[rank].endpoint);
    }
}

const struct ctl_entry *ctl_registry_entry(const struct ctl_registry *r, unsigned i)
{
    return &r->entries[i];
}

bool ctl_registry_is_superseded(const struct ctl_registry *r, unsigned i)
{
    const struct ctl_entry *job = &r->entries[i];

    for (unsigned j = 0; job->state == CTL_ENTRY_FAILED && j < r->cfg.max_jobs; j++) {
        const struct ctl_entry *other = &r->entries[j];
        if (other->state == CTL_ENTRY_FREE || j == i || other->tenant != job->tenant ||
            other->network != job->network || strcmp(other->name, job->name) != 0)
            continue;
        if (other->state != CTL_ENTRY_FAILED || j < i)
            return true;
    }
    return false;
}
