#include "lcore/classifier.h"

#include <errno.h>
#include <stdlib.h>

bool classifier_add(struct classifier_table *t, const struct classifier_rule *rule)
{
    if (t->rules == CLASSIFIER_RULES_MAX)
        return false;
    t->rule[t->rules++] = *rule;
    t->flows |= rule->ip != t->ip;
    return true;
}

bool classifier_add_passing(struct classifier_table *t, const struct classifier_passing *passing)
{
    if (t->passings == CLASSIFIER_PASSING_MAX)
        return false;
    t->passing[t->passings++] = *passing;
    return true;
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
