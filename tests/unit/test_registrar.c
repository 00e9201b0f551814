/* The registry in the daemon, without a network: messages come and go as frames, jobs become pools. */
#include "registrar_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "control/guard.h"
#include "key_file.h"
#include "monotonic.h"
#include "registry/registry_reload.h"
#include "sodium_keys.h"
#include "tally.h"
#include "terms_of.h"
#include "wire/seal.h"

static const struct agg_protocol *const spoken[] = {&sml_protocol, &tally};

static uint32_t epoch; /* of the READY that was sent last */

static void set_up(void)
{
    registrar_start(spoken, RTE_DIM(spoken), NULL);
}

static void open_registrar(void)
{
    log_set_level(LOG_LEVEL_ERROR);
    rig_open();
    registrar_configure();
    set_up();
}

EACH_TEST(open_registrar, registrar_stop)

static struct agg_terms switchml_terms(void)
{
    return terms_of((struct sml_terms){.format = XFER_FORMAT_TYPED, .slots = 64, .chunk_bytes = 1024});
}

/* What the switch shows the station of rank r. */
static uint64_t boot_id_for(unsigned r)
{
    const struct ctl_guard guard = {.library = keys_sodium()};
    const struct ctl_endpoint at = {.ip = rig_station(r).ip};

    return ctl_guard_boot_id(&guard, BOOT, &at);
}

/* Rank r is the process at station r, and heard on port r. */
static struct ctl_message message(uint8_t type, uint16_t rank, uint16_t size)
{
    static uint32_t serial;

    return (struct ctl_message){.head = {.type = type,
                                         .version = CTL_VERSION,
                                         .boot_id = boot_id_for(rank),
                                         .incarnation = 1000u + rank,
                                         .epoch = type == CTL_JOIN ? 0 : epoch,
                                         .rank = rank,
                                         .size = size,
                                         .serial = ++serial}};
}

static struct rte_mbuf *frame_of(uint16_t rank, const void *payload, size_t bytes)
{
    const struct frame_end from = rig_station(rank), to = rig_switch(CTL_PORT);
    struct rte_mbuf *m = rig_frame(&from, &to, payload, bytes);

    m->port = rank;
    return m;
}

static struct rte_mbuf *frame_with(const struct ctl_message *m)
{
    uint8_t payload[CTL_MESSAGE_MAX];

    return frame_of(m->head.rank, payload, ctl_build(payload, m));
}

static void receive(const struct ctl_message *m)
{
    registrar_receive(registrar, frame_with(m));
    send_flush(&rig.send);
}

static struct rte_mbuf *join_frame(uint16_t rank, uint16_t size, const char *name,
                                   const struct agg_terms *terms)
{
    struct ctl_message m = message(CTL_JOIN, rank, size);

    m.join = (struct ctl_join){.data_port = (uint16_t)(5000 + rank), .terms = *terms};
    snprintf(m.join.name, sizeof(m.join.name), "%s", name);
    return frame_with(&m);
}

static void join_as(uint16_t rank, uint16_t size, const struct agg_terms *terms)
{
    registrar_receive(registrar, join_frame(rank, size, "j", terms));
    send_flush(&rig.send);
}

static void join(uint16_t rank, uint16_t size)
{
    const struct agg_terms terms = switchml_terms();

    join_as(rank, size, &terms);
}

/* The only message that has left by this port, to rank r, in a frame without a fault. */
static struct ctl_message sent_by(unsigned port, unsigned rank)
{
    const struct frame_end to = rig_station(rank);
    const struct frame_udp *f;
    struct ctl_message m = {0};
    uint8_t frame[2048];

    CU_ASSERT_EQUAL_FATAL(rig_sent(port, frame), 1);
    f = (const struct frame_udp *)frame;
    CU_ASSERT(net_same_mac(&f->eth.dst_addr, &to.mac) && net_same_mac(&f->eth.src_addr, &rig_mac));
    CU_ASSERT_EQUAL(f->ip.src_addr, rig_ip);
    CU_ASSERT_EQUAL(f->udp.src_port, RTE_BE16(CTL_PORT));
    CU_ASSERT_EQUAL(f->udp.dst_port, to.port);
    CU_ASSERT(rig_is_sound(frame) && f->ip.dst_addr == to.ip);
    CU_ASSERT_EQUAL(ctl_parse(&m, f->payload, frame_payload_bytes(f)), CTL_PARSED);
    CU_ASSERT_EQUAL(m.head.rank, rank);
    CU_ASSERT_EQUAL(m.head.boot_id, boot_id_for(rank));
    if (m.head.type == CTL_READY)
        epoch = m.head.epoch;
    return m;
}

static struct ctl_message sent(unsigned rank)
{
    return sent_by(rank, rank);
}

static const struct switch_job *start_pair(void)
{
    struct ctl_message ready;

    join(0, 2);
    CU_ASSERT_EQUAL(sent(0).head.type, CTL_PENDING);
    join(1, 2);
    ready = sent(0);
    CU_ASSERT_EQUAL(ready.head.type, CTL_READY);
    CU_ASSERT_EQUAL(sent(1).head.type, CTL_READY);
    return jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, ready.ready.job);
}

TEST(a_message_is_answered_in_a_frame)
{
    struct ctl_message m;

    join(1, 2);
    m = sent(1);
    CU_ASSERT_EQUAL(m.head.type, CTL_PENDING);
    CU_ASSERT_EQUAL(m.pending.missing.word[0], 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_CONTROL_RECEIVED], 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_CONTROL_SENT], 1);
    CU_ASSERT_EQUAL(rig_drops(), 0);
}

TEST(an_answer_goes_where_its_station_was_heard_last)
{
    bridge_learn(rig_bridge, rig_station(1).mac.addr_bytes, 2);
    join(1, 2);
    CU_ASSERT_EQUAL(sent_by(2, 1).head.type, CTL_PENDING);
}

TEST(a_job_whose_ranks_are_there_has_a_pool)
{
    const struct agg_seat *seat;
    const struct switch_job *job;
    struct sml_terms granted;
    struct ctl_message m;

    join(0, 2);
    sent(0);
    CU_ASSERT_EQUAL(jobs.bytes, 0);
    join(1, 2);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_READY);
    CU_ASSERT_EQUAL(m.ready.data_port, SML_PORT_FIRST);
    CU_ASSERT_EQUAL(m.ready.data_ports, DATA_PORTS);
    CU_ASSERT_FATAL(sml_terms_parse(&granted, &m.ready.terms));
    CU_ASSERT(granted.slots == 16 && granted.chunk_bytes == 1024); /* pool.slots_per_job */
    m = sent(1);
    CU_ASSERT_EQUAL(m.head.type, CTL_READY);

    job = jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, m.ready.job);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT(job->common.protocol == &sml_protocol && job->common.size == 2);
    CU_ASSERT(job->frames == 2 * 16 && jobs.bytes > 0);
    CU_ASSERT_EQUAL(job->founder, rig_station(0).ip);
    for (uint16_t r = 0; r < 2; r++) {
        const struct agg_sender sender = {.ip = rig_station(r).ip, .port = rte_cpu_to_be_16(5000 + r)};

        seat = agg_job_find(&job->common, &sender);
        CU_ASSERT_PTR_NOT_NULL_FATAL(seat);
        CU_ASSERT_EQUAL(seat->rank, r);
        CU_ASSERT_EQUAL(job->member[r].port, r);
    }
}

/* With nothing but its table. */
TEST(a_job_may_be_of_any_protocol_that_is_spoken)
{
    const struct agg_terms terms = tally_terms(100);
    const struct switch_job *job;
    struct ctl_message m;

    join_as(0, 1, &terms);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_READY);
    CU_ASSERT_EQUAL(m.ready.data_port, tally.udp_ports.first);
    CU_ASSERT_EQUAL(m.ready.data_ports, 1); /* it has no more */
    CU_ASSERT_EQUAL(tally_slots(&m.ready.terms), 16);
    job = jobs_find(&jobs, TALLY, m.ready.job);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT_PTR_EQUAL(job->common.protocol, &tally);
    CU_ASSERT_PTR_NULL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, m.ready.job));
    m = message(CTL_LEAVE, 0, 1);
    receive(&m);
    CU_ASSERT_EQUAL(sent(0).head.type, CTL_LEFT);
    CU_ASSERT_PTR_NULL(jobs_find(&jobs, TALLY, 0));
}

TEST(a_job_that_memory_has_no_room_for_fails)
{
    struct ctl_message m;

    jobs.bytes_max = 4096;
    join(0, 1);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_ABORTED);
    CU_ASSERT_EQUAL(m.failure.reason, CTL_NO_SLOTS);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.failure.text, "are free (3/4 of pool.megabytes)"));
    CU_ASSERT(jobs.bytes == 0 && jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, 0) == NULL);
}

/* One rank of so many says that all of them are back. */
static void come_back(uint16_t rank, uint16_t size)
{
    struct sml_terms wish = {.format = XFER_FORMAT_TYPED, .slots = 16, .chunk_bytes = 1024, .resumed = true};
    struct ctl_message m = message(CTL_JOIN, rank, size);

    m.join = (struct ctl_join){.data_port = (uint16_t)(5000 + rank), .resume = true, .name = "j"};
    sml_terms_build(&m.join.terms, &wish);
    for (uint16_t r = 0; r < size; r++)
        m.join.roster ^= 1000u + r;
    receive(&m);
}

/* Whoever says that he comes back leaves a quarter to others as long as he speaks from one address. */
TEST(what_comes_back_counts_against_its_one_host)
{
    struct ctl_message m;

    come_back(0, 1);
    m = sent(0);
    CU_ASSERT_EQUAL_FATAL(m.head.type, CTL_READY);
    CU_ASSERT_EQUAL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, m.ready.job)->founder, rig_station(0).ip);
    registrar_stop();
    open_registrar();
    come_back(0, 2);
    sent(0);
    come_back(1, 2);
    CU_ASSERT_EQUAL(sent(0).head.type, CTL_READY);
    m = sent(1);
    CU_ASSERT_EQUAL_FATAL(m.head.type, CTL_READY);
    CU_ASSERT_EQUAL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, m.ready.job)->founder, 0);
}

TEST(a_job_beyond_the_limits_is_refused)
{
    struct ctl_message m;

    join(0, 3);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_REFUSED);
    CU_ASSERT_EQUAL(m.failure.reason, CTL_BAD_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(m.failure.text, "3 ranks are more than the switch's limits.workers, 2");
}

TEST(jobs_of_the_file_count_against_their_tenant_s_quota)
{
    const struct agg_terms terms = switchml_terms();
    struct ctl_message m;

    registrar_close(registrar);
    cfg.static_jobs = cfg.hostagg_jobs = cfg.clone_jobs = cfg.replays = 1; /* all tenant 0's */
    cfg.tenant[0].quota.jobs = 5;
    set_up();
    join(0, 2);
    CU_ASSERT_EQUAL(sent(0).head.type, CTL_PENDING);
    registrar_receive(registrar, join_frame(1, 2, "k", &terms));
    send_flush(&rig.send);
    m = sent(1);
    CU_ASSERT_EQUAL(m.head.type, CTL_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.failure.text, ": 4 in the switch's configuration, j"));
}

/* One thread of rank 0's station, from the port where rank 0 says that its data comes from. */
TEST(nobody_joins_from_a_static_worker_s_port)
{
    const uint8_t number = registrar_open_fixed(RTE_BE16(4999), 2);
    struct ctl_message m;

    join(0, 2);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_REFUSED);
    CU_ASSERT_EQUAL(m.failure.reason, CTL_NOT_ADMITTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.failure.text, "UDP port 5000 of "));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(m.failure.text, " is worker 0's of job fixed in the switch's configuration"));
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, number);
    start_pair();
}

/* Two jobs that an operator could not tell apart. */
TEST(nobody_joins_by_the_name_of_a_static_job)
{
    struct ctl_message m;

    cfg.static_jobs = 1;
    strcpy(cfg.static_job[0].common.name, "j");
    join(0, 2);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_REFUSED);
    CU_ASSERT_EQUAL(m.failure.reason, CTL_NOT_ADMITTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.failure.text, "a job of this name is in the switch's configuration"));
    strcpy(cfg.static_job[0].common.name, "other");
    start_pair();
}

/* What a reload says to a static job whose worker has so many UDP ports of this station. */
static int add_static(unsigned station, unsigned network, unsigned port, unsigned threads)
{
    static const int tenant[] = {0};
    static struct config next;
    struct config_static *s = &next.static_job[0];

    next = cfg;
    next.static_jobs = 1;
    *s = (struct config_static){.common = {.name = "fixed", .network = (uint8_t)network, .workers = 2},
                                .threads = threads};
    s->worker[1] = (struct config_peer){.ip = rig_station(station).ip, .port = port};
    return static_jobs_check_senders(&registrar->common, &(struct static_jobs_change){&cfg, &next, tenant});
}

TEST(no_new_static_job_takes_a_joined_rank_s_port)
{
    join(0, 2);
    sent(0);
    CU_ASSERT_EQUAL(add_static(0, 0, 5000, 1), -EBUSY); /* its job is still forming */
    CU_ASSERT_EQUAL(add_static(1, 0, 5001, 1), 0);
    join(1, 2);
    sent(0);
    sent(1);
    CU_ASSERT_EQUAL(add_static(1, 0, 5001, 1), -EBUSY);
    CU_ASSERT_EQUAL(add_static(1, 0, 4999, 3), -EBUSY);
    CU_ASSERT_EQUAL(add_static(1, 0, 4999, 2), 0);
    CU_ASSERT_EQUAL(add_static(1, 0, 5002, 3), 0);
    CU_ASSERT_EQUAL(add_static(1, 1, 5001, 1), 0); /* in another network */
    CU_ASSERT_EQUAL(add_static(2, 0, 5001, 1), 0);
    CU_ASSERT(registry_host_end(&registrar->common, REGISTRY_HOST_KILL, 0, "j", monotonic_ns()));
    send_flush(&rig.send);
    rig_sent_all();
    CU_ASSERT_EQUAL(add_static(1, 0, 5001, 1), 0);
}

TEST(a_job_ends_with_its_members)
{
    const struct switch_job *job;
    struct ctl_message m;
    uint8_t number;

    job = start_pair();
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    number = job->common.number;
    for (uint16_t r = 0; r < 2; r++) {
        CU_ASSERT_PTR_NOT_NULL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, number));
        m = message(CTL_LEAVE, r, 2);
        receive(&m);
        CU_ASSERT_EQUAL(sent(r).head.type, CTL_LEFT);
    }
    CU_ASSERT_PTR_NULL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, number));
    CU_ASSERT_EQUAL(jobs.bytes, 0);
    job = start_pair();
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT_NOT_EQUAL(job->common.number, number); /* late packets of the first meet nobody */
}

TEST(an_abort_ends_the_job_of_all)
{
    struct ctl_message m;

    CU_ASSERT_PTR_NOT_NULL_FATAL(start_pair());
    m = message(CTL_ABORT, 1, 2);
    m.failure = (struct ctl_failure){.reason = CTL_APPLICATION, .rank = 1, .text = "had enough"};
    receive(&m);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_ABORTED);
    CU_ASSERT_STRING_EQUAL(m.failure.text, "had enough");
    CU_ASSERT_EQUAL(sent(1).head.type, CTL_ABORTED);
    CU_ASSERT_EQUAL(jobs.bytes, 0);
}

static struct settings_changes changes; /* in the keys, by the last reload */

/* Another configuration; cfg is what runs. */
static int reload(struct config *next, const int tenant[])
{
    struct registry_change c = {.host = &registrar->common, .next = next, .list = &changes};
    int rc;

    memcpy(c.tenant, tenant, cfg.tenants * sizeof(tenant[0]));
    memset(&changes, 0, sizeof(changes));
    rc = registry_change_prepare(&c);
    if (rc == 0) {
        cfg = *next;
        registrar_take(registrar, &c);
    }
    registry_change_forget(&c);
    return rc;
}

/* A job runs, and one more is forming, while the switch gets room for fewer and larger ones. */
TEST(jobs_go_on_under_another_configuration)
{
    static const int tenant[] = {1};
    const struct agg_terms terms = switchml_terms();
    struct config next;
    struct ctl_message m;

    registrar_close(registrar);
    cfg.limits.workers = 3;
    set_up();
    join(0, 2);
    rig_sent_all();
    join(1, 2);
    CU_ASSERT(sent(0).head.type == CTL_READY && sent(1).head.type == CTL_READY);
    registrar_receive(registrar, join_frame(2, 3, "k", &terms));
    send_flush(&rig.send);
    rig_sent_all();
    CU_ASSERT_EQUAL(registry_host_tenants(&registrar->common), 1);
    next = cfg;
    next.limits.jobs = 1;
    CU_ASSERT_EQUAL(reload(&next, tenant), -EBUSY);
    next.limits.jobs = 2;
    next.limits.workers = 2;
    CU_ASSERT_EQUAL(reload(&next, tenant), -EBUSY);
    next.limits.workers = 8;
    next.tenants = 2;
    next.tenant[1] = next.tenant[0];
    next.tenant[0] = (struct config_tenant){.name = "nobody"};
    CU_ASSERT_EQUAL(reload(&next, tenant), 0);
    CU_ASSERT_EQUAL(registry_host_tenants(&registrar->common), 2);

    m = message(CTL_HEARTBEAT, 0, 2);
    receive(&m);
    CU_ASSERT_EQUAL(sent(0).head.type, CTL_ALIVE);
    CU_ASSERT_EQUAL(jobs.count, 1);
    m = message(CTL_ABORT, 0, 2);
    strcpy(m.failure.text, "had enough");
    receive(&m);
    rig_sent_all();
}

/* Where the bridge knows a member, whatever it said when it joined. Other jobs go on. */
TEST(a_port_is_cut_off)
{
    const struct agg_terms terms = switchml_terms();

    join(0, 2);
    rig_sent_all();
    join(1, 2);
    rig_sent_all();
    registrar_receive(registrar, join_frame(2, 2 + 1, "k", &terms));
    send_flush(&rig.send);
    rig_sent_all();
    bridge_learn(rig_bridge, rig_station(1).mac.addr_bytes, 2);
    registrar_cut(registrar, 1, "p1");
    CU_ASSERT_EQUAL(rig_sent_all(), 0);
    registrar_cut(registrar, 2, "p2");
    CU_ASSERT_STRING_EQUAL(sent(0).failure.text,
                           "rank 1 (10.0.0.2) was on port p2, which the switch's operator has removed");
    CU_ASSERT_EQUAL(jobs.bytes, 0);
    rig_sent_all();
}

static void write_key_file(char path[32], char digit)
{
    char digits[2 * KEYS_SECRET_BYTES];
    int fd;

    strcpy(path, "/tmp/swagg-key-XXXXXX");
    memset(digits, digit, sizeof(digits));
    fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, digits, sizeof(digits)), (ssize_t)sizeof(digits));
    close(fd);
}

/* A JOIN of rank r, sealed. */
static void join_sealed(uint16_t rank, const struct keys_key *key, uint8_t spoil)
{
    const struct frame_end from = rig_station(rank);
    const struct ctl_address address = {.ip = from.ip, .udp_port = rte_be_to_cpu_16(from.port)};
    struct ctl_message m = message(CTL_JOIN, rank, 2);
    uint8_t payload[CTL_MESSAGE_MAX];
    size_t bytes;

    m.head.sealed = true;
    m.join = (struct ctl_join){.name = "secret", .data_port = 5000, .terms = switchml_terms()};
    bytes = ctl_seal_append(payload, ctl_build(payload, &m), keys_sodium(), key, &address, 0);
    payload[bytes - 1] ^= spoil;
    registrar_receive(registrar, frame_of(rank, payload, bytes));
    send_flush(&rig.send);
}

TEST(a_tenant_with_a_key)
{
    struct key_file file;
    char path[32], why[KEY_FILE_WHY_MAX];
    struct ctl_message m;
    struct keys_key unknown;
    struct registrar *none;

    write_key_file(path, 'a');
    CU_ASSERT_EQUAL_FATAL(key_file_read(&file, path, why), 0);
    registrar_close(registrar);
    cfg.tenants = 2;
    cfg.tenant[1] =
        (struct config_tenant){.name = "lab", .addresses = 1, .jobs = {.n = 1, .text = {"secret"}}};
    strcpy(cfg.tenant[1].key_file, path);
    set_up();

    join_sealed(0, &file.key[0], 0);
    m = sent(0);
    CU_ASSERT(m.head.sealed && m.head.type == CTL_PENDING);
    join_sealed(0, &file.key[0], 1);
    m = sent(0);
    CU_ASSERT(!m.head.sealed && m.head.type == CTL_REFUSED && m.failure.reason == CTL_BAD_KEY);
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_CONTROL_BAD_SEAL), 1);
    unknown = file.key[0];
    unknown.id++;
    join_sealed(0, &unknown, 0);
    m = sent(0);
    CU_ASSERT(!m.head.sealed && m.head.type == CTL_REFUSED && m.failure.reason == CTL_BAD_KEY);
    CU_ASSERT_EQUAL(rig_dropped(0, DROP_CONTROL_UNKNOWN_KEY), 1);
    m = message(CTL_JOIN, 1, 2);
    m.join = (struct ctl_join){.name = "secret", .data_port = 5000, .terms = switchml_terms()};
    receive(&m);
    m = sent(1);
    CU_ASSERT(!m.head.sealed && m.failure.reason == CTL_NOT_ADMITTED);
    CU_ASSERT_STRING_EQUAL(m.failure.text,
                           "jobs of this name need the key of tenant lab: set options.key_file, "
                           "or SWAGG_KEY_FILE, to its key file");
    unlink(path);
    CU_ASSERT_EQUAL(registrar_open(&none, &(struct registrar_parts){.common.cfg = &cfg, .lcores = &lcores}),
                    -EINVAL);
}

/* Another key in the file: who is in a job with the one before stays, and is answered with it. */
TEST(a_tenants_key_is_retired)
{
    static const int tenant[] = {0};
    struct key_file old, other;
    char path[32], second[32], why[KEY_FILE_WHY_MAX];
    struct config next;

    write_key_file(path, 'a');
    write_key_file(second, 'b');
    CU_ASSERT_EQUAL_FATAL(key_file_read(&old, path, why), 0);
    CU_ASSERT_EQUAL_FATAL(key_file_read(&other, second, why), 0);
    registrar_close(registrar);
    strcpy(cfg.tenant[0].key_file, path);
    strcpy(cfg.tenant[0].name, "lab");
    set_up();
    join_sealed(0, &old.key[0], 0); /* it is told the challenge, which it would repeat */
    CU_ASSERT_EQUAL(sent(0).head.type, CTL_PENDING);

    next = cfg;
    strcpy(next.tenant[0].key_file, "/nowhere");
    CU_ASSERT_EQUAL(reload(&next, tenant), -ENOENT);
    join_sealed(0, &other.key[0], 0);
    CU_ASSERT(sent(0).failure.reason == CTL_BAD_KEY && rig_dropped(0, DROP_CONTROL_UNKNOWN_KEY) == 1);
    strcpy(next.tenant[0].key_file, second);
    CU_ASSERT_EQUAL(reload(&next, tenant), 0);
    CU_ASSERT_STRING_EQUAL(changes.change[0].key, "tenants[lab].key_file: keys");
    CU_ASSERT_STRING_EQUAL(changes.change[0].to, "1 new, 1 retired");
    join_sealed(0, &other.key[0], 0);
    CU_ASSERT_EQUAL(sent(0).head.type, CTL_PENDING);
    join_sealed(1, &old.key[0], 0);
    CU_ASSERT_EQUAL(sent(1).failure.reason, CTL_BAD_KEY);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_CONTROL_UNKNOWN_KEY), 1); /* nobody had it in a job */
    unlink(path);
    unlink(second);
}

TEST(who_is_not_admitted_is_told_so)
{
    struct ctl_message m;

    cfg.tenants = 0;
    join(0, 2);
    m = sent(0);
    CU_ASSERT_EQUAL(m.head.type, CTL_REFUSED);
    CU_ASSERT_EQUAL(m.failure.reason, CTL_NOT_ADMITTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.failure.text, "none of the switch's tenants has 10.0.0.1"));
}

TEST(what_is_no_message_is_dropped_by_name)
{
    static const struct {
        size_t bytes;
        unsigned at; /* of the byte that is wrong */
        enum drop drop;
    } faults[] = {
        {3, 0, DROP_CONTROL_TOO_SHORT},
        {CTL_MESSAGE_MAX, 0, DROP_CONTROL_NOT_CONTROL},
    };
    uint8_t payload[CTL_MESSAGE_MAX] = {0};

    for (unsigned i = 0; i < RTE_DIM(faults); i++) {
        const struct ctl_message m = message(CTL_HEARTBEAT, 0, 2);

        ctl_build(payload, &m);
        payload[faults[i].at] ^= 0xff;
        registrar_receive(registrar, frame_of(0, payload, faults[i].bytes));
        CU_ASSERT_EQUAL(rig_dropped(0, faults[i].drop), 1);
    }
    CU_ASSERT_EQUAL(rig_drops(), RTE_DIM(faults));
}

static struct ctl_known known;

static bool is_known(uint16_t rank)
{
    struct rte_mbuf *m = frame_of(rank, "x", 1);
    const struct ctl_endpoint from = inbox_sender(m);

    rte_pktmbuf_free(m);
    return ctl_known_find(&known, 1000u + rank, &from) != 0;
}

TEST(members_are_known_and_strangers_are_not)
{
    struct ctl_message leave;

    ctl_known_init(&known, 1);
    start_pair();
    CU_ASSERT(!is_known(1));
    registry_host_list_members(&registrar->common, &known);
    CU_ASSERT(is_known(0) && is_known(1));
    CU_ASSERT(!is_known(2));
    for (uint16_t rank = 0; rank < 2; rank++) {
        leave = message(CTL_LEAVE, rank, 2);
        receive(&leave);
    }
    registrar_tick(registrar);
    registry_host_list_members(&registrar->common, &known);
    CU_ASSERT(!(is_known(0) || is_known(1)));
    rig_sent_all();
}

TEST(without_buffers_an_answer_is_lost_by_name)
{
    const struct agg_terms terms = switchml_terms();
    struct rte_mbuf *taken[RIG_MBUFS], *m;
    unsigned n = 0;

    m = join_frame(1, 2, "j", &terms);
    while ((taken[n] = rte_pktmbuf_alloc(rig_mbufs)) != NULL)
        n++;
    registrar_receive(registrar, m);
    CU_ASSERT_EQUAL(rig_dropped(1, DROP_NO_MBUF), 1);
    CU_ASSERT_EQUAL(rig.counters.event[EVENT_CONTROL_SENT], 0);
    rte_pktmbuf_free_bulk(taken, n);
}

struct seen {
    unsigned jobs;
    enum ctl_entry_state state;
    char name[CTL_NAME_MAX];
};

static void see(void *context, const struct registry_job *job)
{
    struct seen *seen = context;

    CU_ASSERT(job->now >= job->entry->since && job->relayed == NULL);
    seen->jobs++;
    seen->state = job->entry->state;
    snprintf(seen->name, sizeof(seen->name), "%s", job->entry->name);
}

TEST(jobs_can_be_visited)
{
    struct seen seen = {0};

    registrar_tick(registrar);
    registry_host_visit(&registrar->common, see, &seen);
    CU_ASSERT_EQUAL(seen.jobs, 0);
    start_pair();
    registry_host_visit(&registrar->common, see, &seen);
    CU_ASSERT(seen.jobs == 1 && seen.state == CTL_ENTRY_RUNNING);
    CU_ASSERT_STRING_EQUAL(seen.name, "j");
}
