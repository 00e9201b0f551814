#include "port.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

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

/* What a packet's receive queue may depend on: never less than its flow, so that flows stay in order. */
#define PORT_RSS                                                                                             \
    (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6 |     \
     RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP)

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

/* Every queue has random numbers of its own: stream, stream + 2 * SWAGG_MAX_PORTS, ... */
static struct port_queue *make_queues(unsigned n, const struct impair_config *cfg, uint64_t seed,
                                      unsigned stream)
{
    struct port_queue *queue = rte_zmalloc("queues", n * sizeof(*queue), RTE_CACHE_LINE_SIZE);
    struct impair_config in_cycles = *cfg;

    in_cycles.hold_for = cfg->hold_for * rte_get_tsc_hz() / US_PER_S;
    for (unsigned q = 0; queue != NULL && q < n; q++) {
        queue[q].impaired = impair_active(cfg);
        impair_init(&queue[q].impair, &in_cycles, seed, stream + q * 2 * SWAGG_MAX_PORTS);
    }
    return queue;
}

static int make_impairments(struct port *port, unsigned index, const struct config *cfg)
{
    const struct config_impair *impair = &cfg->port[index].impair;

    port->rx = make_queues(port->rx_queues, &impair->rx, cfg->seed, index * 2);
    port->tx = make_queues(port->tx_queues, &impair->tx, cfg->seed, index * 2 + 1);
    if (port->rx != NULL && port->tx != NULL)
        return 0;
    log_error("port %s: no memory for its queues: raise memory.megabytes (now %u)", port->name,
              cfg->memory.megabytes);
    return -ENOMEM;
}

static int set_up_queues(const struct port *port, struct rte_mempool *mbufs)
{
    uint16_t rx_descriptors = PORT_DESCRIPTORS, tx_descriptors = PORT_DESCRIPTORS;
    int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx_descriptors, &tx_descriptors);

    for (uint16_t q = 0; q < port->rx_queues && rc == 0; q++)
        rc = rte_eth_rx_queue_setup(port->id, q, rx_descriptors, SOCKET_ID_ANY, NULL, mbufs);
    for (uint16_t q = 0; q < port->tx_queues && rc == 0; q++)
        rc = rte_eth_tx_queue_setup(port->id, q, tx_descriptors, SOCKET_ID_ANY, NULL);
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

static int check_queues(const struct port *port, const struct rte_eth_dev_info *info)
{
    if (port->rx_queues <= info->max_rx_queues && port->tx_queues <= info->max_tx_queues)
        return 0;
    log_error("port %s: the device has at most %u receive and %u send queues: lower rx_queues (%u) or "
              "tx_queues (%u)",
              port->name, info->max_rx_queues, info->max_tx_queues, port->rx_queues, port->tx_queues);
    return -EINVAL;
}

static uint64_t checksum_flags(uint64_t rx_offloads)
{
    return (rx_offloads & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM ? RTE_MBUF_F_RX_IP_CKSUM_MASK : 0) |
           (rx_offloads & RTE_ETH_RX_OFFLOAD_UDP_CKSUM ? RTE_MBUF_F_RX_L4_CKSUM_MASK : 0);
}

/* Queues and MTU. Where the device understates what it takes, it is left at that: its buffers are the
 * operator's to choose (docs/configuration.md), and the kernel's interface below keeps its own MTU. */
static int configure(struct port *port, const struct config_port *cfg, uint16_t mtu,
                     struct rte_mempool *mbufs)
{
    const uint16_t understated = understated_mtu(port, cfg);
    struct rte_eth_conf conf = {.rxmode = {.mtu = understated > 0 ? understated : mtu}};
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(port->id, &info);

    if (rc == 0) {
        rc = check_queues(port, &info);
        if (rc < 0)
            return rc;
        port->rss = port->rx_queues > 1 ? info.flow_type_rss_offloads & PORT_RSS : 0;
        if (port->rss != 0) {
            conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
            conf.rx_adv_conf.rss_conf.rss_hf = port->rss;
        }
        conf.rxmode.offloads =
            info.rx_offload_capa & (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
        port->rx_checksums = checksum_flags(conf.rxmode.offloads);
        conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
        port->multi_segment = conf.txmode.offloads != 0;
        rc = rte_eth_dev_configure(port->id, port->rx_queues, port->tx_queues, &conf);
    }
    if (rc == 0)
        rc = set_up_queues(port, mbufs);
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

static int open_kernel_tx(struct port *port, unsigned if_index)
{
    for (unsigned q = 0; q < port->tx_queues; q++) {
        struct port_queue *tx = &port->tx[q];

        tx->kernel = kernel_tx_open(if_index, tx->impaired ? 0 : kernel_tx_mergeable());
        if (tx->kernel == NULL)
            return -rte_errno;
    }
    port->multi_segment = true;
    return 0;
}

/* net_af_packet receives; what is sent goes by sockets of our own. */
static int prepare_packet_sockets(struct port *port)
{
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(port->id, &info);

    if (rc < 0 || !is_af_packet(&info))
        return rc;
    port->packet_sockets = packet_socket_find(info.if_index, port->packet_socket, SWAGG_MAX_QUEUES);
    rc = port->packet_sockets == 0 ? -ENOENT : 0;
    for (unsigned i = 0; i < port->packet_sockets && rc == 0; i++)
        rc = packet_socket_ignore_outgoing(port->packet_socket[i]);
    if (rc == 0)
        rc = open_kernel_tx(port, info.if_index);
    if (rc < 0)
        log_error("port %s: cannot set up its packet sockets: %s", port->name, rte_strerror(-rc));
    return rc;
}

static int make_ring(struct port *port, unsigned index)
{
    char ring[RTE_RING_NAMESIZE];

    snprintf(ring, sizeof(ring), "to_send_%u", index);
    port->to_send = rte_ring_create(ring, PORT_RING_SIZE, SOCKET_ID_ANY, RING_F_SC_DEQ);
    if (port->to_send != NULL)
        return 0;
    log_error("port %s: no memory for its ring: %s", port->name, rte_strerror(rte_errno));
    return -rte_errno;
}

int port_open(struct port *port, unsigned index, const struct config *cfg, struct rte_mempool *mbufs)
{
    const struct config_port *pc = &cfg->port[index];
    int rc;

    port->name = pc->name;
    port->id = PORT_NONE;
    port->max_frame = cfg->mtu + FRAME_PORT_BYTES;
    port->rx_queues = (uint16_t)pc->rx_queues;
    port->tx_queues = (uint16_t)pc->tx_queues;

    rc = find_device(&port->id, pc);
    if (rc < 0) {
        log_error("port %s: cannot open device %s: %s", port->name, pc->device, rte_strerror(-rc));
        return rc;
    }
    rc = make_impairments(port, index, cfg);
    if (rc == 0)
        rc = make_ring(port, index);
    if (rc == 0)
        rc = configure(port, pc, cfg->mtu, mbufs);
    if (rc == 0)
        rc = prepare_packet_sockets(port);
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

struct kernel_tx_stats port_sent_past_driver(const struct port *port)
{
    struct kernel_tx_stats sum = {0};

    for (unsigned q = 0; q < port->tx_queues; q++)
        if (port->tx[q].kernel != NULL) {
            const struct kernel_tx_stats stats = kernel_tx_stats(port->tx[q].kernel);

            sum.frames += stats.frames;
            sum.bytes += stats.bytes;
            sum.merged += stats.merged;
        }
    return sum;
}

bool port_is_up(const struct port *port)
{
    struct rte_eth_link link = {0};

    return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

const char *port_queue_name(char name[PORT_QUEUE_NAME_MAX], const struct port *port, unsigned queues,
                            unsigned queue)
{
    if (queues > 1)
        snprintf(name, PORT_QUEUE_NAME_MAX, "%s:%u", port->name, queue);
    else
        snprintf(name, PORT_QUEUE_NAME_MAX, "%s", port->name);
    return name;
}

uint64_t port_missed(struct port *port)
{
    struct rte_eth_stats stats;
    uint64_t news = 0;

    if (rte_eth_stats_get(port->id, &stats) == 0) {
        news = stats.imissed - port->missed;
        port->missed = stats.imissed;
    }
    for (unsigned i = 0; i < port->packet_sockets; i++)
        news += packet_socket_missed(port->packet_socket[i]);
    return news;
}

static void free_queues(struct port_queue *queue, unsigned n)
{
    for (unsigned q = 0; queue != NULL && q < n; q++) {
        impair_mbufs_flush(&queue[q].impair);
        kernel_tx_close(queue[q].kernel);
    }
    rte_free(queue);
}

void port_close(struct port *port)
{
    struct rte_mbuf *m;

    free_queues(port->rx, port->rx_queues);
    free_queues(port->tx, port->tx_queues);
    while (port->to_send != NULL && rte_ring_dequeue(port->to_send, (void **)&m) == 0)
        rte_pktmbuf_free(m);
    rte_ring_free(port->to_send);
    if (port->id == PORT_NONE)
        return;
    rte_eth_dev_stop(port->id);
    rte_eth_dev_close(port->id);
    port->id = PORT_NONE;
}
