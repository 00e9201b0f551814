/* Cuts what the kernel has merged into the frames that it was made of. Generic receive offload (GRO) merges
 * consecutive frames of a flow, TCP segments or UDP datagrams, if segmentation gives the same frames again;
 * it has compared their checksums. A sender on the same machine may leave its packets unsegmented in the
 * first place. Either way the packet socket tells how to cut them (struct virtio_net_hdr): a frame is the
 * common headers, adapted, and its part of the payload.
 *
 * Ethernet with or without VLAN tags, IPv4 (options included) or IPv6 (without extension headers); no
 * tunnels.
 *
 * Pure functions over bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_net.h>

#include "net/sum.h"

enum { LINUX_GSO_UDP = 5 }; /* VIRTIO_NET_HDR_GSO_UDP_L4, which Linux 6.2 has added to linux/virtio_net.h */

/* The bytes of a merged message, in two pieces. All headers are in the first. */
struct split_message {
    const uint8_t *first, *rest;
    size_t first_bytes, bytes; /* of the first piece; of both */
};

struct split {
    struct split_message merged; /* the caller's bytes, which must stay while frames are written */
    unsigned frames;             /* that it makes, 1 at least */
    uint16_t ip, l4;             /* offsets of these headers */
    uint16_t header_bytes;       /* of all, that each frame has */
    uint16_t payload;            /* bytes of each frame but the last ... */
    uint16_t last_payload;       /* ... and of that */
    bool answers_congestion;     /* CWR is set; it belongs into the first segment alone (RFC 3168) */
    uint16_t identification;     /* IPv4: of the first frame ... */
    uint16_t identification_by;  /* ... and how much it grows by from frame to frame */
    agg_ones_sum_fn *ones_sum;   /* what checksums are made with */
};

/* False: it is of a kind that cannot be cut. how: in the machine's byte order. ones_sum: from any struct
 * agg_kernels. */
bool split_init(struct split *s, const struct virtio_net_hdr *how, const struct split_message *merged,
                agg_ones_sum_fn *ones_sum);

/* The length of the longest frame. */
static inline size_t split_frame_bytes(const struct split *s)
{
    return (size_t)s->header_bytes + (s->frames > 1 ? s->payload : s->last_payload);
}

/* Writes frame i, with its checksums, and returns its length. */
uint16_t split_frame(const struct split *s, unsigned i, void *frame);
