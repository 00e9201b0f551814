/* Jobs of the data path: seats, memory, and that nothing is freed while a polling lcore may use it. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "aggregate/jobs_share.h"
#include "config/reserved.h"
#include "kernels_chosen.h"
#include "small_eal.h"
#include "switchml/pool.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "tally.h"
#include "unit.h"
#include "views/arrivals.h"

enum { LCORE = 0, SLOTS = 64, CHUNK = 1460 };

static const struct jobs_identity us = {.mac = {{2, 0, 0, 0, 0, 0xfe}}, .ip = RTE_BE32(0x0A0000FE)};
static struct rte_rcu_qsbr *rcu;
static struct jobs jobs;
static struct jobs_plan wish;
static struct sml_terms terms; /* of it */
static uint16_t slots;         /* of the job that was opened last */
static uint8_t number;
static char text[AGG_TEXT_MAX];

static rte_be32_t ip_of(unsigned rank)
{
    return rte_cpu_to_be_32(0x0A000001 + rank / 8); /* eight ranks a host */
}

static uint16_t port_of(unsigned rank)
{
    return (uint16_t)(40000 + rank % 8);
}

static void close_jobs(void)
{
    jobs_free(&jobs);
    CU_ASSERT_EQUAL(jobs.bytes, 0);
    memset(&jobs, 0, sizeof(jobs));
}

EACH_TEST(NULL, close_jobs)

/* Instead of those before. */
static void set_up(uint16_t size)
{
    close_jobs();
    jobs.rcu = rcu;
    jobs.kernels = kernels_or_exit();
    jobs.bytes_max = 64 << 20;

    memset(&wish, 0, sizeof(wish));
    wish.protocol = &sml_protocol;
    strcpy(wish.name, "job");
    wish.size = size;
    terms = (struct sml_terms){.slots = SLOTS, .chunk_bytes = CHUNK, .format = XFER_FORMAT_TYPED};
    for (unsigned r = 0; r < size; r++) {
        wish.member[r] = (struct jobs_member){
            .mac = {{2, 0, 0, 0, 1, (uint8_t)r}}, .ip = ip_of(r), .udp_port = rte_cpu_to_be_16(port_of(r))};
    }
}

static int open_job(void)
{
    struct jobs_plan plan = wish;
    struct sml_terms granted;
    int rc;

    sml_terms_build(&plan.terms, &terms);
    rc = jobs_open(&jobs, &plan, &us, &number, text);
    CU_ASSERT_FATAL(sml_terms_parse(&granted, &plan.terms));
    slots = granted.slots;
    return rc;
}

static const struct switch_job *open_one(void)
{
    CU_ASSERT_EQUAL_FATAL(open_job(), 0);
    return jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, number);
}

static int rank_of(const struct switch_job *job, rte_be32_t ip, rte_be16_t udp_port)
{
    const struct agg_sender sender = {.ip = ip, .port = udp_port};
    const struct agg_seat *seat = agg_job_find(&job->common, &sender);

    return seat == NULL ? -1 : seat->rank;
}

TEST(every_member_is_found_and_nobody_else)
{
    for (uint16_t size = 1; size <= AGG_MAX_WORKERS; size = (uint16_t)(size * 2 - size / 3)) {
        const struct switch_job *job;

        set_up(size);
        job = open_one();
        for (unsigned r = 0; r < size; r++) {
            const struct agg_sender sender = {.ip = ip_of(r), .port = rte_cpu_to_be_16(port_of(r))};
            const rte_be16_t port = sender.port;

            CU_ASSERT_EQUAL(rank_of(job, ip_of(r), port), (int)r);
            CU_ASSERT_EQUAL(rank_of(job, ip_of(r), rte_cpu_to_be_16(50000)), -1);
            CU_ASSERT_EQUAL(rank_of(job, RTE_BE32(0x0A0000FD), port), -1);
            CU_ASSERT_EQUAL(agg_job_find(&job->common, &sender)->mac[5], (uint8_t)r);
            CU_ASSERT_EQUAL(job->member[r].mac.addr_bytes[5], (uint8_t)r);
        }
        CU_ASSERT_EQUAL(rank_of(job, 0, 0), -1); /* an empty seat is nobody's */
    }
}

static void contribute(const struct switch_job *job, uint16_t rank, uint64_t now)
{
    uint8_t body[64] = {0};
    const struct sml_packet p = {.kind = SML_DATA,
                                 .size_code = SML_SIZE_AGREED,
                                 .e0 = AGG_SUM << 4 | AGG_I32,
                                 .body = body,
                                 .body_bytes = sizeof(body)};
    struct agg_verdict v;

    sml_pool_apply(job->common.pool, sml_pool_locate(job->common.pool, &p, 0), rank, &p, NULL, now, &v);
}

/* Rank 2 comes 5 ms after rank 0, and 4 ms after rank 1. */
TEST(the_views_name_the_late_rank)
{
    struct job_view shown = {0};
    struct rank_view row = {0};
    const struct switch_job *job;

    set_up(3);
    jobs.delays = true;
    job = open_one();
    for (uint16_t rank = 0; rank < 3; rank++)
        contribute(job, rank, rank == 2 ? 6000000 : (rank + 1) * 1000000);
    contribute(job, 1, 7000000); /* again */
    jobs_rates_tick(&jobs, 1999999999);
    jobs_rates_tick(&jobs, 2000000000); /* too soon */
    arrivals_of_rank(&row, &job->common, false, 2);
    CU_ASSERT(row.delays_noted && row.contributions == 1 && row.bytes == 64 && row.was_last == 1);
    CU_ASSERT(row.repeated == 0 && row.probes == 0 && row.missed == 0);
    CU_ASSERT(row.late_us_mean == 5000 && row.late_us_last == 5000 && row.late_us_worst == 5000);
    CU_ASSERT(row.late_us_log2.n == 14 && row.delays[13] == 1 && row.delays[0] == 0);
    arrivals_of_job(&shown, &job->common, false, job->common.size);
    CU_ASSERT(shown.delays && shown.contributions == 3 && shown.bytes == 192 && shown.repeated == 1);
    CU_ASSERT(shown.probes == 0 && shown.missed == 0);
    CU_ASSERT(job->rate.contributions == 1 && job->rate.bytes == 96);
    CU_ASSERT(shown.latest_rank == 2 && shown.latest_us_mean == 5000);
    jobs_rates_tick(&jobs, 3000000000);
    CU_ASSERT(job->rate.contributions == 0 && job->rate.bytes == 0);
    arrivals_of_rank(&row, NULL, false, 2);
    CU_ASSERT(!row.delays_noted); /* a job that does not run yet */
}

TEST(the_configuration_says_whether_delays_are_noted)
{
    struct agg_rank_view v;
    size_t bytes[2];

    for (unsigned delays = 0; delays <= 1; delays++) {
        const struct switch_job *job;

        set_up(3);
        jobs.delays = delays;
        jobs.shards = 5;
        job = open_one();
        CU_ASSERT_EQUAL(sml_protocol.view_rank(job->common.pool, 2, &v), delays);
        bytes[delays] = job->bytes;
    }
    CU_ASSERT_EQUAL(bytes[1] - bytes[0], 5 * 3 * 320);
}

TEST(a_job_gets_the_slots_there_is_memory_for)
{
    set_up(4);
    jobs.bytes_max = 0;
    CU_ASSERT_EQUAL(open_job(), -ENOSPC);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "pool.megabytes"));

    jobs.bytes_max = (size_t)SLOTS / 4 * 3 * 4 * CHUNK; /* three quarters of what SLOTS slots take at least */
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT_EQUAL(slots, SLOTS / 2);
    CU_ASSERT(jobs.bytes <= jobs.bytes_max);
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT(slots < SLOTS / 2);
    CU_ASSERT(jobs.bytes <= jobs.bytes_max);
}

TEST(a_job_of_one_slot_gets_it)
{
    set_up(2);
    terms.slots = 1;
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT_EQUAL(slots, 1);
}

/* Whoever founds job after job leaves a quarter of the memory to others. */
TEST(a_host_has_its_share_of_memory)
{
    unsigned opened = 0;

    set_up(1);
    jobs.bytes_max = (size_t)16 * SLOTS * 4 * CHUNK;
    wish.founder = ip_of(1);
    while (open_job() == 0 && opened < JOBS_MAX)
        opened++;
    CU_ASSERT(opened >= 8 && opened < JOBS_MAX);
    CU_ASSERT(jobs.bytes <= jobs.bytes_max / 4 * 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "one host, 10.0.0.1, are free (3/4 of pool.megabytes): job"));
    wish.as_it_is = true; /* whoever says that he resumes */
    CU_ASSERT_EQUAL(open_job(), -ENOSPC);
    wish.founder = 0; /* of several hosts, and came back */
    CU_ASSERT_EQUAL(open_job(), 0);
    wish.as_it_is = false;
    wish.founder = ip_of(100);
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT_EQUAL(slots, SLOTS);
}

/* The pool may have room that memory does not have in one piece: the EAL has less than the pool. */
TEST(a_job_gets_the_slots_that_memory_has_a_piece_for)
{
    set_up(64);
    jobs.bytes_max = (size_t)2 << 30;
    terms.mode = XFER_ORDERED;
    terms.slots = 8192;
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT(slots >= 2 && slots < 8192);
    wish.as_it_is = terms.resumed = true;
    CU_ASSERT_EQUAL(open_job(), -ENOSPC);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "memory.megabytes"));
}

TEST(a_resumed_job_gets_its_slots_or_nothing)
{
    set_up(4);
    jobs.bytes_max = (size_t)SLOTS / 4 * 3 * 4 * CHUNK;
    wish.as_it_is = terms.resumed = true;
    CU_ASSERT_EQUAL(open_job(), -ENOSPC);
    jobs.bytes_max *= 2;
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT_EQUAL(slots, SLOTS);
}

/* A tenant with quotas, and one without. */
static struct config_tenant tenant[] = {{.name = "lab", .weight = 1}, {.name = "rest", .weight = 1}};

static void use_tenants(const struct config_quota *lab)
{
    tenant[0].quota = *lab;
    jobs.quota.tenant = tenant;
    jobs.quota.tenants = 2;
}

TEST(a_job_gets_the_slots_that_quotas_leave)
{
    set_up(2);
    use_tenants(&(struct config_quota){.slots = SLOTS + SLOTS / 2});
    CU_ASSERT(open_job() == 0 && slots == SLOTS);
    CU_ASSERT(open_job() == 0 && slots == SLOTS / 2);
    CU_ASSERT_EQUAL(open_job(), -ENOSPC);
    CU_ASSERT_STRING_EQUAL(text, "64 slots were asked for, 0 of the 96 of tenant lab are free "
                                 "(tenants[0].quota.slots): job holds 64, job 32");
    wish.tenant = 1;
    CU_ASSERT(open_job() == 0 && slots == SLOTS);
    jobs.quota.slots = 3 * SLOTS - 2;
    CU_ASSERT(open_job() == 0 && slots == SLOTS / 4);
}

TEST(a_job_does_not_get_what_is_reserved_for_another)
{
    static struct reserved reserved = {
        .n = 1, .at = {{.name = "soon", .pattern = "awaited", .slots = SLOTS / 2, .bytes = 1 << 10}}};
    set_up(2);
    jobs.reserved = &reserved;
    jobs.quota.slots = SLOTS;
    CU_ASSERT(open_job() == 0 && slots == SLOTS / 2);
    CU_ASSERT_EQUAL(open_job(), -ENOSPC);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "job holds 32, soon 32"));
    strcpy(wish.name, "awaited");
    CU_ASSERT(open_job() == 0 && slots == SLOTS / 2);
}

TEST(a_job_gets_no_more_memory_than_one_job_or_its_tenant_may_have)
{
    set_up(2);
    terms.slots = 1024; /* some 3 MB */
    jobs.quota.bytes_a_job = 1 << 20;
    CU_ASSERT(open_job() == 0 && slots < 1024);
    CU_ASSERT(jobs.bytes > 1 << 19 && jobs.bytes <= 1 << 20);
    wish.as_it_is = terms.resumed = true;
    CU_ASSERT_EQUAL(open_job(), -ENOSPC);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "of the 1.0 MB of a job are free (pool.megabytes_per_job)"));
    wish.as_it_is = terms.resumed = false;
    jobs.quota.bytes_a_job = 0;
    use_tenants(&(struct config_quota){.megabytes = 2});
    CU_ASSERT(open_job() == 0 && slots < 1024);
    CU_ASSERT(jobs.bytes > 1 << 20 && jobs.bytes <= 2 << 20);
}

/* Two kept frames a slot is what a job can use. Some are left for one more job, if others want them. */
TEST(kept_frames_are_divided_among_the_jobs)
{
    const struct switch_job *first, *second, *third;

    set_up(2);
    jobs.frames_max = 4 * SLOTS;
    first = open_one();
    CU_ASSERT_EQUAL(first->frames, 2 * SLOTS);
    terms.chunk_bytes = JOBS_ATTACH_FROM_BYTES - SML_HEADER_BYTES - 2;
    CU_ASSERT_EQUAL(open_one()->frames, 0); /* too short to be kept */
    terms.chunk_bytes = CHUNK;
    second = open_one();
    CU_ASSERT(first->frames == 4 * SLOTS / 3 && second->frames == 4 * SLOTS / 3);
    third = open_one();
    CU_ASSERT(first->frames == SLOTS && second->frames == SLOTS && third->frames == SLOTS);
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, first->common.number);
    CU_ASSERT(second->frames == 4 * SLOTS / 3 && third->frames == 4 * SLOTS / 3);
}

TEST(a_replayed_job_of_nobody_takes_no_turns)
{
    const struct switch_job *joined;

    set_up(2);
    joined = open_one();
    CU_ASSERT(joined->turn > 0 && jobs.count == 1);
    wish.tenant = -1;
    CU_ASSERT_EQUAL(open_one()->turn, 0);
    CU_ASSERT_EQUAL(jobs.count, 1);
    wish.is_static = true;
    CU_ASSERT_EQUAL(open_one()->turn, joined->turn);
    CU_ASSERT_EQUAL(jobs.count, 2);
}

TEST(only_frames_that_others_have_let_go_of_are_given_out)
{
    const struct switch_job *first, *second;

    set_up(2);
    jobs.frames_max = 3 * SLOTS;
    first = open_one();
    CU_ASSERT_EQUAL(first->frames, 3 * SLOTS / 2);
    first->lane[0].kept = SLOTS;
    first->lane[3].kept = SLOTS / 2;
    second = open_one();
    CU_ASSERT(first->frames == SLOTS && second->frames == SLOTS); /* the part that was left */
    first->lane[0].kept = 2 * SLOTS;
    CU_ASSERT_EQUAL(open_one()->frames, 0);
    first->lane[0].kept = 0;
    jobs_reclaim(&jobs);
    CU_ASSERT(first->frames == 3 * SLOTS / 4 && second->frames == 3 * SLOTS / 4);
}

TEST(kept_frames_go_by_weight_and_quota)
{
    const struct switch_job *lab, *rest;

    set_up(2);
    use_tenants(&(struct config_quota){0});
    tenant[0].weight = 3;
    jobs.frames_max = 3 * SLOTS;
    lab = open_one();
    wish.tenant = 1;
    rest = open_one();
    CU_ASSERT(lab->frames == SLOTS * 3 / 2 && rest->frames == SLOTS / 2); /* 2 of 6 parts are left */
    tenant[0].quota.kept_frames = SLOTS / 4;
    jobs_reclaim(&jobs);
    CU_ASSERT_EQUAL(lab->frames, SLOTS / 4);
    jobs.quota.frames_a_job = 10;
    wish.tenant = 0;
    CU_ASSERT(open_one()->frames <= 10);
    CU_ASSERT_EQUAL(jobs_weight(&jobs, lab), 3 * jobs_weight(&jobs, rest) / 2); /* it shares its tenant's */
    tenant[0] = (struct config_tenant){.name = "lab", .weight = 1};
}

/* Tenants have other numbers now, and another weight; the jobs that run keep what they have. */
TEST(running_jobs_follow_their_tenants)
{
    static struct config cfg;
    static const int numbers[] = {1, 0};
    const struct switch_job *lab, *rest;

    set_up(2);
    use_tenants(&(struct config_quota){0});
    jobs.frames_max = 3 * SLOTS;
    lab = open_one();
    wish.tenant = 1;
    rest = open_one();
    CU_ASSERT_EQUAL(lab->turn, rest->turn);
    cfg = (struct config){
        .pool = {.megabytes = 1, .slots = 1, .kept_frames = 3 * SLOTS}, .tenants = 1, .leaving = 1};
    cfg.tenant[0].weight = 1;
    cfg.tenant[1].weight = 3;
    jobs_follow(&jobs, &cfg, numbers);
    CU_ASSERT(lab->tenant == 1 && rest->tenant == 0);
    CU_ASSERT_EQUAL(jobs_weight(&jobs, lab), 3 * jobs_weight(&jobs, rest));
    CU_ASSERT(lab->frames > rest->frames && lab->turn > rest->turn);
    CU_ASSERT_EQUAL(lab->slots, SLOTS);
}

/* A packet of the only rank, in a frame of this pool. */
static void contribute_in_place(const struct switch_job *job, struct rte_mempool *mbufs, uint32_t tag)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(mbufs);
    struct sml_packet p = {.kind = SML_DATA,
                           .size_code = SML_SIZE_AGREED,
                           .tag = tag,
                           .slot = sml_tag_slot(tag, SLOTS),
                           .ver = sml_tag_ver(tag, SLOTS),
                           .e0 = AGG_SUM << 4 | AGG_I32,
                           .body_bytes = CHUNK};
    struct agg_verdict v;

    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    p.body = (const uint8_t *)rte_pktmbuf_append(m, SML_HEADER_BYTES + CHUNK) + SML_HEADER_BYTES;
    sml_pool_apply(job->common.pool, sml_pool_locate(job->common.pool, &p, 0), 0, &p, m, 0, &v);
    CU_ASSERT(v.kept && v.released == NULL);
}

TEST(the_frames_of_a_closed_job_are_freed_with_it)
{
    struct rte_mempool *mbufs =
        rte_pktmbuf_pool_create("kept", 2 * SLOTS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    const struct switch_job *job;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mbufs);
    set_up(1);
    job = open_one();
    rte_rcu_qsbr_thread_online(rcu, LCORE);
    for (uint32_t tag = 0; tag < SLOTS + 3; tag++)
        contribute_in_place(job, mbufs, tag);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(mbufs), SLOTS + 3);
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, job->common.number);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(mbufs), SLOTS + 3);
    rte_rcu_qsbr_quiescent(rcu, LCORE);
    jobs_reclaim(&jobs);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(mbufs), 0);
    rte_rcu_qsbr_thread_offline(rcu, LCORE);

    contribute_in_place(open_one(), mbufs, 0); /* and with the daemon */
    close_jobs();
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(mbufs), 0);
    rte_mempool_free(mbufs);
}

TEST(numbers_run_out_and_come_back_the_oldest_first)
{
    set_up(1);
    terms.slots = 2;
    for (unsigned i = 0; i < JOBS_MAX; i++) {
        CU_ASSERT_EQUAL(open_job(), 0);
        CU_ASSERT_EQUAL(number, i);
    }
    CU_ASSERT_EQUAL(open_job(), -EMFILE);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "numbers"));

    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, 200);
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, 3);
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, 77);
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT_EQUAL(number, 200);
    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, 200);
    CU_ASSERT_EQUAL(open_job(), 0);
    CU_ASSERT_EQUAL(number, 3);
}

TEST(a_closed_job_stays_until_no_lcore_can_hold_it)
{
    const struct switch_job *job;

    set_up(4);
    job = open_one();
    rte_rcu_qsbr_thread_online(rcu, LCORE);

    jobs_close(&jobs, AGG_PROTOCOL_SWITCHML, job->common.number);
    CU_ASSERT_PTR_NULL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, 0));
    jobs_reclaim(&jobs);
    CU_ASSERT_PTR_EQUAL(jobs.retired, job);
    CU_ASSERT_EQUAL(rank_of(job, ip_of(0), rte_cpu_to_be_16(port_of(0))), 0); /* as a late reader would */

    rte_rcu_qsbr_quiescent(rcu, LCORE);
    jobs_reclaim(&jobs);
    CU_ASSERT_PTR_NULL(jobs.retired);
    CU_ASSERT_EQUAL(jobs.bytes, 0);
    rte_rcu_qsbr_thread_offline(rcu, LCORE);
}

/* Nothing here knows a protocol but by its table. */
TEST(a_job_of_another_protocol_has_a_number_of_its_own)
{
    struct jobs_plan plan;
    const struct switch_job *job;

    set_up(2);
    jobs.frames_max = 2 * SLOTS;
    CU_ASSERT_EQUAL(open_job(), 0);
    plan = wish;
    plan.protocol = &tally;
    plan.terms = tally_terms(100);
    CU_ASSERT_EQUAL_FATAL(jobs_open(&jobs, &plan, &us, &number, text), 0);
    CU_ASSERT_EQUAL(number, 0);
    job = jobs_find(&jobs, TALLY, 0);
    CU_ASSERT_PTR_EQUAL(job->common.protocol, &tally);
    CU_ASSERT_PTR_EQUAL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, 0)->common.protocol, &sml_protocol);
    CU_ASSERT_EQUAL(job->frames, 0); /* it keeps no frames */
    CU_ASSERT_EQUAL(rank_of(job, ip_of(1), rte_cpu_to_be_16(port_of(1))), 1);
    jobs_close(&jobs, TALLY, 0);
    CU_ASSERT_PTR_NULL(jobs_find(&jobs, TALLY, 0));
    CU_ASSERT_PTR_NOT_NULL(jobs_find(&jobs, AGG_PROTOCOL_SWITCHML, 0));
}

TEST(a_protocol_lowers_its_own_terms)
{
    struct jobs_plan plan;

    set_up(1);
    jobs.bytes_max = 1024;
    plan = wish;
    plan.protocol = &tally;
    plan.terms = tally_terms(100);
    plan.as_it_is = true; /* as a job of the configuration */
    CU_ASSERT_EQUAL(jobs_open(&jobs, &plan, &us, &number, text), -ENOSPC);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "were asked for"));
    plan.as_it_is = false;
    CU_ASSERT_EQUAL(jobs_open(&jobs, &plan, &us, &number, text), 0);
    CU_ASSERT(tally_slots(&plan.terms) > 1 && tally_slots(&plan.terms) < 100);
    CU_ASSERT(jobs.bytes > 1000 && jobs.bytes <= 1024); /* no further than needed */
    plan.terms = tally_terms(0);
    CU_ASSERT_EQUAL(jobs_open(&jobs, &plan, &us, &number, text), -EINVAL);
    CU_ASSERT_STRING_EQUAL(text, "no pool of tally serves 1 ranks under these terms");
}

TEST(a_member_moves_to_another_mac_address)
{
    const struct jobs_location to = {.mac = {{2, 9, 9, 9, 9, 9}}, .port = 7};
    const struct net_ethernet *eth;
    const struct switch_job *job;

    set_up(3);
    job = open_one();
    CU_ASSERT_EQUAL(jobs_move(&jobs, AGG_PROTOCOL_SWITCHML, job->common.number, 1, &to), 0);
    for (unsigned r = 0; r < 3; r++) {
        const struct agg_sender sender = {.ip = ip_of(r), .port = rte_cpu_to_be_16(port_of(r))};
        const struct agg_seat *seat = agg_job_find(&job->common, &sender);

        CU_ASSERT_PTR_NOT_NULL_FATAL(seat);
        eth = (const void *)jobs_member(job, 0, r)->header.bytes;
        CU_ASSERT_EQUAL(memcmp(seat->mac, to.mac.addr_bytes, sizeof(seat->mac)) == 0, r == 1);
        CU_ASSERT_EQUAL(net_same_mac(&eth->dst_addr, &to.mac), r == 1);
        CU_ASSERT_EQUAL(net_same_mac(&jobs_member(job, 0, r)->mac, &to.mac), r == 1);
        CU_ASSERT_EQUAL(jobs_member(job, 0, r)->port == to.port, r == 1);
    }
    CU_ASSERT_EQUAL(jobs_move(&jobs, AGG_PROTOCOL_SWITCHML, job->common.number + 1, 1, &to),
                    0); /* it has ended */
}

int main(void)
{
    if (small_eal_start(128) < 0)
        return 1;
    rcu = small_eal_rcu();
    if (rcu == NULL || rte_rcu_qsbr_thread_register(rcu, LCORE) != 0)
        return 1;
    return unit_main();
}
