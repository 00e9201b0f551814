/* Tenants of swagg-ps: who has the key is in, over its restarts and new keys too, and nobody else; by
 * SwitchML and by ATP. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "key_files.h"
#include "ps_process.h"
#include "unit.h"

static const enum swagg_protocol protocols[] = {SWAGG_PROTOCOL_SWITCHML, SWAGG_PROTOCOL_ATP};

enum { RANKS = 3, YAML_MAX = 512 };

/* A server of tenant lab, whose jobs are called lab-...; and more lines of that tenant's. */
static struct {
    struct ps_process ps;
    char key[KEY_FILES_PATH_MAX];
} lab;

static void configure(const char *more)
{
    char yaml[YAML_MAX];
    snprintf(yaml, sizeof yaml,
             "tenants:\n"
             "- {name: lab, jobs: [\"lab-*\"], key_file: %s%s}\n"
             "- {name: guests, addresses: [127.0.0.0/8], jobs: [\"open-*\"]}\n",
             lab.key, more);
    ps_configure(&lab.ps, yaml);
}

static void start(void)
{
    key_file_make(lab.key, "1");
    ps_make(&lab.ps, "");
    configure("");
    ps_start(&lab.ps);
}

static void stop(void)
{
    CU_ASSERT_EQUAL(ps_stop(&lab.ps), 0);
    unlink(lab.key);
}

EACH_TEST(start, stop)

static struct swagg_options options_of(const char *job, const char *key, enum swagg_protocol protocol)
{
    return (struct swagg_options){.struct_size = sizeof(struct swagg_options),
                                  .switch_ip = lab.ps.ip,
                                  .server_ip = lab.ps.ip,
                                  .job = job,
                                  .size = 1,
                                  .mtu = 1500,
                                  .answer_timeout_ms = 300000,
                                  .join_timeout_ms = 300000,
                                  .key_file = key,
                                  .protocol = protocol};
}

TEST(a_job_with_a_key_outlives_its_server)
{
    for (size_t i = 0; i < 2; i++) {
        struct interlude restart = {.tensor = {.type = SWAGG_F32, .count = 20000, .seed = 3}};
        struct crew crew = crew_at(RANKS, NULL, "lab-keyed", crew_sum_twice, &restart);
        crew.options = options_of("lab-keyed", lab.key, protocols[i]);
        crew_start(&crew);
        crew_await(&crew, &restart.gate.in, RANKS);
        ps_kill(&lab.ps);
        ps_start(&lab.ps);
        atomic_store(&restart.gate.open, true);
        crew_end_well(&crew);
        for (int r = 0; r < RANKS; r++) {
            CU_ASSERT_EQUAL(crew.member[r].stats.resumed, 1);
            CU_ASSERT(says(crew.member[r].log, "bytes a packet, keyed"));
        }
    }
}

static void expect_refusal(const char *job, const char *key, const char *why)
{
    for (size_t i = 0; i < 2; i++) {
        struct swagg_options o = options_of(job, key, protocols[i]);
        struct swagg_job *opened;
        o.answer_timeout_ms =
            1000; /* an answer without a seal may be anybody's: a better one is waited for */
        CU_ASSERT_EQUAL(open_patiently(&opened, &o), SWAGG_ERR_REFUSED);
        CU_ASSERT(says(swagg_last_error(), why));
    }
}

static struct swagg_job *expect_open(const char *job, const char *key)
{
    const struct swagg_options o = options_of(job, key, SWAGG_PROTOCOL_SWITCHML);
    struct swagg_job *opened = NULL;
    if (swagg_open(&opened, &o) < 0)
        printf("\n    %s\n", swagg_last_error());
    CU_ASSERT_PTR_NOT_NULL_FATAL(opened);
    return opened;
}

static int sum(struct swagg_job *job)
{
    float x[100] = {1};
    return swagg_allreduce(job, x, x, 100, SWAGG_F32, SWAGG_SUM);
}

TEST(others_are_refused_and_told_why)
{
    char other[KEY_FILES_PATH_MAX];
    key_file_make(other, "2");
    expect_refusal("lab-a", NULL, "jobs of this name need the key of tenant lab");
    expect_refusal("lab-a", other, "does not know the key");
    expect_refusal("open-a", lab.key, "the key is tenant lab's, who has no jobs of this name");
    expect_refusal("closed", NULL, "none of the server's tenants has 127.");
    swagg_close(expect_open("open-a", NULL));
    unlink(other);
}

/* As the documentation has it: the next key beside the old one, then at the workers, then alone. */
TEST(keys_change_while_a_job_runs)
{
    char next[KEY_FILES_PATH_MAX], old[KEY_FILES_PATH_MAX];
    key_file_make(old, "1");
    key_file_make(next, "3");
    struct swagg_job *first = expect_open("lab-first", old);
    key_file_change(lab.key, "13");
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "\"to\":\"1 new, 0 retired\""));
    struct swagg_job *second = expect_open("lab-second", next);
    key_file_change(lab.key, "3");
    kill(lab.ps.pid, SIGHUP);
    ps_await(&lab.ps, "0 new, 1 retired");
    expect_refusal("lab-third", old, "key");
    CU_ASSERT_EQUAL(sum(first), 0);
    CU_ASSERT_EQUAL(sum(second), 0);
    CU_ASSERT(ps_answers(&lab.ps, "\"tenants\"", "\"name\":\"lab\",\"jobs\":2"));
    swagg_close(first);
    swagg_close(second);
    unlink(next);
    unlink(old);
}

TEST(a_tenant_has_no_more_than_its_quota)
{
    configure(", quota: {jobs: 2, slots: 1024}");
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "tenants[lab].quota.slots"));
    struct swagg_job *first = expect_open("lab-first", lab.key);
    expect_refusal("lab-second", lab.key, "of tenant lab are free (tenants[0].quota.slots): lab-first");
    struct swagg_job *guest = expect_open("open-a", NULL);
    configure(", quota: {jobs: 1}");
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "\"ok\":true"));
    expect_refusal("lab-second", lab.key, "tenants[0].quota.jobs allows");
    CU_ASSERT_EQUAL(sum(first), 0);
    CU_ASSERT_EQUAL(sum(guest), 0);
    swagg_close(first);
    swagg_close(guest);
}

/* The server goes on as it was, and says by which key. */
TEST(a_bad_file_changes_nothing)
{
    struct swagg_job *job = expect_open("lab-first", lab.key);
    ps_configure(&lab.ps, "mtu: 9000\n");
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "mtu: 1500 -> 9000 needs a restart"));
    ps_configure(&lab.ps, "tenants: [{name: lab, key_file: /nowhere/key}]\n");
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "tenants[0].key_file: /nowhere/key"));
    ps_configure(&lab.ps, "limits: {job: 3}\n");
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "limits.job: unknown key"));
    expect_refusal("lab-second", NULL, "jobs of this name need the key of tenant lab");
    ps_configure(&lab.ps, "");
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "tenants[lab]"));
    CU_ASSERT(ps_answers(&lab.ps, "\"job\", \"name\": \"lab/lab-first\"", "\"tenant\":\"lab\""));
    swagg_close(expect_open("lab-first", NULL));
    CU_ASSERT_EQUAL(sum(job), 0);
    swagg_close(job);
}

/* Each tenant has names of its own. */
TEST(jobs_of_one_name_are_told_apart)
{
    char yaml[YAML_MAX];
    snprintf(yaml, sizeof yaml,
             "tenants: [{name: lab, key_file: %s, jobs: [open-a]}, {name: all, addresses: [0.0.0.0/0]}]\n",
             lab.key);
    struct swagg_job *guest = expect_open("open-a", NULL);
    ps_configure(&lab.ps, yaml);
    CU_ASSERT(ps_answers(&lab.ps, "\"reload\"", "\"ok\":true"));
    struct swagg_job *ours = expect_open("open-a", lab.key);
    CU_ASSERT(ps_answers(&lab.ps, "\"job kill\", \"name\": \"open-a\"", "\"lab/open-a\""));
    CU_ASSERT(ps_answers(&lab.ps, "\"job kill\", \"name\": \"guests/open-a\"", "\"ok\":true"));
    CU_ASSERT_EQUAL(sum(ours), 0);
    CU_ASSERT(sum(guest) < 0);
    swagg_close(ours);
    swagg_close(guest);
}

TEST(configurations_are_checked)
{
    static const char *const bad[][2] = {
        {"tenants: [{name: lab}]\n", "tenants[0].addresses: is missing"},
        {"tenants: [{name: lab, addresses: [0.0.0.0/0], weight: 2}]\n", "tenants[0].weight: a server's jobs"},
        {"tenants: [{name: lab, addresses: [0.0.0.0/0], quota: {kept_frames: 2}}]\n",
         "tenants[0].quota.kept_frames: a server keeps no frames"},
        {"tenants: [{name: lab, key_file: /nowhere/key}]\n", "tenants[0].key_file: /nowhere/key"},
    };
    char yaml[YAML_MAX];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(yaml, sizeof yaml, "server: {ip: 10.0.0.1}\n%s", bad[i][0]);
        CU_ASSERT(ps_check(yaml, 2, bad[i][1]));
    }
}
