#include "port.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "frame.h"
#include "impair_mbuf.h"
#include "log.h"
#include "packet_socket.h"

enum {
    PORT_DESCRIPTORS = 1024,
    PORT_NONE = RTE_MAX_ETHPORTS,
    /* net_af_packet's default frame is 2 KiB; it wants buffers that take a whole one, whatever the MTU. */
    PORT_BUFFER_STEP = 2048,
};

uint16_t port_buffer_bytes(uint16_t mtu)
{
    return RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(mtu + FRAME_PORT_BYTES, PORT_BUFFER_STEP);
}

/* Virtual devices are made here and not by EAL's --vdev, so that a failure can be told with the port's name.
 * PCI devices were found when the EAL started (eal.c allows those that the configuration names). */
static int find_device(uint16_t *id, const struct config_port *cfg)
{
    char name[RTE_DEV_NAME_MAX_LEN];
    int rc;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(cfg->device, ","), cfg->device);
    if (rte_eth_dev_get_port_by_name(name, id) == 0)
        return 0;
    rc = rte_dev_probe(cfg->device);
    if (rc == 0)
        rc = rte_eth_dev_get_port_by_name(name, id);
    return rc;
}

static void init_direction(struct port_direction *d, const struct impair_config *cfg, uint64_t seed,
                           unsigned stream)
{
    struct impair_config in_cycles = *cfg;

    in_cycles.hold_for = cfg->hold_for * rte_get_tsc_hz() / US_PER_S;
    d->impaired = impair_active(cfg);
    impair_init(&d->impair, &in_cycles, seed, stream);
}

static int set_up_queues(uint16_t id, struct rte_mempool *mbufs)
{
    uint16_t rx_descriptors = PORT_DESCRIPTORS, tx_descriptors = PORT_DESCRIPTORS;
    int rc = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx_descriptors, &tx_descriptors);

    if (rc == 0)
        rc = rte_eth_rx_queue_setup(id, 0, rx_descriptors, SOCKET_ID_ANY, NULL, mbufs);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(id, 0, tx_descriptors, SOCKET_ID_ANY, NULL);
    return rc;
}

/* The most that the device says it takes, if the configuration wants more and the device is virtual; else 0.
 * DPDK's net_memif and net_af_packet name plain Ethernet's 1518 bytes here, but carry whatever their buffers
 * hold. */
static uint16_t understated_mtu(const struct port *port, const struct config_port *cfg)
{
    struct rte_eth_dev_info info;

    if (strncmp(cfg->device, "net_", 4) != 0 || rte_eth_dev_info_get(port->id, &info) < 0 ||
        info.max_rx_pktlen >= port->max_frame)
        return 0;
    return (uint16_t)(info.max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN);
}

static int set_mtu(const struct port *port, uint16_t mtu)
{
    uint16_t has = 0;
    int rc = rte_eth_dev_set_mtu(port->id, mtu);

    /* Some devices cannot be told, which is fine as long as they take such frames anyway. */
    if (rc == -ENOTSUP && rte_eth_dev_get_mtu(port->id, &has) == 0 && has >= mtu)
        rc = 0;
    if (rc < 0)
        log_error("port %s: cannot set MTU %u: %s", port->name, mtu, rte_strerror(-rc));
    return rc;
}

/* Queues and MTU. Where the device understates what it takes, it is left at that: its buffers are the
 * operator's to choose (docs/configuration.md), and the kernel's interface below keeps its own MTU. */
static int configure(const struct port *port, const struct config_port *cfg, uint16_t mtu,
                     struct rte_mempool *mbufs)
{
    const uint16_t understated = understated_mtu(port, cfg);
    const struct rte_eth_conf conf = {.rxmode = {.mtu = understated > 0 ? understated : mtu}};
    int rc = rte_eth_dev_configure(port->id, 1, 1, &conf);

    if (rc == 0)
        rc = set_up_queues(port->id, mbufs);
    if (rc < 0) {
        log_error("port %s: cannot set up %s: %s", port->name, cfg->device, rte_strerror(-rc));
        return rc;
    }
    return understated > 0 ? 0 : set_mtu(port, mtu);
}

static bool is_af_packet(const struct rte_eth_dev_info *info)
{
    return strcmp(info->driver_name, "net_af_packet") == 0;
}

static int prepare_packet_socket(struct port *port)
{
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(port->id, &info);

    port->packet_socket = -1;
    if (rc < 0 || !is_af_packet(&info))
        return rc;
    if (info.max_rx_queues > 1) {
        log_error("port %s: qpairs must be 1: frames of the other queues would be lost", port->name);
        return -EINVAL;
    }
    port->packet_socket = packet_socket_find(info.if_index);
    rc = port->packet_socket < 0 ? -ENOENT : packet_socket_never_wait(port->packet_socket);
    if (rc < 0)
        log_warning(
            "port %s: cannot enlarge its socket's send buffer (%s): when it is congested, other ports wait",
            port->name, strerror(-rc));
    return 0;
}

int port_open(struct port *port, unsigned index, const struct config *cfg, struct rte_mempool *mbufs)
{
    const struct config_port *pc = &cfg->port[index];
    char ring[RTE_RING_NAMESIZE];
    int rc;

    port->name = pc->name;
    port->id = PORT_NONE;
    port->max_frame = cfg->mtu + FRAME_PORT_BYTES;
    init_direction(&port->rx, &pc->impair.rx, cfg->seed, index * 2);
    init_direction(&port->tx, &pc->impair.tx, cfg->seed, index * 2 + 1);

    rc = find_device(&port->id, pc);
    if (rc < 0) {
        log_error("port %s: cannot open device %s: %s", port->name, pc->device, rte_strerror(-rc));
        return rc;
    }
    snprintf(ring, sizeof(ring), "to_send_%u", index);
    port->to_send = rte_ring_create(ring, PORT_RING_SIZE, SOCKET_ID_ANY, RING_F_SC_DEQ);
    if (port->to_send == NULL) {
        log_error("port %s: no memory for its ring: %s", port->name, rte_strerror(rte_errno));
        return -rte_errno;
    }
    rc = configure(port, pc, cfg->mtu, mbufs);
    if (rc == 0)
        rc = prepare_packet_socket(port);
    if (rc == 0)
        rc = rte_eth_macaddr_get(port->id, &port->mac);
    return rc;
}

int port_start(struct port *port)
{
    int rc = rte_eth_dev_start(port->id);

    if (rc == 0)
        rc = rte_eth_promiscuous_enable(port->id);
    if (rc < 0)
        log_error("port %s: cannot start: %s", port->name, rte_strerror(-rc));
    return rc;
}

bool port_is_up(const struct port *port)
{
    struct rte_eth_link link = {0};

    return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

uint64_t port_missed(struct port *port)
{
    struct rte_eth_stats stats;
    uint64_t news = 0;

    if (rte_eth_stats_get(port->id, &stats) == 0) {
        news = stats.imissed - port->missed;
        port->missed = stats.imissed;
    }
    return port->packet_socket < 0 ? news : news + packet_socket_missed(port->packet_socket);
}

void port_close(struct port *port)
{
    struct rte_mbuf *m;

    impair_mbufs_flush(&port->rx.impair);
    impair_mbufs_flush(&port->tx.impair);
    while (port->to_send != NULL && rte_ring_dequeue(port->to_send, (void **)&m) == 0)
        rte_pktmbuf_free(m);
    rte_ring_free(port->to_send);
    if (port->id == PORT_NONE)
        return;
    rte_eth_dev_stop(port->id);
    rte_eth_dev_close(port->id);
    port->id = PORT_NONE;
}
