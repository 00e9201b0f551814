/* Runs: frames that pass through the kernel as one, which cuts them into the same frames again just before
 * the device (generic segmentation offload, GSO) or leaves that to the device. They are UDP frames of the
 * switch's own that only differ in their payload. The kernel computes their checksums anew.
 *
 * Pure functions over frames.
 */
#pragma once

#include <stdint.h>

#include <linux/virtio_net.h>
#include <rte_mbuf.h>

#include "port/frame.h"

struct run {
    unsigned length;       /* frames; 1: no run */
    uint16_t header_bytes; /* of each frame; the run has them once. 0: there is no run */
    uint16_t payload;      /* bytes of each frame */
};

/* The longest run that begins with the first of these frames, n >= 1. mergeable: the mbuf flag of frames that
 * may be part of one (linux_tx_mergeable); 0: no frame may. */
struct run run_find(struct rte_mbuf *const frames[], unsigned n, uint64_t mergeable);

/* What goes to the kernel before the payloads, or before a single frame. */
struct run_prelude {
    struct virtio_net_hdr how;
    struct frame_udp headers; /* the first header_bytes of it */
};

void run_write_prelude(struct run_prelude *p, const struct run *run, struct rte_mbuf *const frames[]);
