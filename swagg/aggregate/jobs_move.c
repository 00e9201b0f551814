/* A member's MAC address changes while its job runs: what the lcores know of members is made anew, and
 * replaced as a whole. */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "aggregate/jobs.h"

static void *copy_of(const char *name, const void *from, size_t bytes)
{
    void *copy = rte_malloc(name, bytes, RTE_CACHE_LINE_SIZE);

    if (copy != NULL)
        memcpy(copy, from, bytes);
    return copy;
}

static void move_seat(struct agg_seat seat[], uint32_t seats, unsigned rank, const struct net_mac *mac)
{
    for (uint32_t i = 0; i < seats; i++)
        if (seat[i].sender != 0 && seat[i].rank == rank)
            memcpy(seat[i].mac, mac->addr_bytes, sizeof(seat[i].mac));
}

static void move_member(struct job_member *member, const struct jobs_place *to)
{
    struct net_ethernet *eth = (struct net_ethernet *)(void *)member->header.bytes;

    eth->dst_addr = to->mac;
    member->mac = to->mac;
    member->port = to->port;
}

/* Gives the job these seats. old: what was beside the former ones, and is replaced already. */
static void replace_seats(struct jobs *jobs, struct job *job, struct agg_seat *seat, void *old)
{
    struct agg_seat *old_seat = __atomic_exchange_n(&job->common.seat, seat, __ATOMIC_ACQ_REL);

    rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
    rte_free(old_seat);
    rte_free(old);
}

/* Copies of the seats, and of what is beside them; false: no memory. */
static bool copy_both(const struct job *job, struct agg_seat **seat, const void *beside, size_t bytes,
                      void **copy)
{
    *seat = copy_of("seats", job->common.seat, job->common.seats * sizeof(**seat));
    *copy = copy_of("members", beside, bytes);
    if (*seat != NULL && *copy != NULL)
        return true;
    rte_free(*seat);
    rte_free(*copy);
    return false;
}

int jobs_move_parent(struct jobs *jobs, unsigned protocol, uint8_t number, const struct jobs_place *to)
{
    struct job *job = (struct job *)agg_jobs_find(&jobs->running[protocol], number);
    struct job_parent *parent;
    struct agg_seat *seat;
    void *copy;

    if (job == NULL || job->parent == NULL)
        return 0; /* it has ended */
    if (!copy_both(job, &seat, job->parent, sizeof(*parent), &copy))
        return -ENOMEM;
    parent = copy;
    move_seat(seat, job->common.seats, AGG_PARENT, &to->mac);
    for (unsigned port = 0; port < parent->ports; port++)
        move_member(&parent->at[port], to);
    replace_seats(jobs, job, seat, __atomic_exchange_n(&job->parent, parent, __ATOMIC_ACQ_REL));
    return 0;
}

int jobs_move(struct jobs *jobs, unsigned protocol, uint8_t number, unsigned rank,
              const struct jobs_place *to)
{
    struct job *job = (struct job *)agg_jobs_find(&jobs->running[protocol], number);
    struct job_member *member;
    struct agg_seat *seat;
    void *copy;

    if (job == NULL)
        return 0; /* it has ended */
    if (!copy_both(job, &seat, job->member, job->common.size * sizeof(*member), &copy))
        return -ENOMEM;
    member = copy;
    move_seat(seat, job->common.seats, rank, &to->mac);
    move_member(&member[rank], to);
    replace_seats(jobs, job, seat, __atomic_exchange_n(&job->member, member, __ATOMIC_ACQ_REL));
    return 0;
}
