/* What the switch takes for its own: its address, and who speaks at which of its UDP ports. */
#include "datapath_make.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/uplink_ports.h"
#include "protocols.h"
#include "wire/control.h"

static_assert((int)COUNTED_PROTOCOLS + 2 * (int)CONFIG_HOSTAGG_JOBS_MAX + SWAGG_MAX_UPLINKS + 2 <=
                  (int)CLASSIFIER_RULES_MAX,
              "there is room for all, and for control");
static_assert((int)CONFIG_CLONE_JOBS_MAX <= (int)CLASSIFIER_PASSING_MAX, "so there is for what passes by");

/* Path probes come to the ports of the protocol whose packets they go ahead of, by the same queues, and are
 * told from these by the engine (aggregate/strangers.h). */
static void add_protocols(struct classifier_table *t)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    for (unsigned i = 0; i < protocols; i++) {
        if (protocol[i]->udp_ports.first == 0)
            continue;
        classifier_add(t, &(struct classifier_rule){.ip = t->ip,
                                                    .first = protocol[i]->udp_ports.first,
                                                    .last = protocol[i]->udp_ports.last,
                                                    .taker = CLASSIFIER_PROTOCOL,
                                                    .protocol = protocol[i]->id,
                                                    .key = protocol[i]->shard_key});
    }
}

/* A chunk's number tells its slot only together with the job's slots, so keys are as coarse as the job with
 * the fewest needs: packets of one slot have one key. */
static struct agg_key_place hostagg_key(const struct config *cfg)
{
    struct agg_key_place key = agg_protocol_find(AGG_PROTOCOL_HOSTAGG)->shard_key;

    for (unsigned i = 0; i < cfg->hostagg_jobs; i++)
        key.mask = RTE_MIN(key.mask, (uint16_t)(cfg->hostagg[i].slots - 1));
    return key;
}

/* What workers send to a host, and the host's questions, which come to the switch. */
static void add_flows(struct classifier_table *t, const struct config *cfg)
{
    for (unsigned i = 0; i < cfg->hostagg_jobs; i++) {
        const struct config_hostagg *h = &cfg->hostagg[i];
        struct classifier_rule rule = {.ip = h->host.ip,
                                       .first = (uint16_t)h->host.port,
                                       .last = (uint16_t)h->host.port,
                                       .taker = CLASSIFIER_PROTOCOL,
                                       .protocol = h->terms.protocol,
                                       .key = hostagg_key(cfg)};

        classifier_add(t, &rule);
        rule.ip = t->ip;
        if (h->host_gets != HAG_HOST_ABSENT)
            classifier_add(t, &rule);
    }
}

/* What the switches above send. Jobs that have one are SwitchML's, which has data ports of the switch's. */
static void add_parents(struct classifier_table *t, unsigned uplinks)
{
    for (unsigned u = 0; u < uplinks; u++)
        classifier_add(t,
                       &(struct classifier_rule){.ip = t->ip,
                                                 .first = (uint16_t)(UPLINK_DATA_PORT + u),
                                                 .last = (uint16_t)(UPLINK_DATA_PORT + u),
                                                 .taker = CLASSIFIER_PROTOCOL,
                                                 .protocol = engine_from_parent(AGG_PROTOCOL_SWITCHML, u),
                                                 .key = agg_protocol_find(AGG_PROTOCOL_SWITCHML)->shard_key});
    if (uplinks > 0)
        classifier_add(t, &(struct classifier_rule){.ip = t->ip,
                                                    .first = UPLINK_CONTROL_PORT,
                                                    .last = UPLINK_CONTROL_PORT,
                                                    .taker = CLASSIFIER_CONTROL});
}

/* What passes by on its way from workers to a host. */
static void add_passings(struct classifier_table *t, const struct config *cfg)
{
    for (unsigned i = 0; i < cfg->clone_jobs; i++) {
        const struct config_clone *c = &cfg->clone[i];
        struct classifier_passing passing = {
            .ether_type = rte_cpu_to_be_16((uint16_t)c->ether_type),
            .protocol = c->terms.protocol,
            .key = {.at = (uint16_t)(c->sequence_at + (c->little ? 0 : 2)), /* its low half */
                    .mask = (uint16_t)(c->slots - 1),
                    .little = c->little}};

        memcpy(passing.to.addr_bytes, c->host, sizeof(c->host));
        classifier_add_passing(t, &passing);
    }
}

int datapath_make_classifier(struct datapath *dp, const struct config *cfg)
{
    struct classifier_table t = {.mac = dp->mac, .ip = dp->ip};
    int rc;

    add_protocols(&t); /* first: most packets are theirs */
    classifier_add(&t, &(struct classifier_rule){
                           .ip = t.ip, .first = CTL_PORT, .last = CTL_PORT, .taker = CLASSIFIER_CONTROL});
    add_flows(&t, cfg);
    add_parents(&t, dp->uplinks);
    add_passings(&t, cfg);
    dp->classifier.rcu = dp->rcu;
    rc = classifier_publish(&dp->classifier, &t);
    if (rc < 0)
        log_error("no memory for the classifier's rules");
    return rc;
}
