/* Whose a received packet is: the switch's own, and which part of it takes it; a protocol's; or the bridge's
 * to pass on.
 *
 * A table of rules, in front of bridge and engine. A rule says who takes what is sent to one target: a UDP
 * port of the switch itself; a UDP port of another host, for a protocol that takes part in a flow which only
 * passes by; or frames of one type to another station, of which a protocol gets copies. It is hashed by
 * targets, so what a packet costs does not depend on how many rules there are.
 *
 * The main lcore builds a table and publishes it whole; nobody changes it any more. Polling lcores read the
 * pointer once a burst and let go of it by the end of their round. The table before it is freed once every
 * lcore has passed such a point (RCU).
 *
 * Addresses and frames' types in network order, UDP ports in host order where they are configured.
 */
#pragma once

#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_rcu_qsbr.h>

#include "net/headers.h"
#include "protocol/protocol.h"
#include "random/spread.h"

enum {
    CLASSIFIER_ENTRIES = 2048, /* a power of two; at most half of them are taken */
    CLASSIFIER_RULES_MAX = CLASSIFIER_ENTRIES / 2
};

enum classifier_taker {
    CLASSIFIER_CONTROL,  /* the main lcore: control messages; to the switch itself only */
    CLASSIFIER_PROTOCOL, /* the engine */
};

struct classifier_rule {
    enum classifier_taker taker;
    /* CLASSIFIER_PROTOCOL: */
    /* whose, as the engine numbers its sources: enum agg_protocol_id for what members send */
    unsigned protocol;
    struct agg_key_field key;
};

/* What a rule is about. */
struct classifier_target {
    uint64_t station; /* its address, and its network (port/vlans.h) above that; the highest byte: the kind */
    rte_be16_t what;  /* UDP port, or type of frames */
};

struct classifier_entry {
    struct classifier_target target; /* station 0: empty */
    struct classifier_rule rule;
};

struct classifier_table {
    /* What is for the switch itself. Another MAC: the bridge's, but for flows. */
    struct net_mac mac;
    rte_be32_t ip; /* 0: none */
    unsigned rules;
    bool flows, passings, transits; /* there are rules of this kind */
    struct classifier_entry entry[CLASSIFIER_ENTRIES];
} __rte_cache_aligned;

struct classifier {
    struct classifier_table *table; /* atomic */
    struct rte_rcu_qsbr *rcu;       /* where those report who read it */
};

enum { CLASSIFIER_OWN = 1, CLASSIFIER_FLOW, CLASSIFIER_PASSING, CLASSIFIER_TO_PORT, CLASSIFIER_FROM_PORT };

/* UDP packets to this port of the switch itself, by whichever of its addresses. */
static inline struct classifier_target classifier_own(rte_be16_t udp_port)
{
    return (struct classifier_target){(uint64_t)CLASSIFIER_OWN << 56, udp_port};
}

/* UDP packets to this port of another host. */
static inline struct classifier_target classifier_flow(unsigned network, rte_be32_t ip, rte_be16_t udp_port)
{
    return (struct classifier_target){(uint64_t)CLASSIFIER_FLOW << 56 | (uint64_t)network << 48 | ip,
                                      udp_port};
}

/* UDP packets between others, whatever their addresses, to this port, or from it. */
static inline struct classifier_target classifier_to_port(rte_be16_t udp_port)
{
    return (struct classifier_target){(uint64_t)CLASSIFIER_TO_PORT << 56, udp_port};
}

static inline struct classifier_target classifier_from_port(rte_be16_t udp_port)
{
    return (struct classifier_target){(uint64_t)CLASSIFIER_FROM_PORT << 56, udp_port};
}

/* Frames of this type to another station. */
static inline struct classifier_target classifier_passing(unsigned network, const struct net_mac *to,
                                                          rte_be16_t ether_type)
{
    struct classifier_target target = {0, ether_type};

    memcpy(&target.station, to, sizeof(*to)); /* little endian: the lower six bytes */
    target.station |= (uint64_t)CLASSIFIER_PASSING << 56 | (uint64_t)network << 48;
    return target;
}

/* While the table is built. Of several rules about a target the first counts. False: the table is full. */
bool classifier_add(struct classifier_table *t, struct classifier_target target,
                    const struct classifier_rule *rule);

/* The same for these UDP ports of the switch itself, both included; host order. */
bool classifier_add_own(struct classifier_table *t, uint16_t first, uint16_t last,
                        const struct classifier_rule *rule);

/* The same for UDP packets between others, to these ports and from them. */
bool classifier_add_transit(struct classifier_table *t, uint16_t first, uint16_t last,
                            const struct classifier_rule *rule);

/* Publishes a copy of the table, and frees the one before; waits for the lcores to let go of that. 0, or
 * -ENOMEM: nothing has changed. The main lcore's. */
int classifier_publish(struct classifier *c, const struct classifier_table *table);

/* No lcore runs. */
void classifier_free(struct classifier *c);

/* The table in force; NULL before the first is published. Valid until the calling lcore's next quiescent
 * point. */
static inline const struct classifier_table *classifier_table(const struct classifier *c)
{
    return __atomic_load_n(&c->table, __ATOMIC_ACQUIRE);
}

static inline unsigned classifier_index(struct classifier_target target)
{
    return spread(target.station ^ (uint64_t)target.what << 40) & (CLASSIFIER_ENTRIES - 1);
}

/* Who takes what is sent to the target; NULL: nobody. */
static inline const struct classifier_rule *classifier_find(const struct classifier_table *t,
                                                            struct classifier_target target)
{
    for (unsigned i = classifier_index(target); t->entry[i].target.station != 0;
         i = (i + 1) & (CLASSIFIER_ENTRIES - 1))
        if (t->entry[i].target.station == target.station && t->entry[i].target.what == target.what)
            return &t->entry[i].rule;
    return NULL;
}
