/* Jobs in the configuration: whom they know, where results go, and that they start over when it has been
 * quiet. */
#include "control/static_jobs.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>

#include "aggregate/jobs_share.h"
#include "kernels_chosen.h"
#include "small_eal.h"
#include "stderr_capture.h"
#include "switchml/protocol.h"
#include "switchml/reasons.h"
#include "switchml/terms.h"
#include "unit.h"
#include "wire/bytes.h"

enum { LCORE = 0, WORKERS = 2, THREADS = 3, SLOTS = 4, ELEMENTS = 32, QUIET_MS = 1000, MS = 1000000 };

static const struct jobs_identity us = {.mac = {{2, 0, 0, 0, 0, 0xfe}}, .ip = RTE_BE32(0x0A0000FE)};
static struct rte_rcu_qsbr *rcu;
static struct config cfg;
static struct jobs jobs;
static pthread_mutex_t shown = PTHREAD_MUTEX_INITIALIZER;
static struct static_jobs fixed;
static struct agg_verdict verdict; /* on the last packet */

static rte_be32_t ip_of(unsigned job, unsigned rank)
{
    return rte_cpu_to_be_32(0x0A000001 + 16 * job + rank);
}

static void describe(unsigned i)
{
    const struct sml_terms terms = {.format = XFER_FORMAT_INT32,
                                    .mode = XFER_ON_ARRIVAL,
                                    .slots = THREADS * SLOTS,
                                    .chunk_bytes = 4 * ELEMENTS,
                                    .plain = true,
                                    .labelled = true,
                                    .threads = THREADS};
    struct config_static *s = &cfg.static_job[i];

    *s = (struct config_static){.common = {.quiet_ms = QUIET_MS, .tenant = -1, .workers = WORKERS},
                                .threads = THREADS,
                                .udp_checksum = i == 1};
    snprintf(s->common.name, sizeof(s->common.name), "job%u", i);
    sml_terms_build(&s->common.terms, &terms);
    for (unsigned r = 0; r < WORKERS; r++)
        s->worker[r] = (struct config_peer){
            .mac = {2, 0, 0, 0, (uint8_t)i, (uint8_t)r}, .ip = ip_of(i, r), .port = 4000};
}

/* Two jobs. */
static void set_up(void)
{
    memset(&jobs, 0, sizeof(jobs));
    memset(&cfg, 0, sizeof(cfg));
    memset(&fixed, 0, sizeof(fixed));
    jobs.rcu = rcu;
    jobs.kernels = kernels_or_exit();
    cfg.pool.megabytes = 64;
    jobs_limit(&jobs, &cfg);
    fixed.jobs = &jobs;
    fixed.us = us;
    fixed.shown = &shown;
    cfg.static_jobs = 2;
    describe(0);
    describe(1);
    CU_ASSERT_EQUAL_FATAL(static_jobs_open(&fixed, &cfg, 0), 0);
}

static void tear_down(void)
{
    static_jobs_close(&fixed);
    jobs_free(&jobs);
}

EACH_TEST(set_up, tear_down)

/* The packet of a thread, as its first of a tensor. */
static struct agg_packet packet(uint8_t payload[], unsigned job, unsigned rank, unsigned port, uint8_t tensor,
                                uint16_t index)
{
    const struct sml_packet p = {.kind = SML_DATA,
                                 .size_code = SML_SIZE_32,
                                 .job = tensor,
                                 .ver = index >> 15,
                                 .slot = index & 0x3FFF};
    struct agg_packet out = {.payload = payload,
                             .bytes = SML_HEADER_BYTES + 4 * ELEMENTS,
                             .from = {.ip = ip_of(job, rank),
                                      .port = rte_cpu_to_be_16((uint16_t)port),
                                      .mac = {2, 0, 0, 0, (uint8_t)job, (uint8_t)rank}}};

    sml_build_header(payload, &p);
    memset(payload + SML_HEADER_BYTES, (int)rank + 1, 4 * ELEMENTS);
    sml_protocol.locate(&jobs.running[AGG_PROTOCOL_SWITCHML], &out, 1);
    return out;
}

/* What becomes of it. */
static uint8_t send(unsigned job, unsigned rank, unsigned port, uint8_t tensor, uint16_t index)
{
    uint8_t payload[SML_HEADER_BYTES + 4 * ELEMENTS];
    struct agg_packet p = packet(payload, job, rank, port, tensor, index);

    if (p.slot == NULL)
        return p.reason;
    sml_protocol.apply(&p, 1, 0, &verdict);
    return verdict.reason;
}

TEST(workers_are_known_by_address_and_threads_by_port)
{
    uint8_t payload[SML_HEADER_BYTES + 4 * ELEMENTS];

    for (unsigned job = 0; job < 2; job++)
        for (unsigned rank = 0; rank < WORKERS; rank++)
            for (unsigned t = 0; t < THREADS; t++)
                for (unsigned tensor = 0; tensor < 256; tensor += 15) {
                    const struct agg_packet p =
                        packet(payload, job, rank, 4000 + t, (uint8_t)tensor, (uint16_t)(t * SLOTS));

                    CU_ASSERT_FATAL(p.slot != NULL && p.rank == rank && p.thread == t);
                    CU_ASSERT_EQUAL(p.job->number, fixed.job[job].number);
                }
    CU_ASSERT_EQUAL(send(0, 0, 3999, 0, 0), SML_REFUSED_FOREIGN_SENDER);
    CU_ASSERT_EQUAL(send(0, 0, 4000 + THREADS, 1, 0), SML_REFUSED_FOREIGN_SENDER);
    CU_ASSERT_EQUAL(send(0, 0, 4000 + THREADS, 77, 0), SML_REFUSED_UNKNOWN_JOB);
    CU_ASSERT_EQUAL(send(0, 0, 4001, 0, 0), SML_DROP_BAD_SLOT);
}

/* In network order, from a frame to this thread. */
static const struct frame_udp *frame_to(uint8_t out[], unsigned job, unsigned rank, unsigned thread)
{
    const struct switch_job *j = jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[job].number);
    const struct frame_payload payload = frame_payload("results", 8, kernels_or_exit()->ones_sum);

    frame_write_headers(out, &jobs_member(j, thread, rank)->header, rte_cpu_to_be_16(48864), &payload);
    return (const struct frame_udp *)out;
}

TEST(results_go_to_the_thread_that_sent)
{
    uint8_t out[FRAME_HEADER_BYTES];

    for (unsigned rank = 0; rank < WORKERS; rank++)
        for (unsigned t = 0; t < THREADS; t++) {
            const struct frame_udp *f = frame_to(out, 0, rank, t);

            CU_ASSERT(f->udp.dst_port == rte_cpu_to_be_16((uint16_t)(4000 + t)) &&
                      f->ip.dst_addr == ip_of(0, rank));
            CU_ASSERT(f->ip.time_to_live == 64 && f->eth.dst_addr.addr_bytes[5] == rank);
        }
}

TEST(results_have_a_udp_checksum_if_asked_for)
{
    uint8_t out[FRAME_HEADER_BYTES];

    CU_ASSERT_EQUAL(frame_to(out, 0, 0, 0)->udp.dgram_cksum, 0);
    CU_ASSERT_NOT_EQUAL(frame_to(out, 1, 0, 0)->udp.dgram_cksum, 0);
}

/* Time is told often, as the daemon does. */
static void wait_ms(uint64_t *now, unsigned ms)
{
    for (unsigned i = 0; i < ms / 100; i++)
        static_jobs_tick(&fixed, *now += 100 * MS);
}

static void complete(unsigned job, uint8_t tensor, uint16_t index)
{
    CU_ASSERT_EQUAL(send(job, 0, 4000, tensor, index), SML_HELD);
    CU_ASSERT_EQUAL(send(job, 1, 4000, tensor, index), SML_SEND_ALL);
}

/* And not before: until then the first packet of another run gets the sum of this one. */
TEST(a_quiet_job_starts_over)
{
    uint64_t now = 0;

    wait_ms(&now, 3 * QUIET_MS);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0); /* nothing to forget */
    complete(0, 0, 0);
    complete(1, 0, 0);
    wait_ms(&now, QUIET_MS);
    CU_ASSERT_EQUAL(send(0, 0, 4000, 0, 0), SML_SEND_ONE);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0);
    wait_ms(&now, QUIET_MS);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0);
    CU_ASSERT_EQUAL(fixed.job[1].runs, 1); /* jobs do not wait for each other */
    wait_ms(&now, 2 * QUIET_MS);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 1);
    complete(0, 0, 0);
}

/* A new run may begin in the moment in which the job is to start over. */
TEST(what_is_heard_last_keeps_a_job_from_starting_over)
{
    uint64_t now = 0;

    complete(0, 9, 0);
    wait_ms(&now, 100);
    CU_ASSERT_EQUAL(send(0, 0, 4000, 9, 1), SML_HELD);
    CU_ASSERT(!jobs_renew(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[0].number, true));
    CU_ASSERT_EQUAL(send(0, 0, 4000, 9, 1), SML_DROP_DUPLICATE);
    CU_ASSERT(!jobs_renew(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[0].number, true));
    CU_ASSERT(jobs_renew(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[0].number, true));
    complete(0, 0, 0);
}

/* A run that ended in its midst leaves nothing behind, neither here nor there. */
TEST(half_a_sum_is_forgotten)
{
    uint64_t now = 0;

    complete(0, 9, 0);
    CU_ASSERT_EQUAL(send(0, 0, 4000, 9, 1), SML_HELD);
    CU_ASSERT_EQUAL(send(0, 0, 4000, 10, 0x8000), SML_HELD);
    wait_ms(&now, 2 * QUIET_MS);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 1);
    complete(0, 0, 0);
    complete(0, 0, 1);
    CU_ASSERT_EQUAL(get_be32(verdict.payload + SML_HEADER_BYTES), 0x03030303);
}

/* What cannot be of this run, such as the packets of a worker that was started anew while others were not. */
TEST(strange_packets_do_not_keep_a_job_from_starting_over)
{
    uint64_t now = 0;

    complete(0, 5, 0);
    for (unsigned i = 0; i < 2 * QUIET_MS / 100; i++) {
        if (fixed.job[0].runs == 0)
            CU_ASSERT_EQUAL(send(0, 1, 4000, 4, 0), SML_DROP_STALE);
        wait_ms(&now, 100);
    }
    CU_ASSERT_EQUAL(fixed.job[0].runs, 1);
}

/* As the engine notes a packet of the first job that was dropped. */
static void note_dropped(unsigned rank, unsigned thread, enum sml_reason reason)
{
    const struct switch_job *job = jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[0].number);
    struct job_amiss *amiss = &job->lane[LCORE].amiss[sml_amiss[reason] - 1];

    *amiss = (struct job_amiss){
        .n = amiss->n + 1, .rank = (uint16_t)rank, .thread = (uint8_t)thread, .reason = reason};
}

/* At once, and then no more than once a minute. */
TEST(workers_that_are_configured_otherwise_are_told)
{
    unsigned lines = 0;
    const char *line;
    uint64_t now = 0;

    CU_ASSERT_FATAL(capture_begin());
    for (unsigned i = 0; i < 1190; i++) {
        note_dropped(1, 2, SML_DROP_BAD_SLOT);
        wait_ms(&now, 100);
        line = capture_take();
        lines += line[0] != '\0';
        if (i == 0) {
            CU_ASSERT_PTR_NOT_NULL(strstr(line, "job0: 1 packets"));
            CU_ASSERT_PTR_NOT_NULL(strstr(line, "worker 1 (10.0.0.2), thread 2: drop_bad_slot"));
            CU_ASSERT_PTR_NOT_NULL(strstr(line, "max_outstanding_packets"));
        }
    }
    CU_ASSERT_EQUAL(lines, 2);
    capture_end();
}

/* Of stale packets only those are told that come while nothing else does. */
TEST(workers_that_send_only_what_is_stale_are_told)
{
    uint64_t now = 0;

    CU_ASSERT_FATAL(capture_begin());
    complete(0, 5, 0);
    wait_ms(&now, 100);
    note_dropped(0, 0, SML_DROP_STALE); /* a copy that was late */
    wait_ms(&now, QUIET_MS / 2);
    CU_ASSERT_STRING_EQUAL(capture_take(), "");
    note_dropped(1, 0, SML_DROP_STALE);
    wait_ms(&now, 100);
    CU_ASSERT_PTR_NOT_NULL(strstr(capture_take(), "worker 1 (10.0.0.2), thread 0: drop_stale"));
    capture_end();
}

TEST(a_closed_job_is_not_known_by_address)
{
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[0].number);
    CU_ASSERT_EQUAL(send(0, 0, 4000, 77, 0), SML_REFUSED_UNKNOWN_JOB);
    complete(1, 0, 0);
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[1].number);
    CU_ASSERT_PTR_NULL(jobs.running[AGG_PROTOCOL_SWITCHML].senders);
}

/* Whatever it was doing, and however lately. */
TEST(the_operator_resets_a_job)
{
    uint64_t now = 0;

    complete(0, 9, 0);
    CU_ASSERT_EQUAL(send(0, 0, 4000, 9, 1), SML_HELD);
    wait_ms(&now, 100);
    static_jobs_reset(&fixed, &fixed.job[0]);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 1);
    CU_ASSERT_EQUAL(fixed.job[0].since, now);
    CU_ASSERT_EQUAL(fixed.job[1].runs, 0);
    complete(0, 0, 0);
    complete(0, 0, 1);
    CU_ASSERT_EQUAL(get_be32(verdict.payload + SML_HEADER_BYTES), 0x03030303);
}

static bool may_be_seen;

static void *init_unseen(void *memory, const struct agg_pool_config *made_of)
{
    may_be_seen = pthread_mutex_trylock(&shown) == 0;
    if (may_be_seen)
        pthread_mutex_unlock(&shown);
    return sml_protocol.init(memory, made_of);
}

/* A pool that is made anew is none meanwhile. */
TEST(nobody_is_shown_a_job_while_it_starts_over)
{
    struct agg_protocol protocol = sml_protocol;
    struct agg_job *job = agg_jobs_find(&jobs.running[AGG_PROTOCOL_SWITCHML], fixed.job[0].number);
    uint64_t now = 0;

    protocol.init = init_unseen;
    job->protocol = &protocol;
    may_be_seen = true;
    static_jobs_reset(&fixed, &fixed.job[0]);
    CU_ASSERT(!may_be_seen);
    complete(0, 0, 0);
    may_be_seen = true;
    wait_ms(&now, 2 * QUIET_MS);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 2);
    CU_ASSERT(!may_be_seen);
    job->protocol = &sml_protocol;
}

static struct config_tenant tenants[] = {{.name = "rest", .weight = 1},
                                         {.name = "lab", .weight = 3, .quota = {.slots = THREADS * SLOTS}}};

/* Its weight is its tenant's, and so are its slots and the frames that it may keep. */
TEST(a_static_job_counts_against_its_tenant_s_quota)
{
    const struct switch_job *job;

    tear_down();
    jobs = (struct jobs){.rcu = rcu,
                         .kernels = kernels_or_exit(),
                         .bytes_max = 64 << 20,
                         .quota = {.tenants = RTE_DIM(tenants), .tenant = tenants}};
    cfg.static_job[0].common.tenant = cfg.static_job[1].common.tenant = 1;
    CU_ASSERT_EQUAL(static_jobs_open(&fixed, &cfg, 0), -ENOSPC); /* there is room for one */
    job = jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[0].number);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    CU_ASSERT_EQUAL(job->tenant, 1);
    CU_ASSERT_EQUAL(jobs_weight(&jobs, job) % 3, 0);
}

/* Another configuration */

static struct config changed;
static struct static_jobs_next coming;

static int prepare(void)
{
    static const int tenant[CONFIG_TENANTS_MAX] = {1, 0};

    return static_jobs_prepare(&fixed, &(struct static_jobs_change){&cfg, &changed, tenant}, &coming);
}

static void commit(void)
{
    static_jobs_commit(&fixed, &coming, &changed);
    cfg = changed;
}

/* Nothing of a job that stays is touched, not even what it is collecting. */
TEST(jobs_come_and_go_while_another_works)
{
    uint64_t now = 0;

    CU_ASSERT_EQUAL(send(0, 0, 4000, 0, 0), SML_HELD);
    wait_ms(&now, 100);
    changed = cfg;
    changed.static_job[0].common.quiet_ms = 2 * QUIET_MS;
    strcpy(changed.static_job[1].common.name, "other");
    for (unsigned r = 0; r < WORKERS; r++)
        changed.static_job[1].worker[r].ip = ip_of(2, r);
    CU_ASSERT_EQUAL_FATAL(prepare(), 0);
    commit();
    CU_ASSERT_EQUAL(fixed.n, 2);
    CU_ASSERT_STRING_EQUAL(fixed.job[1].name, "other");
    CU_ASSERT_EQUAL(send(0, 1, 4000, 0, 0), SML_SEND_ALL);
    CU_ASSERT_EQUAL(send(1, 0, 4000, 77, 0), SML_REFUSED_UNKNOWN_JOB);
    wait_ms(&now, QUIET_MS + 300);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0); /* by its new quiet_ms */
    wait_ms(&now, QUIET_MS);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 1);
}

TEST(a_job_that_works_is_not_changed)
{
    uint64_t now = 0;

    complete(1, 0, 0);
    wait_ms(&now, 100);
    changed = cfg;
    changed.static_jobs = 1;
    CU_ASSERT_EQUAL(prepare(), -EBUSY);
    changed = cfg;
    changed.static_job[1].udp_checksum = false;
    CU_ASSERT_EQUAL(prepare(), -EBUSY);
    CU_ASSERT_EQUAL(send(1, 0, 4000, 0, 0), SML_SEND_ONE);
    wait_ms(&now, 2 * QUIET_MS);
    CU_ASSERT_EQUAL_FATAL(prepare(), 0);
    commit();
    complete(1, 0, 0);
    CU_ASSERT_EQUAL(fixed.job[1].plan.without_udp_sum, true);
    CU_ASSERT_EQUAL(jobs.count, 2);
}

/* The configuration that runs, with so many jobs more. */
static void add_jobs(unsigned more)
{
    changed = cfg;
    changed.static_jobs = cfg.static_jobs + more;
    for (unsigned i = cfg.static_jobs; i < changed.static_jobs; i++) {
        changed.static_job[i] = cfg.static_job[0];
        snprintf(changed.static_job[i].common.name, sizeof(changed.static_job[i].common.name), "new%u", i);
        for (unsigned r = 0; r < WORKERS; r++)
            changed.static_job[i].worker[r].ip = ip_of(i, r);
    }
}

/* Jobs are held to the quotas of the configuration that they come with, and to what running jobs hold. */
TEST(new_jobs_are_held_to_the_new_limits)
{
    cfg.pool.slots = 2 * THREADS * SLOTS; /* there is no room for another */
    jobs_limit(&jobs, &cfg);
    add_jobs(1);
    CU_ASSERT_EQUAL(prepare(), -ENOSPC);
    changed.pool.slots = 3 * THREADS * SLOTS;
    CU_ASSERT_EQUAL_FATAL(prepare(), 0);
    CU_ASSERT_EQUAL(jobs.quota.slots, cfg.pool.slots); /* nothing has changed yet */
    commit();
    jobs_limit(&jobs, &cfg);
    add_jobs(1);
    changed.pool.slots = 4 * THREADS * SLOTS - 1;
    CU_ASSERT_EQUAL(prepare(), -ENOSPC);
    CU_ASSERT_EQUAL(jobs.quota.slots, cfg.pool.slots);
}

/* ... which may have their tenants in another order. */
TEST(new_jobs_are_held_to_their_tenant_s_new_quota)
{
    static const int swapped[] = {1, 0};
    const struct switch_job *job;

    cfg.tenants = 2;
    cfg.tenant[0] = (struct config_tenant){.name = "lab", .weight = 1};
    cfg.tenant[1] = (struct config_tenant){.name = "rest", .weight = 1};
    jobs_limit(&jobs, &cfg);
    for (unsigned i = 0; i < 2; i++) {
        cfg.static_job[i].common.tenant = fixed.job[i].plan.tenant = 0;
        jobs_set_tenant(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[i].number, 0);
    }
    add_jobs(1);
    changed.tenant[0] = cfg.tenant[1];
    changed.tenant[1] = cfg.tenant[0];
    for (unsigned i = 0; i < 3; i++)
        changed.static_job[i].common.tenant = 1;
    changed.tenant[1].quota.slots = 3 * THREADS * SLOTS - 1;
    CU_ASSERT_EQUAL(prepare(), -ENOSPC);
    changed.tenant[1].quota.slots = 3 * THREADS * SLOTS;
    CU_ASSERT_EQUAL_FATAL(prepare(), 0);
    CU_ASSERT_STRING_EQUAL(jobs.quota.tenant[0].name, "lab");
    jobs_follow(&jobs, &changed, swapped);
    commit();
    job = jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, fixed.job[2].number);
    CU_ASSERT_EQUAL(job->tenant, 1);
}

/* One of two that are new finds no room: neither is there. */
TEST(what_cannot_be_made_leaves_no_trace)
{
    size_t bytes;

    bytes = jobs.bytes;
    add_jobs(2);
    changed.pool.slots = 3 * THREADS * SLOTS;
    CU_ASSERT_EQUAL(prepare(), -ENOSPC);
    jobs_reclaim(&jobs);
    CU_ASSERT_EQUAL(jobs.bytes, bytes);
    CU_ASSERT_EQUAL(send(2, 0, 4000, 77, 0), SML_REFUSED_UNKNOWN_JOB);
    complete(0, 0, 0);
}

int main(void)
{
    if (small_eal_start(128) < 0)
        return 1;
    rcu = small_eal_rcu();
    return rcu == NULL ? 1 : unit_main();
}
