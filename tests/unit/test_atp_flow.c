/* ATP in the daemon's data path: what workers send to a parameter server is summed on its way, and what the
 * server sends passes. Stations 0 and 1 are workers, station 2 is the server. */
#include "atp/reasons.h"
#include "flow_rig.h"
#include "net/ecn.h"
#include "wire/atp.h"
#include "wire/bytes.h"

enum { SERVER = 2, WORDS = 16, BODY = 4 * WORDS, MAX_AGE_MS = 1, WORKER_PORT = 40000 };

static void open_atp_with(uint32_t aggregators, const char *more)
{
    char text[256];

    snprintf(text, sizeof(text), "atp: {aggregators: %u, max_age_ms: 1%s}", aggregators, more);
    flow_open(text);
    CU_ASSERT_EQUAL(fixed.n, aggregators > 0);
    for (unsigned s = 0; s < RIG_PORTS; s++)
        bridge_learn(rig_bridge, rig_station(s).mac.addr_bytes, (uint8_t)s);
}

static void open_atp(uint32_t aggregators)
{
    open_atp_with(aggregators, "");
}

static struct frame_end end(unsigned station)
{
    struct frame_end e = rig_station(station);

    e.port = rte_cpu_to_be_16(station == SERVER ? ATP_PORT_FIRST : WORKER_PORT);
    return e;
}

static struct atp_packet gradient(unsigned rank, uint32_t sequence)
{
    return (struct atp_packet){.kind = ATP_GRADIENT,
                               .bitmap0 = UINT64_C(1) << rank,
                               .life = 77,
                               .sequence = sequence,
                               .job = 3,
                               .index = (uint16_t)sequence,
                               .root = ATP_ALL,
                               .code = agg_code(AGG_I32, AGG_SUM),
                               .fan_in0 = 2,
                               .fan_in1 = 1};
}

/* All of its elements are `value`; type: of service. */
static struct rte_mbuf *frame(unsigned from, unsigned to, const struct atp_packet *p, uint32_t value,
                              uint8_t type)
{
    const struct frame_end sender = end(from), receiver = end(to);
    uint8_t payload[ATP_HEADER_BYTES + BODY];
    struct rte_mbuf *m;

    atp_build_header(payload, p);
    for (unsigned i = 0; i < WORDS; i++)
        put_be32(payload + ATP_HEADER_BYTES + 4 * i, value);
    m = rig_frame(&sender, &receiver, payload, sizeof(payload));
    net_set_type_of_service(&rte_pktmbuf_mtod(m, struct frame_udp *)->ip, type);
    return m;
}

static uint64_t verdicts(enum atp_switch_reason reason)
{
    return rig.counters.verdict[AGG_PROTOCOL_ATP_SWITCH][reason];
}

/* One frame has left by this port, from one station to another, with right checksums and such elements. */
static struct atp_packet sent(unsigned port, unsigned from, unsigned to, uint32_t value, uint8_t type)
{
    uint8_t bytes[2048];
    const struct frame_udp *f = (const struct frame_udp *)(void *)bytes;
    const struct frame_end sender = end(from), receiver = end(to);
    struct atp_packet p = {0};

    CU_ASSERT_EQUAL_FATAL(rig_sent(port, bytes), 1);
    CU_ASSERT(f->ip.src_addr == sender.ip && f->udp.src_port == sender.port);
    CU_ASSERT(f->ip.dst_addr == receiver.ip && f->udp.dst_port == receiver.port);
    CU_ASSERT(net_same_mac(&f->eth.dst_addr, &receiver.mac));
    CU_ASSERT_EQUAL(f->ip.type_of_service, type);
    CU_ASSERT(rig_is_sound(bytes));
    CU_ASSERT_EQUAL_FATAL(atp_parse(&p, f->payload, frame_payload_bytes(f)), ATP_OK);
    for (unsigned i = 0; i < WORDS; i++)
        CU_ASSERT_EQUAL(get_be32(f->payload + ATP_HEADER_BYTES + 4 * i), value);
    return p;
}

TEST(gradients_are_summed_on_their_way)
{
    const struct atp_packet first = gradient(0, 9), second = gradient(1, 9);
    struct atp_packet sum;

    open_atp(8);
    rig_receive(0, frame(0, SERVER, &first, 30, NET_ECN_CAPABLE));
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    rig_receive(1, frame(1, SERVER, &second, 12, NET_ECN_CAPABLE));
    sum = sent(2, 1, SERVER, 42, NET_ECN_CAPABLE);
    CU_ASSERT_EQUAL(sum.bitmap0, 3);
    CU_ASSERT_EQUAL(sum.flags & ATP_ECN, 0);
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_HELD), 1);
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_SUM), 1);
}

TEST(results_pass_and_free_aggregators)
{
    const struct atp_packet first = gradient(0, 9), other = gradient(0, 9 + 8);
    struct atp_packet result = gradient(0, 9);

    open_atp(8);
    result.kind = ATP_PARAMETER;
    result.fan_in0 = 1;
    rig_receive(0, frame(0, SERVER, &first, 30, 0));
    rig_receive(2, frame(SERVER, 0, &result, 30, 0));
    CU_ASSERT_EQUAL(sent(0, SERVER, 0, 30, 0).kind, ATP_PARAMETER);
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_FREED), 1);
    rig_receive(0, frame(0, SERVER, &other, 30, 0)); /* has the same aggregator */
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_HELD), 2);
}

/* A result that the server sends to all workers at once, by multicast. */
TEST(results_to_a_group_free_aggregators)
{
    const struct frame_end server = end(SERVER);
    const struct frame_end group = {.mac = {{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}},
                                    .ip = rte_cpu_to_be_32(0xef010203),
                                    .port = rte_cpu_to_be_16(WORKER_PORT)};
    const struct atp_packet first = gradient(0, 9);
    uint8_t payload[ATP_HEADER_BYTES + BODY] = {0}, bytes[2048];
    struct atp_packet result = gradient(0, 9);

    open_atp(8);
    result.kind = ATP_PARAMETER;
    result.fan_in0 = 1;
    atp_build_header(payload, &result);
    rig_receive(0, frame(0, SERVER, &first, 30, 0));
    rig_receive(SERVER, rig_frame(&server, &group, payload, sizeof(payload)));
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_FREED), 1);
    CU_ASSERT_EQUAL(rig_sent(0, bytes), 1);
    CU_ASSERT_EQUAL(rig_sent(1, bytes), 1);
    CU_ASSERT_EQUAL(rig_sent(SERVER, bytes), 0);
}

/* A mark of a contribution is in the sum, and one of a packet that passes stays right. */
TEST(marks_are_not_lost)
{
    const struct atp_packet first = gradient(0, 9), second = gradient(1, 9);
    struct atp_packet direct = gradient(0, 10);

    open_atp(8);
    rig_receive(0, frame(0, SERVER, &first, 30, NET_ECN_MARKED));
    rig_receive(1, frame(1, SERVER, &second, 12, NET_ECN_CAPABLE));
    CU_ASSERT(sent(2, 1, SERVER, 42, NET_ECN_CAPABLE).flags & ATP_ECN);
    direct.flags |= ATP_DIRECT;
    rig_receive(0, frame(0, SERVER, &direct, 5, NET_ECN_MARKED));
    CU_ASSERT(sent(2, 0, SERVER, 5, NET_ECN_MARKED).flags & ATP_ECN);
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_DIRECT), 1);
}

/* As if the worker who came last had sent it. */
TEST(what_nobody_cares_for_goes_on)
{
    const struct atp_packet only = gradient(0, 9);
    uint64_t waited = 0;

    open_atp(8);
    CU_ASSERT_EQUAL(engine_due_at(&rig.engine), UINT64_MAX); /* an idle lcore sleeps on */
    rig_receive(0, frame(0, SERVER, &only, 30, NET_ECN_CAPABLE));
    CU_ASSERT_NOT_EQUAL(engine_due_at(&rig.engine), UINT64_MAX);
    for (; verdicts(ATP_SWITCH_AGED) == 0 && waited < 1000; waited++)
        lcore_round(&rig, rig.send.now + ENGINE_TICK_NS);
    CU_ASSERT_EQUAL_FATAL(verdicts(ATP_SWITCH_AGED), 1);
    CU_ASSERT(waited >= MAX_AGE_MS);
    CU_ASSERT_EQUAL(engine_due_at(&rig.engine), UINT64_MAX);
    CU_ASSERT_EQUAL(sent(2, 0, SERVER, 30, NET_ECN_CAPABLE).bitmap0, 1);
}

/* Whose sum so far goes on in the place of the packet that has taken its place. */
TEST(a_higher_priority_takes_an_aggregator)
{
    const struct atp_packet lower = gradient(0, 9);
    struct atp_packet higher = gradient(1, 9);

    higher.job = 4;
    higher.priority = 1;
    for (int preempt = 0; preempt < 2; preempt++) {
        open_atp_with(1, preempt ? ", preempt: true" : "");
        rig_receive(0, frame(0, SERVER, &lower, 30, 0));
        rig_receive(1, frame(1, SERVER, &higher, 12, 0));
        if (preempt) {
            CU_ASSERT_EQUAL(sent(2, 0, SERVER, 30, NET_ECN_CAPABLE).job, lower.job);
        } else {
            CU_ASSERT_EQUAL(sent(2, 1, SERVER, 12, 0).job, higher.job);
        }
        CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_PREEMPTED), (uint64_t)preempt);
    }
}

/* A job's second chunk has the other aggregator, unless that is another part's. */
TEST(jobs_keep_to_their_parts)
{
    const struct atp_packet first = gradient(0, 9), other = gradient(1, 10);

    for (int parts = 0; parts < 2; parts++) {
        open_atp_with(2, parts ? ", parts: 2" : "");
        rig_receive(0, frame(0, SERVER, &first, 30, 0));
        rig_receive(1, frame(1, SERVER, &other, 12, 0));
        CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_HELD), 2 - (uint64_t)parts);
        CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_COLLISION), (uint64_t)parts);
    }
}

TEST(the_share_to_be_forwarded_passes)
{
    const struct atp_packet first = gradient(0, 9);

    open_atp_with(8, ", forward: 1.0");
    rig_receive(0, frame(0, SERVER, &first, 30, 0));
    CU_ASSERT(sent(2, 0, SERVER, 30, 0).flags & ATP_COLLISION);
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_FORWARDED), 1);
}

TEST(others_packets_on_these_ports_pass_as_they_came)
{
    const struct frame_end from = end(0), to = end(SERVER);
    const char letter[] = "a letter to the server";
    uint8_t bytes[2048];

    open_atp(8);
    rig_receive(0, rig_frame(&from, &to, letter, sizeof(letter)));
    CU_ASSERT_EQUAL_FATAL(rig_sent(2, bytes), 1);
    CU_ASSERT_STRING_EQUAL((const char *)bytes + FRAME_HEADER_BYTES, letter);
    CU_ASSERT_EQUAL(verdicts(ATP_SWITCH_NOT_ATP), 1);
}

TEST(without_aggregators_all_pass)
{
    const struct atp_packet first = gradient(0, 9);

    open_atp(0);
    rig_receive(0, frame(0, SERVER, &first, 30, 0));
    CU_ASSERT_EQUAL(sent(2, 0, SERVER, 30, 0).bitmap0, 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 0);
}
