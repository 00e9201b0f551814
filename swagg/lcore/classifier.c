#include "lcore/classifier.h"

#include <errno.h>
#include <stdlib.h>

bool classifier_add(struct classifier_table *t, struct classifier_target target,
                    const struct classifier_rule *rule)
{
    unsigned i = classifier_index(target);

    if (classifier_find(t, target) != NULL)
        return true;
    if (t->rules == CLASSIFIER_RULES_MAX)
        return false;
    while (t->entry[i].target.station != 0)
        i = (i + 1) & (CLASSIFIER_ENTRIES - 1);
    t->entry[i] = (struct classifier_entry){target, *rule};
    t->rules++;
    t->flows |= target.station >> 56 == CLASSIFIER_FLOW;
    t->passings |= target.station >> 56 == CLASSIFIER_PASSING;
    t->transits |= target.station >> 56 == CLASSIFIER_TO_PORT;
    return true;
}

bool classifier_add_own(struct classifier_table *t, uint16_t first, uint16_t last,
                        const struct classifier_rule *rule)
{
    bool room = true;

    for (unsigned port = first; port <= last && room; port++)
        room = classifier_add(t, classifier_own(rte_cpu_to_be_16((uint16_t)port)), rule);
    return room;
}

bool classifier_add_transit(struct classifier_table *t, uint16_t first, uint16_t last,
                            const struct classifier_rule *rule)
{
    bool room = true;

    for (unsigned port = first; port <= last && room; port++) {
        const rte_be16_t udp_port = rte_cpu_to_be_16((uint16_t)port);

        room = classifier_add(t, classifier_to_port(udp_port), rule) &&
               classifier_add(t, classifier_from_port(udp_port), rule);
    }
    return room;
}

int classifier_publish(struct classifier *c, const struct classifier_table *table)
{
    struct classifier_table *made = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*made)), *before;

    if (made == NULL)
        return -ENOMEM;
    *made = *table;
    before = __atomic_exchange_n(&c->table, made, __ATOMIC_ACQ_REL);
    if (before != NULL)
        rte_rcu_qsbr_synchronize(c->rcu, RTE_QSBR_THRID_INVALID);
    free(before);
    return 0;
}

void classifier_free(struct classifier *c)
{
    free(c->table);
    c->table = NULL;
}
