#include "port/linux/rx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <rte_malloc.h>

#include "base/counters.h"
#include "net/sum.h"
#include "port/linux/gso.h"
#include "port/linux/split.h"
#include "wire/crc32c.h"

enum {
    MESSAGES = 16, /* received by one system call; each may be many frames */
    MERGED_BYTES_MAX = 64 << 10,
    HOW_BYTES = sizeof(struct virtio_net_hdr),
};

static_assert((int)HOW_BYTES <= RTE_PKTMBUF_HEADROOM, "what the kernel says of a frame lies before it");
static_assert((int)RTE_CACHE_LINE_SIZE <= (int)LINUX_RX_EXTRA,
              "a frame is shifted by less than a line, and one byte tells that it is too long");

/* A message begins in a packet buffer, which is enough for a single frame. A merged one continues in a long
 * buffer, or in `room` if there is none. */
struct linux_rx {
    int fd;
    uint16_t max_frame;
    uint16_t shift; /* of frames in their buffers, so that elements begin a cache line (port/device.h) */
    struct rte_mempool *mbufs;
    agg_ones_sum_fn *ones_sum;
    struct rte_mempool *long_buffers; /* atomic; NULL: everything is cut */
    const struct net_mac *local;      /* atomic: what is for this address is cut */
    struct linux_rx_stats stats;
    unsigned received;  /* messages of the last call */
    unsigned next;      /* the first of them that is not handed over yet */
    unsigned used;      /* so many of the buffers, from the first on, were handed over */
    struct split split; /* of message `next`, if some of its frames were handed over ... */
    unsigned cut;       /* ... namely so many */
    uint8_t *room;
    struct rte_mbuf *buffer[MESSAGES];
    struct rte_mbuf *long_buffer[MESSAGES]; /* NULL: there was none left */
    struct mmsghdr message[MESSAGES];
    struct iovec piece[MESSAGES][2];
    _Alignas(struct cmsghdr) char control[MESSAGES][CMSG_SPACE(sizeof(struct tpacket_auxdata))];
};

static uint8_t *room_of(const struct linux_rx *rx, unsigned i)
{
    return rx->room + (size_t)i * MERGED_BYTES_MAX;
}

struct linux_rx *linux_rx_open(int fd, uint16_t max_frame, const struct port_resources *resources)
{
    struct linux_rx *rx = rte_zmalloc("linux_rx", sizeof(*rx), RTE_CACHE_LINE_SIZE);

    if (rx == NULL)
        return NULL;
    rx->max_frame = max_frame;
    rx->shift = -(RTE_PKTMBUF_HEADROOM + resources->elements_at) & (RTE_CACHE_LINE_SIZE - 1);
    rx->mbufs = resources->mbufs;
    rx->ones_sum = resources->ones_sum;
    rx->used = MESSAGES;
    rx->fd = fd;
    rx->room = malloc((size_t)MESSAGES * MERGED_BYTES_MAX);
    if (rx->room == NULL) {
        rte_free(rx);
        return NULL;
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        rx->piece[i][1] = (struct iovec){room_of(rx, i), MERGED_BYTES_MAX};
        rx->message[i].msg_hdr =
            (struct msghdr){.msg_iov = rx->piece[i], .msg_iovlen = 2, .msg_control = rx->control[i]};
    }
    return rx;
}

void linux_rx_carry(struct linux_rx *rx, const struct net_mac *local, struct rte_mempool *long_buffers)
{
    __atomic_store_n(&rx->local, local, __ATOMIC_RELAXED);
    __atomic_store_n(&rx->long_buffers, long_buffers, __ATOMIC_RELEASE);
}

/* Also where everything is cut from now on: the last one may have been handed over. */
static void refill_long(struct linux_rx *rx, unsigned i)
{
    struct rte_mempool *pool = __atomic_load_n(&rx->long_buffers, __ATOMIC_RELAXED);

    if (rx->long_buffer[i] != NULL)
        return;
    rx->long_buffer[i] = pool == NULL ? NULL : rte_pktmbuf_alloc(pool);
    if (rx->long_buffer[i] == NULL) {
        rx->piece[i][1] = (struct iovec){room_of(rx, i), MERGED_BYTES_MAX};
        return;
    }
    rx->long_buffer[i]->data_off = 0;
    rx->piece[i][1] = (struct iovec){rte_pktmbuf_mtod(rx->long_buffer[i], void *), LINUX_RX_LONG_BYTES};
}

/* Puts new buffers in the place of those that were handed over. */
static bool refill(struct linux_rx *rx)
{
    if (rx->used > 0 && rte_pktmbuf_alloc_bulk(rx->mbufs, rx->buffer, rx->used) < 0)
        return false;
    for (unsigned i = 0; i < rx->used; i++) {
        rx->buffer[i]->data_off += rx->shift;
        rx->message[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
        rx->piece[i][0] = (struct iovec){rte_pktmbuf_mtod(rx->buffer[i], char *) - HOW_BYTES,
                                         HOW_BYTES + rx->max_frame + 1u};
        refill_long(rx, i);
    }
    rx->used = 0;
    return true;
}

static void fetch(struct linux_rx *rx)
{
    int n;

    rx->received = rx->next = 0;
    if (!refill(rx))
        return;
    n = recvmmsg(rx->fd, rx->message, MESSAGES, MSG_DONTWAIT, NULL);
    if (n < 0 &&
        errno == EINVAL) /* merged in a way that virtio_net_hdr cannot express: the kernel has dropped it */
        counter_add(&rx->stats.unknown, 1);
    rx->received = n > 0 ? (unsigned)n : 0;
}

static void set_bytes(struct rte_mbuf *m, size_t bytes)
{
    m->data_len = (uint16_t)bytes;
    m->pkt_len = m->data_len;
}

/* Of all that leave their checksum to a device only SCTP has it there, and that is another one. The kernel
 * does not say so. */
enum { SCTP_CRC_OFFSET = 8 };

static bool finish_sctp(struct rte_mbuf *m, const struct virtio_net_hdr *how)
{
    rte_le32_t crc = 0;

    if (how->csum_start + how->csum_offset + sizeof(crc) > m->data_len)
        return false;
    char *packet = rte_pktmbuf_mtod_offset(m, char *, how->csum_start);

    memcpy(packet + SCTP_CRC_OFFSET, &crc, sizeof(crc));
    crc = rte_cpu_to_le_32(crc32c(0, packet, (size_t)(m->data_len - how->csum_start)));
    memcpy(packet + SCTP_CRC_OFFSET, &crc, sizeof(crc));
    return true;
}

/* The sender has left the checksum to a device: its field holds the sum of the pseudo header only. */
static bool finish_checksum(const struct linux_rx *rx, struct rte_mbuf *m, const struct virtio_net_hdr *how)
{
    uint16_t sum;

    if (how->csum_offset == SCTP_CRC_OFFSET)
        return finish_sctp(m, how);
    if (how->csum_start + how->csum_offset + sizeof(sum) > m->data_len)
        return false;
    sum = net_udp_checksum(rx->ones_sum(rte_pktmbuf_mtod_offset(m, void *, how->csum_start),
                                        (size_t)(m->data_len - how->csum_start)));
    memcpy(rte_pktmbuf_mtod_offset(m, void *, how->csum_start + how->csum_offset), &sum, sizeof(sum));
    return true;
}

/* Whether the kernel has taken a VLAN tag out of the frame, which it reports in a control message. */
static bool lacks_vlan_tag(struct msghdr *h, struct tpacket_auxdata *aux)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(h);

    if (c == NULL || c->cmsg_type != PACKET_AUXDATA)
        return false;
    memcpy(aux, CMSG_DATA(c), sizeof(*aux));
    return aux->tp_status & TP_STATUS_VLAN_VALID;
}

static void put_back_vlan_tag(struct rte_mbuf *m, struct msghdr *h)
{
    struct tpacket_auxdata aux;
    rte_be16_t tag[2];
    char *frame;

    if (!lacks_vlan_tag(h, &aux) || m->data_len < 2 * sizeof(struct net_mac))
        return;
    tag[0] = rte_cpu_to_be_16(aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid : ETH_P_8021Q);
    tag[1] = rte_cpu_to_be_16(aux.tp_vlan_tci);
    frame = rte_pktmbuf_prepend(m, sizeof(tag));
    if (frame == NULL)
        return;
    memmove(frame, frame + sizeof(tag), 2 * sizeof(struct net_mac));
    memcpy(frame + 2 * sizeof(struct net_mac), tag, sizeof(tag));
}

/* Message `next`, one frame, in its buffer. */
static struct rte_mbuf *take_frame(struct linux_rx *rx, const struct virtio_net_hdr *how)
{
    const unsigned i = rx->next++;
    struct rte_mbuf *m = rx->buffer[i];

    rx->used = rx->next;
    set_bytes(m, rx->message[i].msg_len - HOW_BYTES);
    if ((how->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && finish_checksum(rx, m, how)) ||
        how->flags & VIRTIO_NET_HDR_F_DATA_VALID)
        m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    put_back_vlan_tag(m, &rx->message[i].msg_hdr);
    return m;
}

/* Message `next` is a merged one; false: it cannot be cut. */
static bool begin_split(struct linux_rx *rx, const struct virtio_net_hdr *how)
{
    const struct mmsghdr *message = &rx->message[rx->next];
    const struct split_message merged = {.first = rte_pktmbuf_mtod(rx->buffer[rx->next], void *),
                                         .first_bytes = rx->max_frame + 1u,
                                         .rest = rx->piece[rx->next][1].iov_base,
                                         .bytes = message->msg_len - HOW_BYTES};

    return !(message->msg_hdr.msg_flags & MSG_TRUNC) && split_init(&rx->split, how, &merged, rx->ones_sum);
}

/* Whether message `next`, which could be split, is switched as it came. */
static bool may_carry(struct linux_rx *rx, const struct virtio_net_hdr *how)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(rx->buffer[rx->next], const struct net_ethernet *);
    struct tpacket_auxdata aux;

    return rx->long_buffer[rx->next] != NULL &&
           __atomic_load_n(&rx->long_buffers, __ATOMIC_ACQUIRE) != NULL &&
           linux_gso_may_pass(&rx->split, how) && !net_is_group(&eth->dst_addr) &&
           !net_same_mac(&eth->dst_addr, __atomic_load_n(&rx->local, __ATOMIC_RELAXED)) &&
           !lacks_vlan_tag(&rx->message[rx->next].msg_hdr, &aux);
}

/* Message `next`, whole. */
static struct rte_mbuf *take_merged(struct linux_rx *rx, const struct virtio_net_hdr *how)
{
    const unsigned i = rx->next++;
    const size_t bytes = rx->split.merged.bytes, first = RTE_MIN(bytes, rx->split.merged.first_bytes);
    struct rte_mbuf *m = rx->buffer[i], *rest = rx->long_buffer[i];

    rx->used = rx->next;
    set_bytes(m, first);
    linux_gso_mark(m, &rx->split, how);
    if (bytes > first) {
        set_bytes(rest, bytes - first);
        rx->long_buffer[i] = NULL;
        m->next = rest;
        m->nb_segs = 2;
        m->pkt_len += rest->data_len;
    }
    counter_add(&rx->stats.merged, rx->split.frames);
    return m;
}

/* Message `next` as a frame that is too long, for a named drop. */
static struct rte_mbuf *take_oversize(struct linux_rx *rx)
{
    struct rte_mbuf *m = rx->buffer[rx->next++];

    rx->used = rx->next;
    set_bytes(m, rx->max_frame + 1u);
    return m;
}

/* Frames of message `next`, at most max. Its own buffer has the headers until all are made. */
static unsigned take_split(struct linux_rx *rx, struct rte_mbuf **frames, unsigned max)
{
    const unsigned n = RTE_MIN(max, rx->split.frames - rx->cut);

    if (rte_pktmbuf_alloc_bulk(rx->mbufs, frames, n) < 0)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        frames[i]->data_off += rx->shift;
        set_bytes(frames[i], split_frame(&rx->split, rx->cut++, rte_pktmbuf_mtod(frames[i], void *)));
        frames[i]->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
        put_back_vlan_tag(frames[i], &rx->message[rx->next].msg_hdr);
    }
    if (rx->split.frames > 1)
        counter_add(&rx->stats.merged, n);
    if (rx->cut == rx->split.frames) {
        rx->cut = 0;
        rte_pktmbuf_free(rx->buffer[rx->next++]);
        rx->used = rx->next;
    }
    return n;
}

/* Message `next` as one frame; NULL: it is being split. */
static struct rte_mbuf *take_whole(struct linux_rx *rx)
{
    struct virtio_net_hdr how;

    memcpy(&how, rte_pktmbuf_mtod(rx->buffer[rx->next], char *) - HOW_BYTES, HOW_BYTES);
    if (how.gso_type == VIRTIO_NET_HDR_GSO_NONE) {
        const bool fits = rx->message[rx->next].msg_len <= (unsigned)HOW_BYTES + rx->max_frame;

        return fits ? take_frame(rx, &how) : take_oversize(rx);
    }
    if (!begin_split(rx, &how)) {
        counter_add(&rx->stats.unknown, 1);
        return take_oversize(rx);
    }
    if (split_frame_bytes(&rx->split) > rx->max_frame)
        return take_oversize(rx);
    return may_carry(rx, &how) ? take_merged(rx, &how) : NULL;
}

/* The next frames of the messages that have come, 1 to max; 0: no buffers. */
static unsigned take(struct linux_rx *rx, struct rte_mbuf **frames, unsigned max)
{
    if (rx->cut == 0) {
        frames[0] = take_whole(rx);
        if (frames[0] != NULL)
            return 1;
    }
    return take_split(rx, frames, max);
}

/* Until there are max, or no more wait. */
static unsigned burst(struct linux_rx *rx, struct rte_mbuf **frames, unsigned max)
{
    unsigned n = 0, got;

    for (bool more = true;; more = rx->received == MESSAGES) {
        for (; n < max && rx->next < rx->received; n += got) {
            got = take(rx, frames + n, max - n);
            if (got == 0)
                return n;
        }
        if (n == max || !more)
            return n;
        fetch(rx);
    }
}

unsigned linux_rx_burst(struct linux_rx *rx, struct rte_mbuf **frames, unsigned max)
{
    const unsigned n = burst(rx, frames, max);
    uint64_t bytes = 0;
    unsigned count = 0;

    for (unsigned i = 0; i < n; i++) {
        count += linux_gso_frames(frames[i]);
        bytes += linux_gso_bytes(frames[i]);
    }
    counter_add(&rx->stats.frames, count);
    counter_add(&rx->stats.bytes, bytes);
    return n;
}

int linux_rx_socket(const struct linux_rx *rx)
{
    return rx->fd;
}

struct linux_rx_stats linux_rx_stats(const struct linux_rx *rx)
{
    return (struct linux_rx_stats){.frames = counter_read(&rx->stats.frames),
                                   .bytes = counter_read(&rx->stats.bytes),
                                   .merged = counter_read(&rx->stats.merged),
                                   .unknown = counter_read(&rx->stats.unknown)};
}

uint64_t linux_rx_missed(struct linux_rx *rx)
{
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);

    return getsockopt(rx->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) < 0 ? 0 : stats.tp_drops;
}

void linux_rx_close(struct linux_rx *rx)
{
    if (rx == NULL)
        return;
    close(rx->fd);
    if (rx->used < MESSAGES)
        rte_pktmbuf_free_bulk(rx->buffer + rx->used, MESSAGES - rx->used);
    rte_pktmbuf_free_bulk(rx->long_buffer, MESSAGES);
    free(rx->room);
    rte_free(rx);
}
