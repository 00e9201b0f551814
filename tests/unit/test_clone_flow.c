/* Frames that may not be touched, in the daemon: each is forwarded as it came, and a copy of what it carries
 * is summed. Stations 0 and 1 are the workers, station 2 is the host and the collector. */
#include "clone/reasons.h"
#include "flow_rig.h"
#include "port/linux/gso.h"
#include "wire/hostagg.h"

enum {
    HOST = 2,
    SLOTS = 4,
    FLOATS = 32,
    SEQUENCE_AT = 16,
    ELEMENTS_AT = 64,
    FRAME = ELEMENTS_AT + 4 * FLOATS,
    ETHER_TYPE = 0x88b5,
    UDP_PORT = 6000,
    QUIET_MS = 1000,
    MS = 1000000
};

static void open_flow(const char *byte_order)
{
    char list[512];

    snprintf(
        list, sizeof(list),
        "clone: [{host: %s, workers: [%s, %s], slots: 4, sequence_at: 16, byte_order: %s, quiet_ms: 1000, "
        "collector: %s}]",
        FLOW_MAC(2), FLOW_MAC(0), FLOW_MAC(1), byte_order, FLOW_HOST(2, 6000));
    flow_open(list);
}

static struct rte_mbuf *frame_from(unsigned station, uint16_t ether_type, uint32_t sequence, float value)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(rig_mbufs);
    const uint16_t type = rte_cpu_to_be_16(ether_type);
    uint8_t frame[FRAME];

    memset(frame, 0x33, FRAME);
    memcpy(frame, rig_station(HOST).mac.addr_bytes, 6);
    memcpy(frame + 6, rig_station(station).mac.addr_bytes, 6);
    memcpy(frame + 12, &type, 2);
    memcpy(frame + SEQUENCE_AT, &sequence, 4);
    for (unsigned i = 0; i < FLOATS; i++)
        memcpy(frame + ELEMENTS_AT + 4 * i, &value, sizeof(value));
    memcpy(rte_pktmbuf_append(m, FRAME), frame, FRAME);
    return m;
}

static uint64_t verdicts(enum cln_reason reason)
{
    return rig.counters.verdict[AGG_PROTOCOL_CLONE][reason];
}

/* A frame comes in, and leaves towards the host, wherever that is, as it was. */
static void pass(unsigned station, uint16_t ether_type, uint32_t sequence, float value)
{
    uint8_t as_sent[FRAME], frame[2048];
    struct rte_mbuf *m = frame_from(station, ether_type, sequence, value);

    memcpy(as_sent, rte_pktmbuf_mtod(m, void *), FRAME);
    rig_receive(station, m);
    for (unsigned port = 0; port < RIG_PORTS; port++)
        if (port != station) {
            CU_ASSERT_EQUAL_FATAL(rig_sent(port, frame), 1);
            CU_ASSERT_EQUAL(memcmp(frame, as_sent, FRAME), 0);
        }
}

TEST(frames_pass_as_they_came_and_the_collector_gets_the_sum)
{
    const struct frame_udp *f;
    struct hag_packet p;
    uint8_t frame[2048];
    float sum;

    open_flow("big");
    pass(0, ETHER_TYPE, rte_cpu_to_be_32(9), 3);
    CU_ASSERT_EQUAL(verdicts(CLN_HELD), 1);
    rig_receive(1, frame_from(1, ETHER_TYPE, rte_cpu_to_be_32(9), 4));
    CU_ASSERT_EQUAL(verdicts(CLN_SEND_SUM), 1);
    CU_ASSERT_EQUAL(rig_sent(1, frame), 1); /* nobody knows where the host is, so the sum goes everywhere */
    f = (const struct frame_udp *)(const void *)frame;
    CU_ASSERT_EQUAL(rig_sent_all(), 2 + 2);
    CU_ASSERT(rig_is_sound(frame));
    CU_ASSERT(f->ip.src_addr == rig_ip && f->ip.dst_addr == rig_station(HOST).ip);
    CU_ASSERT(f->udp.src_port == RTE_BE16(UDP_PORT) && f->udp.dst_port == RTE_BE16(UDP_PORT));
    CU_ASSERT_FATAL(hag_parse(&p, f->payload, frame_payload_bytes(f)));
    CU_ASSERT(p.kind == HAG_SUM && p.sequence == 9 && p.body_bytes == 4 * FLOATS);
    memcpy(&sum, p.body, sizeof(sum));
    CU_ASSERT_EQUAL(sum, 7);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 2);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_RESULTS], 1);
}

TEST(other_frames_pass_unseen)
{
    open_flow("big");
    pass(0, ETHER_TYPE + 1, 0, 3);
    CU_ASSERT_EQUAL(verdicts(CLN_HELD), 0);
    pass(1, ETHER_TYPE, 0, 3);
    CU_ASSERT_EQUAL(verdicts(CLN_HELD), 1);
    rig_receive(0, frame_from(7, ETHER_TYPE, 0, 3));
    CU_ASSERT_EQUAL(verdicts(CLN_IGNORED_SENDER), 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 2);
}

/* Of which the mbuf says how it is to be cut. */
TEST(merged_frames_pass_as_they_came)
{
    struct rte_mbuf *m = frame_from(0, ETHER_TYPE, 0, 3);

    open_flow("big");
    m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
    m->tso_segsz = FRAME;
    m->hash.usr = VIRTIO_NET_HDR_GSO_TCPV4;
    rig_receive(0, m);
    for (unsigned port = 1; port < RIG_PORTS; port++) {
        m = fake_port_take(&rig_fake[port], 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        CU_ASSERT_EQUAL(m->hash.usr, VIRTIO_NET_HDR_GSO_TCPV4);
        rte_pktmbuf_free(m);
    }
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 0);
}

TEST(numbers_in_little_endian)
{
    const struct frame_end host = rig_station(HOST);
    const struct classifier_rule *rule;

    open_flow("little");
    rule = classifier_find(classifier_table(&dp.classifier),
                           classifier_passing(0, &host.mac, RTE_BE16(ETHER_TYPE)));
    CU_ASSERT_PTR_NOT_NULL_FATAL(rule);
    for (uint32_t sequence = 0; sequence < 3000; sequence += 77) {
        struct rte_mbuf *m = frame_from(0, ETHER_TYPE, sequence, 1); /* in the order of this machine */

        CU_ASSERT_EQUAL(agg_shard_key(&rule->key, rte_pktmbuf_mtod(m, const uint8_t *), FRAME),
                        sequence % SLOTS);
        rte_pktmbuf_free(m);
    }
    pass(0, ETHER_TYPE, 5, 1);
    pass(1, ETHER_TYPE, 6, 1);
    CU_ASSERT_EQUAL(verdicts(CLN_HELD), 2);
}

TEST(a_quiet_job_starts_over)
{
    open_flow("big");
    pass(0, ETHER_TYPE, rte_cpu_to_be_32(1000), 3);
    pass(1, ETHER_TYPE, rte_cpu_to_be_32(1), 3); /* of another slot */
    pass(1, ETHER_TYPE, rte_cpu_to_be_32(996), 3);
    CU_ASSERT_EQUAL(verdicts(CLN_DROP_STALE), 1);
    static_jobs_tick(&fixed, 1);
    static_jobs_tick(&fixed, 1 + QUIET_MS * (uint64_t)MS);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 1);
    pass(1, ETHER_TYPE, rte_cpu_to_be_32(996), 3);
    CU_ASSERT_EQUAL(verdicts(CLN_HELD), 3);
}
