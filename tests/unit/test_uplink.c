/* A job that goes on to a switch above, in the daemon, without a network: the parent is found, messages and
 * packets go up and come down as frames. */
#include "registrar_rig.h"

#include <errno.h>
#include <stdlib.h>

#include "base/uplink_ports.h"
#include "bridge/neighbours.h"
#include "monotonic.h"
#include "net/arp.h"
#include "registry/registry_reload.h"
#include "terms_of.h"
#include "wire/path.h"

enum { PARENT = 9, ABOVE = 2 /* the parent's port */, PARENTS_JOB = 7, BODY = 64 };

static const struct agg_protocol *const spoken[] = {&sml_protocol};

static struct neighbours neighbours;
static struct uplinks uplinks;
static uint64_t ports;
static uint8_t frame[2048];

static const struct frame_udp *sent_frame(void)
{
    return (const struct frame_udp *)frame;
}

static uint8_t parent_mac; /* another last byte of its MAC address; 0: its first */

static struct frame_end parent(uint16_t udp_port)
{
    struct frame_end end = rig_station(PARENT);

    if (parent_mac != 0)
        end.mac.addr_bytes[5] = parent_mac;
    end.port = rte_cpu_to_be_16(udp_port);
    return end;
}

static void open_switch(void)
{
    parent_mac = 0;
    ports = RTE_BIT64(RIG_PORTS) - 1;
    rig_open();

    registrar_configure();
    cfg.has_ip = true;
    cfg.ip = rig_ip;
    cfg.uplinks = 1;
    cfg.uplink[0] = (struct config_uplink){
        .parent = parent(0).ip, .jobs = {.n = 1, .text = {"up-*"}}, .tenants = UINT64_MAX};
    neighbours = (struct neighbours){0};
    rig.host.neighbours = &neighbours;
    uplinks = (struct uplinks){.post = {.host = &rig.host, .bridge = rig_bridge},
                               .neighbours = &neighbours,
                               .port = rig_port,
                               .ports = &ports,
                               .probe_port = SML_PORT_FIRST};
    uplinks_init(&uplinks, &cfg);
    rig.engine.source[engine_from_members(AGG_PROTOCOL_SWITCHML)].jobs = &jobs.running[AGG_PROTOCOL_SWITCHML];
    rig.engine.source[engine_from_parent(AGG_PROTOCOL_SWITCHML, 0)] = (struct engine_source){
        .table = &sml_protocol, .jobs = &jobs.above[0][AGG_PROTOCOL_SWITCHML], .parent = true};
    rig.engine.egress.data_ports = DATA_PORTS;
    registrar_start(spoken, RTE_DIM(spoken), &uplinks);
}

EACH_TEST(open_switch, registrar_stop)

static void tick(void)
{
    registrar_tick(registrar);
    send_flush(&rig.send);
}

/* A payload that comes to a UDP port of ours. */
static struct rte_mbuf *to_us(const struct frame_end *from, uint16_t udp_port, const void *payload,
                              size_t bytes)
{
    const struct frame_end to = rig_switch(udp_port);

    return rig_frame(from, &to, payload, bytes);
}

static void to_control(const struct frame_end *from, unsigned port, uint16_t udp_port, const void *payload,
                       size_t bytes)
{
    struct rte_mbuf *m = to_us(from, udp_port, payload, bytes);

    m->port = (uint16_t)port;
    registrar_receive(registrar, m);
    send_flush(&rig.send);
}

/* The parent has answered ARP. */
static void find_parent(void)
{
    const struct frame_end end = parent(0);

    CU_ASSERT(neighbours_note(&neighbours, 0, end.ip, &end.mac, ABOVE, true));
}

/* ... and a path probe. */
static void find_path(void)
{
    const struct frame_end from = parent(SML_PORT_FIRST);
    uint8_t answer[1472];

    tick();
    rig_sent_all(); /* ARP */
    find_parent();
    tick();
    CU_ASSERT_EQUAL_FATAL(rig_sent(ABOVE, frame), 1);
    CU_ASSERT_EQUAL(sent_frame()->udp.dst_port, RTE_BE16(SML_PORT_FIRST));
    CU_ASSERT_EQUAL_FATAL(frame_payload_bytes(sent_frame()), sizeof(answer));
    memcpy(answer, sent_frame()->payload, sizeof(answer));
    path_answer(answer, 1);
    to_control(&from, ABOVE, UPLINK_CONTROL_PORT, answer, sizeof(answer));
}

TEST(the_parent_is_asked_for_and_then_the_path_to_it)
{
    tick();
    for (unsigned p = 0; p < RIG_PORTS; p++) {
        const struct frame_arp *f = (const void *)frame;

        CU_ASSERT_EQUAL_FATAL(rig_sent(p, frame), 1);
        CU_ASSERT(f->arp.operation == net16(NET_ARP_REQUEST) && f->arp.target_ip == parent(0).ip);
    }
    CU_ASSERT_EQUAL(uplinks_payload_bytes(&uplinks, 0), 0);
    find_path();
    CU_ASSERT_EQUAL(uplinks_payload_bytes(&uplinks, 0), 1472);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(others_are_no_parent)
{
    const struct frame_end other = rig_station(1), elsewhere = parent(5);
    const uint8_t payload[40] = "SWAG";

    to_control(&other, 1, UPLINK_CONTROL_PORT, payload, sizeof(payload));
    to_control(&elsewhere, 1, UPLINK_CONTROL_PORT, payload,
               sizeof(payload)); /* from another UDP port of it */
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_NOT_PARENT), 2);
}

static struct agg_terms terms(void)
{
    return terms_of((struct sml_terms){.format = XFER_FORMAT_TYPED, .slots = 16, .chunk_bytes = 1024});
}

/* Of rank 0 of 2. root_here: it wants to be summed here alone. */
static void join_at(const char *name, bool root_here)
{
    const struct frame_end from = rig_station(0);
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m = {
        .head = {.type = CTL_JOIN, .version = CTL_VERSION, .incarnation = 1000, .size = 2, .serial = 1},
        .join = {.data_port = rte_be_to_cpu_16(from.port), .root_here = root_here, .terms = terms()}};

    snprintf(m.join.name, sizeof(m.join.name), "%s", name);
    to_control(&from, 0, CTL_PORT, payload, ctl_build(payload, &m));
}

static void join(const char *name)
{
    join_at(name, false);
}

static struct ctl_message sent_by(unsigned port)
{
    struct ctl_message m = {0};

    CU_ASSERT_EQUAL_FATAL(rig_sent(port, frame), 1);
    CU_ASSERT_EQUAL(ctl_parse(&m, sent_frame()->payload, frame_payload_bytes(sent_frame())), CTL_PARSED);
    return m;
}

TEST(a_join_waits_for_the_way_and_then_goes_up)
{
    struct ctl_message m;

    join("up-1");
    CU_ASSERT_EQUAL(sent_by(0).head.type, CTL_PENDING);
    find_path();
    join("up-1");
    m = sent_by(ABOVE);
    CU_ASSERT_EQUAL(m.head.type, CTL_JOIN);
    CU_ASSERT(m.join.hops == 1 && m.join.host == rig_station(0).ip && m.join.via == rig_ip);
    CU_ASSERT_EQUAL(m.join.data_port, UPLINK_DATA_PORT);
    CU_ASSERT_EQUAL(sent_frame()->ip.dst_addr, parent(0).ip);
    CU_ASSERT_EQUAL(sent_frame()->udp.src_port, RTE_BE16(UPLINK_CONTROL_PORT));
    CU_ASSERT_EQUAL(sent_frame()->udp.dst_port, RTE_BE16(CTL_PORT));
    CU_ASSERT_EQUAL(uplinks.uplink[0].sent, 1);
}

TEST(a_job_that_fits_no_uplink_stays_here)
{
    struct ctl_message m;

    find_path();
    join("else");
    m = sent_by(0);
    CU_ASSERT(m.head.type == CTL_PENDING && m.head.boot_id != 0);
}

TEST(a_job_may_want_one_switch_only)
{
    struct ctl_message m;

    find_path();
    join_at("up-1", true);
    m = sent_by(0);
    CU_ASSERT(m.head.type == CTL_PENDING && m.head.boot_id != 0);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
}

/* The parent says that all ranks are there, of which rank 0 comes by us. Returns our job. */
static const struct switch_job *start_job(void)
{
    const struct frame_end from = parent(CTL_PORT);
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m = {.head = {.type = CTL_READY,
                                     .version = CTL_VERSION,
                                     .boot_id = 99,
                                     .incarnation = 1000,
                                     .epoch = 5,
                                     .size = 2,
                                     .serial = 1},
                            .ready = {.job = PARENTS_JOB,
                                      .data_port = SML_PORT_FIRST,
                                      .data_ports = 2,
                                      .lost_after_ms = 5000,
                                      .roster = 1,
                                      .terms = terms()}};

    find_path();
    join("up-1");
    sent_by(ABOVE);
    ctl_ranks_add(&m.ready.bundle, 0);
    to_control(&from, ABOVE, UPLINK_CONTROL_PORT, payload, ctl_build(payload, &m));
    m = sent_by(0);
    CU_ASSERT_EQUAL_FATAL(m.head.type, CTL_READY);
    CU_ASSERT(m.head.boot_id != 99 && m.ready.data_ports == DATA_PORTS);
    return jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, m.ready.job);
}

/* A packet of chunk 1, whose elements are all `value`. */
static size_t data(uint8_t job, int32_t value, uint8_t payload[SML_HEADER_BYTES + BODY])
{
    const struct sml_packet p = {.kind = SML_DATA,
                                 .size_code = SML_SIZE_AGREED,
                                 .job = job,
                                 .tag = 1,
                                 .slot = 1,
                                 .e0 = AGG_SUM << 4 | AGG_I32,
                                 .e1 = SML_FLAG_WANT};

    sml_build_header(payload, &p);
    for (unsigned i = 0; i < BODY; i += 4)
        memcpy(payload + SML_HEADER_BYTES + i, &(uint32_t){rte_cpu_to_be_32((uint32_t)value)}, 4);
    return SML_HEADER_BYTES + BODY;
}

static void contribute(const struct switch_job *job)
{
    const struct frame_end from = rig_station(0);
    uint8_t payload[SML_HEADER_BYTES + BODY];
    const size_t bytes = data(job->common.number, 3, payload);

    rig_steer(&rig.engine, engine_from_members(AGG_PROTOCOL_SWITCHML), &sml_protocol.shard_key, 0,
              to_us(&from, SML_PORT_FIRST, payload, bytes));
    rig_round();
}

/* The parent's packet for its job of this number. */
static void come_down(uint8_t number, int32_t value)
{
    const struct frame_end from = parent(SML_PORT_FIRST + 1);
    uint8_t payload[SML_HEADER_BYTES + BODY];
    const size_t bytes = data(number, value, payload);

    rig_steer(&rig.engine, engine_from_parent(AGG_PROTOCOL_SWITCHML, 0), &sml_protocol.shard_key, ABOVE,
              to_us(&from, UPLINK_DATA_PORT, payload, bytes));
    rig_round();
}

TEST(a_sum_goes_up_and_the_result_comes_down)
{
    const struct switch_job *job;

    job = start_job();
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT(job->parent != NULL && job->parent->number == PARENTS_JOB && job->common.size == 1);

    contribute(job);
    CU_ASSERT_EQUAL_FATAL(rig_sent(ABOVE, frame), 1);
    CU_ASSERT_EQUAL(sent_frame()->ip.dst_addr, parent(0).ip);
    CU_ASSERT_EQUAL(sent_frame()->udp.src_port, RTE_BE16(UPLINK_DATA_PORT));
    CU_ASSERT_EQUAL(sent_frame()->udp.dst_port, RTE_BE16(SML_PORT_FIRST + 1)); /* slot 1 of 2 ports */
    CU_ASSERT_EQUAL(sent_frame()->payload[1], PARENTS_JOB);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);

    come_down(PARENTS_JOB, 10);
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, frame), 1);
    CU_ASSERT_EQUAL(sent_frame()->udp.src_port, RTE_BE16(SML_PORT_FIRST + 1)); /* slot 1 of 4 */
    CU_ASSERT_EQUAL(sent_frame()->payload[1], job->common.number);
    CU_ASSERT_EQUAL(sent_frame()->payload[SML_HEADER_BYTES + 3], 10);
    CU_ASSERT_EQUAL(rig.counters.uplink[0][UPLINK_SENT], 1);
    CU_ASSERT_EQUAL(rig.counters.uplink[0][UPLINK_SENT_BYTES], SML_HEADER_BYTES + BODY);
    CU_ASSERT_EQUAL(rig.counters.uplink[0][UPLINK_RECEIVED], 1);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(what_comes_down_for_no_job_is_dropped_without_an_answer)
{
    start_job();
    come_down(PARENTS_JOB + 1, 10);
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    CU_ASSERT_EQUAL(rig_drops(), 1);
    CU_ASSERT_EQUAL(rig.counters.uplink[0][UPLINK_RECEIVED], 0);
}

/* What rank 0 says while the job runs goes up; and the parent says that all is well. */
static void beat(uint32_t serial)
{
    const struct frame_end from = rig_station(0), above = parent(CTL_PORT);
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m = {.head = {.type = CTL_HEARTBEAT,
                                     .version = CTL_VERSION,
                                     .boot_id = 99,
                                     .incarnation = 1000,
                                     .epoch = 5,
                                     .size = 2,
                                     .serial = serial}};

    to_control(&from, 0, CTL_PORT, payload, ctl_build(payload, &m));
    m.head.type = CTL_ALIVE;
    to_control(&above, ABOVE, UPLINK_CONTROL_PORT, payload, ctl_build(payload, &m));
    rig_sent_all();
}

/* From its next answer on. */
TEST(sums_follow_a_parent_with_another_mac_address)
{
    const struct switch_job *job;
    struct net_mac mac;

    job = start_job();
    parent_mac = 0x77;
    mac = parent(0).mac;
    beat(2);
    contribute(job);
    CU_ASSERT_EQUAL_FATAL(rig_sent(ABOVE, frame), 1);
    CU_ASSERT(net_same_mac(&sent_frame()->eth.dst_addr, &mac));
    come_down(PARENTS_JOB, 10);
    CU_ASSERT_EQUAL_FATAL(rig_sent(0, frame), 1);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

/* Nothing goes to it until it is found again; then the job goes on. */
TEST(a_job_outlives_the_port_toward_its_parent)
{
    const struct switch_job *job;
    struct net_mac mac;
    uint8_t port;

    job = start_job();
    uplinks_cut(&uplinks, 0, "h0");
    CU_ASSERT(uplinks_find(&uplinks, 0, &mac, &port)); /* that was another port */
    registrar_cut(registrar, ABOVE, "uplink");
    CU_ASSERT(!uplinks_find(&uplinks, 0, &mac, &port));
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    tick();
    for (unsigned p = 0; p < RIG_PORTS; p++)
        CU_ASSERT_EQUAL(rig_sent(p, frame), 1); /* it is asked for everywhere, at once */
    find_parent();
    beat(2);
    contribute(job);
    CU_ASSERT_EQUAL(rig_sent(ABOVE, frame), 1);
    come_down(PARENTS_JOB, 10);
    CU_ASSERT_EQUAL(rig_sent(0, frame), 1);
}

/* A polling lcore may note it there between uplinks_cut and the port's end. */
TEST(a_parent_that_is_heard_on_a_port_about_to_go_is_asked_for_elsewhere)
{
    struct net_mac mac;
    uint8_t port;

    find_path();
    registrar_cut(registrar, ABOVE, "uplink");
    find_parent();
    rig_sent_all();
    ports &= ~RTE_BIT64(ABOVE);
    tick();
    for (unsigned p = 0; p < RIG_PORTS; p++)
        CU_ASSERT_EQUAL(rig_sent(p, frame), p != ABOVE);
    CU_ASSERT(!uplinks_find(&uplinks, 0, &mac, &port));
}

/* A job of the configuration with rank 0's address and UDP port. */
static struct config_static fixed_job(void)
{
    return (struct config_static){
        .common = {.name = "fixed", .workers = 1},
        .threads = 1,
        .worker = {{.ip = rig_station(0).ip, .port = rte_be_to_cpu_16(rig_station(0).port)}}};
}

TEST(nobody_joins_a_job_above_from_a_static_worker_s_port)
{
    const uint8_t number = registrar_open_fixed(rig_station(0).port, 1);
    struct ctl_message m;

    find_path();
    join("up-1");
    m = sent_by(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.failure.text, "of job fixed in the switch's configuration"));
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, number);
    join("up-1");
    CU_ASSERT_EQUAL(sent_by(ABOVE).head.type, CTL_JOIN);
}

TEST(no_new_static_job_takes_the_port_of_a_rank_whose_job_goes_on)
{
    static const int tenant[] = {0};
    static struct config next;
    const struct static_jobs_change change = {&cfg, &next, tenant};

    next = cfg;
    next.static_jobs = 1;
    next.static_job[0] = fixed_job();
    CU_ASSERT_EQUAL(static_jobs_check_senders(&registrar->common, &change), 0);
    start_job();
    CU_ASSERT_EQUAL(static_jobs_check_senders(&registrar->common, &change), -EBUSY);
}

TEST(a_reload_knows_the_tenants_of_jobs_that_go_on)
{
    struct settings_changes list = {0};
    struct registry_change c = {.next = &cfg, .list = &list};

    c.host = &registrar->common;
    CU_ASSERT_EQUAL(registry_host_tenants(&registrar->common), 0);
    start_job();
    CU_ASSERT_EQUAL(registry_host_tenants(&registrar->common), 1);
    CU_ASSERT_EQUAL_FATAL(registry_change_prepare(&c), 0);
    registrar_take(registrar, &c);
    registry_change_forget(&c);
    CU_ASSERT(registry_host_end(&registrar->common, REGISTRY_HOST_DRAIN, 0, "up-1", monotonic_ns()));
    CU_ASSERT(registry_host_end(&registrar->common, REGISTRY_HOST_KILL, 0, "up-1", monotonic_ns()));
    CU_ASSERT(!registry_host_end(&registrar->common, REGISTRY_HOST_KILL, 0, "up-1", monotonic_ns()));
}

/* Its job may begin after the reload, as that tenant's. */
TEST(a_reload_knows_the_tenants_of_ranks_that_join)
{
    find_path();
    join("up-1");
    sent_by(ABOVE);
    CU_ASSERT_EQUAL(registry_host_tenants(&registrar->common), 1);
}

TEST(a_job_that_has_ended_is_found_neither_way)
{
    const struct switch_job *job;
    uint8_t number;

    job = start_job();
    number = job->common.number;
    CU_ASSERT_PTR_EQUAL(agg_jobs_find(&jobs.above[0][AGG_PROTOCOL_SWITCHML], PARENTS_JOB), &job->common);
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, number);
    CU_ASSERT_PTR_NULL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, number));
    CU_ASSERT_PTR_NULL(agg_jobs_find(&jobs.above[0][AGG_PROTOCOL_SWITCHML], PARENTS_JOB));
}
