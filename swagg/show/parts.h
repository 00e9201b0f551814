/* The parts of the daemon that telemetry, swaggctl and the log show. They are only read, and outlive their
 * readers; what a reload changes of them does not change while the lock is held (show/views.h). */
#pragma once

#include <pthread.h>

#include "control/registrar.h"
#include "control/static_jobs.h"

struct show_parts {
    pthread_mutex_t *lock;
    const char *name; /* of this daemon among others: DPDK's file prefix */
    uint64_t started; /* monotonic_ns */
    struct net_mac mac;
    rte_be32_t ip; /* 0: none */
    const struct port *port;
    const uint64_t *ports; /* atomic: bit p: there is a port p */
    const struct lcores *lcores;
    const struct shards *shards;
    const struct buffers *buffers;
    const struct bridge *bridge;
    const struct vlans *vlans;
    const struct config *config; /* that runs */
    const struct jobs *jobs;
    const struct uplinks *uplinks;
    struct registrar *registrar;
    const struct static_jobs *static_jobs;
    struct history *history; /* NULL: there is none */
};
