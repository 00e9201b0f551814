/* Room that is kept for jobs which are not there yet: what others find of it, and what its own jobs take. */
#include "config/reserved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "registry/reserved_file.h"
#include "stderr_capture.h"
#include "unit.h"

enum { LAB, GUEST, TENANTS };

static struct config_tenant tenant[TENANTS] = {{.name = "lab"}, {.name = "guest"}};
static struct reserved reserved;
static struct room_job job[8 + RESERVED_MAX];
static unsigned jobs;
static char text[AGG_TEXT_MAX];

static void reserve(const char *name, const char *pattern, int of, uint32_t slots)
{
    struct reservation r = {.tenant = of, .slots = slots, .bytes = slots * 10u, .until = 100};

    snprintf(r.name, sizeof(r.name), "%s", name);
    snprintf(r.pattern, sizeof(r.pattern), "%s", pattern);
    CU_ASSERT_EQUAL(reserved_add(&reserved, &r), 0);
}

static void runs(const char *name, int of, uint64_t slots)
{
    job[jobs++] = (struct room_job){.name = name, .tenant = of, .slots = slots, .bytes = slots * 10};
}

static void set_up(void)
{
    memset(&reserved, 0, sizeof(reserved));
    jobs = 0;
}

EACH_TEST(set_up, NULL)

/* Whether there is room for it among 1000 slots. */
static bool fits(const char *name, int of, uint64_t slots)
{
    const struct room_job asked = {.name = name, .tenant = of, .slots = slots, .bytes = slots * 10};
    unsigned n = jobs;
    const uint64_t kept = reserved_append(&reserved, &asked, job, &n);
    uint64_t held = kept;
    struct room room = {.whose = "the switch",
                        .bytes = 1000000,
                        .slots = 1000,
                        .tenants = TENANTS,
                        .tenant = tenant,
                        .jobs = n,
                        .job = job};

    for (unsigned i = 0; i < jobs; i++)
        held += job[i].bytes;
    room.held = held;
    text[0] = '\0';
    return room_for(&room, &asked, text);
}

static unsigned places(const char *name, int of, bool of_tenant)
{
    const struct room_job asked = {.name = name, .tenant = of};

    return reserved_places(&reserved, &asked, of_tenant ? of : -1, job, jobs);
}

TEST(others_do_not_get_what_is_kept)
{
    reserve("slurm-7", "mpi-*", LAB, 600);
    CU_ASSERT(fits("mpi-1", LAB, 1000));
    CU_ASSERT(!fits("mpi-1", GUEST, 401));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "slurm-7 holds 600"));
    CU_ASSERT(fits("mpi-1", GUEST, 400));
    CU_ASSERT(!fits("torch-1", LAB, 401));
    CU_ASSERT(!fits(NULL, LAB, 401)); /* another reservation */
}

TEST(a_tenant_s_quota_counts_what_is_kept)
{
    reserve("a", "a", LAB, 600);
    tenant[LAB].quota.slots = 800;
    CU_ASSERT(!fits("b", LAB, 201));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "tenants[0].quota.slots"));
    CU_ASSERT(fits("b", LAB, 200));
    CU_ASSERT(fits("a", LAB, 800));
    tenant[LAB].quota.slots = 0;
}

TEST(its_jobs_take_from_it_and_give_back)
{
    reserve("a", "a*", LAB, 600);
    runs("a1", LAB, 500);
    CU_ASSERT(fits("b", GUEST, 400));
    CU_ASSERT(!fits("b", GUEST, 401));
    runs("a2", LAB, 300); /* 200 more than is kept */
    CU_ASSERT(fits("b", GUEST, 200));
    CU_ASSERT(!fits("b", GUEST, 201));
    jobs = 0;
    CU_ASSERT(!fits("b", GUEST, 401));
}

TEST(reservations_for_the_same_jobs_are_one)
{
    reserve("a", "*", LAB, 200);
    reserve("b", "*", LAB, 300);
    runs("x", LAB, 400);
    CU_ASSERT(fits("y", GUEST, 500));
    CU_ASSERT(!fits("y", GUEST, 501));
    CU_ASSERT_EQUAL(places("y", GUEST, false), 1); /* x has the other */
}

TEST(a_place_is_kept_until_a_job_has_it)
{
    reserve("a", "a", LAB, 2);
    CU_ASSERT_EQUAL(places("a", LAB, false), 0);
    CU_ASSERT_EQUAL(places("b", LAB, false), 1);
    CU_ASSERT_EQUAL(places("b", LAB, true), 1);
    CU_ASSERT_EQUAL(places("a", GUEST, false), 1);
    CU_ASSERT_EQUAL(places("a", GUEST, true), 0); /* lab's quota is not its own */
    runs("a", LAB, 0);
    CU_ASSERT_EQUAL(places("b", LAB, false), 0);
}

TEST(it_ends_by_its_name_its_time_or_with_its_tenant)
{
    const int tenants[TENANTS] = {[LAB] = -1, [GUEST] = LAB};
    const struct reservation again = {.name = "a"};
    struct reservation gone;

    reserve("a", "a", LAB, 600);
    CU_ASSERT_EQUAL(reserved_add(&reserved, &again), -EEXIST);
    CU_ASSERT(!reserved_drop(&reserved, "b"));
    CU_ASSERT(reserved_drop(&reserved, "a"));
    CU_ASSERT(fits("b", GUEST, 1000));
    reserve("a", "a", LAB, 600);
    CU_ASSERT(!reserved_expire(&reserved, 99, &gone));
    CU_ASSERT(reserved_expire(&reserved, 100, &gone));
    CU_ASSERT_STRING_EQUAL(gone.name, "a");
    CU_ASSERT_EQUAL(reserved.n, 0);
    reserve("a", "a", LAB, 600);
    reserve("g", "g", GUEST, 100);
    reserved_follow(&reserved, tenants);
    CU_ASSERT_EQUAL_FATAL(reserved.n, 1);
    CU_ASSERT_STRING_EQUAL(reserved.at[0].name, "g");
    CU_ASSERT_EQUAL(reserved.at[0].tenant, LAB);
}

TEST(there_are_no_more_than_a_table_has)
{
    struct reservation r = {.name = ""};

    for (unsigned i = 0; i < RESERVED_MAX; i++) {
        snprintf(r.name, sizeof(r.name), "%u", i);
        CU_ASSERT_EQUAL(reserved_add(&reserved, &r), 0);
    }
    strcpy(r.name, "more");
    CU_ASSERT_EQUAL(reserved_add(&reserved, &r), -ENOSPC);
}

TEST(slots_are_measured_as_a_job_s)
{
    const struct config cfg = {.mtu = 1500};
    struct reservation two = {.ranks = 2, .slots = 100}, four = {.ranks = 4, .slots = 100},
                       many = {.ranks = 2, .slots = 1 << 20};

    CU_ASSERT(reserved_measure(&cfg, &two) && reserved_measure(&cfg, &four));
    CU_ASSERT_EQUAL(two.slots, 128);
    CU_ASSERT(two.bytes > 128 * 1400);
    CU_ASSERT(four.bytes > two.bytes);
    CU_ASSERT(!reserved_measure(&cfg, &many));
}

/* --- what outlives a restart --- */

static struct config lasting = {.mtu = 1500,
                                .pool = {.slots_per_job = 1024, .megabytes = 64},
                                .limits = {.workers = 8, .jobs = 8},
                                .tenants = TENANTS};

/* In a folder of the test's own, of 127.0.0.1. */
static void begin_lasting(char folder[])
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(lasting.state, sizeof(lasting.state), "%s", folder);
    lasting.ip = 0x0100007f;
    strcpy(lasting.tenant[LAB].name, "lab");
    strcpy(lasting.tenant[GUEST].name, "guest");
}

static void end_lasting(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/reserved-127.0.0.1.json", lasting.state);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(rmdir(lasting.state), 0);
}

static void make(const char *name, int tenant_of_it, uint32_t ranks, uint64_t until_s)
{
    struct reservation r = {
        .tenant = tenant_of_it, .ranks = ranks, .slots = 128, .until = until_s * 1000000000};

    snprintf(r.name, sizeof(r.name), "%s", name);
    snprintf(r.pattern, sizeof(r.pattern), "%s-*", name);
    CU_ASSERT_EQUAL(reserved_add(&reserved, &r), 0);
}

TEST(they_outlive_a_restart)
{
    static struct reserved again;
    char folder[] = "/tmp/test_reserved.XXXXXX";

    begin_lasting(folder);
    make("a", LAB, 2, 1000);
    make("over", LAB, 2, 100);
    make("many", LAB, 9, 1000);
    make("g", GUEST, 4, 2000);
    CU_ASSERT_EQUAL(reserved_file_write(&reserved, &lasting, 100 * UINT64_C(1000000000)), 0);
    strcpy(lasting.tenant[GUEST].name, "lab"); /* numbers change, and one is gone */
    strcpy(lasting.tenant[LAB].name, "other");
    reserved_file_read(&again, &lasting, 7 * UINT64_C(1000000000));
    CU_ASSERT_EQUAL_FATAL(again.n, 1);
    CU_ASSERT_STRING_EQUAL(again.at[0].name, "a");
    CU_ASSERT_STRING_EQUAL(again.at[0].pattern, "a-*");
    CU_ASSERT_EQUAL(again.at[0].tenant, GUEST);
    CU_ASSERT_EQUAL(again.at[0].ranks, 2);
    CU_ASSERT_EQUAL(again.at[0].slots, 128);
    CU_ASSERT(again.at[0].bytes > 128 * 1400);
    CU_ASSERT(again.at[0].until > 600 * UINT64_C(1000000000) &&
              again.at[0].until <= 907 * UINT64_C(1000000000)); /* 900 s were left */
    lasting.ip = 0x0200007f;                                    /* another host's folder, too */
    again.n = 0;
    reserved_file_read(&again, &lasting, 0);
    CU_ASSERT_EQUAL(again.n, 0);
    lasting.ip = 0x0100007f;
    end_lasting();
    CU_ASSERT_EQUAL(reserved_file_write(&reserved, &lasting, 0), -ENOENT); /* the folder is gone */
}

/* How many of three are kept. */
static unsigned read_again(void)
{
    static struct reserved again;

    again.n = 0;
    reserved_file_read(&again, &lasting, 0);
    return again.n;
}

TEST(quotas_that_have_shrunk_meanwhile_hold_at_a_start)
{
    char folder[] = "/tmp/test_reserved.XXXXXX";
    const struct config as_it_was = lasting;

    begin_lasting(folder);
    make("a", LAB, 2, 1000);
    make("b", LAB, 2, 1000);
    make("c", GUEST, 2, 1000);
    reserved_file_write(&reserved, &lasting, 0);
    CU_ASSERT_EQUAL(read_again(), 3);
    lasting.limits.jobs = 2;
    CU_ASSERT_EQUAL(read_again(), 2);
    lasting.limits.jobs = 8;
    lasting.tenant[LAB].quota.jobs = 1;
    CU_ASSERT_EQUAL(read_again(), 2); /* a and c */
    lasting.tenant[LAB].quota.jobs = 0;
    lasting.tenant[LAB].quota.slots = 128;
    CU_ASSERT_EQUAL(read_again(), 2);
    lasting.tenant[LAB].quota.slots = 0;
    lasting.pool.slots = 200;
    CU_ASSERT_EQUAL(read_again(), 1);
    lasting.pool.slots = 0;
    lasting.pool.megabytes = 0;
    CU_ASSERT_EQUAL(read_again(), 0);
    lasting.pool.megabytes = 64;
    CU_ASSERT_EQUAL(read_again(), 3); /* the file has them all yet */
    end_lasting();
    lasting = as_it_was;
}

/* --- patterns --- */

enum { LONGEST = 3, PATTERNS = 1 + 5 + 25 + 125, NAMES = (1 << (2 * LONGEST + 1)) - 1 };

/* The n-th text of up to so many parts. */
static void put_text(char to[CONFIG_JOB_MAX], const char *const part[], unsigned parts, unsigned n)
{
    for (to[0] = '\0'; n > 0; n = (n - 1) / parts)
        strcat(to, part[(n - 1) % parts]);
}

/* All short patterns with all: names as long as both together suffice. */
TEST(a_name_that_fits_two_patterns_is_known_to_be_possible)
{
    static const char *const parts[] = {"a", "b", "*", "?", "\\a"}, *const letters[] = {"a", "b"};
    static bool fits_it[PATTERNS][NAMES];
    static struct config_patterns patterns[PATTERNS];
    char name[CONFIG_JOB_MAX];
    unsigned wrong = 0;

    for (unsigned p = 0; p < PATTERNS; p++) {
        patterns[p].n = 1;
        put_text(patterns[p].text[0], parts, 5, p);
        for (unsigned n = 0; n < NAMES; n++) {
            put_text(name, letters, 2, n);
            fits_it[p][n] = config_fits(&patterns[p], name);
        }
    }
    for (unsigned p = 0; p < PATTERNS; p++)
        for (unsigned q = 0; q < PATTERNS; q++) {
            bool both = false;

            for (unsigned n = 0; n < NAMES && !both; n++)
                both = fits_it[p][n] && fits_it[q][n];
            wrong += config_could_fit(&patterns[p], patterns[q].text[0]) != both;
        }
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(one_of_several_patterns_is_enough_and_a_bracket_may_be_anything)
{
    static const struct config_patterns patterns = {.n = 2, .text = {"mpi-*", "nccl-[0-9]"}};

    CU_ASSERT(config_could_fit(&patterns, "nccl-1"));
    CU_ASSERT(config_could_fit(&patterns, "[a-m]pi-1"));
    CU_ASSERT(config_could_fit(&patterns, "*"));
    CU_ASSERT(!config_could_fit(&patterns, "torch-*"));
    CU_ASSERT(!config_could_fit(&patterns, "nccl"));
    CU_ASSERT(!config_could_fit(&patterns, "xpi-[1]"));
}

TEST(a_file_that_is_not_theirs_reserves_nothing)
{
    static const char *const texts[] = {"", "{", "{}", "[1, {}]",
                                        "[{\"name\": \"a\", \"until\": 99999999999}]"};
    char folder[] = "/tmp/test_reserved.XXXXXX", path[512];

    begin_lasting(folder);
    snprintf(path, sizeof(path), "%s/reserved-127.0.0.1.json", folder);
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        FILE *f = fopen(path, "w");

        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        fputs(texts[i], f);
        fclose(f);
        reserved_file_read(&reserved, &lasting, 0);
        CU_ASSERT_EQUAL(reserved.n, 0);
    }
    unlink(path);
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    reserved_file_read(&reserved, &lasting, 0); /* does not wait for who writes to it */
    CU_ASSERT_EQUAL(reserved.n, 0);
    unlink(path);
    CU_ASSERT_EQUAL(symlink(path, path), 0);
    CU_ASSERT_FATAL(capture_begin());
    reserved_file_read(&reserved, &lasting, 0);
    capture_take();
    capture_end();
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, "cannot be read: Too many levels of symbolic links"));
    end_lasting();
    lasting.state[0] = '\0'; /* no folder, no file */
    reserved_file_write(&reserved, &lasting, 0);
    reserved_file_read(&reserved, &lasting, 0);
    CU_ASSERT_EQUAL(reserved.n, 0);
}
