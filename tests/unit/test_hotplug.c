/* Ports that come and go while the switch runs: what each is told, and when. The rig's lcore is the main one,
 * and nobody polls. */
#include "datapath_hotplug.h"

#include "datapath_make.h"
#include "lcore_rig.h"

enum { SECOND = 1, SHARDS = 2, DATA_PORTS = 16 };

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

static void test_a_new_ports_flow_rules_are_those_of_its_own_queues(void)
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

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_new_ports_flow_rules_are_those_of_its_own_queues),
        CU_TEST_INFO_NULL,
    };

    return rig_main("hotplug", tests);
}
