/* A port on an interface of the kernel's, by packet sockets. The port stays with the interface, even if that
 * is renamed, until it is deleted or leaves the network namespace. Then the port waits for an interface with
 * the configured name, and uses that.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>

#include "base/counters.h"
#include "base/log.h"
#include "port/frame.h"
#include "port/linux/features.h"
#include "port/linux/interface.h"
#include "port/linux/rivals.h"
#include "port/linux/rx.h"
#include "port/linux/socket.h"
#include "port/linux/tx.h"
#include "port/port.h"

struct linux_port {
    unsigned if_index;             /* 0 while the interface is gone; atomic, since telemetry reads it ... */
    uint64_t returns;              /* ... and this: how often an interface has come back */
    struct linux_features merging; /* what has been switched on for us */
    bool given_up;                 /* it was switched off again, on this interface */
    uint64_t unknown;              /* frames that could not be cut, when it was last looked at */
    int refused;                   /* why one that has come back cannot be used, if that was logged */
};

static struct linux_port *state_of(const struct port *port)
{
    return port->state;
}

static const char *interface_of(const struct port *port)
{
    return port->device_name + strlen(CONFIG_KERNEL_DEVICE);
}

static unsigned index_of(const struct port *port)
{
    return __atomic_load_n(&state_of(port)->if_index, __ATOMIC_RELAXED);
}

static int wanted_mtu(const struct port *port)
{
    return port->max_frame - FRAME_PORT_BYTES;
}

static int check_mtu(const struct port *port, unsigned if_index)
{
    const int mtu = linux_interface_mtu(if_index);

    if (mtu < 0)
        return mtu;
    return mtu < wanted_mtu(port) ? -EMSGSIZE : 0;
}

static void say_refused(const struct port *port, unsigned if_index, int rc)
{
    if (rc == -EMSGSIZE)
        log_error(
            "port %s: interface %s has MTU %d, too little for mtu %d: ip link set %s mtu %d, or lower mtu",
            port->name, interface_of(port), linux_interface_mtu(if_index), wanted_mtu(port),
            interface_of(port), wanted_mtu(port));
    else
        port_say_refused(port, interface_of(port), if_index, rc);
}

/* Takes the interface for this process and opens its sockets. 0, or -errno with neither done. */
static int take(struct port *port, unsigned if_index, struct linux_sockets *sockets)
{
    int rc = check_mtu(port, if_index);

    if (rc == 0)
        rc = port_lock(port, if_index);
    if (rc < 0)
        return rc;
    *sockets = (struct linux_sockets){.rx_queues = port->rx_queues, .tx_queues = port->tx_queues};
    rc = linux_sockets_open(sockets, if_index);
    if (rc == 0)
        return 0;
    port_unlock(port);
    return rc;
}

/* The port has this interface from here on: sets it up, and logs what is worth knowing. */
static void settle(struct port *port, unsigned if_index)
{
    __atomic_store_n(&state_of(port)->if_index, if_index, __ATOMIC_RELAXED);
    if (linux_interface_merges(if_index))
        log_warning("port %s: interface %s merges frames in its device, which loses some of them: ethtool -K "
                    "%s lro off",
                    port->name, interface_of(port), interface_of(port));
    linux_rivals_warn(port->name, interface_of(port), if_index);
    state_of(port)->given_up = false;
    if (!linux_merge(if_index, &state_of(port)->merging))
        log_info("port %s: the kernel does not merge what interface %s receives, which makes receiving dear",
                 port->name, interface_of(port));
}

/* Gives each queue its socket. On an error, sockets that no queue has are closed. */
static int make_queues(struct port *port, const struct linux_sockets *sockets,
                       const struct port_resources *resources)
{
    int rc = 0;

    for (unsigned q = 0; q < sockets->rx_queues; q++) {
        struct port_queue *rx = &port->rx[q];

        rx->state = linux_rx_open(sockets->rx[q], port->max_frame, resources);
        if (rx->state != NULL)
            continue;
        close(sockets->rx[q]);
        rc = -ENOMEM;
    }
    for (unsigned q = 0; q < sockets->tx_queues; q++) {
        struct port_queue *tx = &port->tx[q];

        tx->state = linux_tx_open(sockets->tx[q]);
        if (tx->state != NULL)
            continue;
        close(sockets->tx[q]);
        rc = -ENOMEM;
    }
    return rc;
}

/* Frames are heard from here on, and wait until the port is polled. */
static int linux_open(struct port *port, const struct config_port *cfg,
                      const struct port_resources *resources)
{
    const unsigned if_index = if_nametoindex(interface_of(port));
    struct linux_sockets sockets;
    int rc = if_index == 0 ? -errno : take(port, if_index, &sockets);

    (void)cfg; /* the device's name is all that it needs */
    if (rc == 0)
        rc = make_queues(port, &sockets, resources);
    if (rc == 0)
        rc = linux_interface_mac(if_index, &port->mac);
    if (rc < 0) {
        say_refused(port, if_index, rc);
        return rc;
    }
    settle(port, if_index);
    port->multi_segment = true;
    port->rx_checksums = RTE_MBUF_F_RX_L4_CKSUM_MASK;
    return 0;
}

/* Of the queues, as they are. */
static struct linux_sockets sockets_of(const struct port *port)
{
    struct linux_sockets s = {.rx_queues = port->rx_queues, .tx_queues = port->tx_queues};

    for (unsigned q = 0; q < s.rx_queues; q++)
        s.rx[q] = linux_rx_socket(port->rx[q].state);
    for (unsigned q = 0; q < s.tx_queues; q++)
        s.tx[q] = linux_tx_socket(port->tx[q].state);
    return s;
}

static void leave(struct port *port)
{
    log_warning("port %s: interface %s is gone: waiting for another of that name", port->name,
                interface_of(port));
    linux_merge_no_more(index_of(port), &state_of(port)->merging);
    port_unlock(port);
    state_of(port)->refused = 0;
    __atomic_store_n(&state_of(port)->if_index, 0, __ATOMIC_RELAXED);
}

/* True if there is one, and it can be used. */
static bool look_for_another(struct port *port)
{
    const unsigned if_index = if_nametoindex(interface_of(port));
    const struct linux_sockets old = sockets_of(port);
    struct linux_sockets sockets;
    int rc = if_index == 0 ? -ENODEV : take(port, if_index, &sockets);

    if (rc < 0) {
        if (rc != -ENODEV && rc != state_of(port)->refused)
            say_refused(port, if_index, rc);
        state_of(port)->refused = rc;
        return false;
    }
    linux_sockets_replace(&old, &sockets);
    settle(port, if_index);
    counter_add(&state_of(port)->returns, 1);
    log_notice("port %s: interface %s has come back", port->name, interface_of(port));
    return true;
}

static bool linux_follow(struct port *port)
{
    if (index_of(port) != 0 && linux_socket_is_orphan(linux_rx_socket(port->rx[0].state)))
        leave(port);
    return index_of(port) == 0 && look_for_another(port);
}

static bool linux_is_gone(const struct port *port)
{
    return index_of(port) == 0;
}

static void linux_carry(struct port *port, const struct net_mac *local, struct rte_mempool *long_buffers)
{
    for (unsigned q = 0; q < port->rx_queues; q++)
        linux_rx_carry(port->rx[q].state, local, long_buffers);
}

static uint16_t linux_receive(const struct port *port, uint16_t queue, struct rte_mbuf **frames, uint16_t max)
{
    return (uint16_t)linux_rx_burst(port->rx[queue].state, frames, max);
}

static int linux_receive_fd(const struct port *port, uint16_t queue)
{
    return linux_rx_socket(port->rx[queue].state);
}

static struct port_refused linux_send(const struct port *port, uint16_t queue, struct rte_mbuf **frames,
                                      uint16_t n)
{
    const struct port_queue *tx = &port->tx[queue];

    return linux_tx_burst(tx->state, frames, n, port_impairments(tx) != NULL);
}

static bool linux_is_up(const struct port *port)
{
    return linux_interface_is_up(index_of(port));
}

static void linux_stats(const struct port *port, struct port_stats *stats)
{
    *stats = (struct port_stats){.returns = counter_read(&state_of(port)->returns)};
    for (unsigned q = 0; q < port->rx_queues; q++) {
        const struct linux_rx_stats rx = linux_rx_stats(port->rx[q].state);

        stats->rx_frames += rx.frames;
        stats->rx_bytes += rx.bytes;
        stats->rx_merged += rx.merged;
    }
    for (unsigned q = 0; q < port->tx_queues; q++) {
        const struct linux_tx_stats tx = linux_tx_stats(port->tx[q].state);

        stats->tx_frames += tx.frames;
        stats->tx_bytes += tx.bytes;
        stats->tx_merged += tx.merged;
    }
}

/* Frames that cannot be cut, as in tunnels, are lost. So merging is switched off; what is sent again then
 * comes as single frames. */
static void watch_merging(struct port *port, uint64_t unknown)
{
    const bool more = unknown > state_of(port)->unknown;

    state_of(port)->unknown = unknown;
    if (!more || state_of(port)->given_up)
        return;
    state_of(port)->given_up = true;
    log_warning(
        "port %s: interface %s merges frames of a kind that swagg cannot cut again, and they were dropped as "
        "oversize: from now on it merges nothing for swagg. If more are dropped, their senders leave them "
        "unsegmented (ethtool -K DEV tso off gso off there), or gro was on before (ethtool -K %s gro off)",
        port->name, interface_of(port), interface_of(port));
    linux_merge_no_more(index_of(port), &state_of(port)->merging);
}

static uint64_t linux_missed(struct port *port)
{
    uint64_t frames = 0, unknown = 0;

    for (unsigned q = 0; q < port->rx_queues; q++) {
        frames += linux_rx_missed(port->rx[q].state);
        unknown += linux_rx_stats(port->rx[q].state).unknown;
    }
    watch_merging(port, unknown);
    return frames;
}

static void linux_close(struct port *port)
{
    if (port->locked != 0)
        linux_merge_no_more(index_of(port), &state_of(port)->merging);
    for (unsigned q = 0; port->rx != NULL && q < port->rx_queues; q++)
        linux_rx_close(port->rx[q].state);
    for (unsigned q = 0; port->tx != NULL && q < port->tx_queues; q++)
        linux_tx_close(port->tx[q].state);
}

static uint64_t linux_waiting(const struct port *port, uint16_t queue)
{
    return linux_tx_waiting(port->tx[queue].state);
}

const struct port_device port_linux = {.state_bytes = sizeof(struct linux_port),
                                       .open = linux_open,
                                       .receive = linux_receive,
                                       .receive_fd = linux_receive_fd,
                                       .send = linux_send,
                                       .waiting = linux_waiting,
                                       .carry = linux_carry,
                                       .is_up = linux_is_up,
                                       .is_gone = linux_is_gone,
                                       .follow = linux_follow,
                                       .stats = linux_stats,
                                       .missed = linux_missed,
                                       .close = linux_close};
