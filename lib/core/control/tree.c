#include "control/tree.h"

#include "protocol/tree.h"

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
