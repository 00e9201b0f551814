/* Flow rules bring a shard's packets to the queue of the lcore that has it: all of them, or none; then the
 * device's hash does. */
#include "fake_port.h"
#include "port/steer.h"
#include "unit.h"

enum { DATA_PORTS = 16 };

static const struct steer_ports data = {.first = 48864, .count = DATA_PORTS};

static struct port port;
static struct fake_port fake;

static void set_up(unsigned queues)
{
    CU_ASSERT_FATAL(fake_port_init(&port, &fake, "p", queues));
}

TEST(every_data_port_comes_to_its_shards_queue)
{
    const struct steer_queues to = {.data = data, .shards = 2, .queue = {1, 0}};

    set_up(2);
    steer_port(&port, &to);
    CU_ASSERT_EQUAL(fake.rules, DATA_PORTS);
    for (unsigned i = 0; i < fake.rules; i++) {
        CU_ASSERT_EQUAL(fake.rule_port[i], data.first + i);
        CU_ASSERT_EQUAL(fake.rule_queue[i], 1 - i % 2);
    }
    fake_port_close(&port);
}

TEST(a_shard_whose_lcore_does_not_receive_has_no_rule)
{
    const struct steer_queues to = {.data = data, .shards = 2, .queue = {-1, 1}};

    set_up(2);
    steer_port(&port, &to);
    CU_ASSERT_EQUAL(fake.rules, DATA_PORTS / 2);
    for (unsigned i = 0; i < fake.rules; i++)
        CU_ASSERT_EQUAL(fake.rule_queue[i], 1);
    fake_port_close(&port);
}

TEST(a_device_that_refuses_one_rule_has_none)
{
    const struct steer_queues to = {.data = data, .shards = 2, .queue = {0, 1}};

    set_up(2);
    fake.rules_max = DATA_PORTS - 1;
    steer_port(&port, &to);
    CU_ASSERT_EQUAL(fake.rules, 0);
    fake_port_close(&port);
}

TEST(without_rules_the_hash_deals_by_ports_and_other_ports_to_all_queues)
{
    const struct steer_queues to = {.data = data, .shards = 2, .queue = {-1, 1}};

    set_up(3);
    fake.rules_max = 0;
    fake.deals = true;
    steer_port(&port, &to);
    for (unsigned i = 0; i < PORT_DEALS; i++)
        CU_ASSERT_EQUAL(fake.dealt_queue[i], i % 2 == 1 ? 1 : i % 3);
    fake_port_close(&port);
}

TEST(one_queue_and_odd_shards_need_no_rules)
{
    const struct steer_queues two = {.data = data, .shards = 2}, three = {.data = data, .shards = 3};

    set_up(1);
    steer_port(&port, &two);
    CU_ASSERT_EQUAL(fake.rules, 0);
    CU_ASSERT_EQUAL(steer_data_ports(&port, 1, &data, 2), 1);
    fake_port_close(&port);
    set_up(2);
    steer_port(&port, &three);
    CU_ASSERT_EQUAL(fake.rules, 0);
    CU_ASSERT_EQUAL(steer_data_ports(&port, 1, &data, 3), 1);
    CU_ASSERT_EQUAL(steer_data_ports(&port, 1, &data, 2), 2);
    fake_port_close(&port);
}
