#define ALLOW_EXPERIMENTAL_API /* rte_intr_instance_alloc() and its like: stable in later releases */
#include "eal.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_log.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/sysfiles.h"
#include "exit_status.h"

/* Locks a directory, which only one swagg may use, until the process ends, however that ends. Returns a
 * descriptor, to be closed to unlock; -EWOULDBLOCK: another process has it; or another -errno. */
static int lock_directory(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error;

    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd < 0 ? -errno : fd;
    error = errno;
    close(fd);
    return -error;
}

enum { EAL_ARGS_MAX = 256 };

/* The EAL keeps pointers to its arguments, so they must live as long as the process. */
static struct {
    int n;
    char *arg[EAL_ARGS_MAX + 1];
} args;

static char memory[128];
static const char *prefix = "swagg"; /* of the EAL's files, and this switch's name */
static bool hugepages;

static void __attribute__((format(printf, 1, 2))) add(const char *format, ...)
{
    va_list ap;
    char *text;

    va_start(ap, format);
    if (args.n < EAL_ARGS_MAX && vasprintf(&text, format, ap) >= 0)
        args.arg[args.n++] = text;
    va_end(ap);
}

/* Whether the operator's own arguments contain one of these options. Short ones may have their value
 * attached. */
static bool given(char *const user[], const char *const names[])
{
    for (; *user != NULL; user++)
        for (const char *const *name = names; *name != NULL; name++) {
            size_t n = strlen(*name);

            if (strncmp(*user, *name, n) == 0 && ((*user)[n] == '\0' || (*user)[n] == '=' || n == 2))
                return true;
        }
    return false;
}

/* The prefix that the operator's own arguments name, --file-prefix=NAME or --file-prefix NAME; NULL: none. */
static const char *given_prefix(char *const user[])
{
    static const char option[] = "--file-prefix";
    const char *name = NULL;

    for (; *user != NULL; user++)
        if (strncmp(*user, option, sizeof(option) - 1) == 0)
            name = (*user)[sizeof(option) - 1] == '=' ? *user + sizeof(option) : user[1];
    return name;
}

bool eal_lcores_given(char *const user[])
{
    static const char *const options[] = {"-l", "-c", "-s", "--lcores", "--main-lcore", NULL};

    return given(user, options);
}

static bool memory_given(char *const user[])
{
    static const char *const options[] = {"-m",          "--socket-mem", "--no-huge",
                                          "--in-memory", "--huge-dir",   NULL};

    return given(user, options);
}

static void add_lcores(const struct placement *placement, int main_cpu)
{
    char list[16 + SWAGG_MAX_LCORES * 16];
    int n = snprintf(list, sizeof(list), "0@%d", main_cpu);

    for (unsigned i = 0; i < placement->lcores; i++)
        n += snprintf(list + n, sizeof(list) - (size_t)n, ",%u@%d", i + 1, placement->lcore[i].cpu);
    add("--lcores=%s", list);
    add("--main-lcore=0");
}

/* which: "free_hugepages" or "nr_hugepages", all. */
static unsigned hugepage_megabytes(const char *which)
{
    const char *pages = "/sys/kernel/mm/hugepages/hugepages-";

    return (unsigned)(sysfile_number(0, "%s2048kB/%s", pages, which) * 2 +
                      sysfile_number(0, "%s1048576kB/%s", pages, which) * 1024);
}

bool eal_memory_fits(const struct config *cfg, unsigned needed, char *const user[])
{
    const unsigned wanted = cfg->memory.megabytes, have = hugepage_megabytes("nr_hugepages");
    const bool enough = wanted >= needed,
               there = cfg->memory.mode != CONFIG_MEMORY_HUGEPAGES || have >= wanted;

    if (memory_given(user))
        return true;
    if (!enough)
        log_error("memory.megabytes: %u is too little for %u ports, mtu %u, pool.megabytes %u and "
                  "pool.kept_frames %u: make it %u",
                  wanted, cfg->ports, cfg->mtu, cfg->pool.megabytes, cfg->pool.kept_frames, needed);
    if (!there)
        log_error("memory.mode: hugepages, but of %u MB this machine has only %u MB: sysctl "
                  "vm.nr_hugepages=%u, or mode auto",
                  wanted, have, wanted / 2);
    return enough && there;
}

/* 1, 0, or -ENOMEM after logging. */
static int use_hugepages(const struct config *cfg)
{
    unsigned wanted = cfg->memory.megabytes, have;

    if (cfg->memory.mode == CONFIG_MEMORY_NO_HUGE)
        return 0;
    have = hugepage_megabytes("free_hugepages");
    if (have >= wanted)
        return 1;
    if (cfg->memory.mode == CONFIG_MEMORY_HUGEPAGES)
        return log_fail(
            -ENOMEM,
            "memory.mode is hugepages, but of %u MB only %u MB are free: sysctl vm.nr_hugepages=%u, or "
            "mode auto",
            wanted, have, wanted / 2);
    log_warning(
        "%u MB of hugepages wanted, %u MB free: running on ordinary pages, which is slower with large "
        "pools (sysctl vm.nr_hugepages=%u helps)",
        wanted, have, wanted / 2);
    return 0;
}

/* --in-memory takes hugepages straight from the kernel: no hugetlbfs need be mounted, and no files stay
 * behind. */
static int add_memory(const struct config *cfg)
{
    const int rc = use_hugepages(cfg);

    if (rc < 0)
        return rc;
    hugepages = rc > 0;
    add(hugepages ? "--in-memory" : "--no-huge");
    add("-m");
    add("%u", cfg->memory.megabytes);
    snprintf(memory, sizeof(memory), "%u MB in %s", cfg->memory.megabytes,
             hugepages ? "hugepages" : "ordinary pages");
    return 0;
}

/* Virtual devices are made later, by port_open. */
static void add_devices(const struct config *cfg)
{
    bool pci = false;

    for (unsigned p = 0; p < cfg->ports; p++)
        if (config_is_pci_device(cfg->port[p].device)) {
            add("--allow=%s", cfg->port[p].device);
            pci = true;
        }
    if (!pci)
        add("--no-pci");
}

static int add_arguments(const struct config *cfg, const struct placement *placement, int main_cpu,
                         char *const user[])
{
    int rc = 0;

    add("swagg");
    if (!eal_lcores_given(user))
        add_lcores(placement, main_cpu);
    if (memory_given(user))
        snprintf(memory, sizeof(memory), "as the EAL arguments say");
    else
        rc = add_memory(cfg);
    add("--no-shconf"); /* an EAL that shares waits, at each device that it makes, for lock_prefix's lock */
    if (given_prefix(user) == NULL)
        add("--file-prefix=%s", prefix);
    else
        prefix = given_prefix(user);
    add("--iova-mode=va");
    add("--log-level=%s", cfg->log_level == LOG_LEVEL_DEBUG ? "info" : "error");
    add_devices(cfg);
    for (; *user != NULL; user++)
        add("%s", *user);
    return rc;
}

/* Runs after DPDK's own exit handlers, which remove the telemetry socket; fails if somebody else uses the
 * directory. */
static void remove_runtime_directory(void)
{
    rmdir(rte_eal_get_runtime_dir());
}

/* Two daemons with the same prefix would share one telemetry socket. The lock is held until the process ends.
 * If the directory does not exist, there is no telemetry, and no lock is needed. */
static int lock_prefix(void)
{
    const char *directory = rte_eal_get_runtime_dir();

    if (lock_directory(directory) != -EWOULDBLOCK)
        return 0;
    return log_fail(
        -EWOULDBLOCK,
        "another swagg runs with this file prefix (%s): stop that, or choose another for this one: swagg "
        "FILE -- --file-prefix=NAME",
        directory);
}

static void limit_text(char *text, size_t room, const char *what, int resource)
{
    struct rlimit limit;

    text[0] = '\0';
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, room, what, (unsigned long long)limit.rlim_cur);
}

/* Whether a pipe can be made. */
static bool has_descriptors(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    close(ends[0]);
    close(ends[1]);
    return true;
}

static void say_not_started(const char *why)
{
    char files[80] = "", space[80];

    if (!has_descriptors())
        limit_text(files, sizeof(files), "; this process may have only %llu open files: raise ulimit -n",
                   RLIMIT_NOFILE);
    limit_text(space, sizeof(space), "; its address space may have only %llu bytes: raise ulimit -v",
               RLIMIT_AS);
    log_error("the EAL does not start: %s (its own messages are above)%s%s%s", why, files, space,
              hugepages ? "; if another program has taken the hugepages meanwhile, start swagg again, or "
                          "set memory.mode: no-huge"
                        : "");
}

/* The EAL panics where it has no descriptor or memory for a pipe or a thread. */
static void on_panic(int number)
{
    (void)number;
    say_not_started("it has given up");
    _exit(EXIT_BAD);
}

static int init(char *argv[])
{
    const struct sigaction heed = {.sa_handler = on_panic};
    struct sigaction before;
    int rc;

    sigaction(SIGABRT, &heed, &before);
    rc = rte_eal_init(args.n, argv) < 0 ? -rte_errno : 0;
    sigaction(SIGABRT, &before, NULL);
    return rc;
}

int eal_start(const struct config *cfg, const struct placement *placement, int main_cpu, char *const user[])
{
    char *argv[EAL_ARGS_MAX + 1];
    int rc = add_arguments(cfg, placement, main_cpu, user);

    if (rc < 0)
        return rc;
    for (int i = 1; i < args.n; i++)
        log_debug("EAL argument %s", args.arg[i]);
    atexit(remove_runtime_directory);
    rte_openlog_stream(log_stream());
    memcpy(argv, args.arg, sizeof(argv)); /* it changes the array */
    rc = init(argv);
    if (rc < 0) {
        say_not_started(rte_strerror(-rc));
        return rc;
    }
    rc = lock_prefix();
    if (rc < 0)
        rte_eal_cleanup();
    return rc;
}

/* Called in the EAL's interrupt thread; never returns. */
static void park(void *parked)
{
    sem_post(parked);
    for (;;)
        pause();
}

/* The interrupt thread goes through its list of interrupt sources whenever one has been removed, as when a
 * port is closed. Some sources are in DPDK's memory (DPDK 22.11's net_memif leaves its listener in the list).
 * rte_eal_cleanup() unmaps that memory while the thread still runs: a segmentation fault now and then. So the
 * thread is first sent into a function that never returns. It usually gets there at once; the wait is bounded
 * all the same. */
static void park_interrupt_thread(void)
{
    static sem_t parked;
    struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
    struct timespec limit;

    sem_init(&parked, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &limit); /* the time of day may be set meanwhile */
    limit.tv_sec++;
    if (handle != NULL && rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
        rte_intr_fd_set(handle, eventfd(1, EFD_CLOEXEC)) == 0 &&
        rte_intr_callback_register(handle, park, &parked) == 0)
        sem_clockwait(&parked, CLOCK_MONOTONIC, &limit);
    rte_intr_instance_free(handle); /* the thread has a copy */
}

void eal_stop(void)
{
    park_interrupt_thread();
    rte_eal_cleanup();
}

const char *eal_name(void)
{
    const char *slash = strrchr(rte_eal_get_runtime_dir(), '/');

    return slash == NULL ? prefix : slash + 1; /* it may not have been made */
}

const char *eal_memory(void)
{
    return memory;
}
