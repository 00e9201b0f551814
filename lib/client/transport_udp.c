#include "transport_udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ecn.h"
#include "transfer/worker.h"
#include "wire/control.h"

enum {
    /* a window of SML_MAX_SLOTS / 4 chunks of 1460 bytes with the kernel's overhead */
    SOCKET_BUFFER = 8 << 20,
    SEGMENTS_MAX = 64, /* UDP_MAX_SEGMENTS of every kernel that has UDP_SEGMENT */
    /* not a power of two: packets that come alone would share few places of the cache */
    MERGED_ROOM = 65536 + 25 * 64,
    SEGMENTED_BYTES_MAX = 65535 - AGG_IP_UDP_BYTES, /* a run travels through the stack as one datagram */
    /* how long a full send buffer is waited for; it drains faster unless something else is wrong */
    SEND_PATIENCE_MS = 10,
};

/* A send may be one packet or a run of packets. */
struct outgoing {
    const struct xfer_send *packet[TRANSPORT_BATCH]; /* in the order in which they leave */
    struct mmsghdr message[TRANSPORT_BATCH];
    unsigned first[TRANSPORT_BATCH]; /* the packet that each message begins with */
    struct iovec iov[3 * TRANSPORT_BATCH];
    _Alignas(struct cmsghdr) char control[TRANSPORT_BATCH][CMSG_SPACE(sizeof(uint16_t))];
    uint8_t *made; /* room for TRANSPORT_BATCH bodies that cannot be sent from where they lie */
    uint8_t trailer[TRANSPORT_BATCH][XFER_TRAILER_MAX];
};

/* A message may be one packet or a run of packets that the kernel has merged. */
struct incoming {
    struct mmsghdr message[TRANSPORT_BATCH];
    struct iovec iov[TRANSPORT_BATCH];
    struct sockaddr_in from[TRANSPORT_BATCH];
    _Alignas(struct cmsghdr) char control[TRANSPORT_BATCH][2 * CMSG_SPACE(sizeof(int))];
    unsigned received; /* messages of the last call */
    unsigned next;     /* the first of them that is not handed over yet */
    bool by_group;     /* these messages were */
    size_t taken;      /* bytes of it that are */
    uint8_t *buffer;
};

struct udp {
    struct transport base;
    struct sockaddr_in data_port[CTL_DATA_PORTS_MAX]; /* of the switch */
    unsigned data_ports;
    bool connected;    /* to data_port[0], the only one */
    unsigned segments; /* packets a run may have; 1: the kernel does not segment */
    uint64_t lost;     /* sends that failed */
    size_t packet_max; /* bytes of a UDP payload */
    void (*mark)(uint8_t *payload, size_t bytes), (*note_group)(uint8_t *payload, size_t bytes);
    struct agg_key_field key; /* by which packets are dealt to data ports */
    enum xfer_checksum checksum;
    struct outgoing out;
    struct incoming in;
};

/* Errors that no change of the network can mend. Any other only means that a packet is lost: routes and
 * packet filters may change (EINVAL, EACCES, EPERM, ENETUNREACH, ...), and ICMP may come from anybody. */
static bool udp_is_hopeless(int error)
{
    return error == EBADF || error == ENOTSOCK || error == EFAULT || error == EOPNOTSUPP;
}

/* The pieces of a packet, its body in wire order; returns how many. */
static unsigned gather(struct udp *u, const struct xfer_send *p, struct iovec *iov, unsigned index)
{
    const void *body = xfer_send_body(p, u->out.made + index * u->packet_max);
    unsigned n = 0;
    iov[n++] = (struct iovec){.iov_base = (void *)p->head, .iov_len = p->head_bytes};
    if (p->body_bytes > 0)
        iov[n++] = (struct iovec){.iov_base = (void *)body, .iov_len = p->body_bytes};
    if (p->checksum != XFER_CHECKSUM_NONE) {
        xfer_send_trailer(p, body, u->out.trailer[index]);
        iov[n++] =
            (struct iovec){.iov_base = u->out.trailer[index], .iov_len = xfer_trailer_bytes(p->checksum)};
    }
    return n;
}

static void set_destination(struct msghdr *m, const struct sockaddr_in *to)
{
    m->msg_name = (void *)to;
    m->msg_namelen = sizeof *to;
}

static void set_segment_size(struct msghdr *m, char *control, uint16_t bytes)
{
    m->msg_control = control;
    m->msg_controllen = CMSG_SPACE(sizeof bytes);
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    *c =
        (struct cmsghdr){.cmsg_level = SOL_UDP, .cmsg_type = UDP_SEGMENT, .cmsg_len = CMSG_LEN(sizeof bytes)};
    memcpy(CMSG_DATA(c), &bytes, sizeof bytes);
}

static unsigned port_of(const struct udp *u, const struct xfer_send *p)
{
    return agg_shard_key(&u->key, p->head, p->head_bytes) % u->data_ports;
}

/* Sorts the packets by port. */
static void arrange(struct udp *u, const struct xfer_send packets[], unsigned n)
{
    const struct xfer_send **next = u->out.packet;
    for (unsigned port = 0; port < u->data_ports; port++)
        for (unsigned i = 0; i < n; i++)
            if (port_of(u, &packets[i]) == port)
                *next++ = &packets[i];
}

/* How many of these packets can go as one run: all to one port and of one size, but for the last, which may
 * be shorter. At least 1. */
static unsigned run_length(const struct udp *u, const struct xfer_send *const packets[], unsigned n)
{
    size_t segment = xfer_send_bytes(packets[0]), total = segment;
    unsigned length = 1, port = port_of(u, packets[0]);
    while (length < n && length < u->segments && xfer_send_bytes(packets[length - 1]) == segment) {
        size_t bytes = xfer_send_bytes(packets[length]);
        total += bytes;
        if (bytes > segment || total > SEGMENTED_BYTES_MAX || port_of(u, packets[length]) != port)
            break;
        length++;
    }
    return length;
}

/* Prepares a message for each run of packets from this one on; returns how many messages. */
static unsigned gather_runs(struct udp *u, unsigned from, unsigned n)
{
    struct outgoing *o = &u->out;
    struct iovec *iov = o->iov;
    unsigned runs = 0;
    for (unsigned i = from; i < n; runs++) {
        struct msghdr *m = &o->message[runs].msg_hdr;
        unsigned length = run_length(u, o->packet + i, n - i);
        *m = (struct msghdr){.msg_iov = iov};
        if (!u->connected)
            set_destination(m, &u->data_port[port_of(u, o->packet[i])]);
        if (length > 1)
            set_segment_size(m, o->control[runs], (uint16_t)xfer_send_bytes(o->packet[i]));
        o->first[runs] = i;
        for (unsigned end = i + length; i < end; i++)
            iov += gather(u, o->packet[i], iov, i);
        m->msg_iovlen = (size_t)(iov - m->msg_iov);
    }
    return runs;
}

static int send_from(struct udp *u, unsigned from, unsigned n);

/* Sends a run that was refused as single packets. If that works, the kernel or the device does not segment
 * UDP; if not, the path was the reason. */
static int send_singly(struct udp *u, unsigned from, unsigned n)
{
    unsigned segments = u->segments;
    uint64_t lost = u->lost;
    u->segments = 1;
    int rc = send_from(u, from, n);
    if (u->lost != lost)
        u->segments = segments;
    return rc;
}

static int send_from(struct udp *u, unsigned from, unsigned n)
{
    unsigned runs = gather_runs(u, from, n);
    unsigned done = 0;
    while (done < runs) {
        int sent = sendmmsg(u->base.socket.fd, &u->out.message[done], runs - done, MSG_DONTWAIT);
        if (sent > 0) {
            done += (unsigned)sent;
        } else if (errno == EAGAIN) {
            struct pollfd room = {.fd = u->base.socket.fd, .events = POLLOUT};
            if (poll(&room, 1, SEND_PATIENCE_MS) <= 0) /* time is up, or a signal has come */
                return 0; /* these packets count as lost, so that the caller can keep its deadlines */
        } else if ((errno == EINVAL || errno == EIO) && u->segments > 1) {
            return send_singly(u, u->out.first[done], n);
        } else if (udp_is_hopeless(errno)) {
            return -errno;
        } else if (errno != EINTR) {
            u->base.trouble = errno;
            u->lost++;
            done++;
        }
    }
    return 0;
}

static int udp_send(struct transport *t, const struct xfer_send packets[], unsigned n)
{
    struct udp *u = (struct udp *)t;
    arrange(u, packets, n);
    return send_from(u, 0, n);
}

/* A connected socket receives from the switch only. */
static bool is_from_switch(const struct udp *u, const struct sockaddr_in *from)
{
    unsigned i = (unsigned)ntohs(from->sin_port) - ntohs(u->data_port[0].sin_port);
    return (u->connected && !u->in.by_group) ||
           (from->sin_addr.s_addr == u->data_port[0].sin_addr.s_addr && i < u->data_ports);
}

/* 0, or -errno. */
static int fetch_from(struct udp *u, bool group)
{
    struct incoming *in = &u->in;
    const int fd = group ? u->base.group.fd : u->base.socket.fd;
    in->by_group = group;
    for (unsigned i = 0; i < in->received; i++)
        in->message[i].msg_hdr.msg_controllen = sizeof in->control[i];
    int n = recvmmsg(fd, in->message, TRANSPORT_BATCH, MSG_DONTWAIT, NULL);
    in->received = n > 0 ? (unsigned)n : 0;
    in->next = 0;
    if (n < 0 && udp_is_hopeless(errno))
        return -errno;
    if (n > 0)
        u->base.trouble = 0;
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        u->base.trouble = errno;
    return 0;
}

/* Where a group is joined, both sockets in turn, or the other one if there is nothing in this one. */
static int fetch(struct udp *u)
{
    if (u->base.group.fd < 0)
        return fetch_from(u, false);
    const bool group = !u->in.by_group;
    const int rc = fetch_from(u, group);
    return rc < 0 || u->in.received > 0 ? rc : fetch_from(u, !group);
}

/* Bytes of each packet of a message but the last. */
static size_t segment_bytes(struct mmsghdr *m)
{
    const void *segment = ecn_told(&m->msg_hdr, SOL_UDP, UDP_GRO);
    int bytes = 0;
    if (segment)
        memcpy(&bytes, segment, sizeof bytes);
    return bytes > 0 ? (size_t)bytes : m->msg_len;
}

/* Packets of message `next`, at most max. */
static int take(struct udp *u, struct transport_packet packets[], int max)
{
    struct incoming *in = &u->in;
    struct mmsghdr *m = &in->message[in->next];
    const size_t segment = segment_bytes(m);
    const bool marked = u->mark && ecn_is_marked(&m->msg_hdr);
    int n = 0;
    do {
        size_t left = m->msg_len - in->taken;
        packets[n].payload = (uint8_t *)in->iov[in->next].iov_base + in->taken;
        packets[n].bytes = left < segment ? left : segment;
        if (marked)
            u->mark(packets[n].payload, packets[n].bytes);
        if (in->by_group)
            u->note_group(packets[n].payload, packets[n].bytes);
        in->taken += packets[n++].bytes;
    } while (n < max && in->taken < m->msg_len);
    if (in->taken == m->msg_len) {
        in->next++;
        in->taken = 0;
    }
    return n;
}

static int udp_receive(struct transport *t, struct transport_packet packets[TRANSPORT_BATCH])
{
    struct udp *u = (struct udp *)t;
    struct incoming *in = &u->in;
    int rc = in->next == in->received ? fetch(u) : 0, n = 0;
    while (n < TRANSPORT_BATCH && in->next < in->received)
        if (is_from_switch(u, &in->from[in->next]))
            n += take(u, packets + n, TRANSPORT_BATCH - n);
        else
            in->next++;
    return rc < 0 ? rc : n;
}

/* On disconnecting, the kernel gives up the local port if it had chosen it. The switch knows that port, so it
 * is bound again; the second time it is bound for good, and bind says EINVAL. */
static int disconnect(struct udp *u)
{
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    struct sockaddr_in local;
    socklen_t bytes = sizeof local;
    if (getsockname(u->base.socket.fd, (struct sockaddr *)&local, &bytes) < 0 ||
        connect(u->base.socket.fd, &nobody, sizeof nobody) < 0 ||
        (bind(u->base.socket.fd, (struct sockaddr *)&local, sizeof local) < 0 && errno != EINVAL))
        return -errno;
    return 0;
}

/* Has the kernel report, or not, where each packet comes from. */
static void ask_for_senders(struct incoming *in, bool ask)
{
    for (unsigned i = 0; i < TRANSPORT_BATCH; i++) {
        in->message[i].msg_hdr.msg_name = ask ? &in->from[i] : NULL;
        in->message[i].msg_hdr.msg_namelen = ask ? sizeof in->from[i] : 0;
    }
}

/* Connects the socket where there is one port only: then the kernel need not look up a route for each run,
 * nor report where packets come from. */
static int udp_set_ports(struct transport *t, uint16_t first, unsigned n)
{
    struct udp *u = (struct udp *)t;
    for (unsigned i = 0; i < n; i++) {
        u->data_port[i] = u->data_port[0];
        u->data_port[i].sin_port = htons((uint16_t)(first + i));
    }
    u->data_ports = n;
    const struct sockaddr_in *only = &u->data_port[0];
    u->connected = n == 1 && connect(u->base.socket.fd, (const struct sockaddr *)only, sizeof *only) == 0;
    ask_for_senders(&u->in, !u->connected || u->base.group.fd >= 0);
    return u->connected ? 0 : disconnect(u); /* if there is no route just now, each packet looks for one */
}

/* A whole window may wait in the socket while this process does not run. More than net.core.[rw]mem_max needs
 * a capability. */
static void set_buffer(int fd, int forced, int plain)
{
    int bytes = SOCKET_BUFFER;
    if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

static bool kernel_merges(int fd)
{
    int on = 1;
    return setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on) == 0;
}

/* Only what comes to the group itself, by the interface that leads to the switch. Several ranks of a host may
 * do so. */
static int set_up_group(const struct udp *u, int fd, const struct sockaddr_in *group)
{
    struct sockaddr_in local;
    socklen_t bytes = sizeof local;
    const int on = 1, off = 0;
    if (getsockname(u->base.socket.fd, (struct sockaddr *)&local, &bytes) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off) < 0 ||
        bind(fd, (const struct sockaddr *)group, sizeof *group) < 0)
        return -errno;
    const struct ip_mreqn membership = {.imr_multiaddr = group->sin_addr, .imr_address = local.sin_addr};
    if ((u->mark && ecn_notice(fd) < 0) ||
        setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) < 0)
        return -errno;
    set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
    kernel_merges(fd);
    return 0;
}

static int udp_join(struct transport *t, struct in_addr group, uint16_t port)
{
    struct udp *u = (struct udp *)t;
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = group, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = fd < 0 ? -errno : set_up_group(u, fd, &at);
    if (rc < 0) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    own_fd_close(&u->base.group); /* that of an earlier life of the job */
    u->base.group = own_fd_of(fd);
    ask_for_senders(&u->in, true);
    return 0;
}

static void udp_close(struct transport *t)
{
    struct udp *u = (struct udp *)t;
    own_fd_close(&u->base.socket);
    own_fd_close(&u->base.group);
    free(u->out.made);
    free(u->in.buffer);
    free(u);
}

static const struct transport_ops udp_ops = {.send = udp_send,
                                             .receive = udp_receive,
                                             .set_ports = udp_set_ports,
                                             .join = udp_join,
                                             .close = udp_close};

static int open_socket(struct udp *u)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    u->base.socket = own_fd_of(fd);
    set_buffer(u->base.socket.fd, SO_RCVBUFFORCE, SO_RCVBUF);
    set_buffer(u->base.socket.fd, SO_SNDBUFFORCE, SO_SNDBUF);
    int without = u->checksum != XFER_CHECKSUM_NONE;
    if (setsockopt(u->base.socket.fd, SOL_SOCKET, SO_NO_CHECK, &without, sizeof without) < 0)
        return -errno;
    /* The switch takes no fragments. How long a packet may be was found by asking the switch (path.h). ICMP
     * that says otherwise may be from anybody, so the kernel is to ignore it, also what it remembers of it.
     */
    int discover = IP_PMTUDISC_PROBE;
    struct sockaddr_in local;
    socklen_t local_bytes = sizeof local;
    if (setsockopt(u->base.socket.fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) < 0 ||
        (u->mark && ecn_notice(u->base.socket.fd) < 0) ||
        connect(u->base.socket.fd, (struct sockaddr *)&u->data_port[0], sizeof u->data_port[0]) < 0 ||
        getsockname(u->base.socket.fd, (struct sockaddr *)&local, &local_bytes) < 0)
        return -errno;
    u->base.local_port = ntohs(local.sin_port);
    u->connected = true;
    return 0;
}

/* The kernel segments only what has a UDP checksum. */
static bool kernel_segments(const struct udp *u)
{
    int off = 0;
    return u->checksum == XFER_CHECKSUM_NONE &&
           setsockopt(u->base.socket.fd, SOL_UDP, UDP_SEGMENT, &off, sizeof off) == 0;
}

static int make_buffers(struct udp *u)
{
    u->out.made = malloc(TRANSPORT_BATCH * u->packet_max);
    size_t room =
        u->packet_max + 1; /* so that a packet that is too long does not look like one that is cut */
    if (kernel_merges(u->base.socket.fd))
        room = MERGED_ROOM;
    u->in.buffer = malloc(TRANSPORT_BATCH * room);
    if (!u->out.made || !u->in.buffer)
        return -ENOMEM;
    for (unsigned i = 0; i < TRANSPORT_BATCH; i++) {
        u->in.iov[i] = (struct iovec){.iov_base = u->in.buffer + i * room, .iov_len = room};
        u->in.message[i].msg_hdr = (struct msghdr){.msg_iov = &u->in.iov[i],
                                                   .msg_iovlen = 1,
                                                   .msg_control = u->in.control[i],
                                                   .msg_controllen = sizeof u->in.control[i]};
    }
    return 0;
}

int transport_udp_open(struct transport **out, const struct transport_config *config)
{
    struct udp *u = calloc(1, sizeof *u);
    if (!u)
        return -ENOMEM;
    u->base.ops = &udp_ops;
    u->checksum = config->checksum;
    u->packet_max = config->packet_max;
    u->key = config->key;
    u->mark = config->mark;
    u->note_group = config->note_group;
    u->data_port[0] = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = config->switch_ip, .sin_port = htons(config->port)};
    u->data_ports = 1;
    u->base.socket = u->base.group = OWN_FD_NONE;
    u->base.mtu = config->mtu;
    int rc = open_socket(u);
    if (rc < 0 || (rc = make_buffers(u)) < 0)
        goto err;
    u->segments = kernel_segments(u) ? SEGMENTS_MAX : 1;
    *out = &u->base;
    return 0;
err:
    udp_close(&u->base);
    return rc;
}
