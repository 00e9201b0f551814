/* What an operator adds and deletes while the switch runs. */
#include "reload.h"

#include <errno.h>
#include <string.h>

#include "aggregate/jobs_share.h"
#include "hostagg/terms.h"
#include "kernels_chosen.h"
#include "small_eal.h"
#include "switchml/terms.h"
#include "unit.h"

enum { SLOTS = 4, BYTES = 128, WORKERS = 2 };

static pthread_mutex_t shown_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct show_parts shown = {.lock = &shown_lock};
static struct rte_rcu_qsbr *rcu;
static struct config running;
static struct datapath dp;
static struct registrar registrar;
static struct static_jobs fixed;
static struct reload r;

static struct config_peer peer(unsigned station)
{
    return (struct config_peer){
        .mac = {2, 0, 0, 0, 0, (uint8_t)station}, .ip = rte_cpu_to_be_32(0x0A000000 + station), .port = 4000};
}

/* An operator has added a job; one whose sums go to a host is called the same. */
static void set_up(void)
{
    const struct sml_terms terms = {.format = XFER_FORMAT_INT32,
                                    .mode = XFER_ON_ARRIVAL,
                                    .slots = SLOTS,
                                    .chunk_bytes = BYTES,
                                    .plain = true,
                                    .labelled = true,
                                    .threads = 1};
    const struct hag_terms sums = {
        .host = HAG_HOST_ABSENT, .code = agg_code(AGG_F32, AGG_SUM), .slots = SLOTS, .chunk_bytes = BYTES};
    struct config_static *s = &running.static_job[0];
    struct config_hostagg *h = &running.hostagg[0];

    running = (struct config){.static_jobs = 1, .hostagg_jobs = 1, .pool.megabytes = 16};
    *s = (struct config_static){
        .common = {.name = "train", .added = true, .quiet_ms = 1000, .tenant = -1, .workers = WORKERS},
        .threads = 1};
    *h = (struct config_hostagg){
        .common = {.name = "train", .tenant = -1, .workers = WORKERS}, .number = 9, .host = peer(9)};
    sml_terms_build(&s->common.terms, &terms);
    hag_terms_build(&h->common.terms, &sums);
    for (unsigned rank = 0; rank < WORKERS; rank++) {
        s->worker[rank] = peer(rank);
        h->worker[rank] = peer(4 + rank);
    }
    dp.jobs = (struct jobs){.rcu = rcu, .kernels = kernels_or_exit()};
    jobs_limit(&dp.jobs, &running);
    fixed = (struct static_jobs){.jobs = &dp.jobs, .shown = &shown_lock};
    CU_ASSERT_EQUAL_FATAL(static_jobs_open(&fixed, &running, 0), 0);
    registrar.common.parts.cfg = &running;
    reload_init(&r, "file", &running);
    r.dp = &dp;
    r.registrar = &registrar;
    r.static_jobs = &fixed;
    r.shown = &shown;
}

static void tear_down(void)
{
    static_jobs_close(&fixed);
    jobs_free(&dp.jobs);
}

EACH_TEST(set_up, tear_down)

/* What it was at is forgotten, but nothing of others. */
TEST(only_the_job_that_was_added_is_deleted)
{
    CU_ASSERT_EQUAL_FATAL(fixed.n, 2);
    CU_ASSERT_EQUAL(reload_delete_job(&r, "train"), 0);
    CU_ASSERT_EQUAL_FATAL(fixed.n, 1);
    CU_ASSERT_STRING_EQUAL(fixed.job[0].list, "hostagg");
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0);
    CU_ASSERT_EQUAL(reload_delete_job(&r, "train"), -EPERM);
    CU_ASSERT_EQUAL(fixed.n, 1);
    CU_ASSERT_EQUAL(fixed.job[0].runs, 0);
}

TEST(a_job_that_is_at_work_is_deleted)
{
    fixed.job[0].worked = true;
    CU_ASSERT_EQUAL(reload_delete_job(&r, "train"), 0);
    CU_ASSERT_EQUAL(fixed.n, 1);
    CU_ASSERT_EQUAL(running.static_jobs, 0);
}

/* They stay the same jobs, of the same tenants. */
TEST(jobs_that_the_file_names_keep_what_is_theirs_in_another_order)
{
    static const int tenant[CONFIG_TENANTS_MAX] = {0, 1};
    static struct config changed;
    struct static_jobs_next next;

    static_jobs_close(&fixed);
    jobs_free(&dp.jobs);
    running.static_jobs = 0;
    running.tenants = running.hostagg_jobs = 2;
    running.hostagg[1] = running.hostagg[0];
    strcpy(running.hostagg[1].common.name, "other");
    running.hostagg[1].number = 10;
    for (unsigned i = 0; i < 2; i++)
        running.hostagg[i].common.tenant = (int)i;
    for (unsigned rank = 0; rank < WORKERS; rank++)
        running.hostagg[1].worker[rank] = peer(6 + rank);
    dp.jobs = (struct jobs){.rcu = rcu, .kernels = kernels_or_exit()};
    jobs_limit(&dp.jobs, &running);
    CU_ASSERT_EQUAL_FATAL(static_jobs_open(&fixed, &running, 0), 0);
    const unsigned train = fixed.job[0].number;

    changed = running;
    changed.hostagg[0] = running.hostagg[1];
    changed.hostagg[1] = running.hostagg[0];
    CU_ASSERT_EQUAL_FATAL(
        static_jobs_prepare(&fixed, &(struct static_jobs_change){&running, &changed, tenant}, &next), 0);
    static_jobs_commit(&fixed, &next, &changed);
    CU_ASSERT_STRING_EQUAL(fixed.job[1].name, "train");
    CU_ASSERT_EQUAL(fixed.job[1].number, train);
    CU_ASSERT_EQUAL(fixed.job[1].plan.tenant, 0);
}

int main(void)
{
    if (small_eal_start(128) < 0)
        return 1;
    rcu = small_eal_rcu();
    return rcu == NULL ? 1 : unit_main();
}
