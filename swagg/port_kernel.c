/* A port on an interface of the kernel's, by packet sockets. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <rte_errno.h>

#include "frame.h"
#include "kernel_features.h"
#include "kernel_rx.h"
#include "kernel_tx.h"
#include "log.h"
#include "port.h"

static const char *interface_of(const struct port *port)
{
    return port->device_name + strlen(CONFIG_KERNEL_DEVICE);
}

/* Asks the kernel about the interface: 0, or -errno. argument: where the request has one. */
static int ask_with(const struct port *port, unsigned long what, struct ifreq *answer, void *argument)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

    if (fd < 0)
        return -errno;
    *answer = (struct ifreq){.ifr_data = argument};
    memcpy(answer->ifr_name, interface_of(port), strlen(interface_of(port)));
    rc = ioctl(fd, what, answer) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

static int ask(const struct port *port, unsigned long what, struct ifreq *answer)
{
    return ask_with(port, what, answer, NULL);
}

static int check_mtu(const struct port *port)
{
    const int wanted = port->max_frame - FRAME_PORT_BYTES;
    struct ifreq answer;
    int rc = ask(port, SIOCGIFMTU, &answer);

    if (rc < 0 || answer.ifr_mtu >= wanted)
        return rc;
    log_error("port %s: interface %s has MTU %d, too little for mtu %d: ip link set %s mtu %d, or lower mtu",
              port->name, interface_of(port), answer.ifr_mtu, wanted, interface_of(port), wanted);
    return -EMSGSIZE;
}

/* What a device merges itself, unlike what the kernel merges, cannot be cut into the same frames. */
static void warn_of_lro(const struct port *port)
{
    struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};
    struct ifreq request;

    if (ask_with(port, SIOCETHTOOL, &request, &flags) == 0 && flags.data & ETH_FLAG_LRO)
        log_warning("port %s: interface %s merges frames in its device, which loses some of them: ethtool -K "
                    "%s lro off",
                    port->name, interface_of(port), interface_of(port));
}

static void merge(struct port *port)
{
    if (!kernel_merge(interface_of(port), &port->merging))
        log_info("port %s: the kernel does not merge what interface %s receives, which makes receiving dear",
                 port->name, interface_of(port));
}

static int open_receiving(struct port *port, unsigned if_index, struct rte_mempool *mbufs)
{
    struct kernel_rx *all[SWAGG_MAX_QUEUES];

    for (unsigned q = 0; q < port->rx_queues; q++) {
        all[q] = port->rx[q].from_kernel = kernel_rx_open(if_index, port->max_frame, mbufs);
        if (all[q] == NULL)
            return -rte_errno;
    }
    return port->rx_queues > 1 ? kernel_rx_share(all, port->rx_queues) : 0;
}

static int open_sending(struct port *port, unsigned if_index)
{
    for (unsigned q = 0; q < port->tx_queues; q++) {
        struct port_queue *tx = &port->tx[q];

        tx->to_kernel = kernel_tx_open(if_index, tx->impaired ? 0 : kernel_tx_mergeable());
        if (tx->to_kernel == NULL)
            return -rte_errno;
    }
    return 0;
}

/* Frames are heard from here on, and wait until the port is polled. */
static int kernel_open(struct port *port, const struct config_port *cfg, struct rte_mempool *mbufs)
{
    const unsigned if_index = if_nametoindex(interface_of(port));
    struct ifreq answer;
    int rc = if_index == 0 ? -errno : check_mtu(port);

    (void)cfg; /* the device's name is all there is */
    if (rc == -EMSGSIZE)
        return rc;
    if (rc == 0)
        rc = open_receiving(port, if_index, mbufs);
    if (rc == 0)
        rc = open_sending(port, if_index);
    if (rc == 0)
        rc = ask(port, SIOCGIFHWADDR, &answer);
    if (rc < 0) {
        log_error("port %s: cannot open interface %s: %s", port->name, interface_of(port), strerror(-rc));
        return rc;
    }
    warn_of_lro(port);
    merge(port);
    memcpy(&port->mac, answer.ifr_hwaddr.sa_data, sizeof(port->mac));
    port->multi_segment = true;
    port->rx_checksums = RTE_MBUF_F_RX_L4_CKSUM_MASK;
    return 0;
}

static uint16_t kernel_receive(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                               uint16_t max)
{
    return (uint16_t)kernel_rx_burst(port->rx[queue].from_kernel, frames, max);
}

static unsigned kernel_send(const struct port *port, uint16_t queue, struct rte_mbuf **frames, uint16_t n)
{
    return kernel_tx_burst(port->tx[queue].to_kernel, frames, n);
}

static bool kernel_is_up(const struct port *port)
{
    struct ifreq answer;

    return ask(port, SIOCGIFFLAGS, &answer) == 0 && answer.ifr_flags & IFF_UP &&
           answer.ifr_flags & IFF_RUNNING;
}

static void kernel_stats(const struct port *port, struct port_stats *stats)
{
    *stats = (struct port_stats){0};
    for (unsigned q = 0; q < port->rx_queues; q++) {
        const struct kernel_rx_stats rx = kernel_rx_stats(port->rx[q].from_kernel);

        stats->rx_frames += rx.frames;
        stats->rx_bytes += rx.bytes;
        stats->rx_merged += rx.merged;
    }
    for (unsigned q = 0; q < port->tx_queues; q++) {
        const struct kernel_tx_stats tx = kernel_tx_stats(port->tx[q].to_kernel);

        stats->tx_frames += tx.frames;
        stats->tx_bytes += tx.bytes;
        stats->tx_merged += tx.merged;
    }
}

/* In tunnels, for instance. Once nothing is merged any more, what is sent again comes as it is. */
static void watch_merging(struct port *port, uint64_t unknown)
{
    const bool first = port->unknown == 0 && unknown > 0;

    port->unknown = unknown;
    if (!first)
        return;
    log_warning(
        "port %s: interface %s merges frames of a kind that swagg cannot cut again, and they were dropped as "
        "oversize: from now on it merges nothing for swagg. If more are dropped, their senders leave them "
        "unsegmented (ethtool -K DEV tso off gso off there), or gro was on before (ethtool -K %s gro off)",
        port->name, interface_of(port), interface_of(port));
    kernel_merge_no_more(interface_of(port), &port->merging);
}

static uint64_t kernel_missed(struct port *port)
{
    uint64_t frames = 0, unknown = 0;

    for (unsigned q = 0; q < port->rx_queues; q++) {
        frames += kernel_rx_missed(port->rx[q].from_kernel);
        unknown += kernel_rx_stats(port->rx[q].from_kernel).unknown;
    }
    watch_merging(port, unknown);
    return frames;
}

static void kernel_close(struct port *port)
{
    kernel_merge_no_more(interface_of(port), &port->merging);
    for (unsigned q = 0; port->rx != NULL && q < port->rx_queues; q++)
        kernel_rx_close(port->rx[q].from_kernel);
    for (unsigned q = 0; port->tx != NULL && q < port->tx_queues; q++)
        kernel_tx_close(port->tx[q].to_kernel);
}

const struct port_device port_kernel = {.open = kernel_open,
                                        .receive = kernel_receive,
                                        .send = kernel_send,
                                        .is_up = kernel_is_up,
                                        .stats = kernel_stats,
                                        .missed = kernel_missed,
                                        .close = kernel_close};
