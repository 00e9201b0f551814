#include "kernel_rx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_malloc.h>

#include "counters.h"
#include "frame.h"
#include "wire/switchml.h"

enum {
    BURST = 64,
    WAITING_BYTES = 16 << 20, /* some 5,000 frames with the kernel's overhead: a thread that shares its CPU
                                 may pause for milliseconds */
    HOW_BYTES = sizeof(struct virtio_net_hdr),
    /* So that the elements of a gradient packet begin a cache line: they are added up where they are. */
    SHIFT = -(RTE_PKTMBUF_HEADROOM + FRAME_HEADER_BYTES + SML_HEADER_BYTES) & (RTE_CACHE_LINE_SIZE - 1),
};

static_assert((int)HOW_BYTES <= RTE_PKTMBUF_HEADROOM, "what the kernel says of a frame lies before it");
static_assert((int)SHIFT + 1 <= (int)KERNEL_RX_EXTRA, "and one byte tells that a frame is too long");

struct kernel_rx {
    int fd;
    uint16_t max_frame;
    struct rte_mempool *mbufs;
    struct kernel_rx_stats stats;
    unsigned used; /* of the buffers, the first: not ours any more */
    struct rte_mbuf *buffer[BURST];
    struct mmsghdr message[BURST];
    struct iovec piece[BURST];
    _Alignas(struct cmsghdr) char control[BURST][CMSG_SPACE(sizeof(struct tpacket_auxdata))];
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

static int open_socket(unsigned if_index)
{
    const struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_index};
    const struct packet_mreq everything = {.mr_ifindex = (int)if_index, .mr_type = PACKET_MR_PROMISC};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: nothing before it is bound */

    if (fd < 0)
        return -errno;
    if (set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0 ||
        set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1) < 0 ||
        set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0 ||
        set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, WAITING_BYTES) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &everything, sizeof(everything)) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

struct kernel_rx *kernel_rx_open(unsigned if_index, uint16_t max_frame, struct rte_mempool *mbufs)
{
    struct kernel_rx *rx = rte_zmalloc("kernel_rx", sizeof(*rx), RTE_CACHE_LINE_SIZE);

    if (rx == NULL) {
        rte_errno = ENOMEM;
        return NULL;
    }
    rx->max_frame = max_frame;
    rx->mbufs = mbufs;
    rx->used = BURST;
    rx->fd = open_socket(if_index);
    if (rx->fd < 0) {
        rte_errno = -rx->fd;
        rte_free(rx);
        return NULL;
    }
    for (unsigned i = 0; i < BURST; i++)
        rx->message[i].msg_hdr =
            (struct msghdr){.msg_iov = &rx->piece[i], .msg_iovlen = 1, .msg_control = rx->control[i]};
    return rx;
}

/* A group of sockets hears what this machine sends, too: PACKET_IGNORE_OUTGOING counts for single ones. */
static int hear_incoming_only(int fd)
{
    struct sock_filter incoming_only[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog program = {.len = RTE_DIM(incoming_only), .filter = incoming_only};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int kernel_rx_share(struct kernel_rx *const rx[], unsigned n)
{
    int group = (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
    socklen_t bytes = sizeof(group);

    for (unsigned i = 0; i < n; i++) {
        if (hear_incoming_only(rx[i]->fd) < 0 || set_option(rx[i]->fd, SOL_PACKET, PACKET_FANOUT, group) < 0)
            return -errno;
        if (i > 0)
            continue;
        /* The kernel has chosen a number for it. */
        if (getsockopt(rx[0]->fd, SOL_PACKET, PACKET_FANOUT, &group, &bytes) < 0)
            return -errno;
        group = (group & UINT16_MAX) | PACKET_FANOUT_HASH << 16;
    }
    return 0;
}

/* New buffers in place of those that are gone; the kernel has not touched the others' messages. */
static bool refill(struct kernel_rx *rx)
{
    if (rx->used > 0 && rte_pktmbuf_alloc_bulk(rx->mbufs, rx->buffer, rx->used) < 0)
        return false;
    for (unsigned i = 0; i < rx->used; i++) {
        rx->buffer[i]->data_off += SHIFT;
        rx->message[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
        rx->piece[i] = (struct iovec){rte_pktmbuf_mtod(rx->buffer[i], char *) - HOW_BYTES,
                                      HOW_BYTES + rx->max_frame + 1u};
    }
    rx->used = 0;
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

static struct rte_mbuf *take(struct kernel_rx *rx, unsigned i)
{
    struct msghdr *h = &rx->message[i].msg_hdr;
    struct rte_mbuf *m = rx->buffer[i];

    m->data_len = (uint16_t)(rx->message[i].msg_len - HOW_BYTES);
    m->pkt_len = m->data_len;
    if (m->data_len <= rx->max_frame && is_one_frame(m))
        complete(m, h);
    else
        m->pkt_len = m->data_len = rx->max_frame + 1;
    return m;
}

unsigned kernel_rx_burst(struct kernel_rx *rx, struct rte_mbuf **frames, unsigned max)
{
    uint64_t bytes = 0;
    int n;

    if (!refill(rx))
        return 0;
    max = RTE_MIN(max, (unsigned)BURST);
    n = recvmmsg(rx->fd, rx->message, max, MSG_DONTWAIT, NULL);
    if (n <= 0)
        return 0;
    for (int i = 0; i < n; i++) {
        frames[i] = take(rx, (unsigned)i);
        bytes += frames[i]->pkt_len;
    }
    rx->used = (unsigned)n;
    counter_add(&rx->stats.frames, (unsigned)n);
    counter_add(&rx->stats.bytes, bytes);
    return (unsigned)n;
}

struct kernel_rx_stats kernel_rx_stats(const struct kernel_rx *rx)
{
    return (struct kernel_rx_stats){.frames = counter_read(&rx->stats.frames),
                                    .bytes = counter_read(&rx->stats.bytes)};
}

uint64_t kernel_rx_missed(struct kernel_rx *rx)
{
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);

    return getsockopt(rx->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) < 0 ? 0 : stats.tp_drops;
}

void kernel_rx_close(struct kernel_rx *rx)
{
    if (rx == NULL)
        return;
    close(rx->fd);
    if (rx->used < BURST)
        rte_pktmbuf_free_bulk(rx->buffer + rx->used, BURST - rx->used);
    rte_free(rx);
}
