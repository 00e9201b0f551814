/* Runs: frames that pass through the kernel as one, which cuts them into the same frames again just before
 * the device (generic segmentation offload, GSO) or leaves that to the device.
 *
 * Two kinds: UDP frames of the switch's own that only differ in their payload; and switched TCP segments over
 * IPv4 that follow one another as if they had been cut from one. A switch does not alter frames, so a TCP run
 * takes only what comes out of the kernel as it went in, byte for byte. The kernel computes checksums anew:
 * those of TCP are compared first, lest a damaged frame leave with a right one.
 *
 * Pure functions over frames.
 */
#ifndef SWAGG_KERNEL_RUN_H
#define SWAGG_KERNEL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/virtio_net.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#include "frame.h"
#include "kernel_gso.h"

/* By the kernel's numbers (gso_type). */
enum run_kind {
    RUN_OF_ONE = VIRTIO_NET_HDR_GSO_NONE,
    RUN_TCP = VIRTIO_NET_HDR_GSO_TCPV4,
    RUN_UDP = KERNEL_GSO_UDP,
};

struct run {
    enum run_kind kind;
    unsigned length;       /* frames: 1 of RUN_OF_ONE, else 2 at least */
    uint16_t header_bytes; /* that the run has once, and each frame has; 0 of RUN_OF_ONE */
    uint16_t payload;      /* bytes of each frame; of a TCP run's last one at most so many */
};

/* Which kinds there may be. */
struct run_allowed {
    uint64_t udp; /* the mbuf flag of frames that may be merged (kernel_tx_mergeable); 0: none */
    bool tcp;
};

/* The longest run that the first of these frames begins, n >= 1. */
struct run run_find(struct rte_mbuf *const frames[], unsigned n, const struct run_allowed *allowed);

struct frame_tcp {
    struct rte_ether_hdr eth;
    struct rte_ipv4_hdr ip;
    struct rte_tcp_hdr tcp;
    uint8_t options[];
} __rte_packed __rte_aligned(2);

enum { TCP_OPTIONS_MAX = 40 };

union run_headers {
    struct frame_udp udp;
    struct frame_tcp tcp;
    uint8_t bytes[sizeof(struct frame_tcp) + TCP_OPTIONS_MAX];
};

/* What goes to the kernel before the payloads, or before a single frame. */
struct run_prelude {
    struct virtio_net_hdr how;
    union run_headers headers; /* the first header_bytes of them */
};

void run_write_prelude(struct run_prelude *p, const struct run *run, struct rte_mbuf *const frames[]);

#endif
