/* What the switch takes for its own: its address, and who speaks at which of its UDP ports. */
#include "datapath_make.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/uplink_ports.h"
#include "protocols.h"
#include "wire/control.h"

enum {
    OWN_PORTS_MAX = 64, /* of protocols, control and uplinks */
    TRANSITS_MAX = 64,  /* ports of protocols between others, each in both directions */
    RULES = OWN_PORTS_MAX + TRANSITS_MAX + CONFIG_FLOWS_MAX
};

static_assert((int)RULES <= (int)CLASSIFIER_RULES_MAX, "there is room for all");

static struct classifier_rule rule_of(unsigned protocol, struct agg_key_field key)
{
    return (struct classifier_rule){.taker = CLASSIFIER_PROTOCOL, .protocol = protocol, .key = key};
}

/* Path probes come to the ports of the protocol whose packets they go ahead of, by the same queues, and are
 * told from these by the engine (aggregate/strangers.h). */
static void add_protocols(struct classifier_table *t)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    for (unsigned i = 0; i < protocols; i++) {
        const struct classifier_rule rule = rule_of(protocol[i]->id, protocol[i]->shard_key);

        if (protocol[i]->udp_ports.first != 0)
            classifier_add_own(t, protocol[i]->udp_ports.first, protocol[i]->udp_ports.last, &rule);
    }
}

static void add_control(struct classifier_table *t, uint16_t port)
{
    classifier_add_own(t, port, port, &(struct classifier_rule){.taker = CLASSIFIER_CONTROL});
}

static struct agg_key_field key_of(const struct agg_protocol *protocol, const struct agg_terms *terms)
{
    return protocol->job_key != NULL ? protocol->job_key(terms) : protocol->shard_key;
}

/* A worker may name any job in a packet to any host. So where jobs have keys of their own, those of a
 * protocol are as coarse as the job with the fewest slots needs: packets of one slot have one key. */
static struct agg_key_field coarsest_key(const struct config *cfg, const struct agg_protocol *protocol)
{
    struct agg_key_field key = protocol->shard_key;

    for (unsigned i = 0; i < config_jobs(cfg); i++) {
        const struct agg_terms *terms = config_job(cfg, i).terms;

        if (terms->protocol == protocol->id)
            key.mask = RTE_MIN(key.mask, key_of(protocol, terms).mask);
    }
    return key;
}

/* What is sent to a host, and the host's questions, which come to the switch. */
static void add_host(struct classifier_table *t, const struct config_job *job, struct agg_key_field key)
{
    const struct classifier_rule rule = rule_of(job->terms->protocol, key);
    const uint16_t port = (uint16_t)job->host->port;

    classifier_add(t, classifier_flow(job->network, job->host->ip, rte_cpu_to_be_16(port)), &rule);
    if (job->host_asks)
        classifier_add_own(t, port, port, &rule);
}

/* What passes by on its way to a station. */
static void add_station(struct classifier_table *t, const struct config_job *job,
                        const struct agg_protocol *protocol)
{
    const struct classifier_rule rule = rule_of(protocol->id, key_of(protocol, job->terms));
    struct net_mac to;

    memcpy(to.addr_bytes, job->station, sizeof(to.addr_bytes));
    classifier_add(t, classifier_passing(job->network, &to, rte_cpu_to_be_16(job->ether_type)), &rule);
}

/* What goes between others, and is a job's of the configuration. */
static void add_flows(struct classifier_table *t, const struct config *cfg)
{
    for (unsigned i = 0; i < config_jobs(cfg); i++) {
        const struct config_job job = config_job(cfg, i);
        const struct agg_protocol *protocol = agg_protocol_find(job.terms->protocol);
        const struct classifier_rule rule = rule_of(protocol->id, protocol->shard_key);

        if (job.host != NULL)
            add_host(t, &job, coarsest_key(cfg, protocol));
        if (job.station != NULL)
            add_station(t, &job, protocol);
        if (protocol->transit_ports.first != 0)
            classifier_add_transit(t, protocol->transit_ports.first, protocol->transit_ports.last, &rule);
    }
}

/* What the switches above send. Jobs that have one are SwitchML's, which has data ports of the switch's. */
static void add_parents(struct classifier_table *t, unsigned uplinks)
{
    for (unsigned u = 0; u < uplinks; u++) {
        const uint16_t port = (uint16_t)(UPLINK_DATA_PORT + u);
        const struct classifier_rule rule = rule_of(engine_from_parent(AGG_PROTOCOL_SWITCHML, u),
                                                    agg_protocol_find(AGG_PROTOCOL_SWITCHML)->shard_key);

        classifier_add_own(t, port, port, &rule);
    }
    if (uplinks > 0)
        add_control(t, UPLINK_CONTROL_PORT);
}

int datapath_make_classifier(struct datapath *dp, const struct config *cfg)
{
    struct classifier_table t = {.mac = dp->mac, .ip = dp->ip};
    int rc;

    add_protocols(&t);
    add_control(&t, CTL_PORT);
    add_parents(&t, dp->uplinks);
    add_flows(&t, cfg);
    if (t.rules == CLASSIFIER_RULES_MAX) /* one more may have found no room */
        return log_fail(-ENOSPC, "the classifier has room for fewer than %d rules", CLASSIFIER_RULES_MAX);
    dp->classifier.rcu = dp->rcu;
    rc = classifier_publish(&dp->classifier, &t);
    if (rc < 0)
        log_error("no memory for the classifier's rules");
    return rc;
}
