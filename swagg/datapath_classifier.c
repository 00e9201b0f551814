/* What the switch takes for its own: its address, and who speaks at which of its UDP ports. */
#include "datapath_make.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/uplink_ports.h"
#include "protocols.h"
#include "wire/atp.h"
#include "wire/control.h"

enum {
    OWN_PORTS_MAX = 64, /* of protocols, control and uplinks */
    TRANSITS = 2 * (ATP_PORT_LAST - ATP_PORT_FIRST + 1),
    RULES = OWN_PORTS_MAX + TRANSITS + 2 * CONFIG_HOSTAGG_JOBS_MAX + CONFIG_CLONE_JOBS_MAX
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

/* A chunk's number tells its slot only together with the job's slots, and a worker may name any job in a
 * packet to any host. So keys are as coarse as the job with the fewest slots needs: packets of one slot have
 * one key. */
static struct agg_key_field hostagg_key(const struct config *cfg)
{
    struct agg_key_field key = agg_protocol_find(AGG_PROTOCOL_HOSTAGG)->shard_key;

    for (unsigned i = 0; i < cfg->hostagg_jobs; i++)
        key.mask = RTE_MIN(key.mask, (uint16_t)(cfg->hostagg[i].slots - 1));
    return key;
}

/* What workers send to a host, and the host's questions, which come to the switch. */
static void add_flows(struct classifier_table *t, const struct config *cfg)
{
    const struct classifier_rule rule = rule_of(AGG_PROTOCOL_HOSTAGG, hostagg_key(cfg));

    for (unsigned i = 0; i < cfg->hostagg_jobs; i++) {
        const struct config_hostagg *h = &cfg->hostagg[i];

        classifier_add(t, classifier_flow(h->network, h->host.ip, rte_cpu_to_be_16((uint16_t)h->host.port)),
                       &rule);
        if (h->host_gets != HAG_HOST_ABSENT)
            classifier_add_own(t, (uint16_t)h->host.port, (uint16_t)h->host.port, &rule);
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

/* Between ATP's workers and parameter servers, in both directions. */
static void add_transits(struct classifier_table *t, const struct config *cfg)
{
    const struct classifier_rule rule =
        rule_of(AGG_PROTOCOL_ATP_SWITCH, agg_protocol_find(AGG_PROTOCOL_ATP_SWITCH)->shard_key);

    if (cfg->atp.aggregators > 0)
        classifier_add_transit(t, ATP_PORT_FIRST, ATP_PORT_LAST, &rule);
}

/* What passes by on its way from workers to a host. */
static void add_passings(struct classifier_table *t, const struct config *cfg)
{
    for (unsigned i = 0; i < cfg->clone_jobs; i++) {
        const struct config_clone *c = &cfg->clone[i];
        const struct agg_key_field key = {
            .at = (uint16_t)(c->sequence_at + (c->little ? 0 : 2)), /* the low half of the number */
            .mask = (uint16_t)(c->slots - 1),
            .little = c->little};
        const struct classifier_rule rule = rule_of(c->terms.protocol, key);
        struct net_mac to;

        memcpy(to.addr_bytes, c->host, sizeof(c->host));
        classifier_add(t, classifier_passing(c->network, &to, rte_cpu_to_be_16((uint16_t)c->ether_type)),
                       &rule);
    }
}

int datapath_make_classifier(struct datapath *dp, const struct config *cfg)
{
    struct classifier_table t = {.mac = dp->mac, .ip = dp->ip};
    int rc;

    add_protocols(&t);
    add_control(&t, CTL_PORT);
    add_parents(&t, dp->uplinks);
    add_flows(&t, cfg);
    add_transits(&t, cfg);
    add_passings(&t, cfg);
    dp->classifier.rcu = dp->rcu;
    rc = classifier_publish(&dp->classifier, &t);
    if (rc < 0)
        log_error("no memory for the classifier's rules");
    return rc;
}
