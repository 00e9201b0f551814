/* What the main lcore assigns to an lcore that polls: it takes that over between two rounds, and leaves
 * nothing behind of what it had. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

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

TEST(it_takes_over_what_was_assigned)
{
    set_up();
    CU_ASSERT(!lcore_has_taken(&rig));
    CU_ASSERT(lcore_take(&rig));
    CU_ASSERT(lcore_has_taken(&rig));
    CU_ASSERT(!lcore_take(&rig));
    CU_ASSERT(rig.receive.queues == RIG_PORTS && rig.receive.queue[2].port == 2);
    CU_ASSERT(rig.send.ports == tasks.ports && rig.send.own == tasks.ports);
    CU_ASSERT(rig.pace.spin == 7 && rig.engine.egress.multi_segment);

    tasks.queues.rx[0] = 2;
    tasks.queues.rx[3] = 1;
    tasks.queues.tx[0] = 4;
    tasks.multi_segment = false;
    tasks.tx_delay = 5;
    lcore_assign(&rig, &tasks);
    CU_ASSERT(lcore_take(&rig));
    CU_ASSERT(rig.receive.queues == 2 && rig.receive.queue[0].port == 0 && rig.receive.queue[0].queue == 3 &&
              rig.receive.queue[1].port == 1);
    CU_ASSERT(rig.send.own == 4 && rig.send.for_others == 4 && rig.send.delay == 5);
    CU_ASSERT(!rig.engine.egress.multi_segment);
    lcore_assign(&rig, &tasks); /* the same once more is another assignment */
    CU_ASSERT(!lcore_has_taken(&rig));
    rig_close();
}

/* A frame that waits for others leaves by its port before that is somebody else's. */
TEST(what_waits_is_sent_before)
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

/* A device that takes all frames, and for each finds another that somebody else has handed over meanwhile. */
static struct port_device busy;
static unsigned handed_over;

static struct port_refused send_while_others_do(const struct port *port, uint16_t queue,
                                                struct rte_mbuf **frames, uint16_t n)
{
    const struct frame_end from = rig_station(7), to = rig_station(0);

    (void)queue;
    rte_pktmbuf_free_bulk(frames, n);
    for (; n > 0 && handed_over < 4 * PORT_RING_SIZE; n--, handed_over++)
        CU_ASSERT_EQUAL(rte_ring_enqueue(port->to_send, rig_frame(&from, &to, "y", 1)), 0);
    return (struct port_refused){0};
}

/* Whoever waits until it has taken over would wait for ever. */
TEST(it_takes_over_although_others_go_on)
{
    const struct frame_end from = rig_station(7), to = rig_station(0);
    struct rte_mbuf *m;

    set_up();
    lcore_take(&rig);
    busy = *rig_port[1].device;
    busy.send = send_while_others_do;
    rig_port[1].device = &busy;
    handed_over = 0;
    for (unsigned i = 0; i < SEND_BURST; i++)
        CU_ASSERT_EQUAL(rte_ring_enqueue(rig_port[1].to_send, rig_frame(&from, &to, "y", 1)), 0);
    lcore_assign(&rig, &tasks);
    CU_ASSERT(lcore_take(&rig));
    CU_ASSERT(handed_over <= PORT_RING_SIZE);
    while (rte_ring_dequeue(rig_port[1].to_send, (void **)&m) == 0)
        rte_pktmbuf_free(m);
    rig_close();
}

/* The rig's lcore in a thread of its own, on ports where frames would wake it. It naps for more than an hour
 * at a time. */
static struct port_device sleepy;
static bool stop;
static pthread_t thread;
static int no_frames[2];

static int receive_fd(const struct port *port, uint16_t queue)
{
    (void)port;
    (void)queue;
    return no_frames[0];
}

static void *run(void *unused)
{
    (void)unused;
    lcore_run(&rig);
    return NULL;
}

static void start(void)
{
    set_up();
    CU_ASSERT_EQUAL_FATAL(pipe(no_frames), 0);
    CU_ASSERT_EQUAL_FATAL(bell_open(&rig.bell), 0);
    sleepy = *rig_port[0].device;
    sleepy.receive_fd = receive_fd;
    for (unsigned p = 0; p < RIG_PORTS; p++) {
        rig_port[p].device = &sleepy;
        rig_port[p].sender = &rig.bell;
    }
    tasks.pace = (struct lcore_pace){.spin = 1,
                                     .max_sleep_us = UINT32_MAX,
                                     .until_due_us = UINT32_MAX,
                                     .cycles_per_ms = 1,
                                     .stall = UINT64_MAX};
    lcore_assign(&rig, &tasks);
    rig.rcu = rig_classifier.rcu;
    rig.stop = &stop;
    stop = false;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run, NULL), 0);
}

static void look_again_soon(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* It is about to sleep, at least. */
static void until_it_sleeps(void)
{
    while (!__atomic_load_n(&rig.bell.awaited, __ATOMIC_RELAXED))
        look_again_soon();
}

static void end(void)
{
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    bell_ring(&rig.bell);
    pthread_join(thread, NULL);
    bell_close(&rig.bell);
    close(no_frames[0]);
    close(no_frames[1]);
    rig_sent_all();
    rig_close();
}

/* Another lcore, which sends to no port itself. */
TEST(what_others_leave_for_it_wakes_it)
{
    const struct frame_end from = rig_station(7), to = rig_station(0);
    struct counters counters = {0};
    struct rte_ring *inbox = rte_ring_create("inbox", 64, SOCKET_ID_ANY, 0);
    struct shards shards = {.n = 1, .owner = {0}, .inbox = {inbox}, .bell = {&rig.bell}};
    struct send other = {.port = rig_port, .counters = &counters, .ports = 7};
    struct engine engine = {.lcore = 1,
                            .shards = &shards,
                            .counters = &counters,
                            .source[AGG_PROTOCOL_SWITCHML] = {.table = &sml_protocol, .jobs = &rig_jobs}};

    CU_ASSERT_PTR_NOT_NULL_FATAL(inbox);
    start();
    rig_shards.inbox[0] = inbox;
    for (unsigned i = 0; i < 20; i++) {
        until_it_sleeps();
        send_put(&other, i % RIG_PORTS, rig_frame(&from, &to, "x", 1));
        send_flush(&other);
        while (!rte_ring_empty(rig_port[i % RIG_PORTS].to_send))
            look_again_soon();

        until_it_sleeps();
        rig_steer(&engine, AGG_PROTOCOL_SWITCHML, &sml_protocol.shard_key, 0, rig_data(0, i, RIG_JOB, 1));
        engine_flush(&engine);
        while (!rte_ring_empty(inbox))
            look_again_soon();

        until_it_sleeps();
        lcore_assign(&rig, &tasks);
        while (!lcore_has_taken(&rig))
            look_again_soon();
    }
    until_it_sleeps();
    end();
    rig_shards.inbox[0] = NULL;
    rte_ring_free(inbox);
}
