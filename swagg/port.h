/* A port of the switch: a DPDK ethernet device with one queue each way, and its impairments.
 *
 * Opened, started and closed by the main lcore while no lcore polls. In between, the receiving lcore owns
 * `rx`, the sending one `tx`; the rest does not change.
 */
#ifndef SWAGG_PORT_H
#define SWAGG_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "config.h"

enum { PORT_RING_SIZE = 1024 };

struct port_direction {
    bool impaired;
    struct impair impair;
};

struct port {
    const char *name; /* the configuration's */
    uint16_t id;      /* the ethernet device's */
    uint16_t max_frame;
    int packet_socket; /* of net_af_packet; -1: another driver */
    struct rte_ether_addr mac;
    uint64_t missed;          /* by the device, as far as port_missed has told */
    struct rte_ring *to_send; /* from lcores that do not own tx; many producers, one consumer */
    struct port_direction rx __rte_cache_aligned;
    struct port_direction tx __rte_cache_aligned;
};

/* Data room that packet buffers need on ports with this MTU. */
uint16_t port_buffer_bytes(uint16_t mtu);

/* Finds or creates the device, sets it up to receive into buffers from mbufs. index: the port's number in the
 * configuration. 0, or -errno after logging what is wrong with which port. */
int port_open(struct port *port, unsigned index, const struct config *cfg, struct rte_mempool *mbufs);
int port_start(struct port *port);

/* Whether its link is up, as far as the driver knows. */
bool port_is_up(const struct port *port);

/* Frames lost since the last call because the device's receive ring was full. Main lcore. */
uint64_t port_missed(struct port *port);

/* Stops the device, frees what its queues and impairments hold, closes it. Also after a failed port_open. */
void port_close(struct port *port);

#endif
