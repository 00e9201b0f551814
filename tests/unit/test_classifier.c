/* The classifier: what its rules say, and a change of them while others read. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "lcore/classifier.h"
#include "unit.h"

enum { PUBLISHED = 10, PROTOCOL = 3, OTHERS = 2, PORT = 100, TYPE = 0x88b5 };

static struct classifier classifier;
static struct classifier_table table; /* large */

static void clear(void)
{
    table = (struct classifier_table){0};
}

EACH_TEST(clear, NULL)

static struct classifier_rule rule(unsigned protocol)
{
    return (struct classifier_rule){.taker = CLASSIFIER_PROTOCOL, .protocol = protocol};
}

static const struct net_mac station = {{2, 0, 0, 0, 0, 9}}, another = {{2, 0, 0, 0, 0, 10}};

/* Which protocol takes what is sent to the target; 0: nobody. */
static unsigned taken_by(struct classifier_target target)
{
    const struct classifier_rule *found = classifier_find(&table, target);

    return found == NULL ? 0 : found->protocol;
}

TEST(a_rule_is_about_ports_of_the_switch)
{
    const struct classifier_rule one = rule(PROTOCOL);

    CU_ASSERT(classifier_add_own(&table, PORT, PORT + 3, &one));
    CU_ASSERT(table.rules == 4 && !table.flows && !table.passings);
    for (uint16_t port = PORT - 1; port <= PORT + 4; port++)
        CU_ASSERT_EQUAL(taken_by(classifier_own(rte_cpu_to_be_16(port))),
                        port >= PORT && port <= PORT + 3 ? PROTOCOL : 0);
    CU_ASSERT_EQUAL(taken_by(classifier_flow(0, 0, RTE_BE16(PORT))), 0);
    CU_ASSERT(classifier_add_own(&table, UINT16_MAX, UINT16_MAX, &one));
    CU_ASSERT_EQUAL(taken_by(classifier_own(UINT16_MAX)), PROTOCOL);
}

/* How many entries are looked at before that of the target. */
static unsigned passed_by(struct classifier_target target)
{
    unsigned i = classifier_index(target), passed = 0;

    while (table.entry[i].target.station != target.station || table.entry[i].target.what != target.what) {
        i = (i + 1) & (CLASSIFIER_ENTRIES - 1);
        passed++;
    }
    return passed;
}

TEST(rules_about_neighbouring_ports_are_apart)
{
    enum { PORTS = 64, FIRST = 48864 };
    const struct classifier_rule one = rule(PROTOCOL);
    unsigned passed = 0;

    CU_ASSERT(classifier_add_own(&table, FIRST, FIRST + PORTS - 1, &one));
    for (unsigned port = FIRST; port < FIRST + PORTS; port++)
        passed += passed_by(classifier_own(rte_cpu_to_be_16((uint16_t)port)));
    CU_ASSERT(passed <= PORTS / 2);
}

TEST(or_about_a_port_of_another_host)
{
    const struct classifier_rule one = rule(PROTOCOL);

    CU_ASSERT(classifier_add(&table, classifier_flow(1, OTHERS, RTE_BE16(PORT)), &one));
    CU_ASSERT(table.flows && !table.passings);
    CU_ASSERT_EQUAL(taken_by(classifier_flow(1, OTHERS, RTE_BE16(PORT))), PROTOCOL);
    CU_ASSERT_EQUAL(taken_by(classifier_flow(1, OTHERS, RTE_BE16(PORT + 1))), 0);
    CU_ASSERT_EQUAL(taken_by(classifier_flow(1, OTHERS + 1, RTE_BE16(PORT))), 0);
    CU_ASSERT_EQUAL(taken_by(classifier_flow(0, OTHERS, RTE_BE16(PORT))), 0);
    CU_ASSERT_EQUAL(taken_by(classifier_own(RTE_BE16(PORT))), 0);
}

TEST(or_about_frames_to_a_station)
{
    const struct classifier_rule one = rule(PROTOCOL);

    CU_ASSERT(classifier_add(&table, classifier_passing(1, &station, TYPE), &one));
    CU_ASSERT(!table.flows && table.passings);
    CU_ASSERT_EQUAL(taken_by(classifier_passing(1, &station, TYPE)), PROTOCOL);
    CU_ASSERT_EQUAL(taken_by(classifier_passing(1, &another, TYPE)), 0);
    CU_ASSERT_EQUAL(taken_by(classifier_passing(1, &station, TYPE + 1)), 0);
    CU_ASSERT_EQUAL(taken_by(classifier_passing(0, &station, TYPE)), 0);
}

TEST(the_first_rule_about_a_target_counts)
{
    const struct classifier_rule one = rule(1), all = rule(2);

    CU_ASSERT(classifier_add_own(&table, 5, 5, &one) && classifier_add_own(&table, 4, 6, &all));
    CU_ASSERT_EQUAL(taken_by(classifier_own(RTE_BE16(5))), 1);
    CU_ASSERT_EQUAL(taken_by(classifier_own(RTE_BE16(4))), 2);
    CU_ASSERT_EQUAL(table.rules, 3);
}

static struct classifier_target numbered(unsigned i)
{
    return i % 2 == 0 ? classifier_flow(0, i, RTE_BE16(PORT))
                      : classifier_passing(0, &station, (rte_be16_t)i);
}

TEST(a_table_has_room_for_so_many_rules)
{
    for (unsigned i = 0; i < CLASSIFIER_RULES_MAX; i++) {
        const struct classifier_rule one = rule(i + 1);

        CU_ASSERT(classifier_add(&table, numbered(i), &one));
    }
    for (unsigned i = 0; i < CLASSIFIER_RULES_MAX; i++)
        CU_ASSERT_EQUAL(taken_by(numbered(i)), i + 1);
    CU_ASSERT(!classifier_add(&table, numbered(CLASSIFIER_RULES_MAX), &table.entry[0].rule));
    CU_ASSERT(!classifier_add_own(&table, 1, 2, &table.entry[0].rule));
    CU_ASSERT_EQUAL(table.rules, CLASSIFIER_RULES_MAX);
    CU_ASSERT_EQUAL(taken_by(numbered(CLASSIFIER_RULES_MAX)), 0);
}

/* All rules are for the same protocol, so that a table which is freed or half written is seen. */
static void make_all_for(unsigned protocol)
{
    const struct classifier_rule one = rule(protocol);

    table = (struct classifier_table){0};
    for (unsigned i = 0; i < CLASSIFIER_RULES_MAX; i++)
        classifier_add(&table, numbered(i), &one);
}

static bool reads; /* atomic: the reader has the first table */

/* Keeps the table until another is published, and gives others the CPU for a while: whoever does not wait for
 * it now frees the memory, which writes to its beginning, or uses it again. Returns the table's protocol;
 * PUBLISHED + 1: it was not whole. */
static unsigned read_one(void)
{
    const struct classifier_table *t = classifier_table(&classifier);
    const unsigned protocol = classifier_find(t, numbered(0))->protocol;

    __atomic_store_n(&reads, true, __ATOMIC_RELEASE);
    while (protocol < PUBLISHED && classifier_table(&classifier) == t)
        sched_yield();
    for (unsigned i = 0; i < CLASSIFIER_RULES_MAX; i++) {
        const struct classifier_rule *found = classifier_find(t, numbered(i));

        if (found == NULL || found->protocol != protocol)
            return PUBLISHED + 1;
        if (i % 16 == 0)
            sched_yield();
    }
    return t->rules == CLASSIFIER_RULES_MAX ? protocol : PUBLISHED + 1;
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

TEST(who_reads_has_a_whole_table)
{
    struct rte_rcu_qsbr *rcu = aligned_alloc(RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(1));
    pthread_t reader;
    void *last;

    CU_ASSERT_FATAL(rcu != NULL && rte_rcu_qsbr_init(rcu, 1) == 0);
    classifier = (struct classifier){.rcu = rcu};
    CU_ASSERT_PTR_NULL(classifier_table(&classifier));
    make_all_for(0);
    CU_ASSERT_FATAL(classifier_publish(&classifier, &table) == 0);
    CU_ASSERT_FATAL(pthread_create(&reader, NULL, read_all, rcu) == 0);
    while (!__atomic_load_n(&reads, __ATOMIC_ACQUIRE))
        sched_yield();
    for (unsigned n = 1; n <= PUBLISHED; n++) {
        make_all_for(n);
        CU_ASSERT(classifier_publish(&classifier, &table) == 0);
    }
    pthread_join(reader, &last);
    CU_ASSERT_EQUAL((uintptr_t)last, PUBLISHED);
    classifier_free(&classifier);
    CU_ASSERT_PTR_NULL(classifier_table(&classifier));
    free(rcu);
}
