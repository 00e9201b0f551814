#include "kernel_rx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_malloc.h>

#include "counters.h"
#include "frame.h"
#include "kernel_filter.h"
#include "wire/switchml.h"

enum {
    BURST = 64,
    WAITING_BYTES = 16 << 20, /* some 5,000 frames with the kernel's overhead: a thread that shares its CPU
                                 may pause for milliseconds */
    HOW_BYTES = sizeof(struct virtio_net_hdr),
    OTHER_EVERY = 4, /* bursts from the socket that is busy, at most: the other must not wait for ever */
    /* So that the elements of a gradient packet begin a cache line: they are added up where they are. */
    SHIFT = -(RTE_PKTMBUF_HEADROOM + FRAME_HEADER_BYTES + SML_HEADER_BYTES) & (RTE_CACHE_LINE_SIZE - 1),
};

static_assert((int)HOW_BYTES <= RTE_PKTMBUF_HEADROOM, "what the kernel says of a frame lies before it");
static_assert((int)SHIFT + 1 <= (int)KERNEL_RX_EXTRA, "and one byte tells that a frame is too long");

/* One packet socket, and the buffers that it receives into. */
struct source {
    int fd;
    bool tells_all;
    unsigned used; /* of the buffers, the first: not ours any more */
    struct rte_mbuf *buffer[BURST];
    struct mmsghdr message[BURST];
    struct iovec piece[BURST];
    _Alignas(struct cmsghdr) char control[BURST][CMSG_SPACE(sizeof(struct tpacket_auxdata))];
};

struct kernel_rx {
    uint16_t max_frame;
    struct rte_mempool *mbufs;
    struct kernel_rx_stats stats;
    enum kernel_frames busy; /* what came last */
    unsigned turn;
    struct source source[KERNEL_FRAMES];
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Beside the bytes of a frame: what it lacks in checksums, and in tags. */
static int tell_all(int fd)
{
    return set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0 ||
                   set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1) < 0
               ? -errno
               : 0;
}

static int hear(int fd, unsigned if_index)
{
    const struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_index};
    const struct packet_mreq everything = {.mr_ifindex = (int)if_index, .mr_type = PACKET_MR_PROMISC};

    if (set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0 ||
        set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, WAITING_BYTES) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &everything, sizeof(everything)) < 0)
        return -errno;
    return 0;
}

static int open_source(struct kernel_rx *rx, enum kernel_frames which, unsigned if_index)
{
    struct source *s = &rx->source[which];
    int rc;

    s->tells_all = which == KERNEL_OTHERS;
    for (unsigned i = 0; i < BURST; i++)
        s->message[i].msg_hdr = (struct msghdr){
            .msg_iov = &s->piece[i], .msg_iovlen = 1, .msg_control = s->tells_all ? s->control[i] : NULL};
    s->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: nothing before it is bound */
    rc = s->fd < 0 ? -errno : kernel_filter_attach(s->fd, which, rx->max_frame);
    if (rc == 0 && s->tells_all)
        rc = tell_all(s->fd);
    return rc == 0 ? hear(s->fd, if_index) : rc;
}

struct kernel_rx *kernel_rx_open(unsigned if_index, uint16_t max_frame, struct rte_mempool *mbufs)
{
    struct kernel_rx *rx = rte_zmalloc("kernel_rx", sizeof(*rx), RTE_CACHE_LINE_SIZE);
    int rc = 0;

    if (rx == NULL) {
        rte_errno = ENOMEM;
        return NULL;
    }
    rx->max_frame = max_frame;
    rx->mbufs = mbufs;
    for (unsigned which = 0; which < KERNEL_FRAMES; which++) {
        rx->source[which].fd = -1;
        rx->source[which].used = BURST;
    }
    for (unsigned which = 0; which < KERNEL_FRAMES && rc == 0; which++)
        rc = open_source(rx, which, if_index);
    if (rc == 0)
        return rx;
    rte_errno = -rc;
    kernel_rx_close(rx);
    return NULL;
}

static int share(struct kernel_rx *const rx[], unsigned n, enum kernel_frames which)
{
    int group = (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
    socklen_t bytes = sizeof(group);

    for (unsigned i = 0; i < n; i++) {
        if (set_option(rx[i]->source[which].fd, SOL_PACKET, PACKET_FANOUT, group) < 0)
            return -errno;
        if (i > 0)
            continue;
        /* The kernel has chosen a number for it. */
        if (getsockopt(rx[0]->source[which].fd, SOL_PACKET, PACKET_FANOUT, &group, &bytes) < 0)
            return -errno;
        group = (group & UINT16_MAX) | PACKET_FANOUT_HASH << 16;
    }
    return 0;
}

int kernel_rx_share(struct kernel_rx *const rx[], unsigned n)
{
    const int rc = share(rx, n, KERNEL_GRADIENTS);

    return rc == 0 ? share(rx, n, KERNEL_OTHERS) : rc;
}

/* Bytes before a frame that say how it is. */
static unsigned how_bytes(const struct source *s)
{
    return s->tells_all ? HOW_BYTES : 0;
}

/* New buffers in place of those that are gone; the kernel has not touched the others' messages. */
static bool refill(const struct kernel_rx *rx, struct source *s)
{
    const unsigned before = how_bytes(s);

    if (s->used > 0 && rte_pktmbuf_alloc_bulk(rx->mbufs, s->buffer, s->used) < 0)
        return false;
    for (unsigned i = 0; i < s->used; i++) {
        s->buffer[i]->data_off += SHIFT;
        s->message[i].msg_hdr.msg_controllen = s->tells_all ? sizeof(s->control[i]) : 0;
        s->piece[i] =
            (struct iovec){rte_pktmbuf_mtod(s->buffer[i], char *) - before, before + rx->max_frame + 1u};
    }
    s->used = 0;
    return true;
}

/* The sender has written the sum of what is not in the segment itself in the checksum's place. */
static bool finish_checksum(struct rte_mbuf *m, const struct virtio_net_hdr *how)
{
    uint16_t sum;

    if (how->csum_start + how->csum_offset + sizeof(sum) > m->data_len)
        return false;
    sum = (uint16_t)~rte_raw_cksum(rte_pktmbuf_mtod_offset(m, void *, how->csum_start),
                                   (size_t)(m->data_len - how->csum_start));
    sum = sum == 0 ? UINT16_MAX : sum;
    memcpy(rte_pktmbuf_mtod_offset(m, void *, how->csum_start + how->csum_offset), &sum, sizeof(sum));
    return true;
}

static void put_back_vlan_tag(struct rte_mbuf *m, const struct tpacket_auxdata *aux)
{
    const uint16_t type = aux->tp_status & TP_STATUS_VLAN_TPID_VALID ? aux->tp_vlan_tpid : ETH_P_8021Q;
    const rte_be16_t tag[] = {rte_cpu_to_be_16(type), rte_cpu_to_be_16(aux->tp_vlan_tci)};
    char *frame = m->data_len < 2 * RTE_ETHER_ADDR_LEN ? NULL : rte_pktmbuf_prepend(m, sizeof(tag));

    if (frame == NULL)
        return;
    memmove(frame, frame + sizeof(tag), 2 * RTE_ETHER_ADDR_LEN);
    memcpy(frame + 2 * RTE_ETHER_ADDR_LEN, tag, sizeof(tag));
}

/* What the kernel says of a frame beside its bytes. */
static void complete(struct rte_mbuf *m, struct msghdr *h)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(h);
    struct virtio_net_hdr how;
    struct tpacket_auxdata aux;

    memcpy(&how, rte_pktmbuf_mtod(m, char *) - HOW_BYTES, HOW_BYTES);
    if ((how.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && finish_checksum(m, &how)) ||
        how.flags & VIRTIO_NET_HDR_F_DATA_VALID)
        m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    if (c == NULL || c->cmsg_type != PACKET_AUXDATA)
        return;
    memcpy(&aux, CMSG_DATA(c), sizeof(aux));
    if (aux.tp_status & TP_STATUS_VLAN_VALID)
        put_back_vlan_tag(m, &aux);
}

static bool is_one_frame(const struct rte_mbuf *m)
{
    const struct virtio_net_hdr *how = (const void *)(rte_pktmbuf_mtod(m, const char *) - HOW_BYTES);

    return how->gso_type == VIRTIO_NET_HDR_GSO_NONE;
}

static struct rte_mbuf *take(const struct kernel_rx *rx, struct source *s, unsigned i)
{
    struct rte_mbuf *m = s->buffer[i];

    m->data_len = (uint16_t)(s->message[i].msg_len - how_bytes(s));
    m->pkt_len = m->data_len;
    if (!s->tells_all)
        return m;
    if (m->data_len <= rx->max_frame && is_one_frame(m))
        complete(m, &s->message[i].msg_hdr);
    else
        m->pkt_len = m->data_len = rx->max_frame + 1;
    return m;
}

static unsigned burst(const struct kernel_rx *rx, struct source *s, struct rte_mbuf **frames, unsigned max)
{
    int n;

    if (!refill(rx, s))
        return 0;
    n = recvmmsg(s->fd, s->message, RTE_MIN(max, (unsigned)BURST), MSG_DONTWAIT, NULL);
    if (n <= 0)
        return 0;
    for (int i = 0; i < n; i++)
        frames[i] = take(rx, s, (unsigned)i);
    s->used = (unsigned)n;
    return (unsigned)n;
}

/* From the socket where frames came last, and from the other if there are none, or if it is its turn. */
static unsigned burst_from_either(struct kernel_rx *rx, struct rte_mbuf **frames, unsigned max)
{
    unsigned n;

    if (++rx->turn % OTHER_EVERY == 0)
        rx->busy = !rx->busy;
    n = burst(rx, &rx->source[rx->busy], frames, max);
    if (n > 0)
        return n;
    rx->busy = !rx->busy;
    return burst(rx, &rx->source[rx->busy], frames, max);
}

unsigned kernel_rx_burst(struct kernel_rx *rx, struct rte_mbuf **frames, unsigned max)
{
    const unsigned n = burst_from_either(rx, frames, max);
    uint64_t bytes = 0;

    for (unsigned i = 0; i < n; i++)
        bytes += frames[i]->pkt_len;
    counter_add(&rx->stats.frames, n);
    counter_add(&rx->stats.bytes, bytes);
    return n;
}

struct kernel_rx_stats kernel_rx_stats(const struct kernel_rx *rx)
{
    return (struct kernel_rx_stats){.frames = counter_read(&rx->stats.frames),
                                    .bytes = counter_read(&rx->stats.bytes)};
}

static uint64_t missed(const struct source *s)
{
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);

    return getsockopt(s->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) < 0 ? 0 : stats.tp_drops;
}

uint64_t kernel_rx_missed(struct kernel_rx *rx)
{
    return missed(&rx->source[KERNEL_GRADIENTS]) + missed(&rx->source[KERNEL_OTHERS]);
}

static void close_source(struct source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (s->used < BURST)
        rte_pktmbuf_free_bulk(s->buffer + s->used, BURST - s->used);
}

void kernel_rx_close(struct kernel_rx *rx)
{
    if (rx == NULL)
        return;
    for (unsigned which = 0; which < KERNEL_FRAMES; which++)
        close_source(&rx->source[which]);
    rte_free(rx);
}
