/* Sending through a kernel interface by a packet socket. DPDK's net_af_packet copies each frame into a ring
 * shared with the kernel, and on a veth the kernel copies it once more, out of the ring. Here the kernel
 * reads the frames straight from the packet buffers, a burst with one system call; and runs of frames that it
 * can cut into the same frames again (run.h) pass through it as one. Threads: one linux_tx a TX queue, used
 * by the lcore that owns the queue; the counters may be read by anybody.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "port/device.h"

struct linux_tx;

/* The mbuf flag of UDP frames that may become part of a run. Such a frame was written by frame_write_headers,
 * with a UDP checksum, which the kernel computes anew; so a frame that may be damaged must not have the flag,
 * or the damage would be hidden. 0: no flag is free. */
uint64_t linux_tx_mergeable(void);

/* Sends by a socket (socket.h), which it takes over. NULL: no memory, and the socket stays the caller's. */
struct linux_tx *linux_tx_open(int fd);

/* Sends frames of at most two segments each, in order, and frees them; what came merged (gso.h) goes
 * as it is. single: without runs. Returns how many the kernel did not take. */
struct port_refused linux_tx_burst(struct linux_tx *tx, struct rte_mbuf **frames, unsigned n, bool single);

struct linux_tx_stats {
    uint64_t frames, bytes;
    uint64_t merged; /* of the frames, how many went in runs of two or more */
};
struct linux_tx_stats linux_tx_stats(const struct linux_tx *tx);

/* Bytes of memory, as the kernel counts it, of what was sent and has not left the device's queue. */
uint64_t linux_tx_waiting(const struct linux_tx *tx);

/* Its socket, of which it stays the owner. */
int linux_tx_socket(const struct linux_tx *tx);

/* NULL is fine. */
void linux_tx_close(struct linux_tx *tx);
