/* Which lcore does what: defaults, the check, CPUs. */
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

static unsigned faults(const struct placement *p, unsigned ports)
{
    struct placement_ports all = ports_with(ports, 1, 1);

    return placement_check(p, &all, NULL, 0);
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
            CU_ASSERT_EQUAL(faults(&p, ports), 0);
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

/* Two ports, RX and TX apart, two aggregating lcores: good, then broken in each way there is. */
static struct placement split(void)
{
    return (struct placement){
        .lcores = 4,
        .shards = 2,
        .lcore = {{.rx = {3}}, {.tx = {3}}, {.shards = 1}, {.shards = 2}},
    };
}

static void expect(const struct placement *p, enum placement_fault fault, unsigned index, unsigned lcore)
{
    const struct placement_ports two = ports_with(2, 1, 1);
    struct placement_finding f[4];

    CU_ASSERT_EQUAL(placement_check(p, &two, f, 4), 1);
    CU_ASSERT_EQUAL(f[0].fault, fault);
    CU_ASSERT_EQUAL(f[0].index, index);
    CU_ASSERT_EQUAL(f[0].lcore, lcore);
}

TEST(each_fault_is_found)
{
    struct placement p = split();

    CU_ASSERT_EQUAL(faults(&p, 2), 0);
    p.lcore[0].rx[0] = 1;
    expect(&p, PLACEMENT_RX_NONE, 1, 0);
    p = split();
    p.lcore[2].rx[0] = 2;
    expect(&p, PLACEMENT_RX_TWICE, 1, 2);
    p = split();
    p.lcore[1].tx[0] = 2;
    expect(&p, PLACEMENT_TX_NONE, 0, 0);
    p = split();
    p.lcore[3].tx[0] = 1;
    expect(&p, PLACEMENT_TX_TWICE, 0, 3);
    p = split();
    p.shards = 3;
    expect(&p, PLACEMENT_SHARD_NONE, 2, 0);
    p = split();
    p.lcore[0].shards = 2;
    expect(&p, PLACEMENT_SHARD_TWICE, 1, 3);
    p = split();
    p.lcore[1].tx[0] = 7;
    expect(&p, PLACEMENT_UNKNOWN, 2, 1);
    p = split();
    p.lcores = 5;
    expect(&p, PLACEMENT_IDLE, 0, 4);
}

TEST(all_faults_are_counted_and_the_list_not_overrun)
{
    struct placement p = {.lcores = 1, .shards = 1};
    const struct placement_ports two = ports_with(2, 1, 1);
    struct placement_finding f[3] = {[2] = {.index = 77}};

    /* 2 x rx, 2 x tx, 1 x shard, 1 x idle */
    CU_ASSERT_EQUAL(placement_check(&p, &two, f, 2), 6);
    CU_ASSERT_EQUAL(f[1].fault, PLACEMENT_RX_NONE);
    CU_ASSERT_EQUAL(f[2].index, 77);
}

TEST(no_shards_is_a_plain_switch)
{
    struct placement p = {.lcores = 1, .lcore = {{.rx = {1}, .tx = {1}}}};

    CU_ASSERT_EQUAL(faults(&p, 1), 0);
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
    CU_ASSERT_EQUAL(placement_check(&p, &ports, NULL, 0), 0);
    placement_default(&p, 4, &ports);
    CU_ASSERT_EQUAL(p.lcores, 2);
    CU_ASSERT_EQUAL(p.lcore[0].rx[0], 1);
    CU_ASSERT_EQUAL(p.lcore[1].rx[0], 2);
    CU_ASSERT_EQUAL(p.lcore[1].rx[1], 1);
    CU_ASSERT_EQUAL(p.lcore[0].tx[0], 1);
    CU_ASSERT_EQUAL(placement_check(&p, &ports, NULL, 0), 0);
}

TEST(every_queue_has_one_owner)
{
    const struct placement_ports two = ports_with(2, 2, 2);
    struct placement p = {
        .lcores = 2,
        .lcore = {{.rx = {3}, .tx = {3}}, {.rx = {0, 3}, .tx = {0, 3}}},
    };
    struct placement_finding f[2];

    CU_ASSERT_EQUAL(placement_check(&p, &two, NULL, 0), 0);
    p.lcore[1].rx[1] = 1;
    CU_ASSERT_EQUAL(placement_check(&p, &two, f, 2), 1);
    CU_ASSERT_EQUAL(f[0].fault, PLACEMENT_RX_NONE);
    CU_ASSERT_EQUAL(f[0].index, 1);
    CU_ASSERT_EQUAL(f[0].queue, 1);
    p.lcore[1].rx[1] = 3;
    p.lcore[0].tx[1] = 1;
    CU_ASSERT_EQUAL(placement_check(&p, &two, f, 2), 1);
    CU_ASSERT_EQUAL(f[0].fault, PLACEMENT_TX_TWICE);
    CU_ASSERT_EQUAL(f[0].queue, 1);
    p.lcore[0].tx[1] = 0;
    p.lcore[0].tx[2] = 2;
    CU_ASSERT_EQUAL(placement_check(&p, &two, f, 2), 1);
    CU_ASSERT_EQUAL(f[0].fault, PLACEMENT_UNKNOWN);
    CU_ASSERT_EQUAL(f[0].queue, 2);
}
