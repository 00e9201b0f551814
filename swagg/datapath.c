/* The data path as a whole: memory that its parts share (buffers, the bridge's table, RCU, messages for the
 * main lcore); the ports and the switch's MAC address, and ports that come and go while the lcores poll; and
 * the steps in which all of it is made and taken down. */
#include "datapath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "aggregate/jobs_share.h"
#include "base/log.h"
#include "base/secret.h"
#include "bridge/switch_mac.h"
#include "config/reload.h"
#include "datapath_make.h"
#include "kernels_chosen.h"
#include "port/buffers.h"
#include "port/linux/rivals.h"
#include "port/linux/rx.h"
#include "port/linux/tx.h"
#include "switchml/protocol.h"

enum {
    DATAPATH_STATIONS = 4096,
    /* What the rest takes at most, in KB: rings, tables, what devices keep. */
    DATAPATH_KB = 8192,
    DATAPATH_KB_A_QUEUE = 256,
    DATAPATH_KB_AN_LCORE = 512,
};

static unsigned further_queues(const struct config *cfg)
{
    unsigned queues = 0;

    for (unsigned p = 0; p < cfg->ports; p++)
        queues += cfg->port[p].rx_queues - 1 + cfg->port[p].tx_queues - 1;
    return queues;
}

unsigned datapath_megabytes(const struct config *cfg, unsigned lcores)
{
    struct buffers planned;
    const size_t bridge = bridge_tables_footprint(DATAPATH_STATIONS, RTE_MAX(cfg->vlans, 1u));
    const size_t rest = DATAPATH_KB + (2 * cfg->ports + further_queues(cfg)) * DATAPATH_KB_A_QUEUE +
                        (lcores + 1) * DATAPATH_KB_AN_LCORE;

    buffers_plan(&planned, cfg, lcores);
    return cfg->pool.megabytes +
           (unsigned)((buffers_planned_bytes(&planned, port_buffer_bytes(cfg->mtu)) + bridge + rest * 1024) >>
                      20) +
           1;
}

static int make_mbufs(struct datapath *dp, const struct config *cfg)
{
    const uint16_t bytes = port_buffer_bytes(cfg->mtu);
    int rc;

    buffers_plan(&dp->buffers, cfg, dp->lcores.n);
    rc = buffers_open(&dp->buffers, bytes);
    for (unsigned p = 0; p < cfg->ports; p++)
        dp->port_mbufs[p] = dp->buffers.pool[dp->buffers.of_port[p]];
    if (rc == 0)
        return 0;
    return log_fail(rc, "no memory for packet buffers of %u bytes: raise memory.megabytes (now %u) to %u",
                    bytes, cfg->memory.megabytes, datapath_megabytes(cfg, dp->lcores.n));
}

static int make_shared(struct datapath *dp, const struct config *cfg)
{
    size_t rcu_bytes = rte_rcu_qsbr_get_memsize(dp->lcores.n);
    size_t bridge_bytes = bridge_tables_footprint(DATAPATH_STATIONS, dp->vlans.n);
    void *bridge = rte_malloc("bridge", bridge_bytes, RTE_CACHE_LINE_SIZE);

    dp->rcu = rte_zmalloc("rcu", rcu_bytes, RTE_CACHE_LINE_SIZE);
    if (bridge == NULL || dp->rcu == NULL) {
        rte_free(bridge);
        return log_fail(-ENOMEM, "no memory for the bridge: raise memory.megabytes (now %u)",
                        cfg->memory.megabytes);
    }
    dp->bridge = bridge_tables_init(bridge, DATAPATH_STATIONS, dp->vlans.n, rte_rand());
    dp->jobs.rcu = dp->rcu;
    jobs_limit(&dp->jobs, cfg);
    dp->jobs.shards = (uint16_t)dp->shards.n;
    return rte_rcu_qsbr_init(dp->rcu, dp->lcores.n);
}

static int choose_kernels(struct datapath *dp)
{
    char why[KERNELS_WHY];

    dp->jobs.kernels = kernels_chosen(why);
    if (dp->jobs.kernels == NULL)
        return log_fail(-EINVAL, "%s", why);
    if (getenv("SWAGG_KERNELS") != NULL)
        log_notice("kernels are %s, as SWAGG_KERNELS asks for", dp->jobs.kernels->name);
    return 0;
}

static int make_control_inbox(struct datapath *dp, const struct config *cfg)
{
    int rc;

    ctl_intake_rules_init(&dp->to_control.rules, cfg->limits.workers, secret64());
    rc = inbox_open(&dp->to_control, cfg->ports);
    if (rc == -ENOMEM)
        log_error("no memory for control messages: raise memory.megabytes (now %u)", cfg->memory.megabytes);
    else if (rc < 0)
        log_error("no descriptor for control messages: %s: raise the limit of open files (ulimit -n)",
                  strerror(-rc));
    return rc;
}

static int make_memory(struct datapath *dp, const struct config *cfg)
{
    int rc = choose_kernels(dp);

    if (rc == 0)
        rc = make_mbufs(dp, cfg);
    if (rc == 0)
        rc = make_shared(dp, cfg);
    if (rc == 0)
        rc = make_control_inbox(dp, cfg);
    return rc;
}

size_t datapath_free_megabytes(void)
{
    struct rte_malloc_socket_stats heap;
    size_t bytes = 0;

    for (unsigned i = 0; i < rte_socket_count(); i++)
        if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &heap) == 0)
            bytes += heap.heap_freesz_bytes;
    return bytes >> 20;
}

/* So that the operator learns of it now and not from the first job. */
static int check_memory(const struct config *cfg)
{
    const size_t left = datapath_free_megabytes();

    if (left >= cfg->pool.megabytes)
        return 0;
    return log_fail(-ENOMEM,
                    "packet buffers and rings leave %zu MB of memory.megabytes, pool.megabytes is %u: raise "
                    "memory.megabytes from %u to %zu",
                    left, cfg->pool.megabytes, cfg->memory.megabytes,
                    cfg->memory.megabytes + cfg->pool.megabytes - left + 1);
}

static int open_all(struct datapath *dp, const struct config *cfg)
{
    struct port_resources resources = {.ones_sum = dp->jobs.kernels->ones_sum,
                                       .elements_at = FRAME_HEADER_BYTES + sml_protocol.header_bytes};
    int rc = 0;

    dp->mergeable = linux_tx_mergeable();
    dp->multi_segment = true;
    for (unsigned i = 0; i < cfg->ports && rc == 0; i++) {
        resources.mbufs = dp->port_mbufs[i];
        rc = port_open(&dp->port[i], i, cfg, &resources);
        dp->multi_segment &= dp->port[i].multi_segment;
        dp->ports |= RTE_BIT64(i);
    }
    return rc;
}

static bool on_kernel(const struct datapath *dp)
{
    bool any = false;

    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        any |= dp->port[rte_bsf64(left)].locked != 0;
    return any;
}

/* switch.mac is a port's own address. On an interface of the kernel's, that is an error; a DPDK device may be
 * none, so there it is only a warning. */
static int refuse_mac(const struct port *port)
{
    const char *why = "the kernel takes frames to the switch for this machine's";

    if (port->device != &port_linux) {
        log_warning(
            "switch.mac is port %s's own: where that is an interface of the kernel's, too (net_af_packet, "
            "net_tap), %s: leave switch.mac out, or choose another",
            port->name, why);
        return 0;
    }
    return log_fail(
        -EINVAL,
        "switch.mac is the address of port %s's own interface: %s: leave switch.mac out, or choose another",
        port->name, why);
}

static int choose_mac(struct datapath *dp, const struct config *cfg)
{
    struct net_mac of_port[SWAGG_MAX_PORTS];
    int same;

    for (unsigned p = 0; p < cfg->ports; p++)
        of_port[p] = dp->port[p].mac;
    if (!cfg->has_mac) {
        switch_mac_derive(&dp->mac, of_port, cfg->ports);
        return 0;
    }
    memcpy(dp->mac.addr_bytes, cfg->mac, sizeof(dp->mac.addr_bytes));
    same = switch_mac_find(&dp->mac, of_port, cfg->ports);
    return same < 0 ? 0 : refuse_mac(&dp->port[same]);
}

/* None of the switch's addresses is this machine's. */
static int check_addresses(const struct datapath *dp)
{
    int rc = 0;

    for (unsigned i = 0; i < dp->vlans.n && rc == 0; i++)
        rc = linux_rivals_check_ip(dp->vlans.vlan[i].ip, on_kernel(dp));
    return rc;
}

static int open_ports(struct datapath *dp, const struct config *cfg)
{
    int rc = open_all(dp, cfg);

    if (rc == 0)
        rc = check_addresses(dp);
    if (rc == 0)
        rc = choose_mac(dp, cfg);
    return rc;
}

/* Has merged frames carried as they are (port_carry_merged), if all ports are on interfaces of the kernel's,
 * which can cut them again. The kernel cuts no merged frames with tags again, so where ports carry VLANs they
 * are cut at once. */
static void carry_merged(struct datapath *dp, const struct config *cfg)
{
    unsigned queues = 0, buffers;

    if (dp->vlans.aware)
        return;
    for (uint64_t left = dp->ports; left != 0; left &= left - 1) {
        if (dp->port[rte_bsf64(left)].device->carry == NULL)
            return;
        queues += dp->port[rte_bsf64(left)].rx_queues;
    }
    buffers = queues * LINUX_RX_LONG_BUFFERS;
    if (datapath_free_megabytes() >=
        cfg->pool.megabytes + (buffers >> 4) + 1) /* what jobs may want comes first */
        dp->long_buffers = buffers_make("long_buffers", buffers, 0, LINUX_RX_LONG_BYTES, SOCKET_ID_ANY);
    if (dp->long_buffers == NULL) {
        log_info("no memory for buffers of merged frames: each is cut, which makes switching dear; raise "
                 "memory.megabytes");
        return;
    }
    port_carry_merged(dp->port, dp->ports, &dp->mac, dp->long_buffers);
}

/* Buffers for a port that was not thought of at the start. They stay for the next port of this number, since
 * some may be anywhere. NULL: no memory, which is logged. */
static struct rte_mempool *buffers_for(struct datapath *dp, unsigned p, const struct config *cfg)
{
    char name[RTE_MEMPOOL_NAMESIZE];

    if (dp->port_mbufs[p] != NULL)
        return dp->port_mbufs[p];
    snprintf(name, sizeof(name), "mbufs_%u", p);
    if (datapath_free_megabytes() + (dp->jobs.bytes >> 20) >=
        cfg->pool.megabytes + (buffers_bytes(BUFFERS_A_PORT, port_buffer_bytes(cfg->mtu)) >> 20) + 1)
        dp->port_mbufs[p] = buffers_make(name, BUFFERS_A_PORT, BUFFERS_CACHE, port_buffer_bytes(cfg->mtu),
                                         buffers_port_node(&cfg->port[p]));
    if (dp->port_mbufs[p] == NULL)
        log_error("port %s: no memory for %d packet buffers beside pool.megabytes: memory.megabytes (now %u) "
                  "would have to be more, which needs a restart",
                  cfg->port[p].name, BUFFERS_A_PORT, cfg->memory.megabytes);
    return dp->port_mbufs[p];
}

static int check_new_port(const struct datapath *dp, const struct port *port)
{
    if (switch_mac_find(&dp->mac, &port->mac, 1) >= 0 && port->locked != 0)
        return log_fail(-EADDRINUSE,
                        "port %s: its interface has the switch's own MAC address: give it another",
                        port->name);
    return linux_rivals_check_ip(dp->ip, port->locked != 0);
}

/* Nobody polls it yet, and no frame is sent to it. */
static int open_port(struct datapath *dp, unsigned p, const struct config *cfg)
{
    const struct port_resources resources = {.mbufs = buffers_for(dp, p, cfg),
                                             .ones_sum = dp->jobs.kernels->ones_sum,
                                             .elements_at = FRAME_HEADER_BYTES + sml_protocol.header_bytes};
    int rc;

    dp->port[p] = (struct port){0};
    rc = resources.mbufs == NULL ? -ENOMEM : inbox_add(&dp->to_control, p);
    if (rc < 0)
        return rc;
    rc = port_open(&dp->port[p], p, cfg, &resources);
    if (rc == 0)
        rc = check_new_port(dp, &dp->port[p]);
    if (rc == 0)
        rc = port_start(&dp->port[p]);
    return rc;
}

static void close_port(struct datapath *dp, unsigned p)
{
    port_close(&dp->port[p]);
    dp->port[p] = (struct port){0};
}

/* Who polls what: as the list of lcores says, if there is one; queues that nobody has are dealt out. */
static void place(const struct datapath *dp, struct config *cfg, struct placement *placement)
{
    struct placement_ports queues;

    *placement = dp->placement;
    for (unsigned l = 0; cfg->has_placement && l < placement->lcores; l++) {
        memcpy(placement->lcore[l].rx, cfg->placement.lcore[l].rx, sizeof(placement->lcore[l].rx));
        memcpy(placement->lcore[l].tx, cfg->placement.lcore[l].tx, sizeof(placement->lcore[l].tx));
    }
    config_queues(cfg, &queues);
    placement_follow(placement, &queues);
    for (unsigned l = 0; cfg->has_placement && l < placement->lcores; l++) {
        memcpy(cfg->placement.lcore[l].rx, placement->lcore[l].rx, sizeof(placement->lcore[l].rx));
        memcpy(cfg->placement.lcore[l].tx, placement->lcore[l].tx, sizeof(placement->lcore[l].tx));
    }
}

int datapath_prepare_ports(struct datapath *dp, struct config *cfg, struct datapath_ports_next *next)
{
    const uint64_t wanted = config_ports_there(cfg);
    int rc = 0;

    *next = (struct datapath_ports_next){.gone = dp->ports & ~wanted};
    place(dp, cfg, &next->placement);
    for (uint64_t left = wanted & ~dp->ports; left != 0 && rc == 0; left &= left - 1) {
        rc = open_port(dp, rte_bsf64(left), cfg);
        next->come |= left & -left;
    }
    if (rc < 0)
        datapath_forget_ports(dp, next);
    return rc;
}

void datapath_forget_ports(struct datapath *dp, struct datapath_ports_next *next)
{
    for (; next->come != 0; next->come &= next->come - 1)
        close_port(dp, rte_bsf64(next->come));
}

/* A queue that goes from one lcore to another is nobody's in between. */
static void leave_common(struct placement *p, const struct placement *next)
{
    for (unsigned l = 0; l < p->lcores; l++)
        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++) {
            p->lcore[l].rx[q] &= next->lcore[l].rx[q];
            p->lcore[l].tx[q] &= next->lcore[l].tx[q];
        }
}

static void put_to_use(struct datapath *dp)
{
    dp->multi_segment = true;
    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        dp->multi_segment &= dp->port[rte_bsf64(left)].multi_segment;
    datapath_assign(dp);
    datapath_settle(dp);
}

/* Stations there may be heard elsewhere, and a later port of this number is another. */
static void forget_stations(struct datapath *dp, unsigned p)
{
    struct bridge_station station;

    for (unsigned i = 0; i < dp->vlans.n; i++) {
        struct bridge *b = bridge_of(dp->bridge, i);

        for (size_t cursor = 0; bridge_next(b, &cursor, &station);)
            if (station.fixed && station.port == p)
                bridge_unfix(b, station.mac);
        bridge_forget(b, (int)p);
    }
}

static void take_out(struct datapath *dp, const struct datapath_ports_next *next)
{
    __atomic_store_n(&dp->ports, dp->ports & ~next->gone, __ATOMIC_RELAXED);
    leave_common(&dp->placement, &next->placement);
    put_to_use(dp);
    for (uint64_t left = next->gone; left != 0; left &= left - 1) {
        forget_stations(dp, rte_bsf64(left));
        close_port(dp, rte_bsf64(left));
    }
}

/* What a port of the same number has lost is not this one's. */
static void begin_counting(struct datapath *dp, unsigned p)
{
    for (unsigned kind = 0; kind < DROP_KINDS; kind++)
        dp->port[p].dropped_before[kind] = lcores_drops(&dp->lcores, p, kind);
}

static void carry_still(struct datapath *dp, uint64_t ports)
{
    if (dp->long_buffers != NULL)
        port_carry_merged(dp->port, ports, &dp->mac, dp->long_buffers);
}

void datapath_commit_ports(struct datapath *dp, const struct datapath_ports_next *next,
                           const struct config *cfg)
{
    if (next->gone == 0 && next->come == 0 && placement_same(&dp->placement, &next->placement))
        return;
    carry_still(dp, dp->ports | next->come); /* none while a port is there that cannot send them */
    take_out(dp, next);
    carry_still(dp, dp->ports | next->come);
    dp->placement = next->placement;
    for (uint64_t left = next->come; left != 0; left &= left - 1) {
        const unsigned p = rte_bsf64(left);

        begin_counting(dp, p);
        vlans_add(&dp->vlans, p, &cfg->port[p]);
        datapath_steer(dp, p);
    }
    __atomic_store_n(&dp->ports, dp->ports | next->come, __ATOMIC_RELAXED);
    put_to_use(dp);
}

static void make_loops(struct datapath *dp)
{
    dp->loops.window = rte_get_tsc_hz();
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        dp->loops.number[p] = secret64();
}

int datapath_open(struct datapath **out, const struct config *cfg, const struct placement *placement)
{
    struct datapath *dp = rte_zmalloc("datapath", sizeof(*dp), RTE_CACHE_LINE_SIZE);
    int rc;

    *out = NULL;
    if (dp == NULL)
        return log_fail(-ENOMEM, "no memory: raise memory.megabytes (now %u)", cfg->memory.megabytes);
    dp->ip = cfg->has_ip ? cfg->ip : 0;
    dp->uplinks = cfg->uplinks;
    dp->to_control.wakeup = -1;
    dp->boot_id = secret64() | 1;
    dp->lcores.n = placement->lcores;
    dp->shards.n = placement->shards;
    dp->placement = *placement;
    datapath_set_pace(dp, cfg);

    vlans_make(&dp->vlans, cfg);
    rc = make_memory(dp, cfg);
    if (rc == 0)
        rc = open_ports(dp, cfg);
    if (rc == 0)
        rc = datapath_make_classifier(dp, cfg);
    if (rc == 0)
        rc = datapath_make_lcores(dp);
    if (rc == 0)
        rc = check_memory(cfg);
    if (rc == 0) {
        make_loops(dp);
        carry_merged(dp, cfg);
    }
    if (rc < 0) {
        datapath_close(dp);
        return rc;
    }
    *out = dp;
    return 0;
}

void datapath_stop(struct datapath *dp)
{
    __atomic_store_n(&dp->stop, true, __ATOMIC_RELAXED);
    lcores_wake(&dp->lcores);
    rte_eal_mp_wait_lcore();
}

static void free_lcore(struct lcore *lc)
{
    if (lc != NULL)
        bell_close(&lc->bell);
    rte_free(lc);
}

static void free_ring(struct rte_ring *ring)
{
    struct rte_mbuf *m;

    while (ring != NULL && rte_ring_dequeue(ring, (void **)&m) == 0)
        rte_pktmbuf_free(m);
    rte_ring_free(ring);
}

void datapath_close(struct datapath *dp)
{
    if (dp == NULL)
        return;
    datapath_stop(dp);
    for (unsigned i = 0; i <= dp->lcores.n; i++)
        free_lcore(dp->lcores.lcore[i]);
    for (unsigned i = 0; i < dp->lcores.n; i++)
        free_ring(dp->shards.inbox[i]);
    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        port_close(&dp->port[rte_bsf64(left)]);
    classifier_free(&dp->classifier);
    inbox_close(&dp->to_control);
    jobs_free(&dp->jobs);
    rte_free(dp->bridge);
    rte_free(dp->rcu);
    rte_mempool_free(dp->long_buffers);
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        if (!buffers_have(&dp->buffers, dp->port_mbufs[p]))
            rte_mempool_free(dp->port_mbufs[p]);
    buffers_close(&dp->buffers);
    rte_free(dp);
}
