/* The source's frames: built once, one for each worker and slot, then stamped with the next chunk's number
 * and sent over and over. And what must come back for them.
 *
 * A chunk's elements are those of its slot (plan.h), but for the first, which tells the chunk: so a sum of
 * another chunk, worker or slot is a wrong one. All are exact in any order of addition. */
#ifndef SWAGG_SOURCE_FRAMES_H
#define SWAGG_SOURCE_FRAMES_H

#include <rte_mbuf.h>

#include "options.h"

/* A worker's chunk on its way. */
struct flight {
    struct rte_mbuf *m;
    uint8_t *frame; /* m's bytes */
    uint64_t sent_at;
    uint32_t tag;
    uint16_t
        unstamped; /* ones' complement sum over what the UDP checksum covers, less what frames_stamp writes */
    uint16_t worker;
};

struct frames {
    const struct source_options *options;
    struct rte_mempool *pool;
    struct flight *flight; /* worker * slots + slot */
    uint8_t *sum;          /* body_bytes for each slot; the first element is not meaningful */
    size_t frame_bytes, body_bytes;
};

/* Frames stamped with the first chunk of each slot; each flight owns its mbuf. 0, or -ENOMEM. */
int frames_build(struct frames *fr, const struct source_options *o);
void frames_free(struct frames *fr);

static inline unsigned frames_count(const struct frames *fr)
{
    return fr->options->plan.workers * fr->options->plan.slots;
}

/* Makes it the frame of another chunk of the same slot. */
void frames_stamp(const struct frames *fr, struct flight *f, uint32_t tag);

/* Is this frame what must come back for that flight? Else says what is wrong with it, on standard error. */
bool frames_check_answer(const struct frames *fr, const struct flight *f, const uint8_t *frame, size_t bytes);

#endif
