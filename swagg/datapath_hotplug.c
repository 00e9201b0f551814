/* Ports that come and go while the lcores poll. */
#include "datapath_hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "bridge/switch_mac.h"
#include "datapath_make.h"
#include "port/linux/rivals.h"
#include "switchml/protocol.h"

static uint64_t ports_in(const struct config *cfg)
{
    uint64_t ports = 0;

    for (unsigned p = 0; p < cfg->ports; p++)
        if (cfg->port[p].name[0] != '\0')
            ports |= RTE_BIT64(p);
    return ports;
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
        cfg->pool.megabytes +
            (datapath_buffers_bytes(DATAPATH_MBUFS_A_PORT, port_buffer_bytes(cfg->mtu)) >> 20) + 1)
        dp->port_mbufs[p] = datapath_make_buffers(name, DATAPATH_MBUFS_A_PORT, DATAPATH_MBUF_CACHE,
                                                  port_buffer_bytes(cfg->mtu));
    if (dp->port_mbufs[p] == NULL)
        log_error("port %s: no memory for %d packet buffers beside pool.megabytes: memory.megabytes (now %u) "
                  "would have to be more, which needs a restart",
                  cfg->port[p].name, DATAPATH_MBUFS_A_PORT, cfg->memory.megabytes);
    return dp->port_mbufs[p];
}

static int check_addresses(const struct datapath *dp, const struct port *port)
{
    if (switch_mac_find(&dp->mac, &port->mac, 1) >= 0 && port->locked != 0) {
        log_error("port %s: its interface has the switch's own MAC address: give it another", port->name);
        return -EADDRINUSE;
    }
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
        rc = check_addresses(dp, &dp->port[p]);
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
    const uint64_t wanted = ports_in(cfg);
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

static void carry_merged(struct datapath *dp, uint64_t ports)
{
    if (dp->long_buffers != NULL)
        port_carry_merged(dp->port, ports, &dp->mac, dp->long_buffers);
}

void datapath_commit_ports(struct datapath *dp, const struct datapath_ports_next *next,
                           const struct config *cfg)
{
    if (next->gone == 0 && next->come == 0 && placement_same(&dp->placement, &next->placement))
        return;
    carry_merged(dp, dp->ports | next->come); /* none while a port is there that cannot send them */
    take_out(dp, next);
    carry_merged(dp, dp->ports | next->come);
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
