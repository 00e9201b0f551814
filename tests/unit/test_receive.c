/* Where a received frame goes: every destination, and every named drop. */
#include "bridge/neighbours.h"
#include "lcore_rig.h"
#include "net/arp.h"
#include "net/icmp.h"
#include "net/sum.h"

enum { SENDER = 5, PAYLOAD = 100, AT_IP = 14, AT_UDP = 34, NO_SEAL = 0, SEAL = 1, ALL = 0 };

static uint8_t last[2048];

static struct rte_mbuf *to_switch(uint16_t udp_port)
{
    const struct frame_end from = rig_station(SENDER), to = rig_switch(udp_port);
    static const uint8_t payload[PAYLOAD] = {1, 2, 3};

    return rig_frame(&from, &to, payload, sizeof(payload));
}

static struct frame_udp *udp(struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, struct frame_udp *);
}

static void seal_ip(struct frame_udp *f)
{
    f->ip.hdr_checksum = 0;
    f->ip.hdr_checksum = (uint16_t)~net_ipv4_sum(&f->ip);
}

/* Nothing but this has become of the frame that came in by port 0. */
static void check_dropped(enum drop why)
{
    if (rig_dropped(0, why) != 1 || rig_drops() != 1)
        fprintf(stderr, "%s: %u of it, %u in all\n", drop_name(why), (unsigned)rig_dropped(0, why),
                (unsigned)rig_drops());
    CU_ASSERT_EQUAL(rig_dropped(0, why), 1);
    CU_ASSERT_EQUAL(rig_drops(), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 0);
}

/* A UDP packet to the control port in which some bytes are others. */
static const struct spoiled {
    enum drop why;
    uint16_t at; /* the first of these bytes */
    uint8_t n, bytes[8];
    bool seal;       /* the IPv4 checksum is right all the same */
    uint16_t cut_to; /* its length; ALL: as it was */
} spoiled[] = {
    {DROP_RUNT, 0, 0, {0}, NO_SEAL, 13},
    {DROP_OWN_SOURCE, 6, 6, {2, 0, 0, 0, 0, 0xfe}, NO_SEAL, ALL},
    {DROP_OWN_IP, AT_IP + 12, 4, {10, 0, 0, 254}, SEAL, ALL},
    {DROP_BAD_SOURCE, 6, 1, {3}, NO_SEAL, ALL},
    {DROP_BAD_SOURCE, 6, 6, {0}, NO_SEAL, ALL},
    {DROP_LINK_LOCAL, 0, 6, {1, 0x80, 0xc2, 0, 0, 0x0e}, NO_SEAL, ALL},
    {DROP_SAME_PORT, 0, 6, {2, 0, 0, 0, 1, SENDER}, NO_SEAL, ALL},
    {DROP_ETHERTYPE, 12, 2, {0x86, 0xdd}, NO_SEAL, ALL},
    {DROP_ETHERTYPE, 12, 6, {0x81, 0, 0, 5, 8, 0}, NO_SEAL, ALL},
    {DROP_ARP_MALFORMED, 12, 2, {8, 6}, NO_SEAL, ALL},
    {DROP_IP_SHORT, 0, 0, {0}, NO_SEAL, AT_IP},
    {DROP_IP_SHORT, 0, 0, {0}, NO_SEAL, AT_UDP - 1},
    {DROP_IP_SHORT, AT_IP + 2, 1, {1}, SEAL, ALL},
    {DROP_IP_VERSION, AT_IP, 1, {0x65}, SEAL, ALL},
    {DROP_IP_HEADER_LENGTH, AT_IP, 1, {0x44}, SEAL, ALL},
    {DROP_IP_OPTIONS, AT_IP, 1, {0x46}, SEAL, ALL},
    {DROP_IP_TOTAL_LENGTH, AT_IP + 2, 2, {0, 19}, SEAL, ALL},
    {DROP_IP_CHECKSUM, AT_IP + 8, 1, {1}, NO_SEAL, ALL},
    {DROP_IP_FRAGMENT, AT_IP + 6, 2, {0x20, 0}, SEAL, ALL},
    {DROP_IP_FRAGMENT, AT_IP + 6, 2, {0, 1}, SEAL, ALL},
    {DROP_IP_SOURCE, AT_IP + 12, 1, {127}, SEAL, ALL},
    {DROP_IP_NOT_OURS, AT_IP + 19, 1, {1}, SEAL, ALL},
    {DROP_IP_PROTOCOL, AT_IP + 9, 1, {6}, SEAL, ALL},
    {DROP_ICMP_MALFORMED, AT_IP + 9, 1, {1}, SEAL, ALL},
    {DROP_UDP_LENGTH, AT_UDP + 4, 2, {0, 9}, NO_SEAL, ALL},
    {DROP_UDP_CHECKSUM, AT_UDP + 8, 1, {99}, NO_SEAL, ALL},
    {DROP_UDP_PORT, AT_UDP + 2, 6, {0, 80, 0, 8 + PAYLOAD, 0, 0}, NO_SEAL, ALL},
};

EACH_TEST(rig_open, rig_close)

TEST(what_is_wrong_is_dropped_by_name)
{
    for (unsigned i = 0; i < RTE_DIM(spoiled); i++) {
        const struct spoiled *s = &spoiled[i];
        struct rte_mbuf *m = to_switch(CTL_PORT);

        memcpy(rte_pktmbuf_mtod_offset(m, void *, s->at), s->bytes, s->n);
        if (s->seal)
            seal_ip(udp(m));
        if (s->cut_to != ALL)
            rte_pktmbuf_trim(m, (uint16_t)(m->data_len - s->cut_to));
        rig_receive(0, m);
        check_dropped(s->why);
        rig_anew();
    }
}

/* Those that a frame to be received is not dropped under, or whose test is below or elsewhere. */
static const enum drop tested_otherwise[] = {
    DROP_PORT_DISABLED, /* below */
    DROP_NO_PORT,       /* test_send.c */
    DROP_RX_MISSED,     /* devices */
    DROP_OVERSIZE,
    DROP_NO_EGRESS,
    DROP_ARP_IGNORED,
    DROP_NOT_PARENT,   /* test_registrar.c */
    DROP_ICMP_IGNORED, /* below */
    DROP_CONTROL_FULL,
    DROP_NO_MBUF, /* below */
    DROP_PATH_RATE,
    DROP_RING_FULL, /* test_engine.c */
    DROP_PORT_BLOCKED,
    DROP_STORM_BROADCAST,
    DROP_STORM_MULTICAST,
    DROP_STORM_UNKNOWN, /* test_flooding.c */
    DROP_VLAN_ID,
    DROP_VLAN_UNTAGGED,
    DROP_VLAN_TAG,   /* test_vlans.c */
    DROP_OVER_SHARE, /* test_fair.c */
    DROP_TX_FULL,
    DROP_TX_DOWN, /* test_send.c */
    DROP_CONTROL_TOO_SHORT,
    DROP_CONTROL_NOT_CONTROL,
    DROP_CONTROL_OTHER_VERSION, /* net/malformed */
    DROP_CONTROL_BAD_TYPE,
    DROP_CONTROL_BAD_STRING,
    DROP_CONTROL_UNKNOWN_KEY, /* test_registrar.c */
    DROP_CONTROL_BAD_SEAL,
    DROP_CONTROL_RATE,
    DROP_CONTROL_MEMBER_RATE, /* below */
};

TEST(no_name_is_without_a_test)
{
    for (enum drop d = 0; d < DROP_REASONS; d++) {
        bool tested = false;

        for (unsigned i = 0; i < RTE_DIM(spoiled); i++)
            tested |= spoiled[i].why == d;
        for (unsigned i = 0; i < RTE_DIM(tested_otherwise); i++)
            tested |= tested_otherwise[i] == d;
        if (!tested)
            fprintf(stderr, "%s has no test\n", drop_name(d));
        CU_ASSERT(tested);
    }
}

TEST(a_disabled_port_receives_nothing)
{
    port_close_for(&rig_port[0], PORT_DISABLED, true);
    rig_receive(0, to_switch(1));
    check_dropped(DROP_PORT_DISABLED);
    port_close_for(&rig_port[0], PORT_DISABLED, false);
}

TEST(a_disabled_port_holds_nothing_back)
{
    const struct impair_config reorder = {.rate[IMPAIR_REORDER] = {.every = 1}, .hold_frames = 1000};
    const struct port_impair_seed seed = {.seed = 1};

    port_impair(rig_port[0].rx, 1, &reorder, &seed);
    fake_port_arrive(&rig_fake[0], 0, to_switch(1));
    rig_round();
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(rig_mbufs), 1);
    port_close_for(&rig_port[0], PORT_DISABLED, true);
    rig_round();
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(rig_mbufs), 0);
}

TEST(a_frame_that_is_too_long_is_dropped_unless_it_is_many)
{
    const struct frame_end from = rig_station(SENDER), to = rig_station(6);
    static const uint8_t payload[1600];
    struct rte_mbuf *m = rig_frame(&from, &to, payload, sizeof(payload));

    rig_receive(0, m);
    check_dropped(DROP_OVERSIZE);
    rig_anew();
    m = rig_frame(&from, &to, payload, sizeof(payload));
    m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG; /* as the kernel has merged it */
    m->l2_len = AT_IP;
    m->l3_len = 20;
    m->l4_len = 20;
    m->tso_segsz = 800;
    rig_receive(0, m);
    CU_ASSERT_EQUAL(rig_drops(), 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_RECEIVED], 2);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_FLOODED], 2);
    rig_sent_all();
}

/* In two buffers, as the rest of a chain is longer than there is room for in the first. */
TEST(a_frame_to_the_switch_that_is_longer_than_a_buffer)
{
    struct rte_mbuf *m = to_switch(CTL_PORT), *rest = rte_pktmbuf_alloc(rig_mbufs);

    CU_ASSERT_PTR_NOT_NULL_FATAL(rte_pktmbuf_append(rest, 2048));
    m->next = rest;
    m->nb_segs = 2;
    m->pkt_len += rest->data_len;
    rig_port[0].max_frame = 9018;
    rig_receive(0, m);
    check_dropped(DROP_OVERSIZE);
}

TEST(a_frame_in_pieces_is_put_together)
{
    struct rte_mbuf *m = to_switch(CTL_PORT), *rest = rte_pktmbuf_alloc(rig_mbufs), *taken[INBOX_BURST];
    const uint16_t first = AT_UDP + 4, bytes = m->data_len;

    memcpy(rte_pktmbuf_append(rest, bytes - first), rte_pktmbuf_mtod_offset(m, void *, first), bytes - first);
    rte_pktmbuf_trim(m, bytes - first);
    m->next = rest;
    m->nb_segs = 2;
    m->pkt_len = bytes;
    rig_receive(0, m);
    CU_ASSERT_EQUAL_FATAL(inbox_take(&rig_inbox, INBOX_STRANGERS, taken), 1);
    CU_ASSERT(taken[0]->nb_segs == 1 && taken[0]->data_len == bytes);
    rte_pktmbuf_free(taken[0]);
}

static struct rte_mbuf *arp(uint16_t operation, const struct net_mac *to, uint32_t target_ip)
{
    const struct frame_end from = rig_station(SENDER);
    struct rte_mbuf *m = rte_pktmbuf_alloc(rig_mbufs);
    struct frame_arp *f = (void *)rte_pktmbuf_append(m, sizeof(*f));

    arp_ask(f, &from.mac, from.ip, target_ip);
    f->arp.operation = net16(operation);
    f->eth.dst_addr = *to;
    return m;
}

static const struct net_mac everybody = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

TEST(arp_for_the_switch_is_answered)
{
    const struct frame_end asker = rig_station(SENDER);
    const struct frame_arp *answer = (void *)last;

    rig_receive(0, arp(NET_ARP_REQUEST, &everybody, rig_ip));
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_ARP_REPLIES], 1);
    CU_ASSERT_EQUAL(rig_sent(1, last) + rig_sent(2, last), 2); /* others may want to hear the request */
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, last), 1);
    CU_ASSERT_EQUAL(answer->arp.operation, net16(NET_ARP_REPLY));
    CU_ASSERT(answer->arp.sender_ip == rig_ip && net_same_mac(&answer->arp.sender_mac, &rig_mac));
    CU_ASSERT(net_same_mac(&answer->eth.dst_addr, &asker.mac));

    rig_receive(0, arp(NET_ARP_REQUEST, &rig_mac, rig_ip));
    CU_ASSERT_EQUAL(rig_sent_all(), 1);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(other_arp_is_the_bridges_or_ignored)
{
    rig_receive(0, arp(NET_ARP_REQUEST, &everybody, rig_station(6).ip));
    CU_ASSERT_EQUAL(rig_sent_all(), 2);
    CU_ASSERT_EQUAL(rig_drops(), 0);
    rig_receive(0, arp(NET_ARP_REPLY, &rig_mac, rig_ip));
    check_dropped(DROP_ARP_IGNORED);
}

TEST(a_neighbour_is_noted_by_its_answer)
{
    struct neighbours neighbours = {0};
    struct net_mac mac;
    uint8_t port;
    int ask_on;

    neighbours_add(&neighbours, 0, rig_station(SENDER).ip);
    rig.host.neighbours = &neighbours;
    CU_ASSERT(neighbours_is_due(&neighbours, 0, 1, &ask_on));
    rig_receive(1, arp(NET_ARP_REPLY, &everybody, rig_ip));
    rig_receive(1, arp(NET_ARP_REQUEST, &rig_mac, rig_ip));
    CU_ASSERT(!neighbours_find(&neighbours, 0, &mac, &port));
    rig_sent_all();
    rig_receive(2, arp(NET_ARP_REPLY, &rig_mac, rig_ip));
    CU_ASSERT_EQUAL(rig_drops(), 0);
    CU_ASSERT(neighbours_find(&neighbours, 0, &mac, &port));
    CU_ASSERT(port == 2 && mac.addr_bytes[5] == SENDER);
}

TEST(who_has_the_switchs_address_is_noted)
{
    struct rte_mbuf *m = arp(NET_ARP_REQUEST, &everybody, rig_station(6).ip);
    struct net_mac station;
    uint8_t port;

    rte_pktmbuf_mtod(m, struct frame_arp *)->arp.sender_ip = rig_ip;
    rig_receive(0, m);
    check_dropped(DROP_OWN_IP);
    CU_ASSERT(sighting_take(&rig_claim, &station, &port));
    CU_ASSERT(port == 0 && station.addr_bytes[5] == SENDER);
}

static struct rte_mbuf *ping(uint8_t type)
{
    struct rte_mbuf *m = to_switch(0);
    struct frame_icmp *f = rte_pktmbuf_mtod(m, struct frame_icmp *);

    f->ip.next_proto_id = NET_PROTOCOL_ICMP;
    seal_ip(udp(m));
    f->icmp = (struct net_icmp_echo){.type = type, .identifier = 7, .sequence = 9};
    f->icmp.checksum = (uint16_t)~agg_kernels_scalar.ones_sum(&f->icmp, m->data_len - AT_UDP);
    return m;
}

TEST(a_ping_is_answered)
{
    const struct frame_icmp *f = (void *)last;

    rig_receive(0, ping(NET_ICMP_ECHO_REQUEST));
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, last), 1);
    CU_ASSERT_EQUAL(f->icmp.type, NET_ICMP_ECHO_REPLY);
    CU_ASSERT(f->icmp.identifier == 7 && f->icmp.sequence == 9);
    CU_ASSERT(f->ip.src_addr == rig_ip && f->ip.dst_addr == rig_station(SENDER).ip);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_ECHO_REPLIES], 1);
    rig_receive(0, ping(NET_ICMP_ECHO_REPLY));
    check_dropped(DROP_ICMP_IGNORED);
}

enum { INCARNATION = 77 };

/* A HEARTBEAT of this process. */
static struct rte_mbuf *heartbeat(const struct frame_end *from, uint64_t incarnation)
{
    const struct frame_end to = rig_switch(CTL_PORT);
    const struct ctl_message m = {
        .head = {.type = CTL_HEARTBEAT, .version = CTL_VERSION, .incarnation = incarnation, .size = 1}};
    uint8_t payload[CTL_MESSAGE_MAX];

    return rig_frame(from, &to, payload, ctl_build(payload, &m));
}

/* How many wait for the main lcore. */
static unsigned waiting(enum inbox_line line)
{
    struct rte_mbuf *taken[INBOX_BURST];
    unsigned all = 0, n;

    while ((n = inbox_take(&rig_inbox, line, taken)) > 0) {
        rte_pktmbuf_free_bulk(taken, n);
        all += n;
    }
    return all;
}

static void know_member(const struct frame_end *at)
{
    const struct ctl_endpoint from = {.ip = at->ip, .udp_port = rte_be_to_cpu_16(at->port)};

    ctl_known_begin(&rig_inbox.rules.members);
    ctl_known_add(&rig_inbox.rules.members, INCARNATION, &from);
    ctl_known_show(&rig_inbox.rules.members);
}

TEST(who_floods_loses_his_own_messages)
{
    enum { FLOOD = 1000, AT_ONCE = 256, OF_MEMBER = 64 };
    const struct frame_end member = rig_station(SENDER), stranger = rig_station(SENDER + 1);

    know_member(&member);
    for (unsigned i = 0; i < FLOOD; i++) {
        rig_receive(1, heartbeat(&stranger, INCARNATION));
        rig_receive(1, heartbeat(&member, INCARNATION));
    }
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_CONTROL_RATE), FLOOD - AT_ONCE);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_CONTROL_MEMBER_RATE), FLOOD - OF_MEMBER);
    CU_ASSERT_EQUAL(rig_drops(), 2 * FLOOD - AT_ONCE - OF_MEMBER);
    rig_receive(0, heartbeat(&member, INCARNATION)); /* nobody behind this port has used it up */
    rig_receive(0, to_switch(CTL_PORT));
    CU_ASSERT_EQUAL(waiting(INBOX_MEMBERS), OF_MEMBER + 1);
    CU_ASSERT_EQUAL(waiting(INBOX_STRANGERS), AT_ONCE + 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

TEST(however_many_strangers_there_are_members_are_heard)
{
    const struct frame_end member = rig_station(SENDER);

    know_member(&member);
    for (unsigned i = 0; i < 2 * INBOX_RING_SIZE; i++) {
        struct frame_end forged = rig_station(SENDER);

        forged.ip = rte_cpu_to_be_32(0x0A010000u + i);
        rig_receive(1, heartbeat(&forged, INCARNATION + i));
    }
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_CONTROL_FULL), INBOX_RING_SIZE + 1);
    rig_receive(1, heartbeat(&member, INCARNATION));
    rig_receive(0, to_switch(CTL_PORT)); /* another's ring */
    CU_ASSERT_EQUAL(rig_drops(), INBOX_RING_SIZE + 1);
    CU_ASSERT_EQUAL(waiting(INBOX_MEMBERS), 1);
    CU_ASSERT_EQUAL(waiting(INBOX_STRANGERS), INBOX_RING_SIZE);
}

TEST(each_data_port_is_the_protocols)
{
    for (uint16_t port = SML_PORT_FIRST; port <= SML_PORT_LAST; port++) {
        struct rte_mbuf *m = rig_data(0, (uint32_t)(port - SML_PORT_FIRST) % RIG_SLOTS, RIG_JOB, 1);

        udp(m)->udp.dst_port = rte_cpu_to_be_16(port);
        udp(m)->udp.dgram_cksum = 0;
        rig_receive(0, m);
    }
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], SML_PORT_LAST - SML_PORT_FIRST + 1);
    CU_ASSERT_EQUAL(rig_drops(), 0);
    rig_receive(0, to_switch(SML_PORT_FIRST - 1));
    rig_receive(0, to_switch(SML_PORT_LAST + 1));
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_UDP_PORT), SML_PORT_FIRST - 1 == CTL_PORT ? 1 : 2);
}

TEST(a_path_probe_is_answered)
{
    const struct frame_end from = rig_station(SENDER), to = rig_switch(SML_PORT_LAST);
    uint8_t question[PAYLOAD];
    struct path_answer a;

    path_build_question(question, sizeof(question), 33, 0);
    rig_receive(0, rig_frame(&from, &to, question, sizeof(question)));
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, last), 1);
    CU_ASSERT(path_parse_answer(&a, last + FRAME_HEADER_BYTES, PAYLOAD) && a.tag == 33);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

/* What a device says counts where its port says that it compares. */
TEST(a_devices_word_on_checksums)
{
    static const struct {
        uint64_t port, flags;
        bool ip_wrong, udp_wrong;
        enum drop why; /* DROP_REASONS: none */
    } cases[] = {
        {0, RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD, false, false, DROP_REASONS},
        {0, RTE_MBUF_F_RX_L4_CKSUM_GOOD, false, true, DROP_UDP_CHECKSUM},
        {RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_BAD, false, false, DROP_IP_CHECKSUM},
        {RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_GOOD, true, false, DROP_REASONS},
        {RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_BAD, false, false, DROP_UDP_CHECKSUM},
        {RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_GOOD, false, true, DROP_REASONS},
        {RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_NONE, false, true, DROP_REASONS},
        {RTE_MBUF_F_RX_L4_CKSUM_MASK, 0, false, true, DROP_UDP_CHECKSUM},
    };

    for (unsigned i = 0; i < RTE_DIM(cases); i++) {
        struct rte_mbuf *m = to_switch(CTL_PORT);

        rig_port[0].rx_checksums = cases[i].port;
        m->ol_flags |= cases[i].flags;
        udp(m)->ip.hdr_checksum ^= cases[i].ip_wrong;
        udp(m)->udp.dgram_cksum ^= cases[i].udp_wrong;
        rig_receive(0, m);
        CU_ASSERT_EQUAL(rig_drops(), cases[i].why != DROP_REASONS);
        CU_ASSERT(cases[i].why == DROP_REASONS || rig_dropped(0, cases[i].why) == 1);
        rig_anew();
    }
}

TEST(a_switch_without_an_address_is_a_bridge)
{
    struct rte_mbuf *m = to_switch(CTL_PORT);

    rig.host.ip = 0;
    rig_classify(NULL, NULL);
    rig_receive(0, m);
    check_dropped(DROP_IP_NOT_OURS);
    rig_receive(0, arp(NET_ARP_REQUEST, &everybody, rig_ip));
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_ARP_REPLIES], 0);
    CU_ASSERT_EQUAL(rig_sent_all(), 2);
}

TEST(without_buffers_arp_is_not_answered)
{
    struct rte_mbuf *all[RIG_MBUFS], *m = arp(NET_ARP_REQUEST, &rig_mac, rig_ip);
    unsigned n = 0;

    while ((all[n] = rte_pktmbuf_alloc(rig_mbufs)) != NULL)
        n++;
    rig_receive(0, m);
    check_dropped(DROP_NO_MBUF);
    rte_pktmbuf_free_bulk(all, n);
}

/* Between stations: flooded until the other one is heard, then to its port alone. */
static struct rte_mbuf *between(unsigned from_rank, unsigned to_rank)
{
    const struct frame_end from = rig_station(from_rank), to = rig_station(to_rank);

    return rig_frame(&from, &to, "x", 1);
}

TEST(frames_between_stations)
{
    rig_receive(0, between(7, 8));
    CU_ASSERT_EQUAL(rig_sent(0, last), 0);
    CU_ASSERT_EQUAL(rig_sent(1, last) + rig_sent(2, last), 2);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_FLOODED], 1);
    rig_receive(2, between(8, 7));
    CU_ASSERT_EQUAL(rig_sent(0, last), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_FORWARDED], 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_LEARNED], 2);
    rig_receive(1, between(7, 8)); /* has moved */
    CU_ASSERT_EQUAL(rig_sent(2, last), 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_MOVED], 1);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(with_one_port_there_is_nowhere_to_flood_to)
{
    rig.send.ports = 1;
    rig_receive(0, between(7, 8));
    check_dropped(DROP_NO_EGRESS);
}

/* Whatever is in them: the bridge looks at nothing but the addresses. */
TEST(what_passes_by_is_not_changed)
{
    for (const struct spoiled *s = spoiled; s < spoiled + RTE_DIM(spoiled); s++) {
        struct rte_mbuf *m;
        uint8_t bytes[2048];
        uint16_t n;

        if (s->at < 12) /* addresses, or shorter */
            continue;
        m = between(7, 8);
        n = m->data_len;
        memcpy(rte_pktmbuf_mtod_offset(m, void *, s->at), s->bytes, RTE_MIN(s->n, n - s->at));
        if (s->why == DROP_OWN_IP)
            udp(m)->ip.src_addr ^= 1;
        memcpy(bytes, udp(m), n);
        bridge_learn(rig_bridge, rig_station(8).mac.addr_bytes, 2);
        rig_receive(0, m);
        CU_ASSERT_EQUAL_FATAL(rig_sent(2, last), 1);
        CU_ASSERT(memcmp(bytes, last, n) == 0);
        CU_ASSERT_EQUAL(rig_drops(), 0);
        rig_anew();
    }
}

/* A protocol takes part in what station 8 is sent at its UDP port, or somebody else does. */
static void classify_flow_to_8(enum classifier_taker taker)
{
    const struct frame_end to = rig_station(8);

    rig_classify(&to, &(struct classifier_rule){.taker = taker, .protocol = AGG_PROTOCOL_SWITCHML});
}

/* A contribution that is addressed to station 8. */
static struct rte_mbuf *data_to_8(void)
{
    struct rte_mbuf *m = rig_data(0, 0, RIG_JOB, 1);

    udp(m)->eth.dst_addr = rig_station(8).mac;
    udp(m)->ip.dst_addr = rig_station(8).ip;
    udp(m)->udp.dst_port = rig_station(8).port;
    udp(m)->udp.dgram_cksum = 0;
    seal_ip(udp(m));
    return m;
}

/* A frame, behind which so many of all have been the protocols' and the bridge's. */
static void comes(struct rte_mbuf *m, unsigned protocols, unsigned bridges)
{
    rig_receive(0, m);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], protocols);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_FLOODED], bridges);
    CU_ASSERT_EQUAL(rig_drops(), 0);
    rig_sent_all();
}

TEST(a_flow_between_others_is_the_protocols_from_the_next_burst_on)
{
    comes(data_to_8(), 0, 1);
    classify_flow_to_8(CLASSIFIER_PROTOCOL);
    comes(data_to_8(), 1, 1);
    rig_classify(NULL, NULL);
    comes(data_to_8(), 1, 2);
}

/* Whoever else is to have a copy of such frames. */
TEST(what_a_flow_takes_out_is_the_protocols_once)
{
    static struct classifier_table t; /* large */
    const struct frame_end to = rig_station(8);

    classify_flow_to_8(CLASSIFIER_PROTOCOL);
    t = *classifier_table(&rig_classifier);
    CU_ASSERT(classifier_add(&t, classifier_passing(0, &to.mac, RTE_BE16(NET_TYPE_IPV4)),
                             classifier_find(&t, classifier_flow(0, to.ip, to.port))));
    CU_ASSERT_EQUAL_FATAL(classifier_publish(&rig_classifier, &t), 0);
    comes(data_to_8(), 1, 0);
}

TEST(control_messages_to_others_are_the_bridges)
{
    classify_flow_to_8(CLASSIFIER_CONTROL);
    comes(data_to_8(), 0, 1);
}

TEST(what_else_passes_by_a_flow_is_the_bridges)
{
    for (unsigned i = 0; i < 8; i++) {
        struct rte_mbuf *m = data_to_8(), *rest;
        struct frame_udp *f = udp(m);

        classify_flow_to_8(CLASSIFIER_PROTOCOL);
        if (i == 0)
            f->udp.dst_port ^= 1;
        else if (i == 1)
            f->ip.dst_addr = rig_station(9).ip;
        else if (i == 2)
            f->ip.fragment_offset = net16(NET_IPV4_MORE_FRAGMENTS);
        else if (i == 3)
            f->ip.next_proto_id = NET_PROTOCOL_TCP;
        else if (i == 4)
            f->udp.dgram_cksum = 1; /* wrong */
        else if (i == 5)
            f->eth.ether_type = net16(NET_TYPE_IPV6);
        else if (i == 6)
            f->ip.dst_addr = rig_ip; /* by another's MAC, and to no port of the switch's */
        seal_ip(f);
        if (i == 7) { /* in two pieces, as only merged frames are */
            rest = rte_pktmbuf_alloc(rig_mbufs);
            rte_pktmbuf_append(rest, 10);
            CU_ASSERT_EQUAL(rte_pktmbuf_chain(m, rest), 0);
        }
        comes(m, 0, 1);
        rig_anew();
    }
}

/* Rules about the switch's own ports say nothing about frames to others' MAC. */
TEST(the_switchs_address_behind_anothers_mac)
{
    struct rte_mbuf *m = rig_data(0, 0, RIG_JOB, 1);

    classify_flow_to_8(CLASSIFIER_PROTOCOL);
    udp(m)->eth.dst_addr = rig_station(8).mac;
    comes(m, 0, 1);
}
