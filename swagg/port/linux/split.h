/* What the kernel has merged on its way in, cut into the frames that it came in as.
 *
 * Generic receive offload (GRO) merges frames of a flow, TCP segments or UDP datagrams, that follow one
 * another, if segmentation gives the same frames again; it has compared their checksums. A sender on the
 * same machine may leave its packets unsegmented in the first place. Either way a packet socket says how
 * (struct virtio_net_hdr), and a frame is the headers that all have, adapted, and its part of the payload.
 *
 * Ethernet with or without VLAN tags, IPv4 (options included) or IPv6 (without extension headers); no
 * tunnels.
 *
 * Pure functions over bytes.
 */
#ifndef SWAGG_PORT_LINUX_SPLIT_H
#define SWAGG_PORT_LINUX_SPLIT_H

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
    struct split_message merged; /* the caller's bytes, as long as frames are written from them */
    unsigned frames;             /* that it makes, 1 at least */
    uint16_t ip, l4;             /* offsets of these headers */
    uint16_t header_bytes;       /* of all, that each frame has */
    uint16_t payload;            /* bytes of each frame but the last ... */
    uint16_t last_payload;       /* ... and of that */
    bool answers_congestion;     /* with the first segment alone (RFC 3168) */
    uint16_t identification;     /* of the first frame, IPv4 ... */
    uint16_t identification_by;  /* ... and what the next one has more */
    agg_ones_sum_fn *ones_sum;   /* what checksums are made with */
};

/* False: it is of a kind that is not understood. how: in the byte order of the machine. ones_sum: of any
 * kernels. */
bool split_init(struct split *s, const struct virtio_net_hdr *how, const struct split_message *merged,
                agg_ones_sum_fn *ones_sum);

/* Of the longest frame. */
static inline size_t split_frame_bytes(const struct split *s)
{
    return (size_t)s->header_bytes + (s->frames > 1 ? s->payload : s->last_payload);
}

/* Writes frame i, its checksums right, and returns its bytes. */
uint16_t split_frame(const struct split *s, unsigned i, void *frame);

#endif
