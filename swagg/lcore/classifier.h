/* Whose a received packet is: the switch's own, and which part of it takes it; a protocol's; or the bridge's
 * to pass on.
 *
 * A table of rules, in front of bridge and engine. A rule names a destination, an IP address and UDP ports,
 * and who takes what is sent there. Most are about the switch's own address. A rule about another host's is
 * for a protocol that takes part in a flow which only passes by.
 *
 * The main lcore builds a table and publishes it whole; nobody changes it any more. Polling lcores read the
 * pointer once a burst and let go of it by the end of their round. The table before it is freed once every
 * lcore has passed such a point (RCU).
 *
 * Addresses in network order, UDP ports in host order.
 */
#ifndef SWAGG_LCORE_CLASSIFIER_H
#define SWAGG_LCORE_CLASSIFIER_H

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_rcu_qsbr.h>

#include "net/headers.h"
#include "protocol/protocol.h"

enum { CLASSIFIER_RULES_MAX = 64, CLASSIFIER_PASSING_MAX = 16 };

enum classifier_taker {
    CLASSIFIER_CONTROL,  /* the main lcore: control messages; of the switch's own address only */
    CLASSIFIER_PROTOCOL, /* the engine */
};

/* UDP packets to this address and to one of these ports. */
struct classifier_rule {
    rte_be32_t ip;
    uint16_t first, last;
    enum classifier_taker taker;
    /* CLASSIFIER_PROTOCOL: */
    unsigned
        protocol; /* whose, as the engine numbers its sources: enum agg_protocol_id for what members send */
    struct agg_key_place key;
};

/* Frames of this type to this station pass by: they are forwarded as ever, and the engine gets copies. */
struct classifier_passing {
    struct net_mac to;
    rte_be16_t ether_type;
    unsigned protocol; /* whose, enum agg_protocol_id */
    struct agg_key_place key;
};

struct classifier_table {
    /* What is for the switch itself. Another MAC: the bridge's, but for flows. */
    struct net_mac mac;
    rte_be32_t ip; /* 0: none */
    bool flows;    /* some rule is about another address than ip */
    unsigned rules;
    struct classifier_rule rule[CLASSIFIER_RULES_MAX]; /* the first that fits counts */
    unsigned passings;
    struct classifier_passing passing[CLASSIFIER_PASSING_MAX];
} __rte_cache_aligned;

struct classifier {
    struct classifier_table *table; /* atomic */
    struct rte_rcu_qsbr *rcu;       /* where those report who read it */
};

/* While the table is built. False: it is full. */
bool classifier_add(struct classifier_table *t, const struct classifier_rule *rule);

bool classifier_add_passing(struct classifier_table *t, const struct classifier_passing *passing);

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

/* Who gets a copy of a frame to another station; NULL: nobody. */
static inline const struct classifier_passing *classifier_passing(const struct classifier_table *t,
                                                                  const struct net_ethernet *eth)
{
    for (const struct classifier_passing *p = t->passing; p < t->passing + t->passings; p++)
        if (eth->ether_type == p->ether_type && net_same_mac(&eth->dst_addr, &p->to))
            return p;
    return NULL;
}

/* Who takes a UDP packet to this address and port; NULL: nobody. */
static inline const struct classifier_rule *classifier_find(const struct classifier_table *t, rte_be32_t ip,
                                                            rte_be16_t udp_port)
{
    const uint16_t port = rte_be_to_cpu_16(udp_port);

    for (const struct classifier_rule *r = t->rule; r < t->rule + t->rules; r++)
        if (port >= r->first && port <= r->last && ip == r->ip)
            return r;
    return NULL;
}

#endif
