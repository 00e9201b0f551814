#include "control/life.h"
#include "control/guard.h"

#include <errno.h>
#include <string.h>

#include "control/tell.h"
#include "wire/bytes.h"

enum {
    PUSH_FIRST_MS = 100,
    REPORT_FIRST_MS = 2000,
    FORMING_MAX_MS = 600000,
};

/* Finding */

struct ctl_entry *ctl_entry_of(struct ctl_registry *r, const struct ctl_head *head,
                               const struct ctl_endpoint *from)
{
    int key = ctl_guard_tenant(&r->guard, from);
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        if (job->state == CTL_ENTRY_FREE || (job->keyed ? job->tenant : CTL_NO_KEY) != key ||
            job->network != from->network || head->rank >= job->size)
            continue;
        const struct ctl_member *member = &job->members[head->rank];
        if (member->state != CTL_MEMBER_ABSENT && member->incarnation == head->incarnation)
            return job;
    }
    return NULL;
}

/* Starting */

uint64_t ctl_entry_come_back_ns(const struct ctl_registry *r)
{
    return r->cfg.lost_after_ns > FORMING_LOST_AFTER ? r->cfg.lost_after_ns : FORMING_LOST_AFTER;
}

void ctl_entry_note_start(struct ctl_registry *r, uint64_t now)
{
    if (r->old_jobs_until == 0)
        r->old_jobs_until = now + ctl_entry_come_back_ns(r);
}

bool ctl_entry_old_go_first(const struct ctl_registry *r, uint64_t now)
{
    return now < r->old_jobs_until;
}

void ctl_entry_expect_old(struct ctl_registry *r, uint64_t now)
{
    uint64_t heartbeat = r->cfg.lost_after_ns / 4, join = CTL_JOIN_INTERVAL_MAX_MS * CTL_MS;
    r->expected_until = now + (heartbeat > join ? heartbeat : join);
}

/* Changing */

static void enter(struct ctl_entry *job, enum ctl_entry_state state, uint64_t now)
{
    job->state = state;
    job->since = now;
    job->push_every = PUSH_FIRST_MS * CTL_MS;
    job->push_at = now + job->push_every;
    job->report_every = REPORT_FIRST_MS * CTL_MS;
    job->report_at = now + job->report_every;
    job->late_since = 0;
}

static bool is_epoch_of_a_job(const struct ctl_registry *r, uint32_t epoch)
{
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (r->entries[i].state != CTL_ENTRY_FREE && r->entries[i].epoch == epoch)
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

static uint64_t forming_ends(const struct ctl_registry *r, const struct ctl_entry *job)
{
    return job->since + (r->cfg.forming_max_ns ? r->cfg.forming_max_ns : FORMING_MAX_MS * CTL_MS);
}

/* How many jobs of this name the tenant had before, as far as entries tell. */
static uint32_t count_restarts(const struct ctl_registry *r, int tenant, bool keyed, const char *name)
{
    uint32_t restarts = 0;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        const struct ctl_entry *job = &r->entries[i];
        if (!ctl_entry_is_live(job) && job->tenant == tenant && job->keyed == keyed &&
            strcmp(job->name, name) == 0 && job->restarts >= restarts)
            restarts = job->restarts + 1;
    }
    return restarts;
}

void ctl_entry_found(struct ctl_registry *r, struct ctl_entry *job, int tenant,
                     const struct ctl_endpoint *from, const struct ctl_message *m, uint64_t now)
{
    job->restarts = count_restarts(r, tenant, from->key != 0, m->join.name);
    memset(job->members, 0, m->head.size * sizeof *job->members);
    job->tenant = tenant;
    job->epoch = new_epoch(r);
    memcpy(job->name, m->join.name, sizeof job->name);
    job->founder = from->ip;
    job->founder_below = m->join.hops > 0 ? m->join.host : 0;
    job->network = from->network;
    job->keyed = from->key != 0;
    job->size = m->head.size;
    job->protocol = ctl_registry_protocol(&r->cfg, m->join.terms.protocol);
    job->terms = m->join.terms;
    job->turned_away = (struct ctl_failure){0};
    enter(job, CTL_ENTRY_FORMING, now);
    job->give_up_at = forming_ends(r, job);
}

void ctl_entry_resume(struct ctl_registry *r, struct ctl_entry *job, uint64_t roster, uint64_t now)
{
    job->resumed = true;
    job->came_back = ctl_entry_old_go_first(r, now);
    job->roster = roster;
    job->give_up_at = now + ctl_entry_come_back_ns(r);
}

static void release_pool(struct ctl_registry *r, const struct ctl_entry *job)
{
    if (job->state == CTL_ENTRY_RUNNING || job->state == CTL_ENTRY_PREPARING)
        r->cfg.actions.release(r->cfg.actions.ctx, job);
}

void ctl_entry_recall(struct ctl_registry *r, struct ctl_entry *job, unsigned rank, uint64_t now)
{
    char who[CTL_WHO_MAX];
    struct ctl_failure why;
    ctl_entry_who_is(job, rank, who);
    if (job->first_left) {
        ctl_failure_set(&why, CTL_LEFT_RESUMING, (unsigned)(job->first_left - job->members),
                        "a switch above %s has restarted, and rank %u has left, so the job cannot resume",
                        who, (unsigned)(job->first_left - job->members));
        ctl_entry_fail(r, job, &why, now);
        return;
    }
    release_pool(r, job);
    enter(job, CTL_ENTRY_FORMING, now);
    ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK,
                    "a switch above %s has restarted: all ranks are to join again", who);
    for (unsigned i = 0; i < job->size; i++)
        job->members[i].state = CTL_MEMBER_RECALLED;
    job->present = 0;
    job->epoch = new_epoch(r);
    ctl_entry_resume(r, job, job->roster, now);
}

void ctl_entry_drop(struct ctl_registry *r, struct ctl_entry *job, const char *why)
{
    release_pool(r, job);
    ctl_entry_event(r, job, job->state == CTL_ENTRY_FAILED ? CTL_EVENT_NOTE : CTL_EVENT_ENDS, CTL_NO_RANK,
                    "%s", why);
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state != CTL_MEMBER_ABSENT)
            ctl_guard_note_gone(&r->guard, job->members[rank].incarnation);
    struct ctl_entry left = {
        .members = job->members, .tenant = job->tenant, .keyed = job->keyed, .restarts = job->restarts};
    memcpy(left.name, job->name, sizeof left.name);
    *job = left;
}

/* Jobs that ran before a restart get room first. */
static bool others_go_first(const struct ctl_registry *r, const struct ctl_entry *job, uint64_t now)
{
    if (job->resumed || !ctl_entry_old_go_first(r, now))
        return false;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++)
        if (ctl_entry_is_forming(&r->entries[i]) && r->entries[i].resumed)
            return true;
    return now < r->expected_until;
}

/* The roster is wrong, so some member is not the process that it was. Forgets those that have waited since
 * before the restart, for one of them may be it; they join again. False: there are none, so the fault is with
 * those that resume. */
static bool forget_waited(struct ctl_registry *r, struct ctl_entry *job)
{
    if (!ctl_entry_has(job, CTL_WAITED))
        return false;
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].origin == CTL_WAITED) {
            ctl_entry_event(r, job, CTL_EVENT_NOTE, rank,
                            "rank %u is not, or may not be, the process that it was before the restart",
                            rank);
            ctl_entry_part(r, job, rank, CTL_MEMBER_ABSENT);
        }
    return true;
}

/* Whether a new job's data packets are to be keyed. */
static bool keys_data(const struct ctl_registry *r, const struct ctl_entry *job)
{
    return job->keyed && (unsigned)job->tenant < r->cfg.tenants_known &&
           r->cfg.tenants[job->tenant].data_keys;
}

/* A group for its results; 0: there are none here. */
static uint32_t choose_group(const struct ctl_registry *r)
{
    uint32_t group = 0;

    if (r->cfg.groups > 0)
        put_be32((uint8_t *)&group,
                 r->cfg.first_group + (uint32_t)(r->cfg.actions.random(r->cfg.actions.ctx) % r->cfg.groups));
    return group;
}

/* What the job is granted of what its ranks wish for. */
static bool grant(struct ctl_registry *r, struct ctl_entry *job, struct ctl_failure *why)
{
    struct agg_terms wish[CTL_RANKS_MAX];
    const struct agg_limits limits = {.payload_bytes = r->cfg.payload_bytes,
                                      .random = r->cfg.actions.random(r->cfg.actions.ctx),
                                      .keyed = keys_data(r, job),
                                      .group = choose_group(r)};
    struct agg_refusal refusal;
    if (job->resumed && job->roster != ctl_entry_roster(job)) {
        ctl_failure_set(
            why, CTL_CANNOT_RESUME, UINT16_MAX,
            "the ranks that came back are not those that were in the job before the switch restarted");
        return false;
    }
    job->roster = ctl_entry_roster(job);
    for (unsigned rank = 0; rank < job->size; rank++)
        wish[rank] = job->members[rank].wish;
    if (job->protocol->grant(wish, job->size, &limits, &job->terms, &refusal))
        return true;
    ctl_failure_set(why, job->resumed ? CTL_CANNOT_RESUME : CTL_TERMS_DIFFER, refusal.rank, "%s",
                    refusal.text);
    return false;
}

static void enter_running(struct ctl_entry *job, uint64_t now)
{
    enter(job, CTL_ENTRY_RUNNING, now);
    for (unsigned rank = 0; rank < job->size; rank++)
        job->members[rank].heard_at = now; /* JOINs may come more rarely than heartbeats */
}

static void start_to_run(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    enter_running(job, now);
    ctl_entry_event_ready(r, job);
    ctl_entry_push(r, job);
}

void ctl_entry_go_on(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    enter_running(job, now);
    ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK, "goes on: %u of %u ranks, number %u", job->present,
                    job->size, job->number);
}

/* The job is FORMING, and its pool could not be made: it fails, or waits for room. */
static void lack_pool(struct ctl_registry *r, struct ctl_entry *job, int rc, struct ctl_failure *why,
                      uint64_t now)
{
    why->rank = UINT16_MAX;
    why->reason = rc == -EMFILE ? CTL_NO_JOBS : rc == -EINVAL ? CTL_BAD_ARGUMENT : CTL_NO_SLOTS;
    if (!job->resumed || rc == -EINVAL) {
        ctl_entry_fail(r, job, why, now);
        return;
    }
    if (!job->no_room)
        ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK,
                        "all ranks are back, but there is no room yet: %s", why->text);
    job->no_room = true;
    job->failure = *why;
}

static void start_to_prepare(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    job->state = CTL_ENTRY_PREPARING;
    if (job->resumed) /* its ranks are back in time */
        job->give_up_at = now + ctl_entry_come_back_ns(r);
    ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK, "all ranks are there, its pool is being made");
}

bool ctl_entry_forget_silent(struct ctl_registry *r, struct ctl_entry *job, uint64_t since)
{
    char who[CTL_WHO_MAX];
    const struct ctl_ranks silent = ctl_entry_silent(job, since);
    if (ctl_ranks_count(&silent) == 0)
        return false;
    ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK, "forgotten, silent for too long: %s",
                    ctl_entry_who(job, &silent, who));
    for (unsigned rank = 0, size = job->size; rank < size; rank++)
        if (ctl_ranks_has(&silent, rank) && !ctl_entry_part(r, job, rank, CTL_MEMBER_ABSENT))
            break;
    return true;
}

/* What a member wished for when it joined holds no longer if it has gone since, to another switch for
 * instance: nothing fails for that. Who is still there says it again. */
static bool forget_unheard(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    const uint64_t interval = CTL_JOIN_INTERVAL_MAX_MS * CTL_MS;
    return ctl_entry_forget_silent(r, job, now > interval ? now - interval : 0);
}

void ctl_entry_run(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    struct ctl_failure why = {0};
    if (others_go_first(r, job, now) ||
        (job->resumed && job->roster != ctl_entry_roster(job) && forget_waited(r, job)))
        return;
    if (!grant(r, job, &why)) {
        if (!forget_unheard(r, job, now))
            ctl_entry_fail(r, job, &why, now);
        return;
    }
    if (job->keyed)
        ctl_guard_make_secret(job->secret, r->cfg.actions.random, r->cfg.actions.ctx);
    job->preparation = ++r->preparations;
    int rc = r->cfg.actions.prepare(r->cfg.actions.ctx, job, &job->terms, &job->number, why.text);
    if (rc == CTL_LATER)
        start_to_prepare(r, job, now);
    else if (rc < 0)
        lack_pool(r, job, rc, &why, now);
    else
        start_to_run(r, job, now);
}

void ctl_entry_prepared(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_prepared *p,
                        uint64_t now)
{
    struct ctl_failure why = {0};
    job->state = CTL_ENTRY_FORMING;
    if (p->result < 0) {
        memcpy(why.text, p->text, sizeof why.text);
        lack_pool(r, job, p->result, &why, now);
        return;
    }
    job->terms = p->terms;
    job->number = p->number;
    start_to_run(r, job, now);
}

void ctl_entry_fail(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_failure *why,
                    uint64_t now)
{
    release_pool(r, job);
    job->failure = *why;
    if (job->state == CTL_ENTRY_RUNNING) /* who asks to join is heard as often as while it forms */
        job->give_up_at = now + FORMING_LOST_AFTER;
    enter(job, CTL_ENTRY_FAILED, now);
    ctl_entry_event(r, job, CTL_EVENT_FAILS, why->rank, "failed (%s): %s", ctl_reason_name(why->reason),
                    why->text);
    ctl_entry_push(r, job);
}

void ctl_entry_heard_from(struct ctl_registry *r, struct ctl_entry *job, unsigned rank,
                          const struct ctl_endpoint *from, uint32_t serial)
{
    struct ctl_member *member = &job->members[rank];
    const uint8_t *m = from->mac;
    if (member->endpoint_serial == serial)
        return;
    member->endpoint_serial = serial;
    if (!ctl_endpoint_has_moved(&member->endpoint, from))
        return;
    member->endpoint = *from;
    if (r->cfg.actions.moved)
        r->cfg.actions.moved(r->cfg.actions.ctx, job, rank);
    ctl_entry_event(r, job, CTL_EVENT_NOTE, rank,
                    "rank %u speaks from MAC address %02x:%02x:%02x:%02x:%02x:%02x now: another router or "
                    "network card has taken over",
                    rank, m[0], m[1], m[2], m[3], m[4], m[5]);
}

/* Their job does not resume any more; what they know of it finds another one, or founds it. */
static void forget_recalled(struct ctl_registry *r, struct ctl_entry *job)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_RECALLED) {
            job->members[rank].state = CTL_MEMBER_ABSENT;
            ctl_guard_note_gone(&r->guard, job->members[rank].incarnation);
        }
}

bool ctl_entry_let_go(struct ctl_registry *r, struct ctl_entry *job)
{
    if (!ctl_entry_is_forming(job) || !job->resumed ||
        (job->present == job->size && job->roster == ctl_entry_roster(job)))
        return true;
    for (unsigned rank = 0, size = job->size; rank < size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && !job->members[rank].proven) {
            ctl_entry_event(r, job, CTL_EVENT_NOTE, rank,
                            "rank %u is forgotten: it may not be one of those that came back", rank);
            if (!ctl_entry_part(r, job, rank, CTL_MEMBER_ABSENT))
                return false;
        }
    return true;
}

bool ctl_entry_part(struct ctl_registry *r, struct ctl_entry *job, unsigned rank, enum ctl_member_state state)
{
    if (job->state == CTL_ENTRY_PREPARING) {
        release_pool(r, job);
        job->state = CTL_ENTRY_FORMING;
    }
    job->members[rank].state = state;
    if (state == CTL_MEMBER_ABSENT)
        ctl_guard_note_gone(&r->guard, job->members[rank].incarnation);
    if (--job->present > 0) {
        if (job->state == CTL_ENTRY_FORMING && job->resumed && !ctl_entry_has(job, CTL_RESUMES)) {
            job->resumed = false;
            job->give_up_at = forming_ends(r, job);
            forget_recalled(r, job);
        }
        return true;
    }
    if (job->state == CTL_ENTRY_FAILED && ctl_entry_is_to_tell(job))
        return true;
    ctl_entry_drop(r, job, "over: nobody is left in it");
    return false;
}
