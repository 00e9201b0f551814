/* What swagg-tofino keeps of running jobs for its next life. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "registry_script.h"
#include "saved.h"

static const struct ctl_tenant tenants[] = {{.name = "rest"}, {.name = "odd"}};
static const struct ctl_tenant_key keys[] = {{.key.id = 77, .tenant = 1},
                                             {.key.id = UINT64_MAX, .tenant = 0}};

static char path[] = "/tmp/swagg-saved.XXXXXX";

static struct config configuration; /* which no operator has added anything to */

static struct stage *s;
static struct ctl_registry_config cfg; /* of who reads */
static struct saved *saved;            /* read last */
static char why[SAVED_WHY_MAX];

static struct ctl_registry_config config(void)
{
    return (struct ctl_registry_config){.protocols = spoken,
                                        .protocols_known = 1,
                                        .max_jobs = (uint16_t)s->max_jobs,
                                        .tenants_known = 2,
                                        .tenants = tenants,
                                        .key = keys,
                                        .keys = 2,
                                        .boot_id = UINT64_C(0xfedcba9876543210),
                                        .lost_after_ns = 10 * SECOND};
}

/* Two jobs that run, of two tenants, and one that does not yet. A rank of the first has left. */
static void begin(void)
{
    s = open_stage(8);
    cfg = config();
    s->silent = true;
    for (const char *const *line =
             (const char *const[]){"JOIN a 0/2", "JOIN b 1/2", "LEAVE b calls=3", "JOIN c 0/1 job=shared",
                                   "JOIN d 0/2 job=later", NULL};
         *line != NULL; line++)
        do_line(s, *line);
}

static void end(void)
{
    free(saved);
    saved = NULL;
    close_stage(s);
}

EACH_TEST(begin, end)

static int write_jobs(void)
{
    const struct ctl_registry_config written = config();

    return saved_write(path, &configuration, &written, s->registry);
}

static const struct saved *read_jobs(void)
{
    free(saved);
    return saved = saved_read(path, &cfg, why);
}

/* As many as are expected. */
static void read_so_many(unsigned jobs)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(read_jobs());
    CU_ASSERT_EQUAL_FATAL(saved->jobs, jobs);
}

static void read_text(char text[8192])
{
    FILE *f = fopen(path, "r");

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    text[fread(text, 1, 8191, f)] = '\0';
    fclose(f);
}

TEST(the_next_life_has_what_this_one_has)
{
    struct stage *next = open_stage(8);
    char first[8192], second[8192];
    struct stat st;

    ((struct ctl_entry *)ctl_registry_entry(s->registry, 0))->founder_below =
        7; /* of a host below a switch */
    CU_ASSERT_EQUAL(write_jobs(), 0);
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 0777, 0600);
    read_text(first);
    read_so_many(2);
    CU_ASSERT_EQUAL(saved->boot_id, cfg.boot_id);
    CU_ASSERT_PTR_EQUAL(saved->job[0].entry.first_left, &saved->job[0].member[1]);
    CU_ASSERT_EQUAL(saved->job[1].entry.tenant, 1);
    CU_ASSERT(saved->job[0].entry.founder_below == 7 && saved->job[1].entry.founder_below == 0);
    for (unsigned i = 0; i < saved->jobs; i++)
        CU_ASSERT(ctl_registry_restore(next->registry, &saved->job[i].entry, next->now));
    CU_ASSERT_EQUAL(saved_write(path, &configuration, &cfg, next->registry), 0);
    read_text(second);
    CU_ASSERT_STRING_EQUAL(first, second);
    close_stage(next);
}

/* In the place of the C library's: 'f' a file's bytes are on the disk, 'r' it is renamed, 'd' so is a folder.
 */
static char steps[8];

static void note_step(char step)
{
    const size_t n = strlen(steps);

    if (n + 1 < sizeof(steps))
        memcpy(&steps[n], (char[]){step, '\0'}, 2);
}

int fsync(int fd)
{
    struct stat st;

    CU_ASSERT_EQUAL(fstat(fd, &st), 0);
    CU_ASSERT(S_ISDIR(st.st_mode) || st.st_size > 0);
    note_step(S_ISDIR(st.st_mode) ? 'd' : 'f');
    return 0;
}

int rename(const char *from, const char *to)
{
    note_step('r');
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* Or a machine that loses its power may find an empty file, or the old one. */
TEST(it_is_on_the_disk_before_it_has_its_name)
{
    steps[0] = '\0';
    CU_ASSERT_EQUAL(write_jobs(), 0);
    CU_ASSERT_STRING_EQUAL(steps, "frd");
}

/* Which does not say whose host below a switch has founded a job. */
TEST(a_file_of_an_earlier_version_is_read)
{
    char text[8192], *word;
    FILE *f;

    CU_ASSERT_EQUAL(write_jobs(), 0);
    read_text(text);
    while ((word = strstr(text, "founder_below")) != NULL)
        word[0] = 'F'; /* a key that nobody knows */
    f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    read_so_many(2);
    CU_ASSERT_EQUAL(saved->job[0].entry.founder_below, 0);
}

TEST(nothing_to_go_on_with)
{
    CU_ASSERT_EQUAL(write_jobs(), 0);
    cfg.lost_after_ns++;
    CU_ASSERT_PTR_NULL(read_jobs());
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "timers.lost_after_ms is another than before"));
    CU_ASSERT_EQUAL(truncate(path, 100), 0);
    CU_ASSERT_PTR_NULL(read_jobs());
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "is not what swagg-tofino has written"));
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_PTR_NULL(read_jobs());
    CU_ASSERT_STRING_EQUAL(why, "");
    CU_ASSERT_EQUAL(saved_write("/nowhere/at/all", &configuration, &cfg, s->registry), -ENOENT);
}

/* As on a full disk: a part is written, then no more. */
TEST(a_file_that_may_not_grow_leaves_what_was_there)
{
    char first[8192], second[8192], part[sizeof(path) + 4];
    struct rlimit limit;

    CU_ASSERT_EQUAL(write_jobs(), 0);
    read_text(first);
    signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned bytes = 200; bytes < 300; bytes++) { /* wherever it stops */
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, limit.rlim_max}), 0);
        CU_ASSERT_EQUAL(write_jobs(), -EFBIG);
    }
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    read_text(second);
    CU_ASSERT_STRING_EQUAL(first, second);
    snprintf(part, sizeof(part), "%s.new", path);
    CU_ASSERT(access(part, F_OK) < 0);
}

TEST(a_job_whose_tenant_is_gone_is_left_out)
{
    CU_ASSERT_EQUAL(write_jobs(), 0);
    cfg.tenants = &tenants[1];
    cfg.tenants_known = 1;
    read_so_many(1);
    CU_ASSERT_STRING_EQUAL(saved->job[0].entry.name, "shared");
    CU_ASSERT_EQUAL(saved->job[0].entry.tenant, 0);
    CU_ASSERT_EQUAL(saved->left_out, 1);
}

static void load(struct config *c, const char *more)
{
    char text[1000];

    snprintf(text, sizeof(text),
             "switch: {ip: 10.77.0.254/24}\nports: [{device: \"chip:1\"}]\n"
             "tenants: [{name: odd, addresses: [10.0.0.0/8]}, {name: lab, addresses: [0.0.0.0/0]}]\n%s",
             more);
    CU_ASSERT_EQUAL_FATAL(config_load_text(c, "test.yaml", text, log_report, NULL), 0);
}

TEST(jobs_that_an_operator_has_added)
{
    static struct config wanted, next;
    const struct config_static *job = &next.static_job[1];
    char first[8192], second[8192];

    load(&wanted,
         "static:\n"
         "  - {name: own, workers: [{mac: \"02:00:00:00:00:01\", ip: 10.77.0.1}]}\n"
         "  - {name: more, threads: 2, slots: 64, elements: 32, quiet_ms: 900, mode: ordered, tenant: "
         "lab, workers: [{mac: \"02:00:00:00:00:01\", ip: 10.77.0.1, port: 5000}, {mac: "
         "\"02:00:00:00:00:02\", ip: 10.77.0.2}]}\n");
    wanted.static_job[1].common.added = true;
    CU_ASSERT_EQUAL(saved_write(path, &wanted, &cfg, s->registry), 0);
    read_text(first);
    load(&next, "static: [{name: other, workers: [{mac: \"02:00:00:00:00:01\", ip: 10.77.0.1}]}]\n");
    saved_take_added(path, &next);
    CU_ASSERT_EQUAL_FATAL(next.static_jobs, 2);
    CU_ASSERT(job->common.added && job->ordered &&
              job->common.network == wanted.static_job[1].common.network);
    CU_ASSERT_EQUAL(job->threads, 2);
    CU_ASSERT_EQUAL(job->slots, 64);
    CU_ASSERT_EQUAL(job->elements, 32);
    CU_ASSERT_EQUAL(job->common.quiet_ms, 900);
    CU_ASSERT_EQUAL_FATAL(job->common.workers, 2);
    CU_ASSERT_EQUAL(job->worker[0].port, 5000);
    CU_ASSERT_EQUAL(job->worker[1].mac[5], 2);
    CU_ASSERT_STRING_EQUAL(next.tenant[job->common.tenant].name, "lab");
    CU_ASSERT_EQUAL(saved_write(path, &next, &cfg, s->registry), 0); /* every field that is kept */
    read_text(second);
    CU_ASSERT_STRING_EQUAL(first, second);
    load(&next,
         "static: [{name: other, workers: [{mac: \"02:00:00:00:00:01\", ip: 10.77.0.1, port: 5001}]}]\n");
    saved_take_added(path, &next); /* the file has its port now */
    CU_ASSERT_EQUAL(next.static_jobs, 1);
    CU_ASSERT_EQUAL(unlink(path), 0);
    saved_take_added(path, &next);
    CU_ASSERT_EQUAL(next.static_jobs, 1);
}

/* Of the stage's jobs, by place. */
static struct ctl_entry *job_of(unsigned place)
{
    return (struct ctl_entry *)ctl_registry_entry(s->registry, place);
}

/* What is read after this was written. */
static void read_back(unsigned jobs)
{
    CU_ASSERT_EQUAL(write_jobs(), 0);
    read_so_many(jobs);
}

/* By its id, wherever it stands now. */
TEST(a_member_has_its_key)
{
    static const struct ctl_tenant_key swapped[] = {{.key.id = UINT64_MAX, .tenant = 0},
                                                    {.key.id = 77, .tenant = 1}};
    static const struct ctl_tenant_key retired[] = {{.key.id = 77, .tenant = 1},
                                                    {.key.id = UINT64_MAX, .tenant = CTL_NO_KEY}};

    job_of(0)->members[1].endpoint.key = 2;
    read_back(2);
    CU_ASSERT_EQUAL(saved->job[0].member[0].endpoint.key, 0);
    CU_ASSERT_EQUAL(saved->job[0].member[1].endpoint.key, 2);
    cfg.key = swapped;
    read_back(2);
    CU_ASSERT_EQUAL(saved->job[0].member[1].endpoint.key, 1);
    cfg.key = retired;
    read_back(1);
    cfg.keys = 0;
    read_back(1);
}

TEST(the_first_that_left_is_who_did_after_the_fewest_calls)
{
    struct ctl_member *members = job_of(0)->members;

    members[0].state = members[1].state = CTL_MEMBER_LEFT;
    members[0].heartbeat.calls = 2;
    members[1].heartbeat.calls = UINT32_MAX;
    read_back(2);
    CU_ASSERT_PTR_EQUAL(saved->job[0].entry.first_left, &saved->job[0].member[1]);
}

TEST(a_job_with_more_than_there_is_room_for_is_left_out)
{
    struct ctl_member many[TOFINO_MAX_WORKERS + 1] = {0}, *members;

    members = job_of(0)->members;
    job_of(0)->members = many;
    job_of(0)->size = TOFINO_MAX_WORKERS + 1;
    many[0].endpoint.key = 1;
    read_back(1);
    CU_ASSERT_STRING_EQUAL(saved->job[0].entry.name, "shared");
    job_of(0)->members = members;
    job_of(0)->size = 2;
    cfg.protocols_known = 0;
    read_back(0);
}

/* The file with another word for the first one. */
static void rewrite(const char *word, const char *other)
{
    char text[8192];
    FILE *f;

    read_text(text);
    f = fopen(path, "w");
    char *at = strstr(text, word);
    CU_ASSERT_FATAL(f != NULL && at != NULL);
    fprintf(f, "%.*s%s%s", (int)(at - text), text, other, at + strlen(word));
    fclose(f);
}

TEST(what_is_not_understood_leaves_nothing_behind)
{
    char name[CTL_NAME_MAX + 12];

    job_of(0)->members[0].endpoint.key = 2;
    CU_ASSERT_EQUAL(write_jobs(), 0);
    snprintf(name, sizeof(name), "\"name\":\"%0*d\"", (int)sizeof(job_of(0)->name), 0);
    rewrite("\"name\":\"t\"", name);
    read_so_many(1);
    CU_ASSERT_EQUAL(write_jobs(), 0);
    rewrite("\"tenant\":\"rest\"", "\"tenant\":\"gone\"");
    read_so_many(1);
    CU_ASSERT_EQUAL(saved->job[0].member[0].endpoint.key, 0);
    CU_ASSERT_PTR_NULL(saved->job[0].entry.first_left);
    rewrite("\"version\":1", "\"version\":2");
    CU_ASSERT_PTR_NULL(read_jobs());
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "is another version's"));
}

int main(void)
{
    const int fd = mkstemp(path);

    close(fd);
    const int failed = unit_main();
    unlink(path);
    return failed;
}
