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

int jobs_move(struct jobs *jobs, unsigned protocol, uint8_t number, unsigned rank,
              const struct jobs_place *to)
{
    struct job *job = (struct job *)agg_jobs_find(&jobs->running[protocol], number);
    struct agg_seat *seat, *old_seat;
    struct job_member *member, *old_member;

    if (job == NULL)
        return 0; /* it has ended */
    seat = copy_of("seats", job->common.seat, job->common.seats * sizeof(*seat));
    member = copy_of("members", job->member, job->common.size * sizeof(*member));
    if (seat == NULL || member == NULL) {
        rte_free(seat);
        rte_free(member);
        return -ENOMEM;
    }
    move_seat(seat, job->common.seats, rank, &to->mac);
    move_member(&member[rank], to);
    old_seat = __atomic_exchange_n(&job->common.seat, seat, __ATOMIC_ACQ_REL);
    old_member = __atomic_exchange_n(&job->member, member, __ATOMIC_ACQ_REL);
    rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
    rte_free(old_seat);
    rte_free(old_member);
    return 0;
}
