/* The buffers that a job's pool keeps, and a check of the rules of switchml/pool.h for them:
 *
 *   - it keeps what it was offered, two buffers a slot at most: the sum that is being made and the result
 *     completed last;
 *   - it gives each back once, neither earlier nor later than the first contribution (or the result handed
 *     back) that takes its place, or when it is drained;
 *   - from the completion of its chunk on, a buffer does not change; nor does one that was given back.
 *
 * What is given back is overwritten, unless frames with the result are still under way, and held for a while:
 * so a later read makes a wrong sum, and a later write is noticed.
 */
#pragma once

#include "buffer.h"
#include "switchml/pool.h"

enum { KEEPING_WATCHED = 32 };

struct keeping {
    const char **broken; /* the first rule that was; NULL: none */
    unsigned slots;
    struct kept {
        struct buffer *buffer;
        uint32_t tag;
    } (*kept)[2]; /* by slot and version */
    struct buffer *watched[KEEPING_WATCHED];
    unsigned next_watched;
};

/* broken outlives it. */
void keeping_init(struct keeping *k, unsigned slots, const char **broken);
void keeping_fini(struct keeping *k, const struct agg_job *job); /* drains its pool */

/* Takes note of the pool's verdict on this packet, a SwitchML one. */
void keeping_settle(struct keeping *k, const struct agg_packet *packet, const struct agg_verdict *v);
