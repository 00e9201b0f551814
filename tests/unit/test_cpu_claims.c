/* On which CPUs the polling threads of other processes are. Each process here is one. */
#include "base/cpu_claims.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { CPUS = 4, LAST_CPU = 1023 };

static char directory[] = "/tmp/test_cpu_claims.XXXXXX", path[PATH_MAX];

static void take(int fd, const unsigned threads[CPUS])
{
    for (int cpu = 0; cpu < CPUS; cpu++)
        for (unsigned i = 0; i < threads[cpu]; i++)
            cpu_claims_take(fd, cpu, i);
}

/* A process with so many polling threads, by CPU; NULL: one that does not settle. Returns when it has claimed
 * the CPUs. */
static pid_t begin(const unsigned threads[CPUS])
{
    int claimed[2];
    char byte;
    pid_t pid;

    CU_ASSERT_EQUAL_FATAL(pipe(claimed), 0);
    pid = fork();
    CU_ASSERT_FATAL(pid >= 0);
    if (pid == 0) {
        const int fd = cpu_claims_open(path);

        if (threads != NULL) {
            take(fd, threads);
            cpu_claims_settle(fd);
        }
        close(claimed[0]);
        if (fd >= 0 && write(claimed[1], "", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(claimed[1]);
    CU_ASSERT_EQUAL_FATAL(read(claimed[0], &byte, 1), 1);
    close(claimed[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* What a process that starts now finds. */
static void find(unsigned others[CPUS], pid_t holder[CPUS])
{
    const int fd = cpu_claims_open(path);

    CU_ASSERT_FATAL(fd >= 0);
    for (int cpu = 0; cpu < CPUS; cpu++)
        others[cpu] = cpu_claims_of_others(fd, cpu, &holder[cpu]);
    close(fd);
}

static bool finds(unsigned a, unsigned b, unsigned c, unsigned d)
{
    const unsigned expected[CPUS] = {a, b, c, d};
    unsigned others[CPUS];
    pid_t holder[CPUS];

    find(others, holder);
    return memcmp(others, expected, sizeof(expected)) == 0;
}

TEST(a_claim_is_seen_until_its_process_ends)
{
    unsigned others[CPUS];
    pid_t first, second, holder[CPUS];

    CU_ASSERT(finds(0, 0, 0, 0));
    first = begin((const unsigned[CPUS]){0, 1, 0, 2});
    CU_ASSERT(finds(0, 1, 0, 2));
    second = begin((const unsigned[CPUS]){1, 1, 0, 0});
    find(others, holder);
    CU_ASSERT(others[0] == 1 && others[1] == 2 && others[2] == 0 && others[3] == 2);
    CU_ASSERT(holder[0] == second && holder[2] == 0 && holder[3] == first);
    end(first);
    CU_ASSERT(finds(1, 1, 0, 0));
    end(second);
    CU_ASSERT(finds(0, 0, 0, 0));
}

TEST(its_own_claims_are_no_others)
{
    const pid_t other = begin((const unsigned[CPUS]){1, 1});
    const int fd = cpu_claims_open(path);
    pid_t holder;

    CU_ASSERT_FATAL(fd >= 0);
    take(fd, (const unsigned[CPUS]){2, 0, 3});
    cpu_claims_take(fd, LAST_CPU, 0);
    CU_ASSERT_EQUAL(cpu_claims_of_others(fd, 0, &holder), 1);
    CU_ASSERT_EQUAL(cpu_claims_of_others(fd, 2, &holder), 0);
    CU_ASSERT_EQUAL(cpu_claims_of_others(fd, LAST_CPU, &holder), 0);
    close(fd);
    end(other);
}

/* A process that does not settle: whoever could read the file might be one. */
TEST(nobody_can_keep_another_from_starting)
{
    struct stat file;
    pid_t pid;

    CU_ASSERT(finds(0, 0, 0, 0));
    CU_ASSERT_EQUAL_FATAL(stat(path, &file), 0);
    CU_ASSERT_EQUAL(file.st_mode & 0777, 0600);
    pid = begin(NULL);
    CU_ASSERT_EQUAL(cpu_claims_open(path), -EBUSY);
    end(pid);
    CU_ASSERT(finds(0, 0, 0, 0));
}

TEST(a_file_that_all_may_read_is_so_no_more)
{
    struct stat file;

    CU_ASSERT_EQUAL_FATAL(chmod(path, 0644), 0);
    CU_ASSERT(finds(0, 0, 0, 0));
    CU_ASSERT_EQUAL_FATAL(stat(path, &file), 0);
    CU_ASSERT_EQUAL(file.st_mode & 0777, 0600);
}

TEST(where_no_file_can_be_it_says_why)
{
    CU_ASSERT(cpu_claims_open("/proc/nowhere/cpus") < 0);
}

int main(void)
{
    int status;

    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof(path), "%s/made/cpus", directory);
    status = unit_main();
    unlink(path);
    rmdir(dirname(path));
    rmdir(directory);
    return status;
}
