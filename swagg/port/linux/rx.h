/* Receiving from a kernel interface by a packet socket that fills packet buffers.
 *
 * DPDK's net_af_packet has the kernel copy each frame into a ring that both share, and copies it from there;
 * on a machine whose senders are its own, that is most of what receiving costs. Here frames wait as the
 * kernel has them, merged if their interface merges (features.h), and are copied a burst with one
 * system call. They come as on a wire: what is merged, or what a sender of this machine has not segmented, is
 * cut into frames (linux_split.h), or carried as it is where the kernel cuts it at the other end; a checksum
 * that was left to a device is computed, a VLAN tag that the kernel has taken out is put back, of whatever
 * type, and fragments stay as they are.
 *
 * One a receive queue, used by the lcore that owns the queue; the counters may be read by anybody.
 */
#ifndef SWAGG_PORT_LINUX_RX_H
#define SWAGG_PORT_LINUX_RX_H

#include <stdint.h>

#include <rte_mbuf.h>

#include "net/mac.h"
#include "port/device.h"

struct linux_rx;

enum {
    LINUX_RX_EXTRA = RTE_CACHE_LINE_SIZE, /* bytes that a buffer must have beyond its longest frame */
    LINUX_RX_LONG_BYTES = UINT16_MAX,     /* that a long buffer has, headroom included */
    LINUX_RX_LONG_BUFFERS = 32,           /* that a queue can make use of */
};

/* Frames that a socket hears (linux_socket.h), which is its own from then on. Longer ones than max_frame, and
 * what cannot be cut into frames, come as a frame of max_frame + 1 bytes, cut off.
 * NULL: no memory, and the socket stays the caller's. */
struct linux_rx *linux_rx_open(int fd, uint16_t max_frame, const struct port_resources *resources);

/* Before the first burst: what comes merged and the kernel can cut again is not cut, unless it is for this
 * address or a group's (gso.h). It continues in a long buffer; as long as there is none it is cut.
 * Both must outlive rx. */
void linux_rx_carry(struct linux_rx *rx, const struct net_mac *local, struct rte_mempool *long_buffers);

/* At most max frames; they are the caller's. Those whose UDP or TCP checksum is known to be right say so
 * (RTE_MBUF_F_RX_L4_CKSUM_GOOD). */
unsigned linux_rx_burst(struct linux_rx *rx, struct rte_mbuf **frames, unsigned max);

struct linux_rx_stats {
    uint64_t frames, bytes;
    uint64_t merged;  /* of the frames, what came in one piece with others */
    uint64_t unknown; /* of the frames, what could not be cut */
};
struct linux_rx_stats linux_rx_stats(const struct linux_rx *rx);

/* How often the kernel dropped a frame, or some that it had merged, since the last call because too many
 * waited. */
uint64_t linux_rx_missed(struct linux_rx *rx);

/* Its socket, which stays its own. */
int linux_rx_socket(const struct linux_rx *rx);

/* NULL is fine. */
void linux_rx_close(struct linux_rx *rx);

#endif
