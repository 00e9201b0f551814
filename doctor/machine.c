#include "machine.h"
#include "base/sysfiles.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/timex.h>

enum { HUGEPAGE_MB = 2, HUGEPAGES_TEXT = 128 };

static void governors(struct findings *f, const cpu_set_t *mine)
{
    char governor[32], last[32] = "";
    unsigned slow = 0, known = 0;

    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, mine) ||
            !sysfile_line(governor, sizeof(governor),
                          "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu))
            continue;
        known++;
        if (strcmp(governor, "performance") != 0) {
            slow++;
            snprintf(last, sizeof(last), "%s", governor);
        }
    }
    if (slow > 0)
        finding_type(found(f, FINDING_WARNING, "cpus", NULL,
                           "%u of %u CPUs have the governor \"%s\": their clock is low when a packet comes",
                           slow, known, last),
                     "cpupower frequency-set -g performance");
    else if (known > 0)
        found(f, FINDING_OK, "cpus", NULL, "the governor is \"performance\"");
    else
        found(f, FINDING_OK, "cpus", NULL, "no governor: the CPUs' clock is not this system's to choose");
}

static void isolated(struct findings *f, const cpu_set_t *mine, unsigned threads)
{
    char list[256];

    sysfile_line(list, sizeof(list), "/sys/devices/system/cpu/isolated");
    if (threads == 0)
        return;
    if (list[0] != '\0')
        found(f, FINDING_OK, "cpus", NULL, "isolated: %s", list);
    else if ((unsigned)CPU_COUNT(mine) <= threads)
        finding_type(found(f, FINDING_WARNING, "cpus", NULL,
                           "%u threads poll on %d CPUs, and all else on this machine runs there, too",
                           threads, CPU_COUNT(mine)),
                     "fewer threads in lcores, or more CPUs");
    else
        finding_type(found(f, FINDING_OK, "cpus", NULL, "%u threads poll on %d CPUs, none of them isolated",
                           threads, CPU_COUNT(mine)),
                     "if the log tells of stalls: isolcpus=... on the kernel's command line, and these in "
                     "lcores");
}

void machine_cpus(struct findings *f, unsigned threads)
{
    cpu_set_t mine;
    char text[64];

    if (!findings_want(f, "cpus"))
        return;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof(mine), &mine);
    const int cpus = CPU_COUNT(&mine);

    sysfile_line(text, sizeof(text), "/proc/loadavg");
    const double load = atof(text);
    if (load > 1.5 * cpus)
        finding_type(found(f, FINDING_WARNING, "cpus", NULL,
                           "%d CPUs with %.1f running threads: ranks wait for "
                           "one another, and for CPUs",
                           cpus, load),
                     "top, and end what is not needed");
    else
        found(f, FINDING_OK, "cpus", NULL, "%d CPUs, %.1f running threads", cpus, load);
    isolated(f, &mine, threads);
    governors(f, &mine);
}

void machine_clock(struct findings *f)
{
    struct timex t = {0};

    if (!findings_want(f, "clock"))
        return;
    const int state = adjtimex(&t);
    if (state < 0)
        found(f, FINDING_SKIPPED, "clock", NULL, "the kernel does not tell");
    else if (state == TIME_ERROR || (t.status & STA_UNSYNC))
        finding_type(found(f, FINDING_WARNING, "clock", NULL,
                           "not synchronised: times in logs of several hosts cannot be compared"),
                     "apt install chrony (in a container: on its host)");
    else
        found(f, FINDING_OK, "clock", NULL, "synchronised, to %.1f ms at most", (double)t.maxerror / 1000);
}

enum { BUFFER_BYTES = 8 << 20 /* that libswagg asks for */ };

void machine_buffers(struct findings *f)
{
    const long most = sysfile_number(-1, "/proc/sys/net/core/rmem_max");

    if (most < 0)
        found(f, FINDING_SKIPPED, "memory", NULL, "net.core.rmem_max is not to be seen here");
    else if (most < BUFFER_BYTES && geteuid() != 0)
        finding_type(found(f, FINDING_WARNING, "memory", NULL,
                           "sockets may keep %ld KiB: of more results that come at once some are lost",
                           most / 1024),
                     "sysctl -w net.core.rmem_max=%d", BUFFER_BYTES);
    else
        found(f, FINDING_OK, "memory", NULL, "sockets' buffers: %s",
              most < BUFFER_BYTES ? "root may exceed net.core.rmem_max; other users need sysctl -w "
                                    "net.core.rmem_max=8388608"
                                  : "large enough");
}

/* How many there are, in words; 2 MB are named in any case. Returns their MB. */
static long hugepages_there(char text[HUGEPAGES_TEXT])
{
    static const struct {
        long mb;
        const char *name;
    } size[] = {{HUGEPAGE_MB, "2 MB"}, {1024, "1 GB"}};
    long megabytes = 0;
    int n = 0;

    for (unsigned i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
        const char *pages = "/sys/kernel/mm/hugepages/hugepages-";
        const long all = sysfile_number(0, "%s%ldkB/nr_hugepages", pages, size[i].mb * 1024),
                   idle = sysfile_number(0, "%s%ldkB/free_hugepages", pages, size[i].mb * 1024);

        if (i == 0 || all > 0)
            n += snprintf(text + n, HUGEPAGES_TEXT - (size_t)n, "%s%ld hugepages of %s (%ld free)",
                          i == 0 ? "" : ", ", all, size[i].name, idle);
        megabytes += all * size[i].mb;
    }
    return megabytes;
}

void machine_hugepages(struct findings *f, unsigned megabytes, bool required)
{
    const long wanted = ((long)megabytes + HUGEPAGE_MB - 1) / HUGEPAGE_MB;
    char there[HUGEPAGES_TEXT];
    const long has = hugepages_there(there);

    if (has >= (long)megabytes && has > 0)
        found(f, FINDING_OK, "memory", NULL, "%s", there);
    else
        finding_type(found(f, required ? FINDING_FAULT : FINDING_WARNING, "memory", NULL,
                           "%s; memory: %u MB wants %ld of 2 MB%s", there, megabytes, wanted,
                           required ? "" : ". Without them there are more TLB misses"),
                     "sysctl -w vm.nr_hugepages=%ld, and into /etc/sysctl.d to keep it", wanted);
}

void machine_locked(struct findings *f)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY || geteuid() == 0)
        found(f, FINDING_OK, "memory", NULL, "as much memory may be locked as there is");
    else
        finding_type(found(f, FINDING_FAULT, "memory", NULL,
                           "only %llu KiB may be locked: a NIC's driver needs all of its memory so",
                           (unsigned long long)limit.rlim_cur / 1024),
                     "ulimit -l unlimited (LimitMEMLOCK=infinity of a unit)");
}

void machine_node(struct findings *f, const char *about, int node)
{
    char list[256];
    cpu_set_t mine;

    if (!findings_want(f, "numa"))
        return;
    if (node < 0 || !sysfile_line(list, sizeof(list), "/sys/devices/system/node/node%d/cpulist", node)) {
        found(f, FINDING_OK, "numa", about, "at no node of its own");
        return;
    }
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof(mine), &mine);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &mine) && sysfile_list_has(list, cpu)) {
            found(f, FINDING_OK, "numa", about, "at node %d, as are CPUs that may be used", node);
            return;
        }
    finding_type(found(f, FINDING_WARNING, "numa", about,
                       "at node %d, and no CPU that this process may use is: each packet crosses", node),
                 "numactl --cpunodebind=%d PROGRAM (a switch: CPUs %s in lcores)", node, list);
}
