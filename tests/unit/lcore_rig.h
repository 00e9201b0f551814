/* An lcore on fake ports, put together as datapath_lcores.c does it, and frames for it: a switch 10.0.0.254
 * with a job of two members, 10.0.0.1 on port 0 and 10.0.0.2 on port 1. One clock, the test's. */
#pragma once

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "fake_port.h"
#include "kernels_chosen.h"
#include "lcore/lcore.h"
#include "port/frame.h"
#include "switchml/protocol.h"
#include "switchml/reasons.h"
#include "switchml/terms.h"
#include "unit.h"
#include "wire/control.h"
#include "wire/path.h"
#include "wire/switchml.h"

enum {
    RIG_PORTS = 3,
    RIG_LCORES = 2,
    RIG_MEMBERS = 2,
    RIG_JOB = 5,
    RIG_SLOTS = 4,
    RIG_CHUNK = 1024,
    RIG_MBUFS = 4095,
    RIG_TURN_BYTES = 64 * (FRAME_HEADER_BYTES + SML_HEADER_BYTES + RIG_CHUNK + FAIR_FRAME_BYTES),
};

static const struct net_mac rig_mac = {{2, 0, 0, 0, 0, 0xfe}};
static const uint32_t rig_ip = RTE_BE32(0x0A0000FE);

static struct rte_mempool *rig_mbufs;
static struct buffers rig_buffers; /* those */
static struct port rig_port[RIG_PORTS];
static struct fake_port rig_fake[RIG_PORTS];
static void *rig_bridge;
static struct sighting rig_claim;
static struct loops rig_loops;
static struct inbox rig_inbox;
static struct classifier rig_classifier;
static struct shards rig_shards;
static struct agg_jobs rig_jobs;
static struct switch_job rig_job;
static struct job_member rig_member[RIG_MEMBERS];
static struct job_lane rig_lane[RIG_LCORES];
static bool rig_heard[RIG_MEMBERS];
static struct lcore rig;

/* Where rank r is; there are stations beyond the members. */
static inline struct frame_end rig_station(unsigned r)
{
    return (struct frame_end){.mac = {{2, 0, 0, 0, 1, (uint8_t)r}},
                              .ip = rte_cpu_to_be_32(0x0A000001u + r),
                              .port = RTE_BE16(40000)};
}

static inline struct frame_end rig_switch(uint16_t udp_port)
{
    return (struct frame_end){.mac = rig_mac, .ip = rig_ip, .port = rte_cpu_to_be_16(udp_port)};
}

static inline struct rte_mbuf *rig_frame(const struct frame_end *from, const struct frame_end *to,
                                         const void *payload, size_t bytes)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(rig_mbufs);
    const struct frame_payload body = frame_payload(payload, bytes, agg_kernels_scalar.ones_sum);
    struct frame_header h;

    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    frame_header_init(&h, from, to);
    frame_write(rte_pktmbuf_append(m, (uint16_t)(FRAME_HEADER_BYTES + bytes)), &h, from->port, &body);
    return m;
}

/* A contribution of i32, all of this value. */
static inline struct rte_mbuf *rig_data(unsigned rank, uint32_t tag, uint8_t job, int32_t value)
{
    const struct sml_packet p = {.kind = SML_DATA,
                                 .size_code = SML_SIZE_AGREED,
                                 .job = job,
                                 .tag = tag,
                                 .slot = sml_tag_slot(tag, RIG_SLOTS),
                                 .ver = sml_tag_ver(tag, RIG_SLOTS),
                                 .e0 = AGG_SUM << 4 | AGG_I32,
                                 .e1 = SML_FLAG_WANT};
    const struct frame_end from = rig_station(rank), to = rig_switch(SML_PORT_FIRST);
    uint8_t payload[SML_HEADER_BYTES + RIG_CHUNK];

    sml_build_header(payload, &p);
    for (unsigned i = 0; i < RIG_CHUNK; i += 4)
        memcpy(payload + SML_HEADER_BYTES + i, &(uint32_t){rte_cpu_to_be_32((uint32_t)value)}, 4);
    return rig_frame(&from, &to, payload, sizeof(payload));
}

/* What a job of the rig's members is made of. */
struct rig_job_parts {
    struct switch_job *job;
    struct job_lane *lane;  /* RIG_LCORES */
    struct agg_seat *seats; /* 2 * RIG_MEMBERS */
    bool *heard;            /* RIG_MEMBERS, or NULL */
};

static inline void rig_make_job(const struct rig_job_parts *parts, uint8_t number)
{
    const struct sml_terms t = {
        .format = XFER_FORMAT_TYPED, .mode = XFER_ON_ARRIVAL, .slots = RIG_SLOTS, .chunk_bytes = RIG_CHUNK};
    struct agg_pool_config cfg = {.job = number, .workers = RIG_MEMBERS, .kernels = kernels_or_exit()};
    const struct frame_end us = rig_switch(0);
    struct switch_job *job = parts->job;
    struct agg_footprint f;

    sml_terms_build(&cfg.terms, &t);
    CU_ASSERT_FATAL(sml_protocol.footprint(&cfg, &f));
    memset(parts->seats, 0, 2 * RIG_MEMBERS * sizeof(*parts->seats));
    memset(parts->lane, 0, RIG_LCORES * sizeof(*parts->lane));
    *job = (struct switch_job){
        .frames = 2 * RIG_SLOTS, .turn = RIG_TURN_BYTES, .lane = parts->lane, .member = rig_member};
    job->common = (struct agg_job){.protocol = &sml_protocol, .number = number, .size = RIG_MEMBERS};
    job->common.pool = sml_protocol.init(aligned_alloc(64, (f.bytes + 63) / 64 * 64), &cfg);
    job->common.seats = 2 * RIG_MEMBERS;
    job->common.seat = parts->seats;
    job->common.heard = parts->heard;
    for (uint16_t r = 0; r < RIG_MEMBERS; r++) {
        const struct frame_end there = rig_station(r);
        struct agg_sender sender = {.ip = there.ip, .port = there.port};

        memcpy(sender.mac, there.mac.addr_bytes, sizeof(sender.mac));
        agg_job_seat(&job->common, &sender, r, 0);
        frame_header_init(&rig_member[r].header, &us, &there);
        rig_member[r].mac = there.mac;
        rig_member[r].port = (uint8_t)r;
    }
    agg_jobs_set(&rig_jobs, number, &job->common);
}

static inline void rig_open_job(void)
{
    static struct agg_seat seats[2 * RIG_MEMBERS];

    memset(rig_heard, 0, sizeof(rig_heard));
    rig_make_job(&(struct rig_job_parts){&rig_job, rig_lane, seats, rig_heard}, RIG_JOB);
}

/* The rules of a switch that speaks SwitchML, and one more about what is sent to a station, unless it is
 * NULL. From the next burst on. */
static inline void rig_classify(const struct frame_end *to, const struct classifier_rule *more)
{
    static struct classifier_table t; /* large */
    const struct classifier_rule data = {
        .taker = CLASSIFIER_PROTOCOL, .protocol = AGG_PROTOCOL_SWITCHML, .key = sml_protocol.shard_key};
    const struct classifier_rule control = {.taker = CLASSIFIER_CONTROL};

    t = (struct classifier_table){.mac = rig.host.mac, .ip = rig.host.ip};
    CU_ASSERT(classifier_add_own(&t, SML_PORT_FIRST, SML_PORT_LAST, &data));
    CU_ASSERT(classifier_add_own(&t, CTL_PORT, CTL_PORT, &control));
    CU_ASSERT(to == NULL || classifier_add(&t, classifier_flow(0, to->ip, to->port), more));
    CU_ASSERT_FATAL(classifier_publish(&rig_classifier, &t) == 0);
}

static inline void rig_release(void *mbuf)
{
    rte_pktmbuf_free(mbuf);
}

/* What all of a program's tests share, once. */
static inline void rig_start(void)
{
    char lcore[32];
    char *args[] = {
        program_invocation_short_name, "--no-huge", "-m", "64", "--no-pci", "--no-shconf", "--no-telemetry",
        "--log-level=error",           lcore};

    if (rig_mbufs != NULL)
        return;
    snprintf(lcore, sizeof(lcore), "--lcores=0@%d", sched_getcpu());
    CU_ASSERT_FATAL(rte_eal_init(RTE_DIM(args), args) >= 0);
    rig_mbufs = rte_pktmbuf_pool_create("mbufs", RIG_MBUFS, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    rig_classifier.rcu = rte_zmalloc("rcu", rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
    CU_ASSERT_FATAL(rig_mbufs != NULL && rig_classifier.rcu != NULL &&
                    rte_rcu_qsbr_init(rig_classifier.rcu, 1) == 0);
}

static inline void rig_open(void)
{
    rig_start();
    for (unsigned p = 0; p < RIG_PORTS; p++)
        CU_ASSERT_FATAL(fake_port_init(&rig_port[p], &rig_fake[p], "fake", 1));
    rig_bridge = aligned_alloc(64, bridge_footprint(64));
    rig_claim = (struct sighting){0};
    rig_loops = (struct loops){.number = {101, 102, 103}, .window = rte_get_tsc_hz()};
    rig_shards = (struct shards){.n = 1, .owned = {1}};
    rig_buffers = (struct buffers){.n = 1, .pool = {rig_mbufs}};
    rig = (struct lcore){.pace = {.cycles_per_ms = 1000, .stall = 100000}};
    rig.send = (struct send){.port = rig_port,
                             .ports = RTE_BIT64(RIG_PORTS) - 1,
                             .counters = &rig.counters,
                             .mbufs = rig_mbufs,
                             .own = RTE_BIT64(RIG_PORTS) - 1};
    rig.host = (struct host){.mac = rig_mac,
                             .ip = rig_ip,
                             .mbufs = rig_mbufs,
                             .ones_sum = kernels_or_exit()->ones_sum,
                             .send = &rig.send,
                             .counters = &rig.counters};
    rig.engine = (struct engine){.shards = &rig_shards,
                                 .buffers = &rig_buffers,
                                 .source[AGG_PROTOCOL_SWITCHML] = {.table = &sml_protocol, .jobs = &rig_jobs},
                                 .counters = &rig.counters,
                                 .ns_per_cycle = 1,
                                 .egress = {.bridge = bridge_init(rig_bridge, 64, 1),
                                            .send = &rig.send,
                                            .counters = &rig.counters,
                                            .mbufs = rig_mbufs,
                                            .ones_sum = kernels_or_exit()->ones_sum,
                                            .multi_segment = true},
                                 .strangers = {.boot_id = 77, .data_ports = 1}};
    fair_init(&rig.engine.fair);
    strangers_init(&rig.engine.strangers, 1);
    rig.receive = (struct receive){.port = rig_port,
                                   .mbufs = rig_mbufs,
                                   .classifier = &rig_classifier,
                                   .bridge = rig_bridge,
                                   .claim = &rig_claim,
                                   .loops = &rig_loops,
                                   .host = &rig.host,
                                   .engine = &rig.engine,
                                   .to_control = &rig_inbox,
                                   .send = &rig.send,
                                   .counters = &rig.counters};
    ctl_intake_rules_init(&rig_inbox.rules, RIG_MEMBERS, 1);
    ctl_intake_init(&rig.receive.intake, &rig_inbox.rules);
    rig.send.now = rig.engine.now = rig.receive.now =
        rte_get_tsc_hz(); /* a second, in which nothing was answered */
    for (uint8_t p = 0; p < RIG_PORTS; p++)
        rig.receive.queue[rig.receive.queues++] = (struct port_queue_id){.port = p};
    CU_ASSERT_FATAL(inbox_open(&rig_inbox, RIG_PORTS) == 0);
    rig_classify(NULL, NULL);
    rig_open_job();
}

/* Everything comes back: no frame is lost, none is freed twice. */
static inline void rig_close(void)
{
    agg_jobs_set(&rig_jobs, RIG_JOB, NULL);
    sml_protocol.drain(rig_job.common.pool, rig_release);
    free(rig_job.common.pool);
    send_flush(&rig.send);
    inbox_close(&rig_inbox);
    classifier_free(&rig_classifier);
    for (unsigned p = 0; p < RIG_PORTS; p++)
        fake_port_close(&rig_port[p]);
    free(rig_bridge);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(rig_mbufs), 0);
}

/* As it was at first. */
static inline void rig_anew(void)
{
    rig_close();
    rig_open();
}

/* A UDP packet that has been sent: whether its checksums are right. */
static inline bool rig_is_sound(const uint8_t frame[2048])
{
    static const struct frame_found nothing = {NET_NOT_COMPARED, NET_NOT_COMPARED};

    return frame_check(frame, 2048, &nothing, agg_kernels_scalar.ones_sum) == NET_OK;
}

/* Hands the engine a frame that came in by this port. */
static inline void rig_steer(struct engine *engine, unsigned source, const struct agg_key_field *key,
                             unsigned port, struct rte_mbuf *m)
{
    struct facts f = {.m = m, .source = (uint8_t)source, .key = key}, *burst[] = {&f};

    engine_receive(engine, port, burst, 1);
}

/* All of this lcore's tasks once. */
static inline unsigned rig_round(void)
{
    return lcore_round(&rig, rig.send.now + 1000);
}

/* A frame comes in by this port, and is dealt with. */
static inline void rig_receive(unsigned port, struct rte_mbuf *m)
{
    fake_port_arrive(&rig_fake[port], 0, m);
    CU_ASSERT_EQUAL(rig_round(), 1);
}

/* How many frames have left by this port; *last: the first bytes of the last of them. */
static inline unsigned rig_sent(unsigned port, uint8_t last[2048])
{
    struct rte_mbuf *m;
    unsigned n = 0;

    for (; (m = fake_port_take(&rig_fake[port], 0)) != NULL; n++) {
        uint8_t copy[2048];
        const void *at = rte_pktmbuf_read(m, 0, rte_pktmbuf_pkt_len(m), copy);

        memcpy(last, at, rte_pktmbuf_pkt_len(m));
        rte_pktmbuf_free(m);
    }
    return n;
}

static inline unsigned rig_sent_all(void)
{
    uint8_t last[2048];
    unsigned n = 0;

    for (unsigned p = 0; p < RIG_PORTS; p++)
        n += rig_sent(p, last);
    return n;
}

static inline uint64_t rig_dropped(unsigned port, unsigned kind)
{
    return rig.counters.drop[port][kind];
}

static inline uint64_t rig_drops(void)
{
    uint64_t sum = 0;

    for (unsigned p = 0; p < RIG_PORTS; p++)
        for (unsigned kind = 0; kind < DROP_KINDS; kind++)
            sum += rig.counters.drop[p][kind];
    return sum;
}
