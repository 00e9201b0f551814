/* Which lcore does what: defaults, CPUs. What is wrong with a list of lcores: test_config_mistakes.c. */
#include "config/placement.h"
#include "unit.h"

/* Ports with so many queues each in either direction. */
static struct placement_ports ports_with(unsigned ports, unsigned rx_queues, unsigned tx_queues)
{
    struct placement_ports all = {.ports = ports};

    for (unsigned p = 0; p < ports; p++) {
        all.rx_queues[p] = rx_queues;
        all.tx_queues[p] = tx_queues;
    }
    return all;
}

/* Whether each of these is in one of the lcores' words: every stride-th from the first on. */
static bool are_dealt(uint64_t all, const struct placement *p, const uint64_t *first)
{
    const size_t stride = sizeof(p->lcore[0]);
    uint64_t owned = 0;

    for (unsigned l = 0; l < p->lcores; l++) {
        const uint64_t *its = (const void *)((const char *)first + l * stride);

        if (owned & *its)
            return false;
        owned |= *its;
    }
    return owned == all;
}

/* Whether each queue and each shard is one lcore's, and each lcore has something to do. */
static bool is_good(const struct placement *p, const struct placement_ports *ports)
{
    bool good =
        are_dealt(p->shards < 64 ? (UINT64_C(1) << p->shards) - 1 : UINT64_MAX, p, &p->lcore[0].shards);

    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        good &= are_dealt(placement_with_queue(ports->rx_queues, q), p, &p->lcore[0].rx[q]) &&
                are_dealt(placement_with_queue(ports->tx_queues, q), p, &p->lcore[0].tx[q]);
    for (unsigned l = 0; l < p->lcores; l++) {
        uint64_t tasks = p->lcore[l].shards;

        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
            tasks |= p->lcore[l].rx[q] | p->lcore[l].tx[q];
        good &= tasks != 0;
    }
    return good;
}

static bool is_good_for(const struct placement *p, unsigned ports)
{
    const struct placement_ports all = ports_with(ports, 1, 1);

    return is_good(p, &all);
}

static void make_default(struct placement *p, unsigned cpus, unsigned ports)
{
    struct placement_ports all = ports_with(ports, 1, 1);

    placement_default(p, cpus, &all);
}

TEST(default_is_good_for_any_machine)
{
    struct placement p;

    for (unsigned cpus = 1; cpus <= 130; cpus++) {
        for (unsigned ports = 1; ports <= SWAGG_MAX_PORTS; ports++) {
            make_default(&p, cpus, ports);
            CU_ASSERT(is_good_for(&p, ports));
            CU_ASSERT(p.lcores <= ports && (p.lcores == 1 || p.lcores <= cpus / 2));
        }
    }
}

TEST(default_on_two_cpus_is_one_lcore)
{
    struct placement p;

    make_default(&p, 2, 4);
    CU_ASSERT_EQUAL(p.lcores, 1);
    CU_ASSERT_EQUAL(p.shards, 1);
    CU_ASSERT_EQUAL(p.lcore[0].rx[0], 0xF);
    CU_ASSERT_EQUAL(p.lcore[0].tx[0], 0xF);
    CU_ASSERT_EQUAL(p.lcore[0].shards, 1);
    CU_ASSERT_EQUAL(p.lcore[0].cpu, PLACEMENT_ANY_CPU);
}

TEST(default_deals_ports_out)
{
    struct placement p;

    make_default(&p, 8, 6);
    CU_ASSERT_EQUAL(p.lcores, 4);
    CU_ASSERT_EQUAL(p.shards, 4);
    CU_ASSERT_EQUAL(p.lcore[0].rx[0], 1u << 0 | 1u << 4);
    CU_ASSERT_EQUAL(p.lcore[3].tx[0], 1u << 3);
    make_default(&p, 64, 3);
    CU_ASSERT_EQUAL(p.lcores, 3);
}

/* Two ports, RX and TX apart, two aggregating lcores. */
static struct placement split(void)
{
    return (struct placement){
        .lcores = 4,
        .shards = 2,
        .lcore = {{.rx = {3}}, {.tx = {3}}, {.shards = 1}, {.shards = 2}},
    };
}

TEST(tasks_may_be_apart)
{
    const struct placement p = split();

    CU_ASSERT(is_good_for(&p, 2));
}

TEST(no_shards_is_a_plain_switch)
{
    struct placement p = {.lcores = 1, .lcore = {{.rx = {1}, .tx = {1}}}};

    CU_ASSERT(is_good_for(&p, 1));
}

static const unsigned nobody[3];

TEST(pin_leaves_the_first_cpu_to_the_main_lcore)
{
    const int cpus[] = {2, 3, 6};
    struct placement p = split();

    for (unsigned l = 0; l < p.lcores; l++)
        p.lcore[l].cpu = PLACEMENT_ANY_CPU;
    p.lcore[1].cpu = 40;
    placement_pin(&p, cpus, 3, nobody);
    CU_ASSERT_EQUAL(p.lcore[0].cpu, 3);
    CU_ASSERT_EQUAL(p.lcore[1].cpu, 40);
    CU_ASSERT_EQUAL(p.lcore[2].cpu, 6);
    CU_ASSERT_EQUAL(p.lcore[3].cpu, 3);
}

TEST(pin_on_a_single_cpu)
{
    const int cpus[] = {5};
    struct placement p;

    make_default(&p, 1, 2);
    placement_pin(&p, cpus, 1, nobody);
    CU_ASSERT_EQUAL(p.lcore[0].cpu, 5);
}

/* So many further daemons on these CPUs, with a polling lcore each: where are they? */
TEST(pin_goes_where_no_other_daemon_polls)
{
    static const int cpus[] = {2, 3, 6}, expected[] = {3, 6, 2, 3, 6, 2};
    unsigned others[3] = {0};

    for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct placement p = {.lcores = 1, .lcore = {{.cpu = PLACEMENT_ANY_CPU}}};

        placement_pin(&p, cpus, 3, others);
        CU_ASSERT_EQUAL(p.lcore[0].cpu, expected[i]);
        for (unsigned k = 0; k < 3; k++)
            others[k] += cpus[k] == p.lcore[0].cpu;
    }
}

/* What the configuration says stays, and counts. */
TEST(pin_goes_round_what_is_taken)
{
    static const int cpus[] = {2, 3, 6};
    static const unsigned others[] = {0, 1, 1};
    struct placement p = {
        .lcores = 4,
        .lcore = {
            {.cpu = PLACEMENT_ANY_CPU}, {.cpu = PLACEMENT_ANY_CPU}, {.cpu = 3}, {.cpu = PLACEMENT_ANY_CPU}}};

    placement_pin(&p, cpus, 3, others);
    CU_ASSERT(p.lcore[0].cpu == 2 && p.lcore[1].cpu == 6 && p.lcore[2].cpu == 3 && p.lcore[3].cpu == 2);
    p.lcore[0].cpu = p.lcore[1].cpu = PLACEMENT_ANY_CPU;
    p.lcore[3].cpu = 6;
    placement_pin(&p, cpus, 3,
                  nobody); /* the first is nobody's but the main lcore's, if others poll nowhere */
    CU_ASSERT(p.lcore[0].cpu == 3 && p.lcore[1].cpu == 6);
}

TEST(a_cpu_that_is_not_there_is_found)
{
    const int cpus[] = {2, 3, 6};
    struct placement p = split();

    for (unsigned l = 0; l < p.lcores; l++)
        p.lcore[l].cpu = PLACEMENT_ANY_CPU;
    placement_pin(&p, cpus, 3, nobody);
    CU_ASSERT_EQUAL(placement_find_stray(&p, cpus, 3), -1);
    p.lcore[2].cpu = 4;
    CU_ASSERT_EQUAL(placement_find_stray(&p, cpus, 3), 2);
}

/* What stays is where it was; new queues go to who has fewest; threads that only aggregate get none. */
TEST(ports_come_and_go)
{
    struct placement_ports there = ports_with(3, 1, 1);
    struct placement p = {.lcores = 3};

    p.lcore[0].rx[0] = p.lcore[0].tx[0] = 1 | 2;
    p.lcore[1].rx[0] = p.lcore[1].tx[0] = 4;
    p.lcore[2].shards = 1;
    there.ports = 5;
    there.rx_queues[3] = 2;
    there.tx_queues[3] = 1;
    there.rx_queues[1] = there.tx_queues[1] = 0; /* is gone */
    placement_follow(&p, &there);
    CU_ASSERT(p.lcore[0].rx[0] + p.lcore[1].rx[0] == (1 | 4 | 8) && (p.lcore[0].rx[0] & 1));
    CU_ASSERT_EQUAL(p.lcore[0].rx[1] + p.lcore[1].rx[1], 8);
    CU_ASSERT((p.lcore[0].rx[0] | p.lcore[0].rx[1]) & 8);
    CU_ASSERT((p.lcore[1].rx[0] | p.lcore[1].rx[1]) & 8);
    CU_ASSERT_EQUAL(p.lcore[0].tx[0] + p.lcore[1].tx[0], 1 | 4 | 8);
    CU_ASSERT(p.lcore[2].rx[0] == 0 && p.lcore[2].tx[0] == 0 && p.lcore[2].shards == 1);
}

/* Whatever is in the bytes between fields. */
TEST(the_same_placement)
{
    struct placement a, b;

    memset(&a, 0, sizeof(a));
    memset(&b, 0xff, sizeof(b));
    a.lcores = b.lcores = 1;
    a.shards = b.shards = 1;
    a.lcore[0] = (struct placement_lcore){.cpu = 2, .shards = 1};
    b.lcore[0].cpu = 2;
    b.lcore[0].shards = 1;
    memset(b.lcore[0].rx, 0, sizeof(b.lcore[0].rx));
    memset(b.lcore[0].tx, 0, sizeof(b.lcore[0].tx));
    CU_ASSERT(placement_same(&a, &b));
    b.lcore[0].tx[SWAGG_MAX_QUEUES - 1] = 4;
    CU_ASSERT(!placement_same(&a, &b));
    b.lcore[0].tx[SWAGG_MAX_QUEUES - 1] = 0;
    b.lcore[0].cpu = 3;
    CU_ASSERT(!placement_same(&a, &b));
    b.lcore[0].cpu = 2;
    b.lcores = 2;
    CU_ASSERT(!placement_same(&a, &b));
}

TEST(owners)
{
    struct placement p;

    make_default(&p, 8, 6);
    CU_ASSERT_EQUAL(p.lcore[1].rx[0] >> 5 & 1, 1);
    CU_ASSERT_EQUAL(p.lcore[3].shards, 1 << 3);
    p = split();
    p.lcore[1].tx[2] = 2;
    CU_ASSERT_EQUAL(placement_tx_queue(&p.lcore[1], 1), 0);
    p.lcore[1].tx[0] = 1;
    CU_ASSERT_EQUAL(placement_tx_queue(&p.lcore[1], 1), 2);
    CU_ASSERT_EQUAL(placement_tx_queue(&p.lcore[0], 1), -1);
    p.lcore[0].rx[3] = p.lcore[0].rx[5] = 2;
    CU_ASSERT_EQUAL(placement_rx_queue(&p.lcore[0], 1), p.lcore[0].rx[0] & 2 ? 0 : 3);
    CU_ASSERT_EQUAL(placement_rx_queue(&p.lcore[0], 40), -1);
    CU_ASSERT_EQUAL(p.lcore[3].shards, 1 << 1);
}

TEST(default_deals_queues_out)
{
    struct placement_ports ports = ports_with(2, 2, 1);
    struct placement p;

    ports.rx_queues[1] = 1;
    placement_default(&p, 64, &ports);
    CU_ASSERT_EQUAL(p.lcores, 3);
    CU_ASSERT(is_good(&p, &ports));
    placement_default(&p, 4, &ports);
    CU_ASSERT_EQUAL(p.lcores, 2);
    CU_ASSERT_EQUAL(p.lcore[0].rx[0], 1);
    CU_ASSERT_EQUAL(p.lcore[1].rx[0], 2);
    CU_ASSERT_EQUAL(p.lcore[1].rx[1], 1);
    CU_ASSERT_EQUAL(p.lcore[0].tx[0], 1);
    CU_ASSERT(is_good(&p, &ports));
}
