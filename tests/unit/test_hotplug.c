/* Ports that come and go while the switch runs: what each is told, and when. The rig's lcore is the main one,
 * and nobody polls. */
#include "datapath.h"

#include "datapath_make.h"
#include "lcore_rig.h"

enum { FIRST, SECOND, SHARDS = 2, DATA_PORTS = 16 };

static struct datapath dp;
static struct config cfg;
static struct datapath_ports_next next;

static void open_switch(void)
{
    rig_open();
    dp = (struct datapath){.bridge = rig_bridge, .vlans = {.n = 1}};
    dp.lcores.lcore[0] = &rig;
    dp.shards = (struct shards){.n = SHARDS, .owner = {0, 1}};
    dp.placement = (struct placement){.lcores = SHARDS};
    next = (struct datapath_ports_next){.placement = dp.placement};
}

TEST(a_new_ports_flow_rules_are_those_of_its_own_queues)
{
    static struct fake_port fake;

    open_switch();
    CU_ASSERT_FATAL(fake_port_init(&dp.port[SECOND], &fake, "new", SHARDS));
    next.come = RTE_BIT64(SECOND);
    for (unsigned q = 0; q < SHARDS; q++)
        next.placement.lcore[q].rx[q] = RTE_BIT64(SECOND);
    datapath_commit_ports(&dp, &next, &cfg);
    CU_ASSERT_EQUAL(dp.ports, RTE_BIT64(SECOND));
    CU_ASSERT_EQUAL(fake.rules, DATA_PORTS);
    for (unsigned i = 0; i < fake.rules; i++)
        CU_ASSERT_EQUAL(fake.rule_queue[i], fake.rule_port[i] % SHARDS);
    fake_port_close(&dp.port[SECOND]);
    rig_close();
}

/* The long buffers that the port on an interface of the kernel's has; whether it had none when the other port
 * was closed. */
static struct rte_mempool *carried_in;
static bool left_alone;

static void carry(struct port *port, const struct net_mac *local, struct rte_mempool *long_buffers)
{
    (void)port;
    (void)local;
    carried_in = long_buffers;
}

static void close_first(struct port *port)
{
    (void)port;
    left_alone = carried_in == NULL;
}

static void close_second(struct port *port)
{
    (void)port;
}

static void put_port(unsigned p, const struct port_device *device)
{
    dp.port[p] = (struct port){.device = device,
                               .rx_queues = 1,
                               .tx_queues = 1,
                               .rx = rte_zmalloc("rx", sizeof(struct port_queue), RTE_CACHE_LINE_SIZE),
                               .tx = rte_zmalloc("tx", sizeof(struct port_queue), RTE_CACHE_LINE_SIZE)};
    CU_ASSERT_FATAL(dp.port[p].rx != NULL && dp.port[p].tx != NULL);
    dp.ports |= RTE_BIT64(p);
}

/* Of three receive queues this lcore has one: no bound becomes none, as no frames a second would. */
TEST(a_part_of_a_bound_on_storms_is_a_bound)
{
    static const struct port_device device = {.close = close_second};
    static struct lcore main_lcore;
    const uint32_t *bound = NULL;

    open_switch();
    dp.lcores.n = 1;
    dp.lcores.lcore[1] = &main_lcore;
    put_port(FIRST, &device);
    dp.port[FIRST].rx_queues = 3;
    dp.port[FIRST].storm.frames[CONFIG_STORM_BROADCAST] = 1;
    dp.port[FIRST].storm.frames[CONFIG_STORM_MULTICAST] = 7;
    dp.placement.lcore[0].rx[1] = RTE_BIT64(FIRST);
    datapath_assign(&dp);
    bound = rig.tasks->storm[FIRST].frames;
    CU_ASSERT_EQUAL(bound[CONFIG_STORM_BROADCAST], 1);
    CU_ASSERT_EQUAL(bound[CONFIG_STORM_MULTICAST], 2);
    CU_ASSERT_EQUAL(bound[CONFIG_STORM_UNKNOWN], 0);
    dp.port[FIRST].rx_queues = 1; /* as many as it has */
    port_close(&dp.port[FIRST]);
    rig_close();
}

/* A device of DPDK's cannot send merged frames, so none are carried before it is out. */
TEST(merged_frames_are_carried_once_the_last_device_without_them_is_gone)
{
    static const struct port_device single = {.close = close_first};
    static const struct port_device merging = {.carry = carry, .close = close_second};

    open_switch();
    dp.long_buffers = rig_mbufs; /* nobody receives */
    put_port(FIRST, &single);
    put_port(SECOND, &merging);
    next.gone = RTE_BIT64(FIRST);
    datapath_commit_ports(&dp, &next, &cfg);
    CU_ASSERT_EQUAL(dp.ports, RTE_BIT64(SECOND));
    CU_ASSERT(left_alone);
    CU_ASSERT_PTR_EQUAL(carried_in, rig_mbufs);
    port_close(&dp.port[SECOND]);
    rig_close();
}
