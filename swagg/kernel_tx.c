#include "kernel_tx.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "counters.h"
#include "frame.h"

enum {
    BURST = 64,
    RUN_MAX = 64,           /* segments that every kernel takes */
    RUN_BYTES_MAX = 65000,  /* of payload: a run has one IPv4 header, whose length field has 16 bits */
    GSO_UDP_L4 = 5,         /* VIRTIO_NET_HDR_GSO_UDP_L4 of Linux 6.2, newer than the headers we build with */
    FRAME_SEGMENTS_MAX = 2, /* see kernel_tx_burst */
    OWN_PIECES = 2,         /* of a message: what the kernel is to do with it, and a run's headers */
};

/* What goes before the frame's bytes. */
struct prelude {
    struct virtio_net_hdr how;
    struct frame_udp headers; /* of a run */
};

struct kernel_tx {
    int fd;
    unsigned run_max; /* 1: this kernel does not take runs */
    uint64_t mergeable;
    struct kernel_tx_stats stats;
    struct mmsghdr message[BURST];
    unsigned first[BURST + 1]; /* frame that a message starts with */
    struct prelude prelude[BURST];
    struct iovec piece[BURST * (FRAME_SEGMENTS_MAX + OWN_PIECES)];
};

uint64_t kernel_tx_mergeable(void)
{
    static const struct rte_mbuf_dynflag flag = {.name = "swagg_mergeable"};
    int bit = rte_mbuf_dynflag_register(&flag); /* the same bit every time */

    return bit < 0 ? 0 : RTE_BIT64(bit);
}

struct kernel_tx *kernel_tx_open(unsigned if_index, uint64_t mergeable)
{
    const struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_index};
    struct kernel_tx *tx = rte_zmalloc("kernel_tx", sizeof(*tx), RTE_CACHE_LINE_SIZE);
    const int on = 1, no_limit = INT_MAX / 2;
    int error;

    if (tx == NULL) {
        rte_errno = ENOMEM;
        return NULL;
    }
    tx->mergeable = mergeable;
    tx->run_max = RUN_MAX;
    tx->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: receives nothing */
    /* What is too much for the link shall be dropped by its queue, not wait in a queue of ours. */
    if (tx->fd < 0 || setsockopt(tx->fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) < 0 ||
        setsockopt(tx->fd, SOL_SOCKET, SO_SNDBUFFORCE, &no_limit, sizeof(no_limit)) < 0 ||
        bind(tx->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        goto err;
    return tx;
err:
    error = errno;
    kernel_tx_close(tx);
    rte_errno = error;
    return NULL;
}

static const struct frame_udp *frame_of(const struct rte_mbuf *m)
{
    return rte_pktmbuf_mtod(m, const struct frame_udp *);
}

/* The same in all headers but for the UDP checksum, so of the same length, too. */
static bool same_headers(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
    return memcmp(frame_of(a), frame_of(b), offsetof(struct frame_udp, udp.dgram_cksum)) == 0;
}

/* How many of these frames can go as one; at least 1. */
static unsigned run_length(const struct kernel_tx *tx, struct rte_mbuf *const frames[], unsigned n)
{
    unsigned most = RTE_MIN(n, tx->run_max), length = 1;

    if (!(frames[0]->ol_flags & tx->mergeable))
        return 1;
    most = RTE_MIN(most, RUN_BYTES_MAX / frames[0]->pkt_len);
    while (length < most && frames[length]->ol_flags & tx->mergeable &&
           same_headers(frames[0], frames[length]))
        length++;
    return length;
}

/* The headers of a run: lengths of the whole; the kernel starts every frame's checksums from these. */
static void write_run_headers(struct prelude *p, const struct rte_mbuf *first, unsigned length)
{
    struct frame_udp *h = &p->headers;
    size_t payload = frame_payload_bytes(frame_of(first));

    memcpy(h, frame_of(first), FRAME_HEADER_BYTES);
    h->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(sizeof(h->udp) + payload * length));
    h->ip.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(h->ip) + sizeof(h->udp) + payload * length));
    h->ip.hdr_checksum = 0;
    h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
    h->udp.dgram_cksum = rte_ipv4_phdr_cksum(&h->ip, 0);
    p->how = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = GSO_UDP_L4,
        .gso_size = (uint16_t)payload,
        .hdr_len = FRAME_HEADER_BYTES,
        .csum_start = offsetof(struct frame_udp, udp),
        .csum_offset = offsetof(struct rte_udp_hdr, dgram_cksum),
    };
}

/* A frame's bytes from an offset within its first segment on. */
static struct iovec *put_bytes(struct iovec *at, const struct rte_mbuf *m, uint16_t from)
{
    for (; m != NULL; m = m->next, from = 0)
        if (m->data_len > from)
            *at++ = (struct iovec){rte_pktmbuf_mtod_offset(m, void *, from), m->data_len - from};
    return at;
}

static struct iovec *put_message(struct iovec *at, struct prelude *p, struct rte_mbuf *const frames[],
                                 unsigned length)
{
    *at++ = (struct iovec){&p->how, sizeof(p->how)};
    if (length == 1) {
        p->how = (struct virtio_net_hdr){0};
        return put_bytes(at, frames[0], 0);
    }
    write_run_headers(p, frames[0], length);
    *at++ = (struct iovec){&p->headers, FRAME_HEADER_BYTES};
    for (unsigned i = 0; i < length; i++)
        at = put_bytes(at, frames[i], FRAME_HEADER_BYTES);
    return at;
}

/* Returns how many messages the frames make. */
static unsigned gather(struct kernel_tx *tx, struct rte_mbuf *const frames[], unsigned n)
{
    struct iovec *at = tx->piece;
    unsigned messages = 0;

    for (unsigned i = 0; i < n; messages++) {
        struct msghdr *m = &tx->message[messages].msg_hdr;
        unsigned length = run_length(tx, frames + i, n - i);

        tx->first[messages] = i;
        *m = (struct msghdr){.msg_iov = at};
        at = put_message(at, &tx->prelude[messages], frames + i, length);
        m->msg_iovlen = (size_t)(at - m->msg_iov);
        i += length;
    }
    tx->first[messages] = n;
    return messages;
}

static void count_sent(struct kernel_tx *tx, struct rte_mbuf *const frames[], unsigned from, unsigned to)
{
    uint64_t bytes = 0, merged = 0;

    for (unsigned m = from; m < to; m++) {
        const unsigned length = tx->first[m + 1] - tx->first[m];

        bytes += (uint64_t)frames[tx->first[m]]->pkt_len * length; /* a run's frames are of one length */
        merged += length > 1 ? length : 0;
    }
    counter_add(&tx->stats.frames, tx->first[to] - tx->first[from]);
    counter_add(&tx->stats.bytes, bytes);
    counter_add(&tx->stats.merged, merged);
}

static unsigned send_all(struct kernel_tx *tx, struct rte_mbuf *const frames[], unsigned n)
{
    unsigned messages = gather(tx, frames, n), done = 0, refused = 0;

    while (done < messages) {
        const unsigned first = tx->first[done], length = tx->first[done + 1] - first;
        int sent = sendmmsg(tx->fd, &tx->message[done], messages - done, MSG_DONTWAIT);

        if (sent > 0) {
            count_sent(tx, frames, done, done + (unsigned)sent);
            done += (unsigned)sent;
        } else if (errno == EINVAL && length > 1) {
            tx->run_max = 1;
            return refused + send_all(tx, frames + first, n - first);
        } else if (errno != EINTR) {
            done++;
            refused += length;
        }
    }
    return refused;
}

unsigned kernel_tx_burst(struct kernel_tx *tx, struct rte_mbuf **frames, unsigned n)
{
    unsigned refused = 0;

    for (unsigned i = 0; i < n; i += BURST)
        refused += send_all(tx, frames + i, RTE_MIN(n - i, (unsigned)BURST));
    rte_pktmbuf_free_bulk(frames, n);
    return refused;
}

struct kernel_tx_stats kernel_tx_stats(const struct kernel_tx *tx)
{
    return (struct kernel_tx_stats){
        .frames = counter_read(&tx->stats.frames),
        .bytes = counter_read(&tx->stats.bytes),
        .merged = counter_read(&tx->stats.merged),
    };
}

void kernel_tx_close(struct kernel_tx *tx)
{
    if (tx != NULL && tx->fd >= 0)
        close(tx->fd);
    rte_free(tx);
}
