/* swagg-ps: what libswagg is promised by a switch holds at a server on kernel sockets, too. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "ps_process.h"
#include "unit.h"

EACH_TEST(start_server, stop_server)

static int sum_many(struct crew_member *m)
{
    static const size_t counts[] = {0, 1, 17, 365, 366, 5000, 200000};
    int rc = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts && rc == 0; i++) {
        const struct tensor t = {.type = SWAGG_F32, .count = counts[i], .seed = seed + i};
        rc = crew_sum(m, &t, -1, i % 2 == 0);
        if (rc == 0)
            rc = crew_sum(m, &(struct tensor){.type = SWAGG_I64, .count = counts[i], .seed = seed}, 1, false);
    }
    return rc;
}

/* Both threads have had a part in it, and operators see the job. */
TEST(sums_are_right)
{
    struct crew crew = crew_at(4, the_server.ip, "sums", sum_many, NULL);
    crew_succeed(&crew);
    CU_ASSERT(ps_answers(&the_server, "\"counters\"", "\"ok\":true"));
    CU_ASSERT(ps_answers(&the_server, "\"counters\"", "\"wrong_port\":0"));
    CU_ASSERT(ps_answers(&the_server, "\"counters\"", "\"lost_sending\":0"));
}

/* Does not call before the test has looked at the job. */
static int wait_inside(struct crew_member *m)
{
    gate_wait(m->crew->arg);
    return crew_sum(m, &(struct tensor){.type = SWAGG_F32, .count = 1000, .seed = seed}, -1, false);
}

TEST(operators_see_jobs)
{
    struct gate gate = {0};
    struct crew crew = crew_at(2, the_server.ip, "seen", wait_inside, &gate);
    crew_start(&crew);
    crew_await(&crew, &gate.in, 2);
    static const char *const asked[][3] = {
        {"\"status\"", "\"threads\":2", "\"jobs\":1"},
        {"\"jobs\"", "\"name\":\"seen\"", "\"state\":\"running\""},
        {"\"job\", \"name\": \"seen\"", "\"slots\":1024", "\"mode\":\"ordered\""},
        {"\"ranks\", \"name\":\"seen\"", "\"rank\":1", "\"state\":\"joined\""},
        {"\"verdicts\"", "\"protocol\":\"switchml\"", "\"packets\""},
        {"\"job\", \"name\":\"none\"", "\"ok\":false", "there is no job none"},
        {"\"fdb\"", "\"ok\":false", "there are: status, jobs"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (int words = 1; words < 3; words++)
            CU_ASSERT(ps_answers(&the_server, asked[i][0], asked[i][words]));
    atomic_store(&gate.open, true);
    crew_end_well(&crew);
}

TEST(operators_end_jobs)
{
    struct gate gate = {0};
    struct crew crew = crew_at(2, the_server.ip, "unwanted", wait_inside, &gate);
    crew_start(&crew);
    crew_await(&crew, &gate.in, 2);
    free(ps_ask(&the_server, "\"job kill\", \"name\":\"unwanted\""));
    atomic_store(&gate.open, true);
    crew_join(&crew);
    for (int r = 0; r < 2; r++)
        CU_ASSERT(crew.member[r].status < 0 && crew.member[r].status != WRONG_SUM);
}

/* Whichever rank sees first that the test says go: all leave after the same sum. */
static int sum_until_told(struct crew_member *m)
{
    struct gate *gate = m->crew->arg;
    const struct tensor t = {.type = SWAGG_F32, .count = 20000, .seed = seed};
    int rc = 0;
    for (int32_t mine, told = 0; told == 0 && rc == 0;) {
        rc = crew_sum(m, &t, -1, false);
        atomic_fetch_add(&gate->in, 1);
        mine = atomic_load(&gate->open);
        if (rc == 0)
            rc = swagg_allreduce(m->job, &mine, &told, 1, SWAGG_I32, SWAGG_SUM);
    }
    return rc;
}

/* A server that is killed and started again in the middle is not noticed, but for time. */
TEST(a_restart_is_outlived)
{
    struct gate gate = {0};
    struct crew crew = crew_at(3, the_server.ip, "restart", sum_until_told, &gate);
    crew_start(&crew);
    crew_await(&crew, &gate.in, 6);
    ps_kill(&the_server);
    ps_start(&the_server);
    atomic_store(&gate.open, true);
    crew_end_well(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.resumed, 1);
}

static bool names_the_dead_server(int deadline_ms)
{
    struct ps_process ps;
    struct gate gate = {0};
    bool named = true;
    ps_begin(&ps, "");
    struct crew crew = crew_at(2, ps.ip, "dead", sum_until_told, &gate);
    crew.options.call_timeout_ms = 2 * deadline_ms;
    crew_start(&crew);
    crew_await(&crew, &gate.in, 2);
    ps_kill(&ps);
    crew_join(&crew);
    for (int r = 0; r < 2; r++)
        named = named && crew.member[r].status == SWAGG_ERR_DEADLINE && strstr(crew.member[r].error, ps.ip);
    ps_stop(&ps);
    return crew_told(&crew, named);
}

TEST(a_dead_server_is_named)
{
    crew_give_up(names_the_dead_server);
}

static struct crew crew_of_many(const struct ps_process *ps, const char *job, struct gate *gate)
{
    struct crew crew = crew_at(CREW_MAX, ps->ip, job, wait_inside, gate);
    crew.options.mtu = 9000;
    return crew;
}

/* A slot of 16 ranks and packets of 9000 bytes takes a good part of a megabyte: there is room for fewer than
 * a job wishes for, then for less, then for none at all. All are founded from one host, which leaves a
 * quarter to others. */
TEST(memory_is_bounded)
{
    struct ps_process ps;
    struct gate gate = {0};
    static struct crew crew[4];
    static const char *const names[] = {"a", "b", "c", "d"};
    int let_in = 0;
    ps_begin(&ps, "mtu: 9000\npool: {megabytes: 1}\n");
    for (int i = 0; i < 4 && let_in == i; i++) {
        crew[i] = crew_of_many(&ps, names[i], &gate);
        crew_start(&crew[i]);
        crew_await(&crew[i], &gate.in, CREW_MAX * (i + 1));
        let_in += atomic_load(&crew[i].through) == 0;
    }
    CU_ASSERT(ps_counted(&ps, "status", "\"pool_bytes_in_use\"") <= 3 << 20 >> 2);
    atomic_store(&gate.open, true);
    for (int i = 0; i <= let_in && i < 4; i++)
        crew_join(&crew[i]);
    CU_ASSERT_FATAL(let_in > 0 && let_in < 4);
    crew_expect_success(&crew[0]);
    CU_ASSERT(crew[0].member[0].stats.slots < 1024);
    CU_ASSERT_EQUAL(crew[let_in].member[0].opened, SWAGG_ERR_REFUSED);
    CU_ASSERT(says(crew[let_in].member[0].error, "3/4 of pool.megabytes)"));
    ps_stop(&ps);
}

/* Whether it serves where it may have so few descriptors; else it says why not. */
static bool serves_with(const struct ps_process *ps, unsigned descriptors)
{
    const struct rlimit limit = {descriptors, descriptors};
    char path[64], said[4096] = "";
    size_t n = 0;
    ssize_t more;
    int ends[2];
    snprintf(path, sizeof path, "%s/conf.yaml", ps->folder);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        closefrom(STDERR_FILENO + 1);
        setrlimit(RLIMIT_NOFILE, &limit);
        execl(ps_program, ps_program, path, NULL);
        _exit(1);
    }
    close(ends[1]);
    while (!strstr(said, " serves at ") && (more = read(ends[0], said + n, sizeof said - 1 - n)) > 0)
        said[n += (size_t)more] = '\0';
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    if (strstr(said, " serves at "))
        return true;
    CU_ASSERT(says(said, "error"));
    return false;
}

TEST(a_server_without_descriptors_says_so)
{
    enum { FEW = 4, ENOUGH = 64 };
    struct ps_process ps;
    unsigned n = FEW;
    ps_make(&ps, "");
    while (n < ENOUGH && !serves_with(&ps, n))
        n++;
    CU_ASSERT(n > FEW || !unit_descriptors_are_bounded());
    CU_ASSERT(n < ENOUGH);
    ps_stop(&ps);
}

TEST(configurations_are_checked)
{
    static const char *const bad[][2] = {
        {"mtu: 1500\n", "server: is missing"},
        {"server: {ip: 10.0.0.300}\n", "server.ip"},
        {"server: {ip: 10.0.0.1, threads: 17}\n", "server.threads"},
        {"server: {ip: 10.0.0.1, groups: 10.0.0.0/8}\n", "server.groups"},
        {"server: {ip: 10.0.0.1, groups: 224.0.0.0/24}\n", "server.groups"},
        {"server: {ip: 10.0.0.1, groups: 239.0.0.1/8}\n", "server.groups"},
        {"server: {ip: 10.0.0.1, groups: 239.1.0.0/x}\n", "server.groups"},
        {"server: {ip: 10.0.0.1, group_ttl: 256}\n", "server.group_ttl"},
        {"server: {ip: 10.0.0.1}\nports: [{device: kernel:eth0}]\n", "ports: unknown key"},
        {"server: {ip: 10.0.0.1}\npool: {kept_frames: 1}\n", "pool.kept_frames: unknown key"},
    };
    CU_ASSERT(ps_check("server: {ip: 10.0.0.1}\npool: {megabytes: 4096}\n", 0, ""));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT(ps_check(bad[i][0], 2, bad[i][1]));
}
