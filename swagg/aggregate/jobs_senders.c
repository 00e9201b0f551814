#include "aggregate/jobs_senders.h"

#include <errno.h>
#include <stdlib.h>

static const struct job *static_job(const struct jobs *jobs, unsigned protocol, unsigned number)
{
    const struct job *job = jobs_find(jobs, protocol, number);

    return job != NULL && job->is_static ? job : NULL;
}

/* Seats of a job are twice as many as its members' threads, or more. */
static uint32_t places_for(const struct jobs *jobs, unsigned protocol)
{
    uint32_t seats = 0;

    for (unsigned n = 0; n < JOBS_MAX; n++)
        if (static_job(jobs, protocol, n) != NULL)
            seats += static_job(jobs, protocol, n)->common.seats;
    return seats == 0 ? 0 : rte_align32pow2(seats);
}

static void add_members(struct agg_senders *senders, const struct job *job)
{
    for (uint32_t i = 0; i < job->common.seats; i++)
        if (job->common.seat[i].sender != 0)
            agg_senders_add(senders, job->common.seat[i].sender, job->common.number);
}

int jobs_publish_senders(struct jobs *jobs, unsigned protocol)
{
    const uint32_t places = places_for(jobs, protocol);
    struct agg_senders *made = NULL, *before;

    if (places > 0) {
        made = calloc(1, sizeof(*made) + places * sizeof(made->place[0]));
        if (made == NULL)
            return -ENOMEM;
        made->places = places;
    }
    for (unsigned n = 0; n < JOBS_MAX; n++)
        if (static_job(jobs, protocol, n) != NULL)
            add_members(made, static_job(jobs, protocol, n));
    before = __atomic_exchange_n(&jobs->running[protocol].senders, made, __ATOMIC_ACQ_REL);
    if (before != NULL)
        rte_rcu_qsbr_synchronize(jobs->rcu, RTE_QSBR_THRID_INVALID);
    free(before);
    return 0;
}

const struct job *jobs_of_sender(const struct jobs *jobs, const struct agg_sender *sender,
                                 const struct agg_seat **seat)
{
    for (unsigned i = 0; i < COUNTED_PROTOCOLS * JOBS_MAX; i++) {
        const struct job *job = static_job(jobs, i / JOBS_MAX, i % JOBS_MAX);

        *seat = job == NULL ? NULL : agg_job_find(&job->common, sender);
        if (*seat != NULL)
            return job;
    }
    return NULL;
}

void jobs_free_senders(struct jobs *jobs)
{
    for (unsigned p = 0; p < COUNTED_PROTOCOLS; p++) {
        free(jobs->running[p].senders);
        jobs->running[p].senders = NULL;
    }
}
