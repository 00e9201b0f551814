/* The source's frames, and what must come back for them. One frame for each worker and slot is built once,
 * then stamped with the next chunk's number and sent again and again. An open loop does not wait until a
 * frame has left; it has one for each worker and chunk of the plan, and never stamps them again. A chunk's
 * elements are those that it was built with (plan.h), except the first, which is one of FIRSTS by the chunk's
 * number: so the result of another chunk, worker or slot is recognized as wrong. All results are exact in any
 * order. */
#pragma once

#include <rte_mbuf.h>

#include "source/options.h"

/* A worker's chunk on its way. */
struct flight {
    struct rte_mbuf *m;
    uint8_t *frame; /* m's bytes */
    uint64_t sent_at;
    uint32_t tag;
    uint16_t unstamped; /* ones' complement sum of what the UDP checksum covers, without what frames_stamp
                           writes */
    uint16_t worker;
};

enum { FIRSTS = 127 }; /* shares no factor with the number of slots */

struct frames {
    const struct source_options *options;
    size_t element;   /* bytes of one */
    uint8_t *first;   /* that a chunk's frames may begin with: FIRSTS elements for each worker */
    uint8_t *outcome; /* what becomes of those, FIRSTS elements */
    struct rte_mempool *pool;
    unsigned chunks;       /* of each worker: a power of two, not less than the slots */
    struct flight *flight; /* worker * chunks + tag % chunks */
    uint8_t *sum;          /* results, body_bytes for each chunk; the first element is not meaningful */
    size_t frame_bytes, body_bytes;
};

/* Frames stamped with the first chunks' numbers; each flight owns its mbuf. 0, or -ENOMEM. */
int frames_build(struct frames *fr, const struct source_options *o);
void frames_free(struct frames *fr);

static inline unsigned frames_count(const struct frames *fr)
{
    return fr->options->plan.workers * fr->chunks;
}

static inline struct flight *frames_flight(const struct frames *fr, unsigned worker, uint32_t tag)
{
    return &fr->flight[worker * fr->chunks + (tag & (fr->chunks - 1))];
}

/* Turns it into the frame of another chunk of the same slot. */
void frames_stamp(const struct frames *fr, struct flight *f, uint32_t tag);

/* Whether this frame is what must come back for that flight; if not, reports on standard error what is wrong
 * with it. */
bool frames_check_answer(const struct frames *fr, const struct flight *f, const uint8_t *frame, size_t bytes);
