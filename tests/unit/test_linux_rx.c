/* Receiving what the kernel has merged: whose buffers it comes into. A pair of sockets takes the place of the
 * packet socket: who writes to one of them is the kernel. */
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "by_the_book.h"
#include "port/linux/gso.h"
#include "port/linux/rx.h"
#include "small_eal.h"
#include "unit.h"
#include "wire/crc32c.h"

enum {
    MAX_FRAME = 1518,
    MBUFS = 511,
    LONG_BUFFERS = 63,
    IP = 14,
    TCP = IP + 20,
    HEADERS = TCP + 20,
    SEGMENT = 1000,
    SEGMENTS = 20,
    MERGED = HEADERS + SEGMENTS * SEGMENT,
    FRAMES_MAX = 64,
};

static const struct net_mac local = {{2, 0, 0, 0, 0, 0xfe}};
static struct rte_mempool *mbufs, *long_buffers;
static struct linux_rx *rx;
static int kernel;

static void open_rx(void)
{
    const struct port_resources resources = {.mbufs = mbufs, .ones_sum = agg_kernels_scalar.ones_sum};
    int pair[2];

    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    kernel = pair[1];
    rx = linux_rx_open(pair[0], MAX_FRAME, &resources);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rx);
}

/* No buffer is lost, none is given back twice. */
static void close_rx(void)
{
    linux_rx_close(rx);
    close(kernel);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(mbufs), 0);
    CU_ASSERT_EQUAL(rte_mempool_in_use_count(long_buffers), 0);
}

/* The kernel has TCP segments for another station, merged, all of whose payload is this byte. */
static void arrive(uint8_t byte)
{
    uint8_t message[sizeof(struct virtio_net_hdr) + MERGED] = {0},
                                                    *frame = message + sizeof(struct virtio_net_hdr);
    const struct virtio_net_hdr how = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                       .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                                       .gso_size = SEGMENT,
                                       .csum_start = TCP,
                                       .csum_offset = 16};

    memcpy(message, &how, sizeof(how));
    memset(frame + HEADERS, byte, MERGED - HEADERS);
    frame[5] = 2; /* of its destination */
    put16(frame + IP - 2, 0x0800);
    frame[IP] = 0x45;
    put16(frame + IP + 2, MERGED - IP);
    put16(frame + IP + 4, 1);
    frame[IP + 9] = IPPROTO_TCP;
    frame[TCP + 12] = 5 << 4;
    CU_ASSERT_EQUAL_FATAL(send(kernel, message, sizeof(message), 0), sizeof(message));
}

/* Whether its headers are followed by as many of this byte. */
static bool carries(const struct rte_mbuf *m, unsigned bytes, uint8_t byte)
{
    uint8_t copy[MERGED];
    const uint8_t *at = rte_pktmbuf_read(m, 0, HEADERS + bytes, copy);

    if (at == NULL || rte_pktmbuf_pkt_len(m) != HEADERS + bytes)
        return false;
    for (unsigned i = 0; i < bytes; i++)
        if (at[HEADERS + i] != byte)
            return false;
    return true;
}

static void receive_merged(struct rte_mbuf **m, uint8_t byte)
{
    CU_ASSERT_EQUAL_FATAL(linux_rx_burst(rx, m, 1), 1);
    CU_ASSERT(linux_gso_is_merged(*m));
    CU_ASSERT(carries(*m, SEGMENTS * SEGMENT, byte));
}

static void receive_cut(uint8_t byte)
{
    struct rte_mbuf *frame[FRAMES_MAX];

    CU_ASSERT_EQUAL_FATAL(linux_rx_burst(rx, frame, FRAMES_MAX), SEGMENTS);
    for (unsigned i = 0; i < SEGMENTS; i++) {
        CU_ASSERT(!linux_gso_is_merged(frame[i]));
        CU_ASSERT(carries(frame[i], SEGMENT, byte));
    }
    rte_pktmbuf_free_bulk(frame, SEGMENTS);
}

TEST(merged_frames_are_cut_or_carried)
{
    struct rte_mbuf *m;

    open_rx();
    arrive(1);
    receive_cut(1);
    linux_rx_carry(rx, &local, long_buffers);
    arrive(2);
    receive_merged(&m, 2);
    rte_pktmbuf_free(m);
    close_rx();
}

/* A carried frame belongs to others, who have yet to send it: nothing may be received into its buffers. */
TEST(what_was_handed_over_stays_as_it_is)
{
    struct rte_mbuf *carried;

    open_rx();
    linux_rx_carry(rx, &local, long_buffers);
    arrive(1);
    receive_merged(&carried, 1);
    linux_rx_carry(rx, &local, NULL);
    arrive(2);
    receive_cut(2);
    CU_ASSERT(carries(carried, SEGMENTS * SEGMENT, 1));
    rte_pktmbuf_free(carried);
    close_rx();
}

TEST(while_no_long_buffer_is_free_frames_are_cut)
{
    struct rte_mbuf *hoard[LONG_BUFFERS], *m;

    open_rx();
    CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_alloc_bulk(long_buffers, hoard, LONG_BUFFERS), 0);
    linux_rx_carry(rx, &local, long_buffers);
    arrive(1);
    receive_cut(1);
    rte_pktmbuf_free_bulk(hoard, LONG_BUFFERS);
    arrive(2);
    receive_merged(&m, 2);
    rte_pktmbuf_free(m);
    close_rx();
}

/* A sender of SCTP on this machine leaves its checksum to a device, as those of TCP and UDP do; but it is a
 * CRC. */
TEST(the_checksum_of_sctp_is_finished)
{
    enum { SCTP = TCP, BYTES = SCTP + 28 };
    const struct virtio_net_hdr how = {
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = SCTP, .csum_offset = 8};
    uint8_t message[sizeof(how) + BYTES] = {0}, *frame = message + sizeof(how), *got;
    uint32_t crc;
    struct rte_mbuf *m;

    open_rx();
    put16(frame + IP - 2, 0x0800);
    frame[IP] = 0x45;
    put16(frame + IP + 2, BYTES - IP);
    frame[IP + 9] = IPPROTO_SCTP;
    for (unsigned i = SCTP; i < BYTES; i++)
        frame[i] = i < SCTP + 8 || i >= SCTP + 12 ? (uint8_t)i : 0;
    crc = crc32c(0, frame + SCTP, BYTES - SCTP);
    memcpy(message, &how, sizeof(how));
    CU_ASSERT_EQUAL_FATAL(send(kernel, message, sizeof(message), 0), sizeof(message));
    CU_ASSERT_EQUAL_FATAL(linux_rx_burst(rx, &m, 1), 1);
    got = rte_pktmbuf_mtod(m, uint8_t *);
    CU_ASSERT_EQUAL(rte_pktmbuf_pkt_len(m), BYTES);
    CU_ASSERT_EQUAL(memcmp(got, frame, SCTP + 8), 0);
    CU_ASSERT(got[SCTP + 8] == (uint8_t)crc && got[SCTP + 9] == (uint8_t)(crc >> 8) &&
              got[SCTP + 10] == (uint8_t)(crc >> 16) && got[SCTP + 11] == (uint8_t)(crc >> 24));
    CU_ASSERT_EQUAL(memcmp(got + SCTP + 12, frame + SCTP + 12, BYTES - SCTP - 12), 0);
    rte_pktmbuf_free(m);
    close_rx();
}

int main(void)
{
    if (small_eal_start(64) < 0)
        return 1;
    mbufs = rte_pktmbuf_pool_create("mbufs", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    long_buffers =
        rte_pktmbuf_pool_create("long_buffers", LONG_BUFFERS, 0, 0, LINUX_RX_LONG_BYTES, SOCKET_ID_ANY);
    return mbufs != NULL && long_buffers != NULL ? unit_main() : 1;
}
