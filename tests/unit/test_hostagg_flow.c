/* Host-addressed aggregation in the daemon: what workers send to a host is taken out of its way, summed, and
 * answered. The job comes from a configuration; the workers are stations 0 and 1, the host is station 2. */
#include "flow_rig.h"
#include "hostagg/protocol.h"
#include "hostagg/reasons.h"
#include "wire/hostagg.h"

enum { HOST = 2, NUMBER = 9, FLOATS = 256, BYTES = 4 * FLOATS, UDP_PORT = 40000, ALL_PORTS = 3 };

#define WORKERS "workers: [" FLOW_HOST(0, 40000) ", " FLOW_HOST(1, 40000) "]"

static void open_flow(const char *host_gets)
{
    char list[512];

    snprintf(list, sizeof(list), "hostagg: [{job: 9, slots: 2, elements: 256, host_gets: %s, host: %s, %s}]",
             host_gets, FLOW_HOST(2, 40000), WORKERS);
    flow_open(list);
}

static struct rte_mbuf *gradient(unsigned station, uint8_t number, uint32_t sequence, float value)
{
    const struct hag_packet p = {
        .kind = HAG_GRADIENT, .job = number, .worker = (uint16_t)station, .sequence = sequence, .run = 1};
    const struct frame_end from = rig_station(station), to = rig_station(HOST);
    uint8_t payload[HAG_HEADER_BYTES + BYTES];

    hag_build_header(payload, &p);
    for (unsigned i = 0; i < FLOATS; i++)
        memcpy(payload + HAG_HEADER_BYTES + 4 * i, &value, sizeof(value));
    return rig_frame(&from, &to, payload, sizeof(payload));
}

static uint64_t verdicts(enum hag_reason reason)
{
    return rig.counters.verdict[AGG_PROTOCOL_HOSTAGG][reason];
}

/* The last frame that left by this port came from this address, with a right checksum. */
static struct hag_packet sent(unsigned port, uint8_t frame[2048], rte_be32_t from)
{
    const struct frame_udp *f = (const struct frame_udp *)(void *)frame;
    struct hag_packet p = {0};

    CU_ASSERT_EQUAL_FATAL(rig_sent(port, frame), 1);
    CU_ASSERT_EQUAL(f->ip.src_addr, from);
    CU_ASSERT_EQUAL(f->udp.src_port, rte_cpu_to_be_16(UDP_PORT));
    CU_ASSERT(net_same_mac(&f->eth.src_addr, &rig_mac)); /* no bridge learns the host in a wrong place */
    CU_ASSERT(rig_is_sound(frame));
    CU_ASSERT(hag_parse(&p, f->payload, frame_payload_bytes(f)));
    return p;
}

static void check_sum(unsigned port, float value)
{
    uint8_t frame[2048];
    const struct hag_packet p = sent(port, frame, rig_station(HOST).ip);
    float got;

    CU_ASSERT_EQUAL(p.kind, HAG_SUM);
    CU_ASSERT_EQUAL_FATAL(p.body_bytes, BYTES);
    memcpy(&got, p.body + BYTES - 4, sizeof(got));
    CU_ASSERT_EQUAL(got, value);
}

TEST(the_workers_hear_from_the_host_and_the_host_from_the_switch)
{
    uint8_t frame[2048];

    open_flow("completion");
    CU_ASSERT_EQUAL(fixed.job[0].number, NUMBER);
    rig_receive(2, gradient(HOST, NUMBER, 0, 0)); /* no worker's: it would pass to itself */
    rig.counters.drop[2][DROP_SAME_PORT] = 0;     /* and so the switch learns where the host is */
    rig_receive(0, gradient(0, NUMBER, 0, 3));
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    rig_receive(1, gradient(1, NUMBER, 0, 4));
    check_sum(0, 7);
    check_sum(1, 7);
    CU_ASSERT_EQUAL(sent(2, frame, rig_ip).kind, HAG_DONE);
    CU_ASSERT_EQUAL(verdicts(HAG_SEND_ALL), 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 2 + 1);
}

TEST(a_host_that_was_never_heard_is_told_at_every_port)
{
    uint8_t frame[2048];

    open_flow("completion");
    rig_receive(0, gradient(0, NUMBER, 0, 3));
    rig_receive(0,
                gradient(1, NUMBER, 0, 4)); /* both workers by port 0: the others get what is for the host */
    CU_ASSERT_EQUAL(rig_sent(0, frame), 3);
    CU_ASSERT_EQUAL(sent(1, frame, rig_ip).kind, HAG_DONE);
    CU_ASSERT_EQUAL(sent(2, frame, rig_ip).kind, HAG_DONE);
}

TEST(what_is_not_the_jobs_passes_to_the_host_as_it_came)
{
    const struct frame_end from = rig_station(1), to = rig_station(HOST);
    const char letter[] = "a letter to the host";
    uint8_t frame[2048], as_sent[2048];
    struct rte_mbuf *m;

    open_flow("nothing");
    m = gradient(1, NUMBER + 1, 0, 3);
    memcpy(as_sent, rte_pktmbuf_mtod(m, void *), m->pkt_len);
    rig_receive(1, m);
    for (unsigned port = 0; port < ALL_PORTS; port += 2) { /* the switch does not know where the host is */
        CU_ASSERT_EQUAL_FATAL(rig_sent(port, frame), 1);
        CU_ASSERT_EQUAL(memcmp(frame, as_sent, FRAME_HEADER_BYTES + HAG_HEADER_BYTES + BYTES), 0);
    }
    rig_receive(1, rig_frame(&from, &to, letter, sizeof(letter)));
    CU_ASSERT_EQUAL(verdicts(HAG_PASSED_NOT_OURS), 2);
    rig_receive(0, gradient(7, NUMBER, 0, 3));
    CU_ASSERT_EQUAL(verdicts(HAG_PASSED_FOREIGN_SENDER), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 4);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 0);
}

/* Also while the lcore has more to do than it can, and jobs are served in turns. */
TEST(what_passes_takes_no_jobs_turn)
{
    open_flow("nothing");
    rig.engine.sharing = true;
    rig_steer(&rig.engine, AGG_PROTOCOL_HOSTAGG, &hag_protocol.shard_key, 0, gradient(7, NUMBER, 0, 3));
    engine_flush(&rig.engine);
    CU_ASSERT_EQUAL(verdicts(HAG_PASSED_FOREIGN_SENDER), 1);
    CU_ASSERT_EQUAL(rig.engine.fair.turns.n, 0);
    rig_steer(&rig.engine, AGG_PROTOCOL_HOSTAGG, &hag_protocol.shard_key, 0, gradient(0, NUMBER, 0, 3));
    engine_flush(&rig.engine);
    CU_ASSERT_EQUAL(verdicts(HAG_HELD), 1);
    CU_ASSERT_EQUAL(rig.engine.fair.turns.n, 1);
    send_flush(&rig.send);
    rig_sent_all();
}

/* Whatever the number of shards. */
TEST(packets_of_one_slot_have_one_owner)
{
    const struct classifier_table *t;

    flow_open("hostagg: [{slots: 2, host: " FLOW_HOST(2, 40000) ", " WORKERS "}, {slots: 8, host: " FLOW_HOST(
        2, 40001) ", " WORKERS "}]");
    t = classifier_table(&dp.classifier);
    CU_ASSERT(t->flows);
    for (unsigned i = 0; i < 4; i++) { /* to the hosts; their questions to the switch */
        const rte_be16_t port = rte_cpu_to_be_16((uint16_t)(UDP_PORT + i % 2));
        const struct classifier_rule *rule =
            classifier_find(t, i < 2 ? classifier_flow(0, rig_station(HOST).ip, port) : classifier_own(port));
        uint8_t packet[HAG_HEADER_BYTES];

        CU_ASSERT_FATAL(rule != NULL && rule->protocol == AGG_PROTOCOL_HOSTAGG);
        for (uint32_t sequence = 0; sequence < 4096; sequence += 7) {
            hag_build_header(packet, &(struct hag_packet){.kind = HAG_ASK, .sequence = sequence});
            CU_ASSERT_EQUAL(agg_shard_key(&rule->key, packet, sizeof(packet)), sequence % 2);
        }
    }
}

TEST(the_job_was_heard_when_it_works)
{
    open_flow("nothing");
    static_jobs_tick(&fixed, 1000);
    CU_ASSERT_EQUAL(fixed.job[0].heard_at, 0);
    rig_receive(0, gradient(0, NUMBER, 0, 3));
    static_jobs_tick(&fixed, 2000);
    CU_ASSERT_EQUAL(fixed.job[0].heard_at, 2000);
    static_jobs_tick(&fixed, UINT64_MAX); /* it is never quiet for too long: runs are numbered */
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0);
}
