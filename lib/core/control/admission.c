#include "control/admission.h"

#include <stdio.h>

#include "control/tell.h"

/* Names the protocols that this switch speaks: "switchml (1)". */
static void refuse_protocol(const struct ctl_registry_config *cfg, const struct ctl_message *m,
                            struct ctl_failure *why)
{
    char spoken[CTL_TEXT_MAX / 2] = "";
    size_t used = 0;
    for (unsigned i = 0; i < cfg->protocols_known && used < sizeof spoken; i++)
        used += (size_t)snprintf(spoken + used, sizeof spoken - used, "%s%s (%u)", i ? ", " : "",
                                 cfg->protocols[i]->name, cfg->protocols[i]->id);
    ctl_failure_set(why, CTL_BAD_ARGUMENT, m->head.rank,
                    "aggregation protocol %u is not spoken by this switch, which speaks %s",
                    m->join.terms.protocol, spoken);
}

bool ctl_admission_arguments(const struct ctl_registry_config *cfg, const struct ctl_message *m,
                             struct ctl_failure *why)
{
    const struct agg_protocol *protocol = ctl_registry_protocol(cfg, m->join.terms.protocol);
    char text[AGG_TEXT_MAX];
    unsigned rank = m->head.rank;
    if (m->head.size < 1 || m->head.size > CTL_RANKS_MAX)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "a job has 1 to %u ranks, not %u", CTL_RANKS_MAX,
                        m->head.size);
    else if (m->head.size > ctl_registry_workers(cfg))
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "%u ranks are more than the switch's limits.workers, %u",
                        m->head.size, ctl_registry_workers(cfg));
    else if (rank >= m->head.size)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "rank %u is not one of the %u ranks, which count from 0",
                        rank, m->head.size);
    else if (m->head.incarnation == 0)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "the incarnation is 0");
    else if (m->join.data_port == 0)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "the data port is 0");
    else if (m->join.queue_pair != 0 && !cfg->hears_nics)
        ctl_failure_set(
            why, CTL_BAD_ARGUMENT, rank,
            "rank %u would send by its NIC (RoCE), which is not heard here: open the job with the "
            "kernel's sockets (transport=kernel)",
            rank);
    else if (!protocol)
        refuse_protocol(cfg, m, why);
    else if (!protocol->check(&m->join.terms, m->join.resume, text))
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "%s", text);
    else
        return true;
    return false;
}

bool ctl_admission_terms_differ(const struct ctl_entry *job, const struct ctl_message *m)
{
    struct agg_difference d;
    return m->head.size != job->size || m->join.terms.protocol != job->terms.protocol ||
           job->protocol->differ(&m->join.terms, &job->terms, &d);
}

/* The member with the strongest claim to be there (the highest enum ctl_origin). Of several, the first from
 * this rank on, counting on at 0 after the last. Every job has one. */
static int strongest(const struct ctl_entry *job, unsigned rank)
{
    int best = -1;
    for (unsigned i = 0; i < job->size; i++) {
        unsigned r = (rank + i) % job->size;
        const struct ctl_member *member = &job->members[r];
        if (member->state == CTL_MEMBER_JOINED && (best < 0 || member->origin > job->members[best].origin))
            best = (int)r;
    }
    return best;
}

/* Data packets are told apart by IP address and port. Those of a switch are for all ranks that come by it. */
static int same_data_source(const struct ctl_entry *job, const struct ctl_endpoint *from,
                            const struct ctl_join *join)
{
    for (unsigned r = 0; r < job->size; r++) {
        const struct ctl_member *member = &job->members[r];
        if (member->state == CTL_MEMBER_JOINED && member->endpoint.ip == from->ip &&
            member->data_port == join->data_port && (member->hops == 0 || join->hops == 0))
            return (int)r;
    }
    return -1;
}

int ctl_admission_rival(const struct ctl_entry *job, const struct ctl_endpoint *from,
                        const struct ctl_message *m)
{
    unsigned rank = m->head.rank;
    if (rank < job->size && job->members[rank].state != CTL_MEMBER_ABSENT)
        return (int)rank;
    if (ctl_admission_terms_differ(job, m))
        return strongest(job, rank);
    return same_data_source(job, from, &m->join);
}

void ctl_admission_refusal(const struct ctl_registry_config *cfg, const struct ctl_entry *job, unsigned rank,
                           struct ctl_failure *why)
{
    const struct ctl_challenge *c = &job->members[rank].challenge;
    const uint8_t *theirs = (const uint8_t *)&c->endpoint.ip;
    struct agg_difference d;
    unsigned newcomer = c->head.rank;
    char who[CTL_WHO_MAX], whom[CTL_WHO_MAX];
    snprintf(who, sizeof who, "%s %u (%u.%u.%u.%u)", newcomer == rank ? "another rank" : "rank", newcomer,
             theirs[0], theirs[1], theirs[2], theirs[3]);
    ctl_entry_who_is(job, rank, whom);
    if (c->head.size != job->size)
        ctl_failure_set(why, CTL_TERMS_DIFFER, newcomer, "%s says that there are %u ranks, %s says %u", who,
                        c->head.size, whom, job->size);
    else if (c->wish.protocol != job->terms.protocol)
        ctl_failure_set(why, CTL_TERMS_DIFFER, newcomer, "%s wants %s, %s wants %s", who,
                        ctl_registry_protocol(cfg, c->wish.protocol)->name, whom, job->protocol->name);
    else if (job->protocol->differ(&c->wish, &job->terms, &d))
        ctl_failure_set(why, CTL_TERMS_DIFFER, newcomer, "%s wants %s, %s wants %s", who, d.first, whom,
                        d.second);
    else if (newcomer == rank)
        ctl_failure_set(why, CTL_RANK_TAKEN, rank, "%s is taken by a process that is alive", whom);
    else
        ctl_failure_set(why, CTL_RANK_TAKEN, rank, "%s uses the data port of %s", who, whom);
}
