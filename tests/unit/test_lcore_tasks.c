/* What the main lcore assigns to an lcore that polls: it takes that over between two rounds, and leaves
 * nothing behind of what it had. */
#include "lcore_rig.h"

static struct lcore_tasks tasks;

/* All ports and queues. */
static void set_up(void)
{
    char name[] = "to_send_0";

    rig_open();
    for (unsigned p = 0; p < RIG_PORTS; p++, name[8]++) {
        rig_port[p].to_send = rte_ring_lookup(name);
        if (rig_port[p].to_send == NULL)
            rig_port[p].to_send = rte_ring_create(name, PORT_RING_SIZE, SOCKET_ID_ANY, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rig_port[p].to_send);
    }
    tasks = (struct lcore_tasks){.ports = RTE_BIT64(RIG_PORTS) - 1,
                                 .multi_segment = true,
                                 .pace = {.spin = 7, .cycles_per_ms = 1000, .stall = 100000}};
    tasks.queues.rx[0] = tasks.queues.tx[0] = tasks.ports;
    rig.tasks = rig.taken = NULL;
    lcore_assign(&rig, &tasks);
}

static void test_it_takes_over_what_was_assigned(void)
{
    set_up();
    CU_ASSERT_FALSE(lcore_has_taken(&rig));
    CU_ASSERT_TRUE(lcore_take(&rig));
    CU_ASSERT_TRUE(lcore_has_taken(&rig));
    CU_ASSERT_FALSE(lcore_take(&rig));
    CU_ASSERT(rig.receive.queues == RIG_PORTS && rig.receive.queue[2].port == 2);
    CU_ASSERT(rig.send.ports == tasks.ports && rig.send.own == tasks.ports);
    CU_ASSERT(rig.pace.spin == 7 && rig.engine.egress.multi_segment);

    tasks.queues.rx[0] = 2;
    tasks.queues.rx[3] = 1;
    tasks.queues.tx[0] = 4;
    tasks.multi_segment = false;
    tasks.tx_delay = 5;
    lcore_assign(&rig, &tasks);
    CU_ASSERT_TRUE(lcore_take(&rig));
    CU_ASSERT(rig.receive.queues == 2 && rig.receive.queue[0].port == 0 && rig.receive.queue[0].queue == 3 &&
              rig.receive.queue[1].port == 1);
    CU_ASSERT(rig.send.own == 4 && rig.send.for_others == 4 && rig.send.delay == 5);
    CU_ASSERT_FALSE(rig.engine.egress.multi_segment);
    lcore_assign(&rig, &tasks); /* the same once more is another assignment */
    CU_ASSERT_FALSE(lcore_has_taken(&rig));
    rig_close();
}

/* A frame that waits for others leaves by its port before that is somebody else's. */
static void test_what_waits_is_sent_before(void)
{
    const struct frame_end from = rig_station(7), to = rig_station(0);
    uint8_t last[2048];

    set_up();
    tasks.tx_delay = UINT64_MAX;
    lcore_assign(&rig, &tasks);
    lcore_take(&rig);
    send_put(&rig.send, 1, rig_frame(&from, &to, "x", 1));
    CU_ASSERT_EQUAL(rte_ring_enqueue(rig_port[1].to_send, rig_frame(&from, &to, "y", 1)), 0);
    CU_ASSERT_EQUAL(rig_sent(1, last), 0);
    tasks.ports = tasks.queues.tx[0] = tasks.queues.rx[0] = 1 | 4;
    lcore_assign(&rig, &tasks);
    lcore_take(&rig);
    CU_ASSERT_EQUAL(rig_sent(1, last), 2); /* one of them another lcore's */
    send_put(&rig.send, 1, rig_frame(&from, &to, "x", 1));
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_NO_PORT), 1);
    rig_close();
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_it_takes_over_what_was_assigned),
        UNIT_TEST(test_what_waits_is_sent_before),
        CU_TEST_INFO_NULL,
    };

    return rig_main("lcore_tasks", tests);
}
