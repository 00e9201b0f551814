/* A port on an interface of the kernel's, by packet sockets. The port stays with the interface, even if that
 * is renamed, until it is deleted or leaves the network namespace. Then the port waits for an interface with
 * the configured name, and uses that.
 */
#include "port/port.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/counters.h"
#include "base/log.h"
#include "config/placement.h"
#include "net/mac.h"
#include "port/frame.h"
#include "port/linux/features.h"
#include "port/linux/rivals.h"
#include "port/linux/rx.h"
#include "port/linux/tx.h"

/* --- packet sockets, also when the interface is deleted and made anew. A socket belongs to the interface
 * that it was opened on, and receives nothing once that is deleted. A socket on the new interface then gets
 * the old one's descriptor number (linux_sockets_replace), so that the polling lcore need not know --- */

struct linux_sockets {
    unsigned rx_queues, tx_queues;
    int rx[SWAGG_MAX_QUEUES], tx[SWAGG_MAX_QUEUES];
};

enum {
    WAITING_BYTES = 16 << 20, /* some 5,000 frames with the kernel's overhead: a thread that shares its CPU
                                 may pause for milliseconds */
    NO_LIMIT = INT_MAX / 2,
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

/* More than net.core.rmem_max, or net.core.wmem_max, needs CAP_NET_ADMIN of the machine, which a container of
 * an ordinary user's has not. */
static int set_buffer(int fd, int forced, int plain, int bytes)
{
    const int rc = set_option(fd, SOL_SOCKET, forced, bytes);

    return rc < 0 && errno == EPERM ? set_option(fd, SOL_SOCKET, plain, bytes) : rc;
}

/* A socket, or -1 with errno set. */
static int packet_socket(void)
{
    return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: nothing before it is bound */
}

static int close_failed(int fd)
{
    const int error = errno;

    if (fd >= 0)
        close(fd);
    return -error;
}

static int open_receiving(unsigned if_index)
{
    const struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_index};
    const struct packet_mreq everything = {.mr_ifindex = (int)if_index, .mr_type = PACKET_MR_PROMISC};
    const int fd = packet_socket();

    if (fd < 0 || set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0 ||
        set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1) < 0 ||
        set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0 ||
        set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, WAITING_BYTES) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &everything, sizeof(everything)) < 0)
        return close_failed(fd);
    return fd;
}

/* A socket that only sends. Frames that are too many for the link shall be dropped there, not wait in a
 * buffer of ours. */
static int open_sending(unsigned if_index)
{
    const struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_index};
    const int fd = packet_socket();

    if (fd < 0 || set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0 ||
        set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, NO_LIMIT) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return close_failed(fd);
    return fd;
}

/* Sockets in a fanout group also receive what this machine sends: PACKET_IGNORE_OUTGOING works for single
 * sockets only. */
static int hear_incoming_only(int fd)
{
    struct sock_filter incoming_only[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog program = {.len = sizeof(incoming_only) / sizeof(incoming_only[0]),
                                       .filter = incoming_only};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int share(const int fd[], unsigned n)
{
    int group = (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
    socklen_t bytes = sizeof(group);

    for (unsigned i = 0; i < n; i++) {
        if (hear_incoming_only(fd[i]) < 0 || set_option(fd[i], SOL_PACKET, PACKET_FANOUT, group) < 0)
            return -errno;
        if (i > 0)
            continue;
        /* The kernel has chosen a number for it. */
        if (getsockopt(fd[0], SOL_PACKET, PACKET_FANOUT, &group, &bytes) < 0)
            return -errno;
        group = (group & UINT16_MAX) | PACKET_FANOUT_HASH << 16;
    }
    return 0;
}

static int open_all(int fd[], unsigned n, unsigned if_index, int (*open_one)(unsigned))
{
    for (unsigned q = 0; q < n; q++) {
        fd[q] = open_one(if_index);
        if (fd[q] >= 0)
            continue;
        for (unsigned done = 0; done < q; done++)
            close(fd[done]);
        return fd[q];
    }
    return 0;
}

static void close_all(const int fd[], unsigned n)
{
    for (unsigned q = 0; q < n; q++)
        close(fd[q]);
}

/* Opens s->rx_queues and s->tx_queues sockets on an interface, and binds them: they receive from here on. If
 * there are several, the kernel deals frames to them by a hash of the flow. 0, or -errno with none left open.
 */
static int linux_sockets_open(struct linux_sockets *s, unsigned if_index)
{
    int rc = open_all(s->rx, s->rx_queues, if_index, open_receiving);

    if (rc < 0)
        return rc;
    rc = s->rx_queues > 1 ? share(s->rx, s->rx_queues) : 0;
    if (rc == 0)
        rc = open_all(s->tx, s->tx_queues, if_index, open_sending);
    if (rc < 0)
        close_all(s->rx, s->rx_queues);
    return rc;
}

/* Whether the interface of a socket has been deleted, or has left the network namespace. */
static bool linux_socket_is_orphan(int fd)
{
    struct sockaddr_ll address;
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 && address.sll_ifindex < 0;
}

/* A system call in progress ends on the old socket; the next one uses the new one. */
static void replace_all(const int fd[], const int by[], unsigned n)
{
    for (unsigned q = 0; q < n; q++)
        dup3(by[q], fd[q], O_CLOEXEC);
    close_all(by, n);
}

/* The descriptors of s refer to the sockets of `by` from here on, and those of `by` are closed. Lcores may
 * use s meanwhile. Both have the same numbers of queues. */
static void linux_sockets_replace(const struct linux_sockets *s, const struct linux_sockets *by)
{
    replace_all(s->rx, by->rx, s->rx_queues);
    replace_all(s->tx, by->tx, s->tx_queues);
}

/* --- properties of an interface, by its number, which stays the same when it is renamed --- */

/* Asks the kernel. 0, or -errno. argument: of requests that take one. */
static int ask_with(unsigned if_index, unsigned long what, struct ifreq *answer, void *argument)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;
    struct ifreq name = {.ifr_ifindex = (int)if_index};

    if (fd < 0)
        return -errno;
    *answer = (struct ifreq){.ifr_data = argument};
    if (ioctl(fd, SIOCGIFNAME, &name) < 0) {
        rc = -errno;
    } else {
        memcpy(answer->ifr_name, name.ifr_name, sizeof(answer->ifr_name));
        rc = ioctl(fd, what, answer) < 0 ? -errno : 0;
    }
    close(fd);
    return rc;
}

static int ask(unsigned if_index, unsigned long what, struct ifreq *answer)
{
    return ask_with(if_index, what, answer, NULL);
}

/* Up, and its link too. */
static bool linux_interface_is_up(unsigned if_index)
{
    struct ifreq answer;

    return ask(if_index, SIOCGIFFLAGS, &answer) == 0 && answer.ifr_flags & IFF_UP &&
           answer.ifr_flags & IFF_RUNNING;
}

/* Its MTU, or -errno. */
static int linux_interface_mtu(unsigned if_index)
{
    struct ifreq answer;
    int rc = ask(if_index, SIOCGIFMTU, &answer);

    return rc < 0 ? rc : answer.ifr_mtu;
}

/* 0, or -errno. */
static int linux_interface_mac(unsigned if_index, struct net_mac *mac)
{
    struct ifreq answer;
    int rc = ask(if_index, SIOCGIFHWADDR, &answer);

    if (rc == 0)
        memcpy(mac->addr_bytes, answer.ifr_hwaddr.sa_data, sizeof(mac->addr_bytes));
    return rc;
}

/* Whether the device itself merges frames (LRO), which cannot be cut into the same frames again. */
static bool linux_interface_merges(unsigned if_index)
{
    struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};
    struct ifreq request;

    return ask_with(if_index, SIOCETHTOOL, &request, &flags) == 0 && flags.data & ETH_FLAG_LRO;
}

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
