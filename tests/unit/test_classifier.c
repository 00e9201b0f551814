/* The classifier: what its rules say, and a change of them while others read. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "lcore/classifier.h"
#include "unit.h"

enum { PUBLISHED = 10, PROTOCOL = 3, OURS = 1, OTHERS = 2 };

static struct classifier classifier;

static struct classifier_rule rule(rte_be32_t ip, uint16_t first, uint16_t last, unsigned protocol)
{
    return (struct classifier_rule){
        .ip = ip, .first = first, .last = last, .taker = CLASSIFIER_PROTOCOL, .protocol = protocol};
}

static void test_a_rule_is_about_an_address_and_a_range_of_ports(void)
{
    struct classifier_table t = {.ip = OURS};
    const struct classifier_rule range = rule(OURS, 100, 103, PROTOCOL);

    CU_ASSERT(classifier_add(&t, &range));
    for (uint16_t port = 100; port <= 103; port++)
        CU_ASSERT_PTR_EQUAL(classifier_find(&t, OURS, rte_cpu_to_be_16(port)), &t.rule[0]);
    CU_ASSERT_PTR_NULL(classifier_find(&t, OURS, RTE_BE16(99)));
    CU_ASSERT_PTR_NULL(classifier_find(&t, OURS, RTE_BE16(104)));
    CU_ASSERT_PTR_NULL(classifier_find(&t, OTHERS, RTE_BE16(100)));
}

static void test_the_first_rule_that_fits_counts(void)
{
    struct classifier_table t = {.ip = OURS};
    const struct classifier_rule one = rule(OURS, 5, 5, 1), all = rule(OURS, 0, UINT16_MAX, 2);

    CU_ASSERT(classifier_add(&t, &one) && classifier_add(&t, &all));
    CU_ASSERT_EQUAL(classifier_find(&t, OURS, RTE_BE16(5))->protocol, 1);
    CU_ASSERT_EQUAL(classifier_find(&t, OURS, 0)->protocol, 2);
    CU_ASSERT_EQUAL(classifier_find(&t, OURS, UINT16_MAX)->protocol, 2);
}

static void test_a_rule_about_others_is_a_flow(void)
{
    struct classifier_table t = {.ip = OURS};
    const struct classifier_rule own = rule(OURS, 1, 1, PROTOCOL), others = rule(OTHERS, 1, 1, PROTOCOL);

    CU_ASSERT(classifier_add(&t, &own) && !t.flows);
    CU_ASSERT(classifier_add(&t, &others) && t.flows);
    CU_ASSERT_PTR_EQUAL(classifier_find(&t, OTHERS, RTE_BE16(1)), &t.rule[1]);
}

static void test_a_table_has_room_for_so_many_rules(void)
{
    struct classifier_table t = {.ip = OURS};

    for (uint16_t i = 0; i < CLASSIFIER_RULES_MAX; i++) {
        const struct classifier_rule one = rule(OURS, i, i, i);

        CU_ASSERT(classifier_add(&t, &one));
    }
    CU_ASSERT_FALSE(classifier_add(&t, &t.rule[0]));
    CU_ASSERT_EQUAL(t.rules, CLASSIFIER_RULES_MAX);
    CU_ASSERT_EQUAL(classifier_find(&t, OURS, RTE_BE16(CLASSIFIER_RULES_MAX - 1))->protocol,
                    CLASSIFIER_RULES_MAX - 1);
}

/* All of them to the same protocol, so that a table which is freed or half written is seen. */
static struct classifier_table all_to(unsigned protocol)
{
    struct classifier_table t = {.ip = OURS};
    const struct classifier_rule one = rule(OURS, 0, UINT16_MAX, protocol);

    while (classifier_add(&t, &one))
        continue;
    return t;
}

static bool reads; /* atomic: the reader has the first table */

/* Keeps the table until another is published, and gives others the CPU for a while: whoever does not wait for
 * it now frees the memory, which writes to its beginning, or uses it again. Returns the table's protocol;
 * PUBLISHED + 1: it was not whole. */
static unsigned read_one(void)
{
    const struct classifier_table *t = classifier_table(&classifier);
    const unsigned protocol = t->rule[0].protocol;

    __atomic_store_n(&reads, true, __ATOMIC_RELEASE);
    while (protocol < PUBLISHED && classifier_table(&classifier) == t)
        sched_yield();
    for (unsigned i = 0; i < t->rules; i++) {
        if (t->rule[i].protocol != protocol)
            return PUBLISHED + 1;
        sched_yield();
    }
    return t->ip == OURS && t->rules == CLASSIFIER_RULES_MAX ? protocol : PUBLISHED + 1;
}

/* Until the last table. Returns the number that it has seen last. */
static void *read_all(void *rcu)
{
    uintptr_t last;

    rte_rcu_qsbr_thread_register(rcu, 0);
    rte_rcu_qsbr_thread_online(rcu, 0);
    do {
        last = read_one();
        rte_rcu_qsbr_quiescent(rcu, 0);
    } while (last < PUBLISHED);
    rte_rcu_qsbr_thread_offline(rcu, 0);
    return (void *)last;
}

static void test_who_reads_has_a_whole_table(void)
{
    struct rte_rcu_qsbr *rcu = aligned_alloc(RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(1));
    struct classifier_table t = all_to(0);
    pthread_t reader;
    void *last;

    CU_ASSERT_FATAL(rcu != NULL && rte_rcu_qsbr_init(rcu, 1) == 0);
    classifier = (struct classifier){.rcu = rcu};
    CU_ASSERT_PTR_NULL(classifier_table(&classifier));
    CU_ASSERT_FATAL(classifier_publish(&classifier, &t) == 0);
    CU_ASSERT_FATAL(pthread_create(&reader, NULL, read_all, rcu) == 0);
    while (!__atomic_load_n(&reads, __ATOMIC_ACQUIRE))
        sched_yield();
    for (unsigned n = 1; n <= PUBLISHED; n++) {
        t = all_to(n);
        CU_ASSERT(classifier_publish(&classifier, &t) == 0);
    }
    pthread_join(reader, &last);
    CU_ASSERT_EQUAL((uintptr_t)last, PUBLISHED);
    classifier_free(&classifier);
    CU_ASSERT_PTR_NULL(classifier_table(&classifier));
    free(rcu);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_rule_is_about_an_address_and_a_range_of_ports),
        UNIT_TEST(test_the_first_rule_that_fits_counts),
        UNIT_TEST(test_a_rule_about_others_is_a_flow),
        UNIT_TEST(test_a_table_has_room_for_so_many_rules),
        UNIT_TEST(test_who_reads_has_a_whole_table),
        CU_TEST_INFO_NULL,
    };

    return unit_main("classifier", tests);
}
