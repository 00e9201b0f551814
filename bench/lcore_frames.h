/* The frames of bench-lcore's job: what its workers send, which the lcore is to add, and the sums that it is
 * to send back. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "lcore_packets.h"
#include "net/udp_frame.h"

struct lcore_frames {
    /* Set first. */
    const struct packets *packets;
    unsigned bytes, chunk_bytes; /* of the longest frame, without the FCS; of its elements */
    unsigned slots;              /* of the job */
    bool compared;               /* the device has found their checksums right */
    uint8_t job;                 /* its number */

    uint8_t *payload; /* of the frame that is written */
    agg_ones_sum_fn *ones_sum;
    struct frame_header header[PACKETS_WORKERS];
};

/* They go to this switch. payload: room for frames.bytes. */
void lcore_frames_begin(struct lcore_frames *f, uint8_t *payload, const struct jobs_identity *to,
                        agg_ones_sum_fn *ones_sum);

struct jobs_member lcore_frames_member(const struct lcore_frames *f, unsigned rank);

/* A rank's contribution to the chunk of this tag, into an empty buffer. */
void lcore_frame_write(struct lcore_frames *f, struct rte_mbuf *m, unsigned rank, uint32_t tag);

/* Whether it is the sum that a worker is to get, whichever. Its payload lies in the second segment, or behind
 * the headers. */
bool lcore_frame_is_sum(const struct lcore_frames *f, const struct rte_mbuf *m);
