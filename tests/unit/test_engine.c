/* What the engine does with packets of a protocol: every action of a verdict, and every refusal. */
#include "lcore_rig.h"
#include "protocol/heard.h"
#include "tally.h"

enum { OTHER = 2 /* a second protocol's number */ };

static struct frame_udp *at(uint8_t frame[2048])
{
    return (struct frame_udp *)(void *)frame;
}

static uint64_t verdicts(enum sml_reason reason)
{
    return rig.counters.verdict[AGG_PROTOCOL_SWITCHML][reason];
}

static uint64_t refused(enum sml_reason reason)
{
    return rig_dropped(0, drop_kind(AGG_PROTOCOL_SWITCHML, reason));
}

static void check_sum(uint8_t frame[2048], unsigned rank, int32_t value)
{
    const struct frame_end to = rig_station(rank);
    struct sml_packet p;
    uint32_t first;

    CU_ASSERT_EQUAL(at(frame)->ip.dst_addr, to.ip);
    CU_ASSERT_EQUAL(at(frame)->udp.dst_port, to.port);
    CU_ASSERT_EQUAL(at(frame)->udp.src_port, RTE_BE16(SML_PORT_FIRST));
    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, at(frame)->payload, frame_payload_bytes(at(frame))), SML_OK);
    CU_ASSERT_EQUAL(p.kind, SML_DATA);
    CU_ASSERT_EQUAL_FATAL(p.body_bytes, RIG_CHUNK);
    memcpy(&first, p.body, sizeof(first));
    CU_ASSERT_EQUAL((int32_t)rte_be_to_cpu_32(first), value);
    CU_ASSERT(rig_is_sound(frame));
}

EACH_TEST(rig_open, rig_close)

TEST(the_first_contribution_is_held_and_the_last_goes_to_all)
{
    for (unsigned shared = 0; shared < 2; shared++) {
        uint8_t frame[2048];

        rig.engine.egress.multi_segment = shared;
        rig_receive(0, rig_data(0, 0, RIG_JOB, 3));
        CU_ASSERT_EQUAL(verdicts(SML_HELD), 1);
        CU_ASSERT_EQUAL(rig_sent_all(), 0);
        rig_receive(1, rig_data(1, 0, RIG_JOB, 4));
        CU_ASSERT_EQUAL(verdicts(SML_SEND_ALL), 1);
        for (unsigned r = 0; r < RIG_MEMBERS; r++) {
            CU_ASSERT_EQUAL_FATAL(rig_sent(r, frame), 1);
            check_sum(frame, r, 7);
        }
        CU_ASSERT_EQUAL(rig.counters.event[EVENT_RESULTS], RIG_MEMBERS);
        CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 2);
        CU_ASSERT_EQUAL(rig_drops(), 0);
        rig_anew();
    }
}

TEST(results_follow_a_member_to_the_port_where_it_was_heard_last)
{
    uint8_t frame[2048];

    rig_receive(0, rig_data(0, 0, RIG_JOB, 3));
    rig_receive(1, rig_data(1, 0, RIG_JOB, 4));
    CU_ASSERT_EQUAL(rig_sent(1, frame), 1);
    rig_receive(0, rig_data(0, 1, RIG_JOB, 3));
    rig_receive(2, rig_data(1, 1, RIG_JOB, 4));
    CU_ASSERT_EQUAL(rig_sent(1, frame), 0);
    CU_ASSERT_EQUAL_FATAL(rig_sent(2, frame), 1);
    check_sum(frame, 1, 7);
    rig_sent_all();
}

TEST(a_rank_that_lost_the_result_gets_it_alone)
{
    uint8_t frame[2048];

    rig_receive(0, rig_data(0, 0, RIG_JOB, 3));
    rig_receive(1, rig_data(1, 0, RIG_JOB, 4));
    CU_ASSERT_EQUAL(rig_sent_all(), RIG_MEMBERS);
    rig_receive(1, rig_data(1, 0, RIG_JOB, 4));
    CU_ASSERT_EQUAL(verdicts(SML_SEND_ONE), 1);
    CU_ASSERT_EQUAL(rig_sent(0, frame), 0);
    CU_ASSERT_EQUAL_FATAL(rig_sent(1, frame), 1);
    check_sum(frame, 1, 7);
}

/* Not those of an unknown sender, nor such as are dropped: they may be anybody's. */
TEST(who_sends_packets_that_count_is_heard)
{
    const struct frame_end member = rig_station(1);
    const struct agg_sender sender = {.ip = member.ip, .port = member.port};
    struct rte_mbuf *m;

    rig_receive(0, rig_data(0, 0, RIG_JOB, 3));
    CU_ASSERT(rig_heard[0] && !rig_heard[1]);
    rig_receive(1, rig_data(1, 1, RIG_JOB + 1, 4)); /* of no job */
    m = rig_data(1, 1, RIG_JOB, 4);
    at(rte_pktmbuf_mtod(m, uint8_t *))->eth.src_addr.addr_bytes[5] ^= 1; /* from elsewhere */
    rig_receive(1, m);
    rig_receive(1, rig_data(1, 2 * RIG_SLOTS, RIG_JOB, 4)); /* not due yet */
    CU_ASSERT(!rig_heard[1]);
    rig_receive(1, rig_data(1, 0, RIG_JOB, 4));
    CU_ASSERT(agg_heard_member(&rig_job.common, &sender));
    CU_ASSERT(!agg_heard_member(&rig_job.common, &sender));
    rig_receive(1, rig_data(1, 0, RIG_JOB, 4)); /* it asks again for the result */
    CU_ASSERT(agg_heard_member(&rig_job.common, &sender));
    rig_sent_all();
}

static struct rte_mempool *further_pool(const char *name)
{
    struct rte_mempool *pool =
        rte_pktmbuf_pool_create(name, 63, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

/* Rank 0's contribution, in a buffer of this pool. */
static void receive_in(struct rte_mempool *pool)
{
    struct rte_mbuf *m = rig_data(0, 0, RIG_JOB, 3);

    rig_receive(0, rte_pktmbuf_copy(m, pool, 0, UINT32_MAX));
    rte_pktmbuf_free(m);
}

/* As ports have that were added: whatever is kept of their few buffers is one less to receive into. */
TEST(no_frame_is_kept_that_lies_in_a_ports_own_buffer)
{
    struct rte_mempool *own = further_pool("own");
    uint8_t frame[2048];

    receive_in(own);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(own), 0);
    CU_ASSERT_EQUAL(verdicts(SML_HELD), 1);
    rig_receive(1, rig_data(1, 0, RIG_JOB, 4));
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, frame), 1);
    check_sum(frame, 0, 7);
    rig_sent_all();
    rig_anew(); /* nothing is of the other buffers */
    rte_mempool_free(own);
}

/* As on a machine with NICs on two nodes. */
TEST(frames_are_kept_that_lie_in_any_nodes_buffers)
{
    struct rte_mempool *far = further_pool("far");
    uint8_t frame[2048];

    rig_buffers.pool[rig_buffers.n++] = far;
    receive_in(far);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(far), 1);
    rig_receive(1, rig_data(1, 0, RIG_JOB, 4));
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, frame), 1);
    check_sum(frame, 0, 7);
    rig_sent_all();
    rig_anew();
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(far), 0);
    rte_mempool_free(far);
}

TEST(a_burst_is_worked_off_packet_by_packet)
{
    for (uint32_t tag = 0; tag < RIG_SLOTS; tag++) {
        fake_port_arrive(&rig_fake[0], 0, rig_data(0, tag, RIG_JOB, 1));
        fake_port_arrive(&rig_fake[0], 0, rig_data(0, tag, RIG_JOB + 1, 1));
        fake_port_arrive(&rig_fake[0], 0, rig_data(0, tag, RIG_JOB, 1));
        fake_port_arrive(&rig_fake[1], 0, rig_data(1, tag, RIG_JOB, 2));
    }
    CU_ASSERT_EQUAL(rig_round(), 4 * RIG_SLOTS);
    CU_ASSERT_EQUAL(verdicts(SML_HELD), RIG_SLOTS);
    CU_ASSERT_EQUAL(verdicts(SML_DROP_DUPLICATE), RIG_SLOTS);
    CU_ASSERT_EQUAL(verdicts(SML_SEND_ALL), RIG_SLOTS);
    CU_ASSERT_EQUAL(refused(SML_REFUSED_UNKNOWN_JOB), RIG_SLOTS);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 3 * RIG_SLOTS);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_RESULTS], RIG_MEMBERS * RIG_SLOTS);
}

TEST(a_mismatch_is_answered_to_its_sender)
{
    struct rte_mbuf *m = rig_data(1, 0, RIG_JOB, 4);
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);
    struct sml_packet p;
    uint8_t frame[2048];

    rig_receive(0, rig_data(0, 0, RIG_JOB, 3));
    CU_ASSERT_EQUAL(sml_parse(&p, f->payload, frame_payload_bytes(f)), SML_OK);
    p.e0 = AGG_SUM << 4 | AGG_I64;
    sml_build_header(f->payload, &p);
    f->udp.dgram_cksum = 0;
    rig_receive(1, m);
    CU_ASSERT_EQUAL(verdicts(SML_SEND_MISMATCH), 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_ANSWERS], 1);
    CU_ASSERT_EQUAL_FATAL(rig_sent(1, frame), 1);
    CU_ASSERT_EQUAL(sml_parse(&p, at(frame)->payload, frame_payload_bytes(at(frame))), SML_OK);
    CU_ASSERT_EQUAL(p.kind, SML_MISMATCH);
}

TEST(a_strangers_packet_is_dropped_by_name_and_answered)
{
    struct frame_end foreign = rig_station(0);
    const struct frame_end data_port = rig_switch(SML_PORT_FIRST);
    uint8_t frame[2048], payload[SML_HEADER_BYTES] = {0};

    rig_receive(0, rig_data(0, 0, RIG_JOB + 1, 1));
    CU_ASSERT_EQUAL(refused(SML_REFUSED_UNKNOWN_JOB), 1);
    rig_receive(0, rig_data(RIG_MEMBERS, 0, RIG_JOB, 1));
    CU_ASSERT_EQUAL(refused(SML_REFUSED_FOREIGN_SENDER), 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_REJECTS], 2);
    CU_ASSERT_EQUAL(rig_sent(0, frame), 2);
    CU_ASSERT_EQUAL(at(frame)->ip.dst_addr, rig_station(RIG_MEMBERS).ip);

    rig_receive(0, rig_frame(&foreign, &data_port, payload, 3));
    CU_ASSERT_EQUAL(refused(SML_REFUSED_TOO_SHORT), 1);
    payload[0] = 0xff;
    rig_receive(0, rig_frame(&foreign, &data_port, payload, sizeof(payload)));
    CU_ASSERT_EQUAL(refused(SML_REFUSED_BAD_KIND) + refused(SML_REFUSED_BAD_SIZE_CODE), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0); /* no answer */
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 0);
    CU_ASSERT_STRING_EQUAL(drop_name(drop_kind(AGG_PROTOCOL_SWITCHML, SML_REFUSED_UNKNOWN_JOB)),
                           "sml_unknown_job");
    CU_ASSERT_PTR_NULL(drop_name(drop_kind(AGG_PROTOCOL_SWITCHML, SML_HELD)));
}

TEST(a_members_address_from_another_mac_is_foreign)
{
    struct rte_mbuf *m = rig_data(0, 0, RIG_JOB, 1);

    rte_pktmbuf_mtod(m, struct frame_udp *)->eth.src_addr.addr_bytes[3] ^= 1;
    rig_receive(0, m);
    CU_ASSERT_EQUAL(refused(SML_REFUSED_FOREIGN_MAC), 1);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

TEST(a_slot_that_the_job_does_not_have_is_the_jobs_own_matter)
{
    const struct job_amiss *amiss = &rig_lane[rig.engine.lcore].amiss[AGG_AMISS - 1];
    struct rte_mbuf *m = rig_data(0, 0, RIG_JOB, 1);
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);
    struct sml_packet p;

    CU_ASSERT_EQUAL(sml_parse(&p, f->payload, frame_payload_bytes(f)), SML_OK);
    p.slot = RIG_SLOTS;
    sml_build_header(f->payload, &p);
    f->udp.dgram_cksum = 0;
    rig_receive(0, rig_data(1, 0, RIG_JOB, 4));
    rig_receive(0, m);
    CU_ASSERT_EQUAL(verdicts(SML_DROP_BAD_SLOT), 1);
    CU_ASSERT_EQUAL(amiss->n, 1);
    CU_ASSERT_EQUAL(amiss->reason, SML_DROP_BAD_SLOT);
    CU_ASSERT_EQUAL(amiss->rank, 0);
    CU_ASSERT_EQUAL(rig_drops(), 0);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 2);
}

TEST(answers_to_strangers_are_bounded)
{
    const struct frame_end from = rig_station(9), to = rig_switch(SML_PORT_FIRST);
    uint8_t question[100];

    path_build_question(question, sizeof(question), 1, 0);
    for (unsigned i = 0; i < 100; i++) {
        rig_receive(0, rig_frame(&from, &to, question, sizeof(question)));
        rig_receive(0, rig_data(9, 0, RIG_JOB, 1));
    }
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_PATH_ANSWERS] + rig_dropped(0, DROP_PATH_RATE), 100);
    CU_ASSERT_EQUAL(rig_sent_all(),
                    rig.counters.event[EVENT_PATH_ANSWERS] + rig.counters.event[EVENT_REJECTS]);
    CU_ASSERT(rig.counters.event[EVENT_PATH_ANSWERS] >= 1 && rig_dropped(0, DROP_PATH_RATE) >= 1);
    CU_ASSERT(rig.counters.event[EVENT_REJECTS] >= 1 && rig.counters.event[EVENT_REJECTS] < 100);
}

TEST(one_asker_leaves_answers_to_the_others)
{
    const struct frame_end flooder = rig_station(9), other = rig_station(8), to = rig_switch(SML_PORT_FIRST);
    uint8_t question[100];
    uint64_t answered;

    path_build_question(question, sizeof(question), 1, 0);
    for (unsigned i = 0; i < 500; i++)
        rig_receive(0, rig_frame(&flooder, &to, question, sizeof(question)));
    answered = rig.counters.event[EVENT_PATH_ANSWERS];
    CU_ASSERT(answered >= 16 && rig_dropped(0, DROP_PATH_RATE) > 0);
    rig_receive(0, rig_frame(&other, &to, question, sizeof(question)));
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_PATH_ANSWERS], answered + 1);
    rig_sent_all();
}

TEST(without_buffers_answers_are_lost_by_name)
{
    struct rte_mbuf *all[RIG_MBUFS + 1], *last = rig_data(1, 0, RIG_JOB, 4);
    unsigned n = 0;

    rig_receive(0, rig_data(0, 0, RIG_JOB, 3));
    while ((all[n] = rte_pktmbuf_alloc(rig_mbufs)) != NULL)
        n++;
    rig_receive(1, last);
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_NO_MBUF), 1);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_NO_MBUF), 1);
    rte_pktmbuf_free_bulk(all, n);
}

TEST(a_packet_of_another_lcores_shard_crosses_by_ring)
{
    rig_shards.owner[0] = 1;
    rig_shards.inbox[1] = rte_ring_create("inbox_1", 2, SOCKET_ID_ANY, RING_F_EXACT_SZ);
    for (unsigned i = 0; i < 3; i++)
        fake_port_arrive(&rig_fake[2], 0, rig_data(0, i, RIG_JOB, 1));
    rig_round();
    CU_ASSERT_EQUAL(rig_dropped(2, DROP_RING_FULL), 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_GRADIENTS], 0);
    rig.engine.lcore = 1;
    CU_ASSERT_EQUAL(engine_collect(&rig.engine), 2);
    CU_ASSERT_EQUAL(verdicts(SML_HELD), 2);
    rte_ring_free(rig_shards.inbox[1]);
}

/* Another protocol: packets of one byte that says what is to become of it. Its pool keeps one frame. */
static void *stored;
static uint64_t applied_at;

static const struct agg_reason other_reasons[] = {
    {"passed", "goes on, raised by one", AGG_PASS_ON, false},
    {"watched", "goes on as it came", AGG_PASS_AND_KEEP, false},
    {"stored", "goes on as it came, and is kept", AGG_PASS_AND_KEEP, false},
    {"returned", "goes back", AGG_REPLY, false},
    {"strange", "too short", AGG_DROP, true},
};

static void other_locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        p[i].job = agg_jobs_find(jobs, 0);
        p[i].slot = p[i].bytes > 0 ? &stored : NULL;
        p[i].reason = 4;
    }
}

static unsigned other_apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    unsigned i = 0;

    *v = (struct agg_verdict){.reason = 4};
    while (i < n && p[i].slot == NULL)
        i++;
    if (i == n)
        return n;
    applied_at = now;
    p[i].reason = p[i].payload[0] % 4;
    if (p[i].reason == 0)
        p[i].payload[0]++;
    v->reason = p[i].reason;
    v->action = other_reasons[v->reason].action;
    v->payload = p[i].payload;
    v->bytes = p[i].bytes;
    if (p[i].reason == 2 && p[i].buffer != NULL) {
        v->released = stored;
        stored = p[i].buffer;
        v->kept = true;
    }
    return i + 1;
}

static const struct agg_protocol other = {.name = "other",
                                          .id = OTHER,
                                          .reason = other_reasons,
                                          .reasons = 5,
                                          .locate = other_locate,
                                          .apply = other_apply};

/* From station 0, on port 0, to station 5, which was heard on port 2. It waits to be received. */
static void other_arrive(uint8_t what, size_t bytes)
{
    static struct job_lane lane[RIG_LCORES];
    static struct switch_job job = {.frames = 1000, .lane = lane, .common = {.protocol = &other}};
    static struct agg_jobs jobs = {.running = {&job.common}};
    const struct frame_end from = rig_station(0), to = rig_station(5);
    const struct classifier_rule flow = {.taker = CLASSIFIER_PROTOCOL, .protocol = OTHER};
    uint8_t payload[JOBS_ATTACH_FROM_BYTES] = {what};

    rig.engine.source[OTHER] = (struct engine_source){.table = &other, .jobs = &jobs};
    rig_classify(&to, &flow);
    bridge_learn(rig_bridge, to.mac.addr_bytes, 2);
    fake_port_arrive(&rig_fake[0], 0, rig_frame(&from, &to, payload, bytes));
}

static void other_receive(uint8_t what, size_t bytes)
{
    other_arrive(what, bytes);
    CU_ASSERT_EQUAL(rig_round(), 1);
}

static void check_onward(uint8_t first)
{
    const struct frame_end sender = rig_station(0), receiver = rig_station(5);
    uint8_t frame[2048];

    CU_ASSERT_EQUAL_FATAL(rig_sent(2, frame), 1);
    CU_ASSERT_EQUAL(at(frame)->ip.src_addr, rig_station(0).ip);
    CU_ASSERT_EQUAL(at(frame)->ip.dst_addr, rig_station(5).ip);
    CU_ASSERT(net_same_mac(&at(frame)->eth.dst_addr, &receiver.mac));
    CU_ASSERT(net_same_mac(&at(frame)->eth.src_addr, &sender.mac));
    CU_ASSERT_EQUAL(at(frame)->udp.src_port, rig_station(0).port);
    CU_ASSERT_EQUAL(at(frame)->payload[0], first);
    CU_ASSERT(rig_is_sound(frame));
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

TEST(a_packet_passes_on_rewritten)
{
    other_receive(0, 20);
    check_onward(1);
    CU_ASSERT_EQUAL(rig.counters.verdict[OTHER][0], 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_FORWARDED], 1);
    CU_ASSERT(applied_at == rig.engine.now);
}

TEST(a_packet_passes_on_and_a_copy_is_kept)
{
    other_receive(1, 20);
    check_onward(1);
    other_receive(2, JOBS_ATTACH_FROM_BYTES);
    check_onward(2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stored);
    CU_ASSERT_EQUAL(rte_mbuf_refcnt_read((struct rte_mbuf *)stored), 1); /* it has left: the pool's alone */
    other_receive(2, JOBS_ATTACH_FROM_BYTES); /* takes the place of the first, which is freed */
    check_onward(2);
    rte_pktmbuf_free(stored);
    stored = NULL;
    CU_ASSERT_EQUAL(rig.counters.verdict[OTHER][2], 2);
}

TEST(a_job_without_members_answers_whoever_asks)
{
    uint8_t frame[2048];

    other_receive(3, 20);
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, frame), 1);
    CU_ASSERT_EQUAL(at(frame)->ip.dst_addr, rig_station(0).ip);
    CU_ASSERT_EQUAL(at(frame)->payload[0], 3);
}

TEST(protocols_share_a_burst)
{
    fake_port_arrive(&rig_fake[0], 0, rig_data(0, 0, RIG_JOB, 1));
    other_arrive(1, 0); /* strange */
    fake_port_arrive(&rig_fake[1], 0, rig_data(1, 0, RIG_JOB, 1));
    CU_ASSERT_EQUAL(rig_round(), 3);
    CU_ASSERT_EQUAL(verdicts(SML_SEND_ALL), 1);
    CU_ASSERT_EQUAL(rig_dropped(0, drop_kind(OTHER, 4)), 1);
}

/* Runs the lcore at a time when pools are to be told it. */
static void tick(void)
{
    lcore_round(&rig, rig.send.now + ENGINE_TICK_NS);
}

TEST(pools_that_depend_on_time_are_told_it)
{
    uint8_t payload[TALLY_BYTES] = {0, 1, TALLY_FORGET};
    const struct frame_end from = rig_station(0), to = rig_station(5);
    struct agg_pool_config cfg = {.workers = 1, .terms = tally_terms(4)};
    struct switch_job job = {.common = {.protocol = &tally, .pool = aligned_alloc(64, 256)}};
    struct agg_jobs jobs = {.running = {&job.common}};
    const uint64_t *quiet = &rig.counters.verdict[TALLY][TALLY_QUIET];

    CU_ASSERT_EQUAL(engine_due_at(&rig.engine), UINT64_MAX); /* not with the rig's own job */
    tally.init(job.common.pool, &cfg);
    rig.engine.source[TALLY] = (struct engine_source){.table = &tally, .jobs = &jobs};
    tick();
    CU_ASSERT_EQUAL(engine_due_at(&rig.engine), rig.send.now + ENGINE_TICK_NS);
    for (unsigned slot = 1; slot < 3; slot++) {
        payload[1] = (uint8_t)slot;
        rig_steer(&rig.engine, TALLY, &tally.shard_key, 0, rig_frame(&from, &to, payload, sizeof(payload)));
    }
    rig_round();
    CU_ASSERT_EQUAL(rig.counters.verdict[TALLY][TALLY_FORGOTTEN], 2);
    lcore_round(&rig, rig.send.now + ENGINE_TICK_NS / 2); /* due, but nobody asks so often */
    CU_ASSERT_EQUAL(*quiet, 0);
    rig_shards = (struct shards){.n = 2, .owner = {0, 1}}; /* slot 1 is another lcore's now */
    tick();
    CU_ASSERT_EQUAL(*quiet, 1);
    rig_shards.owner[1] = 0;
    tick();
    CU_ASSERT_EQUAL(*quiet, 2);
    tick();
    CU_ASSERT_EQUAL(*quiet, 2); /* each once */
    free(job.common.pool);
}

static bool hurry_tick(const struct agg_job *job, unsigned shard, unsigned shards, uint64_t now,
                       struct agg_verdict *v)
{
    static const uint64_t all = UINT64_MAX;
    static const uint8_t words[20] = "hurry";
    const bool due = stored != NULL;

    (void)job;
    (void)shard;
    (void)shards;
    (void)now;
    *v = (struct agg_verdict){.action = AGG_TO_ALL,
                              .reason = 3,
                              .released = stored,
                              .payload = words,
                              .bytes = sizeof(words),
                              .wants = &all};
    stored = NULL;
    return due;
}

TEST(time_may_send_to_all_and_let_go_of_a_frame)
{
    const struct agg_protocol hurry = {.name = "hurry",
                                       .id = OTHER,
                                       .udp_ports = {.first = 7001, .last = 7001},
                                       .reason = other_reasons,
                                       .reasons = 5,
                                       .tick = hurry_tick};
    struct switch_job job = {
        .common = {.protocol = &hurry, .size = RIG_MEMBERS}, .lane = rig_lane, .member = rig_member};
    struct agg_jobs jobs = {.running = {&job.common}};
    uint8_t frame[2048];

    rig.engine.source[OTHER] = (struct engine_source){.table = &hurry, .jobs = &jobs};
    stored = rte_pktmbuf_alloc(rig_mbufs);
    tick();
    send_flush(&rig.send);
    for (unsigned r = 0; r < RIG_MEMBERS; r++) {
        CU_ASSERT_EQUAL_FATAL(rig_sent(r, frame), 1);
        CU_ASSERT_EQUAL(at(frame)->ip.dst_addr, rig_station(r).ip);
        CU_ASSERT_EQUAL(at(frame)->udp.src_port, RTE_BE16(7001));
        CU_ASSERT_STRING_EQUAL(at(frame)->payload, "hurry");
    }
    CU_ASSERT_EQUAL(rig.counters.verdict[OTHER][3], 1);
}
