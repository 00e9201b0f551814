/* The parts of the daemon that telemetry, swaggctl and the log show. They are only read, and outlive their
 * readers. */
#ifndef SWAGG_SHOW_PARTS_H
#define SWAGG_SHOW_PARTS_H

#include "control/registrar.h"
#include "control/static_jobs.h"

struct show_parts {
    const char *name; /* of this daemon among others: DPDK's file prefix */
    uint64_t started; /* clock_ns */
    struct net_mac mac;
    rte_be32_t ip; /* 0: none */
    const struct port *port;
    unsigned ports;
    const struct lcores *lcores;
    const struct shards *shards;
    const struct rte_mempool *mbufs;
    const struct bridge *bridge;
    const struct vlans *vlans;
    uint32_t mac_age_s; /* after which the bridge forgets a station */
    const struct jobs *jobs;
    struct registrar *registrar;
    const struct static_jobs *static_jobs;
};

#endif
