/* When frames leave, and how: at once, after a delay, in full bursts; by the device, or by the ring to the
 * lcore that has it. The ring returns what is sent to it; the test sets the clock. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "fake_port.h"
#include "net/ecn.h"
#include "net/udp_frame.h"
#include "port/send.h"
#include "small_eal.h"
#include "unit.h"

enum { PORTS = 2, DELAY = 1000, RING_SIZE = 256 };

static struct port ports[PORTS];
static struct fake_port fake; /* of port 0 */
static struct counters counters;
static struct send out = {.port = ports, .counters = &counters};
static uint32_t sent_last, put_last;

static void set_up(void)
{
    out.delay = out.own = out.for_others = 0;
    out.ports = RTE_BIT64(PORTS) - 1;
    out.now = 1000000;
    sent_last = put_last = 0;
    memset(&counters, 0, sizeof(counters));
    fake.room = FAKE_PORT_FRAMES;
    fake.down = false;
}

EACH_TEST(set_up, NULL)

/* Numbered, so that their order can be told. */
static void put(unsigned port, unsigned frames)
{
    while (frames-- > 0) {
        struct rte_mbuf *m = rte_pktmbuf_alloc(out.mbufs);

        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        m->hash.usr = ++put_last;
        send_put(&out, port, m);
    }
}

/* How many frames have left by this port, in order. */
static unsigned left(unsigned port)
{
    struct rte_mbuf *m;
    unsigned n = 0;

    for (; rte_ring_dequeue(ports[port].to_send, (void **)&m) == 0; n++) {
        CU_ASSERT(m->hash.usr > sent_last);
        sent_last = m->hash.usr;
        rte_pktmbuf_free(m);
    }
    return n;
}

TEST(without_delay_everything_leaves_in_its_round)
{
    put(0, 3);
    CU_ASSERT_EQUAL(left(0), 0);
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 3);
}

TEST(a_frame_waits_for_others_but_not_longer_than_the_delay)
{
    out.delay = DELAY;
    put(0, 2);
    send_flush_due(&out);
    out.now += DELAY - 1;
    put(0, 1); /* does not prolong it */
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 0);
    out.now++;
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 3);
    put(0, 1);
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 0);
    out.now += DELAY;
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 1);
}

TEST(ports_wait_by_themselves)
{
    out.delay = DELAY;
    put(0, 1);
    out.now += DELAY / 2;
    put(1, 1);
    out.now += DELAY / 2;
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 1);
    CU_ASSERT_EQUAL(left(1), 0);
    out.now += DELAY / 2;
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(1), 1);
}

TEST(a_full_burst_leaves_at_once)
{
    out.delay = DELAY;
    put(0, SEND_BURST + 1);
    CU_ASSERT_EQUAL(left(0), SEND_BURST);
    out.now += DELAY - 1;
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 0);
    out.now++;
    send_flush_due(&out);
    CU_ASSERT_EQUAL(left(0), 1);
}

TEST(a_flush_sends_everything)
{
    out.delay = DELAY;
    put(0, 5);
    put(1, 5);
    send_flush(&out);
    CU_ASSERT_EQUAL(left(0), 5);
    CU_ASSERT_EQUAL(left(1), 5);
    send_flush(&out);
    CU_ASSERT_EQUAL(left(0), 0);
}

/* How many frames the device was given, in order. */
static unsigned sent_by_device(void)
{
    struct rte_mbuf *m;
    unsigned n = 0;

    for (; (m = fake_port_take(&fake, 0)) != NULL; n++) {
        CU_ASSERT(m->hash.usr > sent_last);
        sent_last = m->hash.usr;
        rte_pktmbuf_free(m);
    }
    return n;
}

TEST(an_own_port_sends_by_its_device)
{
    out.own = RTE_BIT64(0);
    put(0, 3);
    send_flush(&out);
    CU_ASSERT_EQUAL(left(0), 0);
    CU_ASSERT_EQUAL(sent_by_device(), 3);
}

TEST(what_a_device_refuses_is_counted_by_reason)
{
    out.own = RTE_BIT64(0);
    fake.room = 2;
    put(0, 5);
    send_flush(&out);
    CU_ASSERT_EQUAL(counters.drop[0][DROP_TX_FULL], 3);
    CU_ASSERT_EQUAL(sent_by_device(), 2);
    fake.down = true;
    put(0, 4);
    send_flush(&out);
    CU_ASSERT_EQUAL(counters.drop[0][DROP_TX_DOWN], 4);
    CU_ASSERT_EQUAL(counters.drop[0][DROP_TX_FULL], 3);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 0);
}

TEST(a_disabled_port_sends_nothing)
{
    out.own = RTE_BIT64(0);
    port_close_for(&ports[0], PORT_DISABLED, true);
    put(0, 5);
    send_flush(&out);
    CU_ASSERT_EQUAL(counters.drop[0][DROP_PORT_DISABLED], 5);
    CU_ASSERT_EQUAL(sent_by_device(), 0);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 0);
    port_close_for(&ports[0], PORT_DISABLED, false);
}

static void impair_port(enum impair_kind kind, uint32_t every)
{
    const struct port_impair_seed seed = {.seed = 1};
    struct impair_config cfg = {.hold_frames = 1000};

    cfg.rate[kind].every = every;
    port_impair(ports[0].tx, 1, &cfg, &seed);
}

TEST(impairments_change_while_a_port_sends)
{
    out.own = RTE_BIT64(0);
    impair_port(IMPAIR_DROP, 1);
    put(0, 5);
    send_flush(&out);
    CU_ASSERT_EQUAL(sent_by_device(), 0);
    impair_port(IMPAIR_REORDER, 1); /* all are held back */
    port_settle(ports[0].tx, 1);
    put(0, 3);
    send_flush(&out);
    CU_ASSERT_EQUAL(sent_by_device(), 0);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 3);
    impair_port(IMPAIR_DROP, 0); /* none */
    port_settle(ports[0].tx, 1);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 0);
    put(0, 4);
    send_flush(&out);
    CU_ASSERT_EQUAL(sent_by_device(), 4);
    CU_ASSERT_EQUAL(ports[0].tx[0].copy[0].stats.hit[IMPAIR_DROP] +
                        ports[0].tx[0].copy[1].stats.hit[IMPAIR_DROP],
                    5); /* goes on counting */
}

/* Or its lcore would look after them all the time. */
TEST(a_disabled_port_holds_nothing_back)
{
    out.own = RTE_BIT64(0);
    impair_port(IMPAIR_REORDER, 1);
    put(0, 3);
    send_flush(&out);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 3);
    port_close_for(&ports[0], PORT_DISABLED, true);
    out.impaired = RTE_BIT64(0);
    send_flush(&out);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 0);
    CU_ASSERT_EQUAL(sent_by_device(), 0);
    port_close_for(&ports[0], PORT_DISABLED, false);
    out.impaired = 0;
    impair_port(IMPAIR_DROP, 0); /* none */
    port_settle(ports[0].tx, 1);
}

TEST(what_others_have_is_collected_and_sent)
{
    put(0, 3);
    send_flush(&out); /* as another lcore does: to the ring */
    out.own = RTE_BIT64(0);
    out.for_others = RTE_BIT64(0);
    CU_ASSERT_EQUAL(send_collect(&out), 3);
    send_flush(&out);
    CU_ASSERT_EQUAL(sent_by_device(), 3);
    CU_ASSERT_EQUAL(send_collect(&out), 0);
}

TEST(a_full_ring_drops_the_rest)
{
    put(1, RING_SIZE + 7);
    send_flush(&out);
    CU_ASSERT_EQUAL(counters.drop[1][DROP_RING_FULL], 8); /* a ring holds one fewer */
    CU_ASSERT_EQUAL(left(1), RING_SIZE - 1);
}

TEST(a_flood_goes_everywhere_else)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(out.mbufs);

    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    m->hash.usr = 1;
    send_flood(&out, 0, m);
    send_flush(&out);
    CU_ASSERT_EQUAL(left(0), 0);
    CU_ASSERT_EQUAL(left(1), 1);
    out.ports = 1;
    m = rte_pktmbuf_alloc(out.mbufs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    send_flood(&out, 0, m);
    CU_ASSERT_EQUAL(counters.drop[0][DROP_NO_EGRESS], 1);
    out.ports = 0; /* as between two sets of ports */
    m = rte_pktmbuf_alloc(out.mbufs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    send_flood(&out, SEND_TO_ALL, m);
    CU_ASSERT_EQUAL(counters.drop[0][DROP_NO_EGRESS], 2);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 0);
}

TEST(what_is_for_a_port_that_is_gone_is_dropped)
{
    out.ports = 1;
    put(1, 3);
    send_flush(&out);
    CU_ASSERT_EQUAL(left(1), 0);
    CU_ASSERT_EQUAL(counters.drop[1][DROP_NO_PORT], 3);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(out.mbufs), 0);
}

/* An IPv4 packet of 1,000 bytes with this type of service. */
static struct rte_mbuf *packet(uint8_t type)
{
    const struct frame_end end = {.ip = RTE_BE32(0x0A000001), .port = RTE_BE16(7)};
    static const uint8_t bytes[1000 - FRAME_HEADER_BYTES];
    const struct frame_payload payload = frame_payload(bytes, sizeof(bytes), agg_kernels_scalar.ones_sum);
    struct rte_mbuf *m = rte_pktmbuf_alloc(out.mbufs);
    struct frame_header h;

    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    frame_header_init(&h, &end, &end);
    frame_write(rte_pktmbuf_append(m, 1000), &h, end.port, &payload);
    net_set_type_of_service(&rte_pktmbuf_mtod(m, struct frame_udp *)->ip, type);
    return m;
}

/* The type of service of the next packet that port 0 has sent, whose IPv4 checksum is right. */
static uint8_t sent_type(void)
{
    struct rte_mbuf *m = fake_port_take(&fake, 0);
    const struct frame_udp *f;
    uint8_t type;

    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    type = f->ip.type_of_service;
    CU_ASSERT_EQUAL(net_ipv4_sum(&f->ip), NET_SUM_RIGHT);
    rte_pktmbuf_free(m);
    return type;
}

/* 3,000 wait before: beyond 5,000 packets that can be marked are. Shared ones are left alone. */
TEST(frames_are_marked_where_many_wait)
{
    struct rte_mbuf *shared;

    out.own = RTE_BIT64(0);
    fake.waiting = 3000;
    ports[0].ecn_above = 5000;
    for (unsigned i = 0; i < 5; i++)
        send_put(&out, 0, packet(i % 2 == 0 ? 0x40 | NET_ECN_CAPABLE : 0));
    shared = packet(NET_ECN_CAPABLE);
    rte_mbuf_refcnt_update(shared, 1);
    send_put(&out, 0, shared);
    send_flush(&out);
    for (unsigned i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(sent_type(), i % 2 == 1 ? 0 : 0x40 | (i < 3 ? NET_ECN_CAPABLE : NET_ECN_MARKED));
    CU_ASSERT_EQUAL(sent_type(), NET_ECN_CAPABLE);
    rte_pktmbuf_free(shared);
    CU_ASSERT_EQUAL(counters.event[EVENT_MARKED], 1);
    ports[0].ecn_above = 0;
    send_put(&out, 0, packet(NET_ECN_CAPABLE));
    send_flush(&out);
    CU_ASSERT_EQUAL(sent_type(), NET_ECN_CAPABLE);
}

static bool make_ports(void)
{
    char name[] = "to_send0";

    out.mbufs = rte_pktmbuf_pool_create("mbufs", 511, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (!fake_port_init(&ports[0], &fake, "p0", 1))
        return false;
    for (unsigned p = 0; p < PORTS; p++, name[7]++) {
        ports[p].to_send = rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY, 0);
        if (ports[p].to_send == NULL)
            return false;
    }
    return out.mbufs != NULL;
}

int main(void)
{
    if (small_eal_start(64) < 0 || !make_ports())
        return 1;
    return unit_main();
}
