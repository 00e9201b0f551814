#include "pin.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu_claims.h"
#include "base/log.h"
#include "base/nodes.h"
#include "port/buffers_near.h"

/* The CPUs of this process, and the polling threads of others on them. */
struct cpus {
    unsigned n;
    int cpu[CPU_SETSIZE];
    unsigned others[CPU_SETSIZE];
    pid_t holder[CPU_SETSIZE]; /* one of those processes; 0: not known */
};

static unsigned index_of(const struct cpus *c, int cpu)
{
    unsigned i = 0;

    while (i + 1 < c->n && c->cpu[i] != cpu)
        i++;
    return i;
}

/* What shares CPU i with whom. */
static void tell(const struct cpus *c, unsigned i, unsigned lcore, bool chosen)
{
    char process[32] = "";

    if (c->holder[i] > 0)
        snprintf(process, sizeof(process), ", process %d", (int)c->holder[i]);
    if (chosen)
        log_warning(
            "lcores[%u].cpu: another swagg polls on CPU %d%s: both are slower; leave cpu out, or name "
            "another",
            lcore, c->cpu[i], process);
    else
        log_notice("polling thread %u shares CPU %d with another swagg%s, for all CPUs have one: more CPUs "
                   "(taskset, cpuset) would make both faster",
                   lcore + 1, c->cpu[i], process);
}

/* written: as the configuration has it. One line, about the first that shares, for each kind. */
static void tell_shared(const struct cpus *c, const struct placement *p, const struct placement *written)
{
    bool told[2] = {false, false};

    for (unsigned l = 0; l < p->lcores; l++) {
        const unsigned i = index_of(c, p->lcore[l].cpu);
        const bool chosen = written->lcore[l].cpu != PLACEMENT_ANY_CPU;

        if (c->others[i] == 0 || told[chosen])
            continue;
        tell(c, i, l, chosen);
        told[chosen] = true;
    }
}

static bool polls(const struct placement_lcore *l, unsigned port)
{
    return placement_rx_queue(l, port) >= 0 || placement_tx_queue(l, port) >= 0;
}

/* Each packet that crosses costs a thread half of what it could do, or more. One line for each of the
 * threads. */
static void tell_across(const struct placement *p, const struct config *cfg)
{
    for (unsigned l = 0; l < p->lcores; l++)
        for (unsigned port = 0; port < cfg->ports; port++) {
            const int node = buffers_port_node(&cfg->port[port]), cpu = p->lcore[l].cpu;

            if (node < 0 || !polls(&p->lcore[l], port) || node_has_cpu(node, cpu))
                continue;
            log_warning("lcores[%u]: CPU %d polls port %s across NUMA nodes, which is slower: the port is on "
                        "node %d; give it one of that node's CPUs (lscpu -e=cpu,node lists them)",
                        l, cpu, cfg->port[port].name, node);
            break;
        }
}

static void claim(int fd, const struct placement *p)
{
    for (unsigned l = 0; l < p->lcores; l++) {
        unsigned before = 0;

        for (unsigned k = 0; k < l; k++)
            before += p->lcore[k].cpu == p->lcore[l].cpu;
        cpu_claims_take(fd, p->lcore[l].cpu, before);
    }
}

static unsigned usable_cpus(int cpu[CPU_SETSIZE])
{
    cpu_set_t set;
    unsigned n = 0;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            cpu[n++] = i;
    return n;
}

/* The NUMA node that most ports are on, the first port's among equals; negative: no port is on any. */
static int node_of_ports(const struct config *cfg)
{
    int node[SWAGG_MAX_PORTS], best = -1;
    unsigned most = 0;

    for (unsigned p = 0; p < cfg->ports; p++)
        node[p] = buffers_port_node(&cfg->port[p]);
    for (unsigned p = 0; p < cfg->ports; p++) {
        unsigned same = 0;

        for (unsigned q = 0; q < cfg->ports; q++)
            same += node[q] == node[p];
        if (node[p] >= 0 && same > most) {
            most = same;
            best = node[p];
        }
    }
    return best;
}

/* Those near the ports come first, so that threads are there, and with them the memory: DPDK takes it where
 * the threads are, and first where the main one is. fd < 0: nothing is known of others. */
static void look(struct cpus *c, const struct config *cfg, int fd)
{
    c->n = usable_cpus(c->cpu);
    node_first(node_of_ports(cfg), c->cpu, c->n);
    memset(c->others, 0, sizeof(c->others));
    for (unsigned i = 0; i < c->n && fd >= 0; i++)
        c->others[i] = cpu_claims_of_others(fd, c->cpu[i], &c->holder[i]);
}

/* As the configuration has it, or the default for these CPUs. */
static void write_placement(struct placement *written, const struct config *cfg, const struct cpus *c)
{
    struct placement_ports ports;

    config_queues(cfg, &ports);
    if (cfg->has_placement)
        *written = cfg->placement;
    else
        placement_default(written, c->n, &ports);
}

bool pin_check(const struct config *cfg, unsigned *lcores)
{
    static struct cpus c; /* large */
    struct placement written;
    int stray;

    look(&c, cfg, -1);
    write_placement(&written, cfg, &c);
    *lcores = written.lcores;
    placement_pin(&written, c.cpu, c.n, c.others);
    stray = placement_find_stray(&written, c.cpu, c.n);
    if (stray >= 0)
        log_error("lcores[%d].cpu: %d is none of the %u CPUs that this process may use (taskset -cp $$ lists "
                  "them)",
                  stray, written.lcore[stray].cpu, c.n);
    return stray < 0;
}

/* The claims' descriptor stays open, and the claims with it. */
int pin_lcores(struct placement *placement, const struct config *cfg, bool alone)
{
    static struct cpus c; /* large */
    const int fd = alone ? -1 : cpu_claims_open(CPU_CLAIMS_FILE);
    struct placement written;

    if (fd == -EBUSY)
        log_warning(
            "polling threads may share CPUs with another swagg's: some process keeps %s locked (fuser "
            "tells which)",
            CPU_CLAIMS_FILE);
    else if (fd < 0 && !alone)
        log_info("cannot learn on which CPUs others poll: %s: %s", CPU_CLAIMS_FILE, strerror(-fd));
    look(&c, cfg, fd);
    write_placement(&written, cfg, &c);
    *placement = written;
    placement_pin(placement, c.cpu, c.n, c.others);
    if (fd >= 0) {
        claim(fd, placement);
        cpu_claims_settle(fd);
    }
    tell_shared(&c, placement, &written);
    if (!alone)
        tell_across(placement, cfg);
    return c.cpu[0];
}
