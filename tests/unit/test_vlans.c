/* A switch whose ports carry VLANs: who hears whom, what has a tag where, and that jobs and addresses of one
 * VLAN are none of another's. */
#include "net/arp.h"
#include "vlan_rig.h"

enum { PRIORITY = 0xA000, AT_TYPE = 12 };

static uint8_t last[2048];
static const struct net_mac everybody = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

/* tci < 0: without a tag. */
static struct rte_mbuf *frame(unsigned station, const struct net_mac *to, int tci)
{
    const struct frame_end from = rig_station(station), there = {.mac = *to, .ip = rig_station(9).ip};
    struct rte_mbuf *m = rig_frame(&from, &there, "x", 1);

    if (tci >= 0)
        net_tag(rte_pktmbuf_prepend(m, TAG), (uint16_t)tci);
    return m;
}

/* The frames that a port has sent, and the TCI of the last; -1: it had no tag. */
struct sent {
    unsigned n;
    int tci;
};

static struct sent sent(unsigned port)
{
    struct sent s = {.n = rig_sent(port, last), .tci = -1};
    const struct net_vlan v = net_vlan_of((const void *)last, sizeof(last));

    if (s.n > 0 && v.has_tag)
        s.tci = v.tci;
    return s;
}

/* n frames, the last with this tag. */
static void expect_sent(unsigned port, unsigned n, int tci)
{
    const struct sent s = sent(port);

    CU_ASSERT_EQUAL(s.n, n);
    if (n > 0)
        CU_ASSERT_EQUAL(s.tci, tci);
}

EACH_TEST(open_with_vlans, rig_close)

TEST(a_broadcast_is_heard_in_its_vlan_with_each_ports_tags)
{
    rig_receive(0, frame(0, &everybody, -1));
    expect_sent(1, 1, 10);
    expect_sent(2, 1, -1);
    rig_receive(1, frame(1, &everybody, 10));
    expect_sent(0, 1, -1);
    expect_sent(2, 1, -1);
    rig_receive(1, frame(1, &everybody, 20));
    expect_sent(0, 0, -1);
    expect_sent(2, 1, 20);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(a_priority_is_kept)
{
    rig_receive(1, frame(1, &everybody, PRIORITY | 20));
    expect_sent(2, 1, PRIORITY | 20);
    rig_receive(0, frame(0, &everybody, PRIORITY)); /* a tag with a priority only */
    expect_sent(1, 1, PRIORITY | 10);
    expect_sent(2, 1, -1);
}

TEST(what_a_port_does_not_carry_is_refused_by_name)
{
    struct rte_mbuf *m;

    rig_receive(0, frame(0, &everybody, 10)); /* it has no tags, not even this */
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_VLAN_ID), 1);
    rig_receive(0, frame(0, &everybody, 20));
    rig_receive(1, frame(1, &everybody, 30));
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_VLAN_ID), 2);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_VLAN_ID), 1);
    rig_receive(1, frame(1, &everybody, -1));
    rig_receive(1, frame(1, &everybody, PRIORITY));
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_VLAN_UNTAGGED), 2);
    m = frame(1, &everybody, 20);
    net_tag(rte_pktmbuf_prepend(m, TAG), 10); /* to hop into another VLAN */
    rig_receive(2, m);
    rig_receive(1, frame(1, &everybody, 4095));
    CU_ASSERT_EQUAL(rig_dropped(2, DROP_VLAN_TAG), 1);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_VLAN_TAG), 1);
    m = frame(1, &everybody, 20);
    rte_pktmbuf_trim(m, (uint16_t)(m->data_len - sizeof(struct net_ethernet) - 1));
    rig_receive(1, m);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_RUNT), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

TEST(a_station_is_learned_in_its_vlan_alone)
{
    const struct net_mac it = rig_station(7).mac;

    rig_receive(2, frame(7, &everybody, 20));
    rig_receive(0, frame(7, &everybody, -1)); /* the same address elsewhere: another station */
    rig_sent_all();
    rig_receive(1, frame(1, &it, 20));
    expect_sent(0, 0, -1);
    expect_sent(2, 1, 20);
    rig_receive(1, frame(1, &it, 10));
    expect_sent(0, 1, -1);
    expect_sent(2, 0, -1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_MOVED], 0);
}

TEST(what_neighbours_say_has_no_vlan)
{
    const struct net_mac bridges = {{1, 0x80, 0xC2, 0, 0, 0}};

    rig_receive(1, frame(1, &bridges, -1));
    expect_sent(0, 1, -1);
    expect_sent(2, 1, -1);
}

static void ask_for(unsigned port, int tci, uint32_t ip)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(rig_mbufs);
    const struct frame_end from = rig_station(port);

    arp_ask((void *)rte_pktmbuf_append(m, sizeof(struct frame_arp)), &from.mac, from.ip, ip);
    if (tci >= 0)
        net_tag(rte_pktmbuf_prepend(m, TAG), (uint16_t)tci);
    rig_receive(port, m);
}

TEST(the_switch_has_an_address_in_each_vlan)
{
    ask_for(0, -1, rig_ip);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_ARP_REPLIES], 1);
    expect_sent(0, 1, -1);
    ask_for(0, -1, ip_in_20);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_ARP_REPLIES], 1);
    rig_sent_all();
    ask_for(1, PRIORITY | 20, ip_in_20);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_ARP_REPLIES], 2);
    expect_sent(1, 1, PRIORITY | 20);
}

/* A frame of the rig, addressed to the switch, with a tag. */
static struct rte_mbuf *tagged(struct rte_mbuf *m, uint16_t tci)
{
    net_tag(rte_pktmbuf_prepend(m, TAG), tci);
    return m;
}

/* The job of the rig is in VLAN 10, a member on port 0 and one on port 1. */
TEST(results_have_the_tags_of_the_members_ports)
{
    rig_receive(0, rig_data(0, 0, RIG_JOB, 1));
    rig_receive(1, tagged(rig_data(1, 0, RIG_JOB, 2), 10));
    expect_sent(0, 1, -1);
    expect_sent(1, 1, 10);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_RESULTS], 2);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(a_member_in_another_vlan_is_none)
{
    struct rte_mbuf *m;

    rig_receive(0, rig_data(0, 0, RIG_JOB, 1));
    m = rig_data(1, 0, RIG_JOB, 2);
    rte_pktmbuf_mtod(m, struct frame_udp *)->ip.dst_addr = ip_in_20;
    rte_pktmbuf_mtod(m, struct frame_udp *)->udp.dgram_cksum = 0;
    rte_pktmbuf_mtod(m, struct frame_udp *)->ip.hdr_checksum = 0;
    rte_pktmbuf_mtod(m, struct frame_udp *)->ip.hdr_checksum =
        (uint16_t)~net_ipv4_sum(&rte_pktmbuf_mtod(m, struct frame_udp *)->ip);
    rig_receive(1, tagged(m, 20));
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_RESULTS], 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_REJECTS], 1);
    expect_sent(1, 1, 20); /* the reject goes back where the packet came from */
    rig_receive(1, tagged(rig_data(1, 0, RIG_JOB, 2), 10));
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_RESULTS], 2);
}

TEST(another_vlans_address_is_not_the_switchs_here)
{
    rig_receive(1, tagged(rig_data(1, 0, RIG_JOB, 2), 20)); /* to the address in VLAN 10 */
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_IP_NOT_OURS), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

TEST(what_the_switch_says_unasked_it_says_in_every_vlan)
{
    host_announce(&rig.host, 0);
    send_flush(&rig.send);
    expect_sent(0, 2, -1);
    host_announce(&rig.host, 1);
    send_flush(&rig.send);
    expect_sent(1, 4, 20);
    host_probe(&rig.host, 2, 103);
    send_flush(&rig.send);
    expect_sent(2, 2, 20);
}

/* A flooded frame is one buffer for all ports: the tag of one must not be another's. */
TEST(a_shared_frame_is_not_changed)
{
    struct rte_mbuf *m[3], *shared;

    fake_port_arrive(&rig_fake[0], 0, frame(0, &everybody, -1));
    rig_round();
    m[1] = fake_port_take(&rig_fake[1], 0);
    m[2] = fake_port_take(&rig_fake[2], 0);
    CU_ASSERT_FATAL(m[1] != NULL && m[2] != NULL && m[1] != m[2]);
    CU_ASSERT_EQUAL(rte_pktmbuf_pkt_len(m[1]), rte_pktmbuf_pkt_len(m[2]) + TAG);
    shared = m[2];
    CU_ASSERT(memcmp(rte_pktmbuf_mtod_offset(m[1], uint8_t *, AT_TYPE + TAG),
                     rte_pktmbuf_mtod_offset(shared, uint8_t *, AT_TYPE), shared->data_len - AT_TYPE) == 0);
    rte_pktmbuf_free(m[1]);
    rte_pktmbuf_free(m[2]);
}

TEST(without_buffers_a_frame_that_must_be_copied_is_dropped_by_name)
{
    static struct rte_mbuf *taken[RIG_MBUFS];
    struct rte_mbuf *m;
    unsigned n = 0;

    m = frame(0, &everybody, -1);
    while ((taken[n] = rte_pktmbuf_alloc(rig_mbufs)) != NULL)
        n++;
    rig_receive(0, m);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_NO_MBUF), 1);
    expect_sent(2, 1, -1);
    rte_pktmbuf_free_bulk(taken, n);
}
