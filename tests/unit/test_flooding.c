/* Frames that go to every port: how many a port may bring in, which between neighbours pass, and what is done
 * about those that go round in a loop. */
#include "control/loop_guard.h"
#include "lcore_rig.h"
#include "net/loop_probe.h"
#include "stderr_capture.h"

enum { AT_LAST_OF_MAC = 5, PER_SECOND = 100, BURST = 32, BLOCK_S = 60 };

#define SECOND UINT64_C(1000000000)

static uint8_t last[2048];
static const struct net_mac everybody = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
static const struct net_mac a_group = {{1, 0, 0x5E, 0, 0, 1}};
static const struct net_mac unknown = {{2, 9, 9, 9, 9, 9}};

static struct rte_mbuf *frame(unsigned station, const struct net_mac *to)
{
    const struct frame_end from = rig_station(station), there = {.mac = *to, .ip = rig_station(9).ip};

    return rig_frame(&from, &there, "x", 1);
}

/* How many of so many frames by port 0 reach the other two ports. */
static unsigned flooded(const struct net_mac *to, unsigned frames)
{
    unsigned sent;

    for (unsigned i = 0; i < frames; i++)
        rig_receive(0, frame(0, to));
    sent = rig_sent(1, last);
    CU_ASSERT_EQUAL(rig_sent(2, last), sent);
    return sent;
}

EACH_TEST(rig_open, rig_close)

static void set_bounds(void)
{
    for (enum config_storm_kind kind = 0; kind < CONFIG_STORM_KINDS; kind++)
        storm_set(&rig.receive.storm[0], kind, PER_SECOND, UINT64_C(1000000000000));
}

TEST(each_kind_has_a_bound_of_its_own)
{
    static const struct net_mac *const to[] = {&everybody, &a_group, &unknown};

    set_bounds();
    for (enum config_storm_kind kind = 0; kind < CONFIG_STORM_KINDS; kind++) {
        CU_ASSERT_EQUAL(flooded(to[kind], 100), BURST);
        CU_ASSERT_EQUAL(rig_dropped(0, storm_drops_as(kind)), 100 - BURST);
    }
    CU_ASSERT_EQUAL(rig_drops(), 3 * (100 - BURST));
}

/* Results that go to all of a job's ranks are multicasts, too, though they are a protocol's. */
TEST(multicasts_of_a_flow_are_bounded)
{
    const struct frame_end to = {.ip = rig_station(9).ip};
    const struct classifier_rule flow = {.taker = CLASSIFIER_PROTOCOL, .protocol = AGG_PROTOCOL_SWITCHML};

    set_bounds();
    rig_classify(&to, &flow);
    flooded(&a_group, 100);
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_STORM_MULTICAST), 100 - BURST);
}

TEST(frames_to_known_stations_are_not_bounded)
{
    const struct net_mac known = rig_station(7).mac;

    set_bounds();
    rig_receive(2, frame(7, &everybody));
    rig_sent_all();
    for (unsigned i = 0; i < 200; i++)
        rig_receive(0, frame(0, &known));
    CU_ASSERT_EQUAL(rig_sent(2, last), 200);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(another_port_is_not_bounded)
{
    set_bounds();
    flooded(&everybody, 100);
    for (unsigned i = 0; i < 100; i++)
        rig_receive(1, frame(1, &everybody));
    CU_ASSERT_EQUAL(rig_sent(2, last), 100);
}

TEST(a_port_may_bring_in_more_as_time_passes)
{
    set_bounds();
    flooded(&everybody, 100);
    rig.send.now += UINT64_C(10000000000); /* a hundredth of a second */
    CU_ASSERT_EQUAL(flooded(&everybody, 10), 1);
}

/* Which of 01:80:c2:00:00:00 .. 0f pass: a bit each. */
static unsigned link_local_that_pass(enum config_link_local how)
{
    struct net_mac to = {{1, 0x80, 0xC2, 0, 0, 0}};
    unsigned pass = 0;

    rig.receive.link_local = how;
    for (unsigned i = 0; i < 16; i++) {
        to.addr_bytes[AT_LAST_OF_MAC] = (uint8_t)i;
        pass |= (flooded(&to, 1) == 1) << i;
    }
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_LINK_LOCAL), 16 - (unsigned)__builtin_popcount(pass));
    rig_anew();
    return pass;
}

TEST(link_local_frames_pass_as_configured)
{
    CU_ASSERT_EQUAL(link_local_that_pass(CONFIG_LINK_LOCAL_DROP), 0);
    CU_ASSERT_EQUAL(link_local_that_pass(CONFIG_LINK_LOCAL_STP), 1);
    CU_ASSERT_EQUAL(link_local_that_pass(CONFIG_LINK_LOCAL_TRANSPARENT), 0xFFFF & ~(1 << NET_PAUSE));
}

TEST(spanning_tree_is_not_bounded)
{
    const struct net_mac bridges = {{1, 0x80, 0xC2, 0, 0, 0}};

    set_bounds();
    flooded(&a_group, 100);
    CU_ASSERT_EQUAL(flooded(&bridges, 100), 100);
}

/* Loops. */

static struct loop_guard guard;
static uint64_t now, guarded_ports;

static void guard_ports(unsigned ports, uint32_t block_s, uint32_t probe_s)
{
    now = 1000 * SECOND;
    guarded_ports = RTE_BIT64(ports) - 1;
    guard = (struct loop_guard){.loops = &rig_loops,
                                .port = rig_port,
                                .ports = &guarded_ports,
                                .host = &rig.host,
                                .bridge = rig_bridge,
                                .networks = 1};
    loop_guard_init(&guard, &(struct config_loops){.find = true, .block_s = block_s, .probe_s = probe_s});
    guard.probed_at = now;
}

/* Runs the guard, sends what it sends, and returns what it says. */
static const char *guarded(void)
{
    CU_ASSERT_FATAL(capture_begin());
    loop_guard_tick(&guard, now);
    capture_take();
    capture_end();
    send_flush(&rig.send);
    return captured_text;
}

static void expect_blocked(bool p0, bool p1, bool p2)
{
    const bool expected[RIG_PORTS] = {p0, p1, p2};

    for (unsigned p = 0; p < RIG_PORTS; p++)
        CU_ASSERT_EQUAL(port_is_closed_for(&rig_port[p], PORT_BLOCKED), expected[p]);
}

/* What this port has sent, which must be a probe, comes back by another port, or this one. */
static void comes_back(unsigned left, unsigned at)
{
    struct rte_mbuf *m;

    loop_guard_probe(&guard, left);
    send_flush(&rig.send);
    m = fake_port_take(&rig_fake[left], 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    rig_receive(at, m);
    CU_ASSERT_EQUAL(rig_dropped(at, DROP_OWN_SOURCE), 1);
}

TEST(a_probe_that_comes_back_blocks_the_higher_port)
{
    guard_ports(RIG_PORTS, BLOCK_S, 0);
    comes_back(2, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "left by port fake has come back by port fake"));
    expect_blocked(false, false, true);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_LOOPS_FOUND], 1);
}

TEST(a_blocked_port_neither_receives_nor_sends)
{
    guard_ports(RIG_PORTS, BLOCK_S, 0);
    comes_back(0, 0);
    guarded();
    expect_blocked(true, false, false);
    rig_receive(0, frame(0, &everybody));
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_PORT_BLOCKED), 1);
    rig_receive(1, frame(1, &everybody));
    CU_ASSERT_EQUAL(rig_sent(0, last), 0);
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_PORT_BLOCKED), 2);
}

TEST(a_blocked_port_is_opened_after_a_while_and_probed_again)
{
    uint64_t number;

    guard_ports(RIG_PORTS, BLOCK_S, 0);
    comes_back(1, 1);
    guarded();
    now += BLOCK_S * SECOND - 1;
    guarded();
    expect_blocked(false, true, false);
    now += 1;
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "open again"));
    expect_blocked(false, false, false);
    CU_ASSERT_EQUAL_FATAL(rig_sent(1, last), 1);
    CU_ASSERT(loop_probe_read((const void *)last, NET_LOOP_PROBE_BYTES, &number) &&
              number == rig_loops.number[1]);
}

TEST(the_operator_may_open_it_sooner)
{
    guard_ports(RIG_PORTS, BLOCK_S, 0);
    comes_back(1, 1);
    guarded();
    port_close_for(&rig_port[1], PORT_BLOCKED, false);
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "open again"));
    CU_ASSERT_EQUAL(rig_sent(1, last), 1);
}

TEST(a_new_port_of_a_blocked_ones_number_was_never_blocked)
{
    guard_ports(RIG_PORTS, BLOCK_S, 0);
    comes_back(1, 1);
    guarded();
    port_close_for(&rig_port[1], PORT_BLOCKED, false);
    loop_guard_forget(&guard, RTE_BIT64(1));
    CU_ASSERT_EQUAL(*guarded(), '\0');
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

TEST(where_nothing_is_to_be_blocked_a_loop_is_told_now_and_then)
{
    guard_ports(RIG_PORTS, 0, 0);
    comes_back(0, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "no port is blocked"));
    rig_loops.returned = 1 << 16;
    CU_ASSERT_EQUAL(*guarded(), '\0');
    now += 11 * SECOND;
    rig_loops.returned = 1 << 16;
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "no port is blocked"));
    expect_blocked(false, false, false);
}

TEST(the_only_port_is_never_blocked)
{
    guard_ports(1, BLOCK_S, 0);
    comes_back(0, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "no port is blocked"));
    expect_blocked(false, false, false);
}

TEST(a_probe_that_is_not_ours_blocks_nothing)
{
    struct rte_mbuf *m;

    guard_ports(RIG_PORTS, BLOCK_S, 0);
    rig_loops.number[0] = 999; /* of another run */
    loop_guard_probe(&guard, 0);
    send_flush(&rig.send);
    m = fake_port_take(&rig_fake[0], 0);
    rig_loops.number[0] = 101;
    rig_receive(1, m);
    CU_ASSERT_EQUAL(*guarded(), '\0');
    expect_blocked(false, false, false);
}

static void move_all_the_time(void)
{
    for (unsigned i = 0; i <= NET_MOVES_SUSPICIOUS; i++)
        rig_receive(i % 2, frame(7, &unknown));
    rig_sent_all();
}

TEST(a_station_that_moves_all_the_time_has_it_look_for_loops)
{
    guard_ports(RIG_PORTS, BLOCK_S, 0);
    move_all_the_time();
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "02:00:00:00:01:07 moves between ports all the time"));
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, "looking for a loop by probes"));
    CU_ASSERT_EQUAL(rig_sent_all(), RIG_PORTS);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_MOVERS], 1);
    CU_ASSERT_EQUAL(*guarded(), '\0');
    expect_blocked(false, false, false);
}

TEST(a_station_that_moves_a_few_times_does_not)
{
    guard_ports(RIG_PORTS, BLOCK_S, 0);
    for (unsigned i = 0; i < NET_MOVES_SUSPICIOUS; i++)
        rig_receive(i % 2, frame(7, &unknown));
    rig_sent_all();
    CU_ASSERT_EQUAL(*guarded(), '\0');
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

TEST(it_looks_for_loops_every_so_often)
{
    guard_ports(RIG_PORTS, BLOCK_S, 5);
    guarded();
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    now += 5 * SECOND;
    guarded();
    CU_ASSERT_EQUAL(rig_sent_all(), RIG_PORTS);
}

TEST(it_does_not_look_for_loops_unless_it_shall)
{
    guard_ports(RIG_PORTS, BLOCK_S, 5);
    loop_guard_init(&guard, &(struct config_loops){.find = false, .probe_s = 5});
    now += 5 * SECOND;
    guarded();
    loop_guard_probe(&guard, 0);
    move_all_the_time();
    CU_ASSERT_PTR_NOT_NULL(strstr(guarded(), "used twice; no probes look for a loop (loops.find)"));
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}
