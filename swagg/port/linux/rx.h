/* Receiving from a kernel interface by a packet socket, straight into packet buffers. With DPDK's
 * net_af_packet, the kernel copies each frame into a shared ring, and the driver copies it from there; where
 * the senders are on the same machine, that is most of the cost of receiving. Here frames wait in the kernel,
 * merged if their interface merges (features.h), and one system call copies a burst of them. They are made to
 * look as on a wire: merged frames, and those that a sender on this machine has left unsegmented, are cut
 * (split.h), or carried as they are if the kernel can cut them where they leave; a checksum that was left to
 * a device is computed; a VLAN tag that the kernel has taken out is put back. Threads: one linux_rx a receive
 * queue, used by the lcore that owns the queue; the counters may be read by anybody.
 */
#pragma once

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

/* Receives from a socket (socket.h), which it takes over. A frame longer than max_frame, or one that was
 * merged and cannot be cut, comes truncated to max_frame + 1 bytes. NULL: no memory, and the socket stays the
 * caller's. */
struct linux_rx *linux_rx_open(int fd, uint16_t max_frame, const struct port_resources *resources);

/* From now on merged frames that the kernel can cut again (gso.h) are not cut, unless they are for this
 * address or a group address. What does not fit into an ordinary buffer continues in a long one; while none
 * is free, frames are cut. Both arguments must outlive rx. With long_buffers NULL everything is cut from now
 * on. Also while frames are received; any thread. */
void linux_rx_carry(struct linux_rx *rx, const struct net_mac *local, struct rte_mempool *long_buffers);

/* At most max frames; they are the caller's. Those whose UDP or TCP checksum is known to be right say so
 * (RTE_MBUF_F_RX_L4_CKSUM_GOOD). */
unsigned linux_rx_burst(struct linux_rx *rx, struct rte_mbuf **frames, unsigned max);

struct linux_rx_stats {
    uint64_t frames, bytes;
    uint64_t merged;  /* of the frames, those that came merged */
    uint64_t unknown; /* of the frames, merged ones that could not be cut */
};
struct linux_rx_stats linux_rx_stats(const struct linux_rx *rx);

/* How many frames (merged ones count once) the kernel has dropped since the last call, because too many
 * waited. */
uint64_t linux_rx_missed(struct linux_rx *rx);

/* Its socket, of which it stays the owner. */
int linux_rx_socket(const struct linux_rx *rx);

/* NULL is fine. */
void linux_rx_close(struct linux_rx *rx);
