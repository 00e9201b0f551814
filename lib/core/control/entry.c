#include "control/entry.h"
#include "protocol/protocol.h"

bool ctl_entry_had_number(const struct ctl_entry *job, uint8_t number)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].origin == CTL_RESUMES && job->members[rank].resume_job == number)
            return true;
    return false;
}

struct ctl_ranks ctl_entry_in_state(const struct ctl_entry *job, enum ctl_member_state state)
{
    struct ctl_ranks set = {0};
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == state)
            ctl_ranks_add(&set, rank);
    return set;
}

struct ctl_ranks ctl_entry_missing(const struct ctl_entry *job)
{
    struct ctl_ranks set = ctl_entry_in_state(job, CTL_MEMBER_ABSENT);
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_RECALLED)
            ctl_ranks_add(&set, rank);
    return set;
}

struct ctl_ranks ctl_entry_silent(const struct ctl_entry *job, uint64_t since)
{
    struct ctl_ranks set = {0};
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && job->members[rank].heard_at < since)
            ctl_ranks_add(&set, rank);
    return set;
}

static bool is_lost_unawares(const struct ctl_entry *job)
{
    bool lost = false, others = false;
    for (unsigned rank = 0; rank < job->size; rank++) {
        lost |= job->members[rank].state == CTL_MEMBER_LOST && !job->members[rank].confirmed;
        others |= job->members[rank].confirmed;
    }
    return lost && others && job->state == CTL_ENTRY_FAILED;
}

bool ctl_entry_is_to_tell(const struct ctl_entry *job)
{
    const struct ctl_ranks recalled = ctl_entry_in_state(job, CTL_MEMBER_RECALLED),
                           absent = ctl_entry_in_state(job, CTL_MEMBER_ABSENT);
    return ctl_ranks_count(&recalled) > 0 || is_lost_unawares(job) ||
           (job->failure.reason == CTL_LEFT_RESUMING && ctl_ranks_count(&absent) > 0);
}

bool ctl_entry_has(const struct ctl_entry *job, enum ctl_origin origin)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && job->members[rank].origin == origin)
            return true;
    return false;
}

unsigned ctl_entry_count_in(const struct ctl_entry *job, const struct ctl_member *waiter)
{
    unsigned n = 0;
    for (unsigned rank = 0; rank < job->size; rank++) {
        const struct ctl_member *m = &job->members[rank];
        n += m->state == CTL_MEMBER_JOINED ||
             (m->state == CTL_MEMBER_LEFT && (int32_t)(waiter->heartbeat.calls - m->heartbeat.calls) < 0);
    }
    return n;
}

uint16_t ctl_entry_needs(const struct ctl_entry *job)
{
    const uint16_t quorum = job->protocol->quorum ? job->protocol->quorum(&job->terms) : 0;
    return quorum ? quorum : job->size;
}

uint64_t ctl_entry_roster(const struct ctl_entry *job)
{
    uint64_t all = 0;
    for (unsigned rank = 0; rank < job->size; rank++)
        all ^= job->members[rank].incarnation;
    return all;
}

uint32_t ctl_entry_host(const struct ctl_entry *job)
{
    uint32_t host = 0;
    for (unsigned rank = 0; rank < job->size; rank++) {
        const struct ctl_member *member = &job->members[rank];
        if (member->state != CTL_MEMBER_JOINED)
            continue;
        if (host != 0 && member->endpoint.ip != host)
            return 0;
        host = member->endpoint.ip;
    }
    return host;
}

uint32_t ctl_entry_debtor(const struct ctl_entry *job)
{
    return job->resumed && job->came_back ? ctl_entry_host(job) : job->founder;
}

const char *ctl_entry_state_name(enum ctl_entry_state state)
{
    static const char *const names[] = {
        [CTL_ENTRY_FREE] = "free",       [CTL_ENTRY_FORMING] = "forming", [CTL_ENTRY_PREPARING] = "preparing",
        [CTL_ENTRY_RUNNING] = "running", [CTL_ENTRY_FAILED] = "failed",
    };
    return (unsigned)state <= CTL_ENTRY_FAILED ? names[state] : "?";
}

const char *ctl_member_state_name(enum ctl_member_state s)
{
    static const char *const names[] = {
        [CTL_MEMBER_ABSENT] = "absent", [CTL_MEMBER_JOINED] = "joined",     [CTL_MEMBER_LEFT] = "left",
        [CTL_MEMBER_LOST] = "lost",     [CTL_MEMBER_RECALLED] = "recalled",
    };

    return names[s];
}

/* Trees of switches */

/* A rank that has left stays a part of the sum that its switch sends: the job's pool counts it there. */
static bool has_come(const struct ctl_member *member)
{
    return member->state == CTL_MEMBER_JOINED || member->state == CTL_MEMBER_LEFT;
}

/* Switches that send for ranks are told apart as ranks are: by IP address and port. */
static bool come_by_one(const struct ctl_member *a, const struct ctl_member *b)
{
    return has_come(a) && has_come(b) && a->hops > 0 && b->hops > 0 && a->endpoint.ip == b->endpoint.ip &&
           a->data_port == b->data_port;
}

/* The contributor of a rank before this one that comes the same way; AGG_NOBODY: there is none. */
static uint16_t find_bundle(const struct ctl_entry *job, unsigned rank, const uint16_t contributor[])
{
    for (unsigned other = 0; other < rank; other++)
        if (contributor[other] != AGG_NOBODY && come_by_one(&job->members[other], &job->members[rank]))
            return contributor[other];
    return AGG_NOBODY;
}

uint16_t ctl_tree_contributors(const struct ctl_entry *job, uint16_t contributor[], uint16_t first[])
{
    uint16_t n = 0;

    for (unsigned rank = 0; rank < job->size; rank++) {
        contributor[rank] = AGG_NOBODY;
        if (job->members[rank].state != CTL_MEMBER_JOINED)
            continue;
        contributor[rank] = find_bundle(job, rank, contributor);
        if (contributor[rank] != AGG_NOBODY)
            continue;
        if (first)
            first[n] = (uint16_t)rank;
        contributor[rank] = n++;
    }
    return n;
}

bool ctl_tree_has_switches(const struct ctl_entry *job)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (job->members[rank].state == CTL_MEMBER_JOINED && job->members[rank].hops > 0)
            return true;
    return false;
}

struct ctl_ranks ctl_tree_bundle(const struct ctl_entry *job, unsigned rank)
{
    struct ctl_ranks set = {0};

    for (unsigned other = 0; other < job->size; other++)
        if (come_by_one(&job->members[other], &job->members[rank]))
            ctl_ranks_add(&set, other);
    return set;
}
