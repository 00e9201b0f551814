/* A port of the switch: a device with one or more queues each way, and its impairments.
 *
 * Opened, started and closed by the main lcore while no lcore polls. In between, the lcore that receives from
 * queue q owns `rx[q]`, the one that sends to it `tx[q]`; the rest does not change.
 */
#ifndef SWAGG_PORT_PORT_H
#define SWAGG_PORT_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_dev.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "config/config.h"
#include "net/mac.h"
#include "port/device.h"
#include "port/impair.h"
#include "port/linux/features.h"

enum { PORT_RING_SIZE = 1024, PORT_QUEUE_NAME_MAX = CONFIG_NAME_MAX + 8, PORT_NO_ID = RTE_MAX_ETHPORTS };

struct linux_rx;
struct linux_tx;

/* One direction of a queue. */
struct port_queue {
    bool impaired;
    union { /* where the port is an interface of the kernel's */
        struct linux_rx *from_kernel;
        struct linux_tx *to_kernel;
    };
    struct impair impair;
} __rte_cache_aligned;

struct port {
    const char *name; /* the configuration's */
    const struct port_device *device;
    char device_name[RTE_DEV_NAME_MAX_LEN]; /* without arguments */
    uint16_t id;                            /* of DPDK's device; PORT_NO_ID: it is none */
    uint16_t max_frame;
    uint16_t rx_queues, tx_queues;
    bool multi_segment;    /* it sends frames of several segments */
    uint64_t rx_checksums; /* mbuf flags: of the checksums that the device compares */
    uint64_t rss; /* what the device hashes to choose a receive queue, RTE_ETH_RSS_...; 0: it does not */
    struct net_mac mac; /* when it was opened */
    uint64_t missed;    /* by the device, as far as has been told */
    int lock;           /* of the kernel's interface that it is made on (exclusive.h); -1: none */
    /* Of an interface of the kernel's: its number, 0 while it is gone; how often it has come back; what has
     * been switched on for us; how much could not be cut again, as far as has been told; why one that has
     * come back cannot be used, likewise. The first two are atomic: telemetry reads them. */
    unsigned if_index;
    uint64_t returns;
    struct linux_features merging;
    uint64_t unknown;
    int refused;
    /* From lcores without a TX queue of it; many producers, one consumer: who has tx[0]. */
    struct rte_ring *to_send;
    struct port_queue *rx, *tx;
};

/* Data room that packet buffers need on ports with this MTU. */
uint16_t port_buffer_bytes(uint16_t mtu);

/* Opens the device, sets it up to receive into buffers from mbufs. index: the port's number in the
 * configuration. 0, or -errno after logging what is wrong with which port. */
int port_open(struct port *port, unsigned index, const struct config *cfg, struct rte_mempool *mbufs);
int port_start(struct port *port);

/* Has the kernel's interface that the port is made on for this process alone. 0, or -errno. */
int port_lock(struct port *port, unsigned if_index);

/* Why an interface cannot be used, for the log. rc: of port_lock or another -errno. */
void port_say_refused(const struct port *port, const char *interface, unsigned if_index, int rc);

/* As in the list of lcores: "NAME:QUEUE", or the name alone where there is one queue only. */
const char *port_queue_name(char name[PORT_QUEUE_NAME_MAX], const struct port *port, unsigned queues,
                            unsigned queue);

/* Stops the device, frees what its queues and impairments hold, closes it. Also after a failed port_open. */
void port_close(struct port *port);

#endif
