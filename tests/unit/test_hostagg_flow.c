/* Host-addressed aggregation in the daemon: what workers send to a host is taken out of its way, summed, and
 * answered. The job comes from a configuration; the workers are stations 0 and 1, the host is station 2. */
#include "control/static_jobs.h"
#include "datapath_make.h"
#include "hostagg/protocol.h"
#include "hostagg/reasons.h"
#include "hostagg/terms.h"
#include "kernels_chosen.h"
#include "lcore_rig.h"

enum { HOST = 2, NUMBER = 9, SLOTS = 2, FLOATS = 256, BYTES = 4 * FLOATS, UDP_PORT = 40000, ALL_PORTS = 3 };

static struct config cfg;
static struct jobs jobs;
static struct static_jobs fixed;

static struct config_peer peer(unsigned station)
{
    const struct frame_end end = rig_station(station);
    struct config_peer p = {.ip = end.ip, .port = UDP_PORT};

    memcpy(p.mac, end.mac.addr_bytes, sizeof(p.mac));
    return p;
}

static void open_flow(enum hag_host host_gets)
{
    const struct jobs_identity us = {.mac = rig_mac, .ip = rig_ip};
    struct config_hostagg *h = &cfg.hostagg[0];
    const struct hag_terms terms = {
        .host = host_gets, .code = agg_code(AGG_F32, AGG_SUM), .slots = SLOTS, .chunk_bytes = BYTES};
    const struct classifier_rule flow = {.taker = CLASSIFIER_PROTOCOL, .protocol = AGG_PROTOCOL_HOSTAGG};
    const struct frame_end host = rig_station(HOST);

    rig_open();
    jobs = (struct jobs){.rcu = rig_classifier.rcu, .kernels = kernels_or_exit(), .bytes_max = 8 << 20};
    fixed = (struct static_jobs){.jobs = &jobs, .us = us};
    cfg.hostagg_jobs = 1;
    *h = (struct config_hostagg){
        .number = NUMBER, .host = peer(HOST), .host_gets = host_gets, .common.workers = 2};
    hag_terms_build(&h->common.terms, &terms);
    h->worker[0] = peer(0);
    h->worker[1] = peer(1);
    CU_ASSERT_EQUAL_FATAL(static_jobs_open(&fixed, &cfg, 0), 0);
    rig.engine.source[AGG_PROTOCOL_HOSTAGG] =
        (struct engine_source){.table = &hag_protocol, .jobs = &jobs.running[AGG_PROTOCOL_HOSTAGG]};
    rig_classify(&host, &flow);
}

static void close_flow(void)
{
    CU_ASSERT_EQUAL(rig_drops(), 0);
    static_jobs_close(&fixed);
    jobs_free(&jobs);
    rig_close();
}

EACH_TEST(NULL, close_flow)

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

    open_flow(HAG_HOST_HEARS);
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

    open_flow(HAG_HOST_HEARS);
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

    open_flow(HAG_HOST_ABSENT);
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
    open_flow(HAG_HOST_ABSENT);
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
    static struct datapath dp;
    const struct classifier_table *t;

    open_flow(HAG_HOST_HEARS);
    cfg.hostagg[1] = cfg.hostagg[0];
    cfg.hostagg[1].host.port++;
    cfg.hostagg_jobs = 2;
    cfg.hostagg[0].slots = 2;
    cfg.hostagg[1].slots = 8;
    dp = (struct datapath){.mac = rig_mac, .ip = rig_ip, .rcu = rig_classifier.rcu};
    CU_ASSERT_EQUAL_FATAL(datapath_make_classifier(&dp, &cfg), 0);
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
    classifier_free(&dp.classifier);
}

TEST(the_job_was_heard_when_it_works)
{
    open_flow(HAG_HOST_ABSENT);
    static_jobs_tick(&fixed, 1000);
    CU_ASSERT_EQUAL(fixed.job[0].heard_at, 0);
    rig_receive(0, gradient(0, NUMBER, 0, 3));
    static_jobs_tick(&fixed, 2000);
    CU_ASSERT_EQUAL(fixed.job[0].heard_at, 2000);
    static_jobs_tick(&fixed, UINT64_MAX); /* it is never quiet for too long: runs are numbered */
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0);
}
