/* The sending half of a UDP transport. */
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>

#include "options.h"
#include "transport_udp_state.h"

enum {
    SEGMENTED_BYTES_MAX = 65535 - CLIENT_IP_UDP_BYTES, /* a run travels through the stack as one datagram */
    /* how long a full send buffer is waited for; it drains faster unless something else is wrong */
    SEND_PATIENCE_MS = 10,
};

/* The pieces of a packet, its body in wire order; returns how many. */
static unsigned gather(struct udp *u, const struct sml_send *p, struct iovec *iov, unsigned index)
{
    const void *body = sml_send_body(p, u->out.made + index * u->packet_max);
    unsigned n = 0;
    iov[n++] = (struct iovec){.iov_base = (void *)p->head, .iov_len = p->head_bytes};
    if (p->body_bytes > 0)
        iov[n++] = (struct iovec){.iov_base = (void *)body, .iov_len = p->body_bytes};
    if (p->checksum != SML_CHECKSUM_NONE) {
        sml_send_trailer(p, body, u->out.trailer[index]);
        iov[n++] =
            (struct iovec){.iov_base = u->out.trailer[index], .iov_len = sml_trailer_bytes(p->checksum)};
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

static unsigned port_of(const struct udp *u, const struct sml_send *p)
{
    return agg_shard_key(&u->key, p->head, p->head_bytes) % u->data_ports;
}

/* Sorts the packets by port. */
static void arrange(struct udp *u, const struct sml_send packets[], unsigned n)
{
    const struct sml_send **next = u->out.packet;
    for (unsigned port = 0; port < u->data_ports; port++)
        for (unsigned i = 0; i < n; i++)
            if (port_of(u, &packets[i]) == port)
                *next++ = &packets[i];
}

static size_t packet_bytes(const struct sml_send *p)
{
    return p->head_bytes + p->body_bytes + sml_trailer_bytes(p->checksum);
}

/* How many of these packets can go as one run: all to one port and of one size, but for the last, which may
 * be shorter. At least 1. */
static unsigned run_length(const struct udp *u, const struct sml_send *const packets[], unsigned n)
{
    size_t segment = packet_bytes(packets[0]), total = segment;
    unsigned length = 1, port = port_of(u, packets[0]);
    while (length < n && length < u->segments && packet_bytes(packets[length - 1]) == segment) {
        size_t bytes = packet_bytes(packets[length]);
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
            set_segment_size(m, o->control[runs], (uint16_t)packet_bytes(o->packet[i]));
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
            if (poll(&room, 1, SEND_PATIENCE_MS) == 0)
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

int udp_send(struct transport *t, const struct sml_send packets[], unsigned n)
{
    struct udp *u = (struct udp *)t;
    arrange(u, packets, n);
    return send_from(u, 0, n);
}
