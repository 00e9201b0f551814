#include "control/pools.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/uplink_ports.h"
#include "control/entry.h"
#include "protocol/heard.h"
#include "registry/terms.h"
#include "relay/protocol.h"
#include "sodium_keys.h"

static struct jobs_member member_at(const struct ctl_endpoint *e, uint16_t data_port)
{
    struct jobs_member m = {.port = e->port, .ip = e->ip, .udp_port = rte_cpu_to_be_16(data_port)};

    memcpy(m.mac.addr_bytes, e->mac, sizeof(m.mac.addr_bytes));
    return m;
}

/* Its members: ranks, or switches that send for several. Fills in contributor. */
static void plan_members(struct jobs_plan *plan, const struct ctl_entry *job, uint16_t contributor[])
{
    uint16_t first[AGG_MAX_WORKERS];

    plan->size = ctl_tree_contributors(job, contributor, first);
    for (uint16_t i = 0; i < plan->size; i++) {
        const struct ctl_member *member = &job->members[first[i]];

        plan->member[i] = member_at(&member->endpoint, member->data_port);
        plan->member[i].queue_pair = member->queue_pair;
    }
    for (unsigned n = 0; n < JOBS_MAX; n++)
        if (ctl_entry_had_number(job, (uint8_t)n))
            plan->unusable[n / 64] |= RTE_BIT64(n % 64);
}

static struct jobs_plan plan_for(const struct ctl_entry *job, const struct agg_terms *terms, bool as_it_is,
                                 uint32_t founder)
{
    struct jobs_plan plan = {.protocol = job->protocol,
                             .terms = *terms,
                             .as_it_is = as_it_is,
                             .network = job->network,
                             .tenant = job->tenant,
                             .founder = founder};

    snprintf(plan.name, sizeof(plan.name), "%s", job->name);
    return plan;
}

static int open_job(const struct pools *p, struct jobs_plan *plan, uint8_t *number, char text[CTL_TEXT_MAX])
{
    const struct jobs_identity us = {.mac = p->host->mac, .ip = host_ip(p->host, plan->network)};

    if (plan->tree != NULL) {
        if (!relay_takes(plan->protocol, &plan->terms, text))
            return -EINVAL;
        plan->protocol = relay_protocol_of(plan->protocol);
    }
    return jobs_open(p->jobs, plan, &us, number, text);
}

int pools_open(const struct pools *p, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
               char text[CTL_TEXT_MAX])
{
    uint16_t contributor[AGG_MAX_WORKERS];
    const struct agg_node tree = {.ranks = job->size, .contributor = contributor};
    struct keys_secret shared = {.library = keys_sodium()};
    struct jobs_plan plan = plan_for(job, terms, job->resumed, ctl_entry_debtor(job));
    int rc;

    plan_members(&plan, job, contributor);
    plan.tree = ctl_tree_has_switches(job) ? &tree : NULL;
    if (job->keyed) {
        memcpy(shared.secret, job->secret, sizeof(shared.secret));
        plan.shared = &shared;
    }
    rc = terms_check(p->cfg, plan.protocol, plan.size, plan.shared, &plan.terms, text);
    if (rc == 0)
        rc = open_job(p, &plan, number, text);
    keys_erase(&shared, sizeof(shared));
    *terms = plan.terms;
    return rc;
}

/* What the root has granted is the same at all switches, data_keys may not be. */
static int check_data_keys(const struct pools *p, const struct jobs_plan *plan, char text[CTL_TEXT_MAX])
{
    const struct agg_pool_config pool = {.workers = plan->size, .terms = plan->terms, .shared = plan->shared};
    const struct config_tenant *tenant = &p->cfg->tenant[plan->tenant];
    struct agg_footprint f;

    if (plan->shared == NULL || !tenant->data_keys || !plan->protocol->footprint(&pool, &f) || f.keyed)
        return 0;
    snprintf(text, CTL_TEXT_MAX,
             "data packets of tenant %s are keyed here, and the job's root does not key them: set data_keys: "
             "true there, or false here",
             tenant->name);
    return -EINVAL;
}

int pools_open_relayed(const struct pools *p, const struct relay_job *job, uint8_t *number,
                       char text[CTL_TEXT_MAX])
{
    uint16_t contributor[AGG_MAX_WORKERS];
    struct agg_node tree = {.ranks = job->entry.size,
                            .contributor = contributor,
                            .has_parent = true,
                            .parent_job = job->parent_number};
    struct jobs_plan plan = plan_for(&job->entry, &job->entry.terms, true, ctl_entry_host(&job->entry));
    struct keys_secret ours = {.library = keys_sodium()}, parents = ours;
    int rc;

    plan_members(&plan, &job->entry, contributor);
    plan.tree = &tree;
    if (job->entry.keyed) {
        memcpy(ours.secret, job->entry.secret, sizeof(ours.secret));
        memcpy(parents.secret, job->parent_secret, sizeof(parents.secret));
        plan.shared = &ours;
        tree.parent_shared = &parents;
    }
    plan.parent = (struct jobs_parent){
        .uplink = job->uplink,
        .ports = job->parent_data_ports,
        .from_port = rte_cpu_to_be_16((uint16_t)(UPLINK_DATA_PORT + job->uplink)),
        .at = member_at(&job->parent, job->parent_data_port),
    };
    rc = check_data_keys(p, &plan, text);
    if (rc == 0)
        rc = open_job(p, &plan, number, text);
    keys_erase(&ours, sizeof(ours));
    keys_erase(&parents, sizeof(parents));
    return rc;
}

static struct jobs_location location_of(const struct ctl_endpoint *e)
{
    struct jobs_location to = {.port = e->port};

    memcpy(to.mac.addr_bytes, e->mac, sizeof(to.mac.addr_bytes));
    return to;
}

int pools_move_parent(const struct pools *p, const struct relay_job *job)
{
    const struct jobs_location to = location_of(&job->parent);

    return jobs_move_parent(p->jobs, job->entry.protocol->id, job->entry.number, &to);
}

/* A member is found by its address: its number is that of its switch, if it comes by one. */
static struct agg_sender sender_of(const struct ctl_member *m)
{
    return (struct agg_sender){
        .ip = m->endpoint.ip, .port = rte_cpu_to_be_16(m->data_port), .network = m->endpoint.network};
}

int pools_move(const struct pools *p, const struct ctl_entry *job, unsigned rank)
{
    const struct ctl_member *m = &job->members[rank];
    const struct agg_sender at = sender_of(m);
    const struct switch_job *running = jobs_find(p->jobs, job->protocol->id, job->number);
    const struct agg_seat *seat = running == NULL ? NULL : agg_job_find(&running->common, &at);
    const struct jobs_location to = location_of(&m->endpoint);

    if (seat == NULL)
        return 0; /* it has ended */
    return jobs_move(p->jobs, job->protocol->id, job->number, seat->rank, &to);
}

bool pools_heard(const struct pools *p, const struct ctl_entry *job, unsigned rank)
{
    const struct agg_sender at = sender_of(&job->members[rank]);
    const struct switch_job *running = jobs_find(p->jobs, job->protocol->id, job->number);

    return running != NULL && agg_heard_member(&running->common, &at);
}

void pools_close(const struct pools *p, const struct ctl_entry *job)
{
    jobs_close(p->jobs, job->protocol->id, job->number);
}
