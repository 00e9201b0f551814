/* Host-addressed jobs and jobs of passing frames that lie in a VLAN: what is sent there is summed, the same
 * in another VLAN is not. Both jobs are in VLAN 20; worker 0 is behind port 1, worker 1 and the host behind
 * port 2. */
#include "clone/reasons.h"
#include "flow_rig.h"
#include "hostagg/reasons.h"
#include "vlan_rig.h"
#include "wire/hostagg.h"

enum { HOST = 2, FLOATS = 32, BYTES = 4 * FLOATS, ETHER_TYPE = 0x88b5, ELEMENTS_AT = 64 };

/* As vlan_config, with jobs. */
static void open_jobs(void)
{
    open_with_vlans();
    flow_make(
        "ports: [{device: kernel:a, vlan: 10}, {device: kernel:b, trunk: [10, 20]}, "
        "{device: kernel:c, vlan: 10, trunk: [20]}]\n"
        "switch: {vlans: [{vlan: 10, ip: 10.0.0.254}, {vlan: 20, ip: 20.0.0.254}]}\n"
        "tenants: [{name: lab, addresses: [10.0.0.0/8]}]\n"
        "hostagg: [{vlan: 20, slots: 4, elements: 32, host: " FLOW_HOST(2, 40000) ", workers: [" FLOW_HOST(
            0, 40000) ", " FLOW_HOST(1, 40000) "]}]\n"
                                               "clone: [{vlan: 20, tenant: lab, slots: 4, sequence_at: 16, "
                                               "host: " FLOW_MAC(2) ", workers: [" FLOW_MAC(0) ", " FLOW_MAC(
                                                   1) "], collector: " FLOW_HOST(2, 40000) "}]\n");
}

static void put_floats(uint8_t *to, float value)
{
    for (unsigned i = 0; i < FLOATS; i++)
        memcpy(to + 4 * i, &value, sizeof(value));
}

static struct rte_mbuf *gradient(unsigned station, float value)
{
    const struct hag_packet p = {.kind = HAG_GRADIENT, .worker = (uint16_t)station, .run = 1};
    const struct frame_end from = rig_station(station), to = rig_station(HOST);
    uint8_t payload[HAG_HEADER_BYTES + BYTES];

    hag_build_header(payload, &p);
    put_floats(payload + HAG_HEADER_BYTES, value);
    return rig_frame(&from, &to, payload, sizeof(payload));
}

static struct rte_mbuf *passing(unsigned station, float value)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(rig_mbufs);
    uint8_t frame[ELEMENTS_AT + BYTES] = {0};

    memcpy(frame, rig_station(HOST).mac.addr_bytes, 6);
    memcpy(frame + 6, rig_station(station).mac.addr_bytes, 6);
    memcpy(frame + 12, &(uint16_t){RTE_BE16(ETHER_TYPE)}, 2);
    put_floats(frame + ELEMENTS_AT, value);
    memcpy(rte_pktmbuf_append(m, sizeof(frame)), frame, sizeof(frame));
    return m;
}

/* With the tag of this VLAN. */
static struct rte_mbuf *in_vlan(struct rte_mbuf *m, uint16_t id)
{
    net_tag(rte_pktmbuf_prepend(m, TAG), id);
    return m;
}

static uint64_t verdicts(unsigned protocol, unsigned reason)
{
    return rig.counters.verdict[protocol][reason];
}

/* The last frame that a port has sent, without the tag of VLAN 20, which it had. */
static const struct frame_udp *sent_in_20(unsigned port, unsigned n)
{
    static uint8_t frame[2048];
    struct net_vlan v;

    CU_ASSERT_EQUAL(rig_sent(port, frame), n);
    v = net_vlan_of((const void *)frame, sizeof(frame));
    CU_ASSERT(v.has_tag && v.tci == 20);
    net_untag(frame);
    return (const struct frame_udp *)(const void *)(frame + TAG);
}

TEST(a_host_addressed_job_in_a_vlan)
{
    const struct frame_udp *f;
    struct hag_packet p;

    open_jobs();
    rig_receive(2, in_vlan(passing(HOST, 0), 20)); /* so that it is known where the host is */
    rig.counters.drop[2][DROP_SAME_PORT] = 0;
    rig_receive(1, in_vlan(gradient(0, 3), 20));
    CU_ASSERT_EQUAL(verdicts(AGG_PROTOCOL_HOSTAGG, HAG_HELD), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    rig_receive(1, in_vlan(gradient(1, 100), 10)); /* the same addresses in another VLAN: it passes there */
    CU_ASSERT_EQUAL(rig_sent_all(), 2);
    CU_ASSERT_EQUAL(verdicts(AGG_PROTOCOL_HOSTAGG, HAG_SEND_ALL), 0);
    rig_receive(2, in_vlan(gradient(1, 4), 20));
    CU_ASSERT_EQUAL(verdicts(AGG_PROTOCOL_HOSTAGG, HAG_SEND_ALL), 1);
    f = sent_in_20(1, 1);
    CU_ASSERT_EQUAL(f->ip.src_addr, rig_station(HOST).ip);
    CU_ASSERT_FATAL(hag_parse(&p, f->payload, frame_payload_bytes(f)) && p.kind == HAG_SUM);
    CU_ASSERT_EQUAL(memcmp(p.body, &(float){7}, 4), 0);
    f = sent_in_20(2, 2); /* worker 1's sum, and the host's word that it is complete */
    CU_ASSERT_EQUAL(f->ip.src_addr, ip_in_20);
    CU_ASSERT(hag_parse(&p, f->payload, frame_payload_bytes(f)) && p.kind == HAG_DONE);
}

TEST(a_job_of_passing_frames_in_a_vlan)
{
    const struct frame_udp *f;
    struct hag_packet p;

    open_jobs();
    rig_receive(2, in_vlan(passing(HOST, 0), 20));
    rig.counters.drop[2][DROP_SAME_PORT] = 0;
    CU_ASSERT_EQUAL(verdicts(AGG_PROTOCOL_CLONE, CLN_IGNORED_SENDER), 1);
    rig_receive(1, in_vlan(passing(0, 3), 20));
    (void)sent_in_20(2, 1);
    rig_receive(1, in_vlan(passing(1, 100), 10));
    CU_ASSERT_EQUAL(rig_sent_all(), 2);
    CU_ASSERT_EQUAL(verdicts(AGG_PROTOCOL_CLONE, CLN_SEND_SUM), 0);
    rig_receive(1, in_vlan(passing(1, 4), 20));
    CU_ASSERT_EQUAL(verdicts(AGG_PROTOCOL_CLONE, CLN_SEND_SUM), 1);
    f = sent_in_20(2, 2); /* the frame itself, then the sum */
    CU_ASSERT_EQUAL(f->ip.src_addr, ip_in_20);
    CU_ASSERT_FATAL(hag_parse(&p, f->payload, frame_payload_bytes(f)) && p.kind == HAG_SUM);
    CU_ASSERT_EQUAL(memcmp(p.body, &(float){7}, 4), 0);
}

TEST(a_job_of_a_tenant)
{
    open_jobs();
    CU_ASSERT_EQUAL(jobs_find(&dp.jobs, AGG_PROTOCOL_CLONE, fixed.job[1].number)->tenant, 0);
    CU_ASSERT_EQUAL(jobs_find(&dp.jobs, AGG_PROTOCOL_HOSTAGG, fixed.job[0].number)->tenant, -1);
}
