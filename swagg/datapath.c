#include "datapath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_random.h>

#include "base/log.h"
#include "base/many_to_one.h"
#include "base/secret.h"
#include "bridge/switch_mac.h"
#include "port/linux/features.h"
#include "port/linux/rivals.h"
#include "port/linux/rx.h"
#include "port/linux/tx.h"
#include "port/steer.h"
#include "switchml/protocol.h"

enum {
    DATAPATH_STATIONS = 4096,
    DATAPATH_MBUF_CACHE = 256,
    /* A port's queues hold up to two rings of descriptors, what is handed over waits in its ring, and an
     * impairment may hold some back. */
    DATAPATH_MBUFS_A_PORT = 4096,
    DATAPATH_MBUFS_A_FURTHER_QUEUE = 1024,
    DATAPATH_MBUFS_AN_LCORE = 2048,
};

static unsigned further_queues(const struct config *cfg)
{
    unsigned queues = 0;

    for (unsigned p = 0; p < cfg->ports; p++)
        queues += cfg->port[p].rx_queues - 1 + cfg->port[p].tx_queues - 1;
    return queues;
}

static int make_mbufs(struct datapath *dp, const struct config *cfg)
{
    unsigned n = cfg->ports * DATAPATH_MBUFS_A_PORT + further_queues(cfg) * DATAPATH_MBUFS_A_FURTHER_QUEUE +
                 (dp->lcores + 1) * DATAPATH_MBUFS_AN_LCORE + cfg->pool.kept_frames;
    uint16_t bytes = port_buffer_bytes(cfg->mtu);

    dp->mbufs = rte_pktmbuf_pool_create("mbufs", n - 1, DATAPATH_MBUF_CACHE, 0, bytes, SOCKET_ID_ANY);
    if (dp->mbufs != NULL)
        return 0;
    log_error("no memory for %u packet buffers of %u bytes: raise memory.megabytes (now %u) to some %u", n,
              bytes, cfg->memory.megabytes, cfg->pool.megabytes + 32 + (n >> 10) * (bytes + 256u) / 1024);
    return -ENOMEM;
}

static int make_shared(struct datapath *dp, const struct config *cfg)
{
    size_t rcu_bytes = rte_rcu_qsbr_get_memsize(dp->lcores);
    size_t bridge_bytes = bridge_footprint(DATAPATH_STATIONS);
    void *bridge = rte_malloc("bridge", bridge_bytes, RTE_CACHE_LINE_SIZE);

    dp->rcu = rte_zmalloc("rcu", rcu_bytes, RTE_CACHE_LINE_SIZE);
    if (bridge == NULL || dp->rcu == NULL) {
        rte_free(bridge);
        log_error("no memory for the bridge: raise memory.megabytes (now %u)", cfg->memory.megabytes);
        return -ENOMEM;
    }
    dp->bridge = bridge_init(bridge, DATAPATH_STATIONS, rte_rand());
    dp->jobs.rcu = dp->rcu;
    dp->jobs.bytes_max = (size_t)cfg->pool.megabytes << 20;
    dp->jobs.frames_max = cfg->pool.kept_frames;
    return rte_rcu_qsbr_init(dp->rcu, dp->lcores);
}

/* The fastest that the CPU has; or those that somebody asks for who measures what a lesser CPU would do. */
static int choose_kernels(struct datapath *dp)
{
    const char *name = getenv("SWAGG_KERNELS");
    const struct agg_kernels *best = agg_kernels_best();

    dp->jobs.kernels = name == NULL ? best : agg_kernels_get(name);
    if (dp->jobs.kernels == NULL) {
        log_error("SWAGG_KERNELS: this CPU runs no kernels called '%s'; unset it for the fastest here, %s, "
                  "or name a "
                  "lesser one, such as scalar",
                  name, best->name);
        return -EINVAL;
    }
    if (name != NULL)
        log_notice("kernels are %s, as SWAGG_KERNELS asks for", name);
    frame_use_kernels(dp->jobs.kernels);
    return 0;
}

static int make_control_inbox(struct datapath *dp, const struct config *cfg)
{
    if (inbox_open(&dp->to_control, cfg->ports) == 0)
        return 0;
    log_error("no memory for control messages: raise memory.megabytes (now %u)", cfg->memory.megabytes);
    return -ENOMEM;
}

static uint64_t impaired_ports(const struct datapath *dp)
{
    uint64_t ports = 0;

    for (unsigned p = 0; p < dp->ports; p++)
        if (dp->port[p].tx[0].impaired)
            ports |= RTE_BIT64(p);
    return ports;
}

/* Gives each part of an lcore what it works with; its tasks come later. */
static void wire(struct datapath *dp, struct lcore *lc)
{
    lc->pace = dp->pace;
    lc->rcu = dp->rcu;
    lc->stop = &dp->stop;
    lc->receive = (struct receive){.port = dp->port,
                                   .mbufs = dp->mbufs,
                                   .bridge = dp->bridge,
                                   .claim = &dp->claim,
                                   .host = &lc->host,
                                   .engine = &lc->engine,
                                   .to_control = &dp->to_control,
                                   .send = &lc->send,
                                   .counters = &lc->counters};
    lc->host = (struct host){
        .mac = dp->mac, .ip = dp->ip, .mbufs = dp->mbufs, .send = &lc->send, .counters = &lc->counters};
    lc->engine = (struct engine){
        .lcore = lc->index,
        .shards = &dp->shards,
        .protocol[AGG_PROTOCOL_SWITCHML] = {.table = &sml_protocol, .jobs = &dp->jobs.running},
        .counters = &lc->counters,
        .ns_per_cycle = 1e9 / (double)rte_get_tsc_hz(),
        .egress = {.bridge = dp->bridge,
                   .send = &lc->send,
                   .counters = &lc->counters,
                   .mbufs = dp->mbufs,
                   .multi_segment = dp->multi_segment,
                   .mergeable = dp->mergeable},
        .strangers = {.egress = &lc->engine.egress,
                      .counters = &lc->counters,
                      .boot_id = dp->boot_id,
                      .data_ports = dp->data_ports}};
    strangers_init(&lc->engine.strangers, rte_rand());
    lc->send = (struct send){.port = dp->port,
                             .ports = dp->ports,
                             .counters = &lc->counters,
                             .mbufs = dp->mbufs,
                             .delay = dp->tx_delay};
}

static struct lcore *make_lcore(struct datapath *dp, unsigned index, unsigned eal_id)
{
    struct lcore *lc = rte_zmalloc("lcore", sizeof(*lc), RTE_CACHE_LINE_SIZE);

    if (lc == NULL) {
        log_error("no memory for lcore %u: raise memory.megabytes", eal_id);
        return NULL;
    }
    lc->index = index;
    lc->eal_id = eal_id;
    wire(dp, lc);
    return lc;
}

static void give_queues(const struct datapath *dp, struct lcore *lc, const struct placement_lcore *tasks)
{
    for (unsigned p = 0; p < dp->ports; p++) {
        const int tx_queue = placement_tx_queue(tasks, p);

        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
            if (tasks->rx[q] & RTE_BIT64(p))
                lc->receive.queue[lc->receive.queues++] =
                    (struct receive_queue){.port = (uint8_t)p, .queue = (uint8_t)q};
        if (tx_queue < 0)
            continue;
        lc->send.own |= RTE_BIT64(p);
        lc->send.queue[p] = (uint8_t)tx_queue;
    }
    lc->send.for_others = tasks->tx[0];
    lc->send.impaired = lc->send.own & impaired_ports(dp);
}

static int give_tasks(struct datapath *dp, struct lcore *lc, const struct placement_lcore *tasks)
{
    char name[RTE_RING_NAMESIZE];
    struct rte_ring *inbox;

    give_queues(dp, lc, tasks);
    lc->shards = tasks->shards;
    if (lc->shards == 0)
        return 0;
    snprintf(name, sizeof(name), "inbox_%u", lc->index);
    inbox = rte_ring_create(name, ENGINE_RING_SIZE, SOCKET_ID_ANY, MANY_TO_ONE);
    if (inbox == NULL) {
        log_error("no memory for the ring of lcore %u: raise memory.megabytes", lc->eal_id);
        return -ENOMEM;
    }
    dp->shards.inbox[lc->index] = inbox;
    for (uint64_t shards = lc->shards; shards != 0; shards &= shards - 1)
        dp->shards.owner[rte_bsf64(shards)] = (uint8_t)lc->index;
    return 0;
}

/* The placement's lcores are the EAL's worker lcores, in order. */
static int make_lcores(struct datapath *dp, const struct placement *placement)
{
    unsigned id = (unsigned)-1;
    int rc = 0;

    dp->data_ports = (uint8_t)steer_data_ports(dp->port, dp->ports, dp->shards.n);
    for (unsigned i = 0; i < dp->lcores && rc == 0; i++) {
        id = rte_get_next_lcore(id, 1, 0);
        if (id == RTE_MAX_LCORE) {
            log_error("the placement has %u lcores besides the main one, the EAL only %u", dp->lcores, i);
            return -EINVAL;
        }
        dp->lcore[i] = make_lcore(dp, i, id);
        rc = dp->lcore[i] == NULL ? -ENOMEM : give_tasks(dp, dp->lcore[i], &placement->lcore[i]);
    }
    dp->lcore[dp->lcores] = make_lcore(dp, dp->lcores, rte_get_main_lcore());
    if (rc == 0 && dp->lcore[dp->lcores] == NULL)
        rc = -ENOMEM;
    return rc;
}

static int open_ports(struct datapath *dp, const struct config *cfg)
{
    int rc = 0;

    linux_merge_settle();
    dp->mergeable = linux_tx_mergeable();
    dp->multi_segment = true;
    for (unsigned i = 0; i < cfg->ports && rc == 0; i++) {
        rc = port_open(&dp->port[i], i, cfg, dp->mbufs);
        dp->multi_segment &= dp->port[i].multi_segment;
        dp->ports = i + 1;
    }
    return rc;
}

static bool on_kernel(const struct datapath *dp)
{
    bool any = false;

    for (unsigned p = 0; p < dp->ports; p++)
        any |= dp->port[p].lock >= 0;
    return any;
}

/* A DPDK device may be no interface of the kernel's; then its own address does no harm. */
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
    log_error(
        "switch.mac is the address of port %s's own interface: %s: leave switch.mac out, or choose another",
        port->name, why);
    return -EINVAL;
}

static int choose_mac(struct datapath *dp, const struct config *cfg)
{
    struct net_mac of_port[SWAGG_MAX_PORTS];
    int same;

    for (unsigned p = 0; p < dp->ports; p++)
        of_port[p] = dp->port[p].mac;
    if (!cfg->has_mac) {
        switch_mac_derive(&dp->mac, of_port, dp->ports);
        return 0;
    }
    memcpy(dp->mac.addr_bytes, cfg->mac, sizeof(dp->mac.addr_bytes));
    same = switch_mac_find(&dp->mac, of_port, dp->ports);
    return same < 0 ? 0 : refuse_mac(&dp->port[same]);
}

static size_t free_megabytes(void)
{
    struct rte_malloc_socket_stats heap;
    size_t bytes = 0;

    for (unsigned i = 0; i < rte_socket_count(); i++)
        if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &heap) == 0)
            bytes += heap.heap_freesz_bytes;
    return bytes >> 20;
}

static bool carries_merged(const struct port *port)
{
    return port->device->carry != NULL && !port->rx[0].impaired && !port->tx[0].impaired;
}

/* What one port of the kernel's has merged another one can cut again, if there are no others, and if no
 * impairment is to strike single frames. */
static void carry_merged(struct datapath *dp, const struct config *cfg)
{
    unsigned queues = 0, buffers;

    for (unsigned p = 0; p < dp->ports; p++) {
        if (!carries_merged(&dp->port[p]))
            return;
        queues += dp->port[p].rx_queues;
    }
    buffers = queues * LINUX_RX_LONG_BUFFERS;
    if (free_megabytes() >= cfg->pool.megabytes + (buffers >> 4) + 1) /* what jobs may want comes first */
        dp->long_buffers =
            rte_pktmbuf_pool_create("long_buffers", buffers - 1, 0, 0, LINUX_RX_LONG_BYTES, SOCKET_ID_ANY);
    if (dp->long_buffers == NULL) {
        log_info("no memory for buffers of merged frames: each is cut, which makes switching dear; raise "
                 "memory.megabytes");
        return;
    }
    for (unsigned p = 0; p < dp->ports; p++)
        dp->port[p].device->carry(&dp->port[p], &dp->mac, dp->long_buffers);
}

/* Better told now than to the first job. */
static int check_pool_memory(const struct config *cfg)
{
    const size_t left = free_megabytes();

    if (left >= cfg->pool.megabytes)
        return 0;
    log_error("packet buffers and rings leave %zu MB of memory.megabytes, pool.megabytes is %u: raise "
              "memory.megabytes "
              "from %u to %zu",
              left, cfg->pool.megabytes, cfg->memory.megabytes,
              cfg->memory.megabytes + cfg->pool.megabytes - left + 1);
    return -ENOMEM;
}

static struct lcore_pace pace(const struct config *cfg)
{
    const uint64_t cycles_per_ms = rte_get_tsc_hz() / MS_PER_S;

    return (struct lcore_pace){.spin = cfg->idle.spin,
                               .max_sleep_us = cfg->idle.max_sleep_us,
                               .cycles_per_ms = cycles_per_ms,
                               .stall = (LCORE_STALL_MS + cfg->idle.max_sleep_us / 1000) * cycles_per_ms};
}

int datapath_open(struct datapath **out, const struct config *cfg, const struct placement *placement)
{
    struct datapath *dp = rte_zmalloc("datapath", sizeof(*dp), RTE_CACHE_LINE_SIZE);
    int rc;

    *out = NULL;
    if (dp == NULL) {
        log_error("no memory: raise memory.megabytes (now %u)", cfg->memory.megabytes);
        return -ENOMEM;
    }
    dp->ip = cfg->has_ip ? cfg->ip : 0;
    dp->to_control.wakeup = -1;
    dp->boot_id = secret64() | 1;
    dp->lcores = placement->lcores;
    dp->shards.n = placement->shards;
    dp->pace = pace(cfg);
    dp->tx_delay = cfg->tx_delay_us * rte_get_tsc_hz() / US_PER_S;

    rc = choose_kernels(dp);
    if (rc == 0)
        rc = make_mbufs(dp, cfg);
    if (rc == 0)
        rc = make_shared(dp, cfg);
    if (rc == 0)
        rc = make_control_inbox(dp, cfg);
    if (rc == 0)
        rc = open_ports(dp, cfg);
    if (rc == 0)
        rc = linux_rivals_check_ip(dp->ip, on_kernel(dp));
    if (rc == 0)
        rc = choose_mac(dp, cfg);
    if (rc == 0)
        rc = make_lcores(dp, placement);
    if (rc == 0)
        rc = check_pool_memory(cfg);
    if (rc == 0)
        carry_merged(dp, cfg);
    if (rc < 0) {
        datapath_close(dp);
        return rc;
    }
    *out = dp;
    return 0;
}

static int launch(struct lcore *lc)
{
    int rc = rte_eal_remote_launch(lcore_run, lc, lc->eal_id);

    if (rc < 0)
        log_error("lcore %u does not start: %s", lc->eal_id, strerror(-rc));
    return rc;
}

/* Which receive queue of a port is whose. */
static void steer(const struct datapath *dp, unsigned p)
{
    struct steer_queues to = {.shards = dp->shards.n};

    for (unsigned s = 0; s < dp->shards.n; s++)
        to.queue[s] = receive_queue_of(&dp->lcore[dp->shards.owner[s]]->receive, p);
    steer_port(&dp->port[p], &to);
}

int datapath_start(struct datapath *dp)
{
    int rc = 0;

    for (unsigned p = 0; p < dp->ports && rc == 0; p++) {
        rc = port_start(&dp->port[p]);
        if (rc == 0)
            steer(dp, p);
    }
    for (unsigned i = 0; i < dp->lcores && rc == 0; i++)
        rc = launch(dp->lcore[i]);
    return rc;
}

void datapath_stop(struct datapath *dp)
{
    __atomic_store_n(&dp->stop, true, __ATOMIC_RELAXED);
    rte_eal_mp_wait_lcore();
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
    for (unsigned i = 0; i <= dp->lcores; i++)
        rte_free(dp->lcore[i]);
    for (unsigned i = 0; i < dp->lcores; i++)
        free_ring(dp->shards.inbox[i]);
    for (unsigned p = 0; p < dp->ports; p++)
        port_close(&dp->port[p]);
    inbox_close(&dp->to_control);
    jobs_free(&dp->jobs);
    rte_free(dp->bridge);
    rte_free(dp->rcu);
    rte_mempool_free(dp->long_buffers);
    rte_mempool_free(dp->mbufs);
    rte_free(dp);
}

uint64_t datapath_drops(const struct datapath *dp, unsigned port, unsigned kind)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= dp->lcores; i++)
        sum += counter_read(&dp->lcore[i]->counters.drop[port][kind]);
    return sum;
}

uint64_t datapath_events(const struct datapath *dp, enum event event)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= dp->lcores; i++)
        sum += counter_read(&dp->lcore[i]->counters.event[event]);
    return sum;
}

uint64_t datapath_verdicts(const struct datapath *dp, unsigned protocol, unsigned reason)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= dp->lcores; i++)
        sum += counter_read(&dp->lcore[i]->counters.verdict[protocol][reason]);
    return sum;
}
