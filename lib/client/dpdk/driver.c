/* What libswagg-dpdk.so offers: descriptors for the few datagrams of control, which are one end of a pair of
 * local sockets; the port's thread carries what comes through the other end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include "dpdk/data.h"
#include "transfer/worker.h"
#include "version.h"

enum {
    DATAGRAM_MAX = 9216, /* bytes of a payload: control messages and questions about the path are shorter */
    AT_ONCE = 64,
};

struct dpdk_network {
    struct network base;
    struct port *port;
};

/* Where a datagram goes, or came from; it travels through the pair in front of the payload, if the socket is
 * for several ends. */
struct socket_end {
    struct port_end end;
    struct port *port;
    struct own_fd far; /* the other one of the pair */
    bool is_connected, without_checksum;
    struct sockaddr_in to;
};

static struct port *port_of(struct network *n)
{
    return ((struct dpdk_network *)n)->port;
}

static struct socket_end *socket_of(struct port_end *end)
{
    return (struct socket_end *)((char *)end - offsetof(struct socket_end, end));
}

/* The payload is copied into the pair, so the frame stays the port's. */
static bool socket_take(struct port_end *end, struct rte_mbuf *m, struct frame_udp *frame)
{
    (void)m;
    struct socket_end *s = socket_of(end);
    struct sockaddr_in from = {
        .sin_family = AF_INET, .sin_addr.s_addr = frame->ip.src_addr, .sin_port = frame->udp.src_port};
    const bool from_there = from.sin_addr.s_addr == s->to.sin_addr.s_addr && from.sin_port == s->to.sin_port;
    const struct iovec pieces[] = {{.iov_base = &from, .iov_len = sizeof from},
                                   {.iov_base = frame->payload, .iov_len = frame_payload_bytes(frame)}};
    const struct msghdr message = {.msg_iov = (struct iovec *)(s->is_connected ? pieces + 1 : pieces),
                                   .msg_iovlen = s->is_connected ? 1 : 2};
    if ((!s->is_connected || from_there) && own_fd_holds(&s->far))
        sendmsg(s->far.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL); /* one that finds no room is lost */
    return false;
}

static void send_datagram(struct socket_end *s, const struct sockaddr_in *to, const void *payload,
                          size_t bytes)
{
    const struct net_mac *mac = port_neighbour(s->port, to->sin_addr.s_addr);
    struct rte_mbuf *m = mac ? port_frame(s->port, FRAME_HEADER_BYTES + bytes) : NULL;
    struct frame_header header;
    if (!m)
        return;
    port_header(s->port, &header, mac, to->sin_addr.s_addr, to->sin_port);
    header.without_udp_sum = s->without_checksum;
    const struct frame_payload p = frame_payload(payload, bytes, port_kernels(s->port)->ones_sum);
    frame_write(rte_pktmbuf_mtod(m, void *), &header, s->end.udp_port, &p);
    port_send(s->port, &m, 1);
}

/* The near one is closed, or the program has closed this one: the end is gone. */
static void socket_end_of_life(struct socket_end *s)
{
    port_remove(s->port, &s->end);
    own_fd_close(&s->far);
    free(s);
}

static void socket_serve(struct port_end *end)
{
    struct socket_end *s = socket_of(end);
    uint8_t datagram[sizeof s->to + DATAGRAM_MAX];
    const size_t first = s->is_connected ? 0 : sizeof s->to;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        const ssize_t bytes =
            own_fd_holds(&s->far) ? recv(s->far.fd, datagram, sizeof datagram, MSG_DONTWAIT) : 0;
        if (bytes == 0) {
            socket_end_of_life(s);
            return;
        }
        if (bytes < (ssize_t)first)
            return;
        struct sockaddr_in to = s->to;
        if (!s->is_connected)
            memcpy(&to, datagram, sizeof to);
        send_datagram(s, &to, datagram + first, (size_t)bytes - first);
    }
}

/* Returns the near one; *udp_port: its port, network order. */
static int make_socket(struct port *port, const struct socket_end *as, uint16_t *udp_port)
{
    int pair[2];
    struct socket_end *s = malloc(sizeof *s);
    if (!s)
        return -ENOMEM;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        free(s);
        return -errno;
    }
    *s = *as;
    s->port = port;
    s->far = own_fd_of(pair[1]);
    s->end = (struct port_end){.take = socket_take, .serve = socket_serve, .fd = pair[1]};
    port_lock(port);
    const int rc = port_add(port, &s->end);
    *udp_port = s->end.udp_port;
    port_unlock(port);
    if (rc < 0) {
        close(pair[0]);
        own_fd_close(&s->far);
        free(s);
        return rc;
    }
    port_wake(port);
    return pair[0];
}

static int dpdk_connect(struct network *n, const struct sockaddr_in *to, struct sockaddr_in *local)
{
    const struct socket_end as = {.is_connected = true, .to = *to};
    *local = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = port_address(port_of(n))};
    return make_socket(port_of(n), &as, &local->sin_port);
}

static int dpdk_open(struct network *n, bool without_checksum)
{
    const struct socket_end as = {.without_checksum = without_checksum};
    uint16_t udp_port;
    return make_socket(port_of(n), &as, &udp_port);
}

static int dpdk_send_to(struct network *n, int fd, const struct sockaddr_in *to, const void *payload,
                        size_t bytes)
{
    const struct iovec pieces[] = {{.iov_base = (void *)to, .iov_len = sizeof *to},
                                   {.iov_base = (void *)payload, .iov_len = bytes}};
    const struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = 2};
    struct port *port = port_of(n);
    if (bytes + AGG_IP_UDP_BYTES > port_mtu(port))
        return -EMSGSIZE;
    port_lock(port);
    const bool known = port_neighbour(port, to->sin_addr.s_addr) != NULL;
    port_unlock(port);
    if (!known)
        return -EHOSTUNREACH; /* as yet: it has been asked for */
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static ssize_t dpdk_receive_from(struct network *n, int fd, struct sockaddr_in *from, void *payload,
                                 size_t room)
{
    (void)n;
    const struct iovec pieces[] = {{.iov_base = from, .iov_len = sizeof *from},
                                   {.iov_base = payload, .iov_len = room}};
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = 2};
    const ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT);
    if (bytes <= 0)
        return bytes < 0 ? -errno : -EAGAIN;
    return bytes - (ssize_t)sizeof *from;
}

static unsigned dpdk_mtu(struct network *n, int fd)
{
    (void)fd;
    return port_mtu(port_of(n));
}

static int dpdk_transport(struct network *n, struct transport **out, const struct transport_config *config,
                          char why[NETWORK_WORDS])
{
    (void)why;
    return data_open(out, port_of(n), config);
}

static void dpdk_close(struct network *n)
{
    port_let_go(port_of(n));
    free(n);
}

static const struct network_ops dpdk_ops = {.connect = dpdk_connect,
                                            .open = dpdk_open,
                                            .send_to = dpdk_send_to,
                                            .receive_from = dpdk_receive_from,
                                            .mtu = dpdk_mtu,
                                            .transport = dpdk_transport,
                                            .close = dpdk_close};

static int driver_open(struct network **out, const struct client_port *wish, const struct network_ops *kernel,
                       char why[NETWORK_WORDS])
{
    (void)kernel;
    struct dpdk_network *n = malloc(sizeof *n);
    if (!n) {
        snprintf(why, NETWORK_WORDS, "no memory");
        return -ENOMEM;
    }
    n->base.ops = &dpdk_ops;
    const int rc = port_get(&n->port, wish, why);
    if (rc < 0) {
        free(n);
        return rc;
    }
    *out = &n->base;
    return 0;
}

/* Found by NETWORK_DRIVER. */
extern const struct network_driver swagg_network_driver;
const struct network_driver swagg_network_driver = {.version = build_version, .open = driver_open};
