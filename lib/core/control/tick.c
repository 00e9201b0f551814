/* What happens to jobs as time passes: ctl_registry_tick. */
#include "control/life.h"
#include "control/registry.h"
#include "control/tell.h"

enum {
    PUSH_LAST_MS = 2000,
    LATE_AFTER_MS = 2000, /* unless the configuration says */
};

static uint64_t lost_after(const struct ctl_registry *r, const struct ctl_entry *job)
{
    uint64_t ns = r->cfg.lost_after_ns;
    return ctl_entry_is_forming(job) && ns < FORMING_LOST_AFTER ? FORMING_LOST_AFTER : ns;
}

/* Nothing was received while nobody called: that does not count as silence of the members, nor as waiting for
 * one another. */
static void forgive_own_absence(struct ctl_registry *r, uint64_t now)
{
    uint64_t gap = r->ticked_at ? now - r->ticked_at : 0;
    r->ticked_at = now;
    if (gap <= r->cfg.lost_after_ns / 2)
        return;
    r->back_at = now;
    r->old_jobs_until += gap;
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        r->entries[i].give_up_at += gap;
        for (unsigned rank = 0; rank < r->entries[i].size; rank++) {
            struct ctl_member *member = &r->entries[i].members[rank];
            member->heard_at = member->heard_at + gap < now ? member->heard_at + gap : now;
            member->heartbeat.stalled_ms = 0;
        }
    }
}

/* Of those that died together, with a switch or a host, each was heard for the last time at another moment of
 * one interval: all are named, for they tell what died. */
static struct ctl_ranks died_together(const struct ctl_registry *r, const struct ctl_entry *job, uint64_t now)
{
    const uint64_t least = r->cfg.lost_after_ns - r->cfg.lost_after_ns / CTL_HEARTBEATS_PER_LOSS;
    return ctl_entry_silent(job, now - least);
}

static void lose_silent(struct ctl_registry *r, struct ctl_entry *job, uint64_t since, uint64_t now)
{
    char who[CTL_WHO_MAX];
    const struct ctl_ranks silent = ctl_entry_silent(job, since);
    if (ctl_ranks_count(&silent) == 0)
        return;
    const struct ctl_ranks dead = died_together(r, job, now);
    unsigned first = UINT16_MAX;
    for (unsigned rank = job->size; rank-- > 0;)
        if (ctl_ranks_has(&silent, rank)) {
            job->members[rank].state = CTL_MEMBER_LOST;
            first = rank;
        }
    const double seconds = (double)(now - job->members[first].heard_at) / 1e9;
    job->present = (uint16_t)(job->present - ctl_ranks_count(&silent));
    if (job->state != CTL_ENTRY_RUNNING)
        return;
    const struct ctl_ranks lost = ctl_entry_in_state(job, CTL_MEMBER_LOST);
    const unsigned rest = job->size - ctl_ranks_count(&lost);
    if (rest >= ctl_entry_needs(job)) {
        ctl_entry_event(r, job, CTL_EVENT_WARNING, first,
                        "%s lost: no sign of life for %.1f s; goes on with %u of %u ranks",
                        ctl_entry_who(job, &silent, who), seconds, rest, job->size);
        return;
    }
    struct ctl_failure why;
    ctl_failure_set(&why, CTL_RANK_LOST, first, "%s lost: no sign of life for %.1f s",
                    ctl_entry_who(job, &dead, who), seconds);
    ctl_entry_fail(r, job, &why, now);
}

/* Members whose data packets came are no more silent than those whose HEARTBEATs did. */
static void note_senders(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    const struct ctl_registry_actions *a = &r->cfg.actions;
    for (unsigned rank = 0; a->heard && job->state == CTL_ENTRY_RUNNING && rank < job->size; rank++) {
        struct ctl_member *member = &job->members[rank];
        if (member->state == CTL_MEMBER_JOINED && member->hops == 0 && a->heard(a->ctx, job, rank))
            member->heard_at = now;
    }
}

/* Who is yet to hear that it has failed is waited for, until give_up_at. */
static bool is_over(const struct ctl_entry *job, uint64_t now)
{
    return (job->state == CTL_ENTRY_RUNNING || job->state == CTL_ENTRY_FAILED) && job->present == 0 &&
           (!ctl_entry_is_to_tell(job) || now >= job->give_up_at);
}

/* Returns whether the job is still there. */
static bool check_silence(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    const uint64_t limit = lost_after(r, job), since = now > limit ? now - limit : 0;
    if (ctl_entry_is_forming(job))
        ctl_entry_forget_silent(r, job, since);
    else
        lose_silent(r, job, since, now);
    if (is_over(job, now))
        ctl_entry_drop(r, job, "over: all ranks have left or fallen silent");
    return job->state != CTL_ENTRY_FREE;
}

/* A job that is FORMING or PREPARING, and has had its time. */
static void give_up(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    struct ctl_failure why;
    char ranks[CTL_RANKS_TEXT_MAX];
    double waited = (double)(now - job->since) / 1e9;
    struct ctl_ranks missing = ctl_entry_missing(job);
    ctl_ranks_text(&missing, ranks);
    if (job->state == CTL_ENTRY_PREPARING)
        ctl_failure_set(&why, job->resumed ? CTL_CANNOT_RESUME : CTL_DEADLINE, UINT16_MAX,
                        "all ranks are there, but the switch was not ready for the job within %.1f s",
                        waited);
    else if (job->no_room)
        why = job->failure;
    else if (job->resumed)
        ctl_failure_set(&why, CTL_CANNOT_RESUME, UINT16_MAX, "%s did not come back within %.1f s %s", ranks,
                        (double)ctl_entry_come_back_ns(r) / 1e9,
                        job->came_back ? "after the switch restarted"
                                       : "to a job that did not run here any more");
    else
        ctl_failure_set(&why, CTL_DEADLINE, UINT16_MAX,
                        "%s did not join within %.1f s, as long as a job may take to form "
                        "(timers.forming_s in the switch's configuration)",
                        ranks, waited);
    if (ctl_entry_let_go(r, job))
        ctl_entry_fail(r, job, &why, now);
}

/* A job whose ranks are all there, but which had to wait, may be able to run now. */
static void form(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    if (job->state == CTL_ENTRY_FORMING && job->present == job->size)
        ctl_entry_run(r, job, now);
    if (ctl_entry_is_forming(job) && now >= job->give_up_at)
        give_up(r, job, now);
}

static void push_again(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    if (ctl_entry_is_forming(job) || now < job->push_at || job->push_every > PUSH_LAST_MS * CTL_MS)
        return;
    ctl_entry_push(r, job);
    job->push_every *= 2;
    job->push_at = now + job->push_every;
}

static void report_forming(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    char ranks[CTL_RANKS_TEXT_MAX];
    struct ctl_ranks missing = ctl_entry_missing(job);
    if (job->present == job->size)
        ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK, "all ranks are there, waiting for %s for %.1f s",
                        job->state == CTL_ENTRY_PREPARING ? "its pool" : "room",
                        (double)(now - job->since) / 1e9);
    else
        ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK, "waiting for %s for %.1f s",
                        ctl_ranks_text(&missing, ranks), (double)(now - job->since) / 1e9);
}

static uint64_t late_after(const struct ctl_registry *r)
{
    return r->cfg.late_after_ns ? r->cfg.late_after_ns : LATE_AFTER_MS * CTL_MS;
}

/* The member that has waited longest without progress; NULL if nobody has for long. */
static const struct ctl_member *find_stalled(const struct ctl_registry *r, const struct ctl_entry *job)
{
    const struct ctl_member *worst = NULL;
    for (unsigned rank = 0; rank < job->size; rank++) {
        const struct ctl_member *member = &job->members[rank];
        if (member->state == CTL_MEMBER_JOINED && member->heartbeat.waiting &&
            member->heartbeat.stalled_ms * CTL_MS >= late_after(r) &&
            (!worst || member->heartbeat.stalled_ms > worst->heartbeat.stalled_ms))
            worst = member;
    }
    return worst;
}

/* Those that live, and are not yet in the collective that this one waits in. */
static struct ctl_ranks awaited_by(const struct ctl_entry *job, const struct ctl_member *stalled)
{
    struct ctl_ranks awaited = {0};
    for (unsigned rank = 0; rank < job->size; rank++) {
        const struct ctl_member *member = &job->members[rank];
        int32_t behind = (int32_t)(stalled->heartbeat.calls - member->heartbeat.calls);
        if (member->state == CTL_MEMBER_JOINED && (behind > 0 || (behind == 0 && !member->heartbeat.waiting)))
            ctl_ranks_add(&awaited, rank);
    }
    return awaited;
}

/* CTL_NO_RANK, if it is not one alone. */
static unsigned only_one(const struct ctl_entry *job, const struct ctl_ranks *set)
{
    unsigned rank = 0;
    if (ctl_ranks_count(set) != 1)
        return CTL_NO_RANK;
    while (rank < job->size && !ctl_ranks_has(set, rank))
        rank++;
    return rank;
}

static void report_late(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_member *stalled,
                        const struct ctl_ranks *late)
{
    char who[CTL_WHO_MAX], whom[CTL_WHO_MAX];
    unsigned waiter = (unsigned)(stalled - job->members);
    double seconds = stalled->heartbeat.stalled_ms / 1e3;
    if (ctl_ranks_count(late) == 0)
        ctl_entry_event(r, job, CTL_EVENT_WARNING, waiter,
                        "%s has waited %.1f s in collective %u, though all that are there are in it",
                        ctl_entry_who_is(job, waiter, who), seconds, stalled->heartbeat.calls);
    else
        ctl_entry_event(r, job, CTL_EVENT_WARNING, only_one(job, late),
                        "%s has waited %.1f s in collective %u for %s", ctl_entry_who_is(job, waiter, who),
                        seconds, stalled->heartbeat.calls, ctl_entry_who(job, late, whom));
}

/* Names who is missing, at growing intervals. */
static void report(struct ctl_registry *r, struct ctl_entry *job, uint64_t now,
                   const struct ctl_member *stalled, const struct ctl_ranks *late)
{
    if (now < job->report_at)
        return;
    if (stalled)
        report_late(r, job, stalled, late);
    else if (ctl_entry_is_forming(job))
        report_forming(r, job, now);
    else
        return;
    if (stalled && !job->late_since)
        job->late_since = now - stalled->heartbeat.stalled_ms * CTL_MS;
    job->report_at = now + job->report_every;
    job->report_every *= 2;
}

/* Nobody waits for long. */
static void report_progress(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    if (job->late_since)
        ctl_entry_event(r, job, CTL_EVENT_NOTE, CTL_NO_RANK, "goes on, after %.1f s of waiting",
                        (double)(now - job->late_since) / 1e9);
    job->late_since = 0;
    job->report_at = now;
    job->report_every = late_after(r);
}

/* Ranks that live may be late for as long as the configuration says. True: the job has failed. */
static bool end_late(struct ctl_registry *r, struct ctl_entry *job, const struct ctl_member *stalled,
                     const struct ctl_ranks *late, uint64_t now)
{
    char who[CTL_WHO_MAX];
    struct ctl_failure why;
    if (!r->cfg.late_ends_ns || ctl_ranks_count(late) == 0 ||
        stalled->heartbeat.stalled_ms * CTL_MS < r->cfg.late_ends_ns)
        return false;
    ctl_failure_set(&why, CTL_DEADLINE, only_one(job, late),
                    "%s late: others have waited %.1f s in collective %u (timers.late_ends_s "
                    "in the switch's configuration)",
                    ctl_entry_who(job, late, who), stalled->heartbeat.stalled_ms / 1e3,
                    stalled->heartbeat.calls);
    ctl_entry_fail(r, job, &why, now);
    return true;
}

static void check_late(struct ctl_registry *r, struct ctl_entry *job, uint64_t now)
{
    const struct ctl_member *stalled = job->state == CTL_ENTRY_RUNNING ? find_stalled(r, job) : NULL;
    struct ctl_ranks late = {0};
    if (stalled)
        late = awaited_by(job, stalled);
    else if (job->state == CTL_ENTRY_RUNNING)
        report_progress(r, job, now);
    if (!stalled || !end_late(r, job, stalled, &late, now))
        report(r, job, now, stalled, &late);
}

void ctl_registry_tick(struct ctl_registry *r, uint64_t now)
{
    ctl_entry_note_start(r, now);
    forgive_own_absence(r, now);
    for (unsigned i = 0; i < r->cfg.max_jobs; i++) {
        struct ctl_entry *job = &r->entries[i];
        note_senders(r, job, now);
        if (job->state == CTL_ENTRY_FREE || !check_silence(r, job, now))
            continue;
        form(r, job, now);
        push_again(r, job, now);
        check_late(r, job, now);
    }
}
