/* How far results may overtake each other before the chunk left behind counts as late: an allowance that
 * learns, as RACK's reordering window does (RFC 8985, section 6.2, step 4).
 *
 * A switch with several shards answers in no strict order, and a fixed allowance would ask for chunks that
 * are on their way. Such a question shows: the chunk's result comes twice, as TCP's DSACK tells of a segment
 * sent in vain. The allowance starts at a quarter of a round trip and grows by one with each round in which
 * most questions were in vain. RACK falls back to the start after 16 recoveries without; here it shrinks by a
 * quarter after 16 rounds, so that where reordering lasts, what was learned is not forgotten all at once.
 *
 * Losses make questions in vain, too: another rank asks earlier, and the result that it has mended is on its
 * way when this rank asks. Hence "most", and only results count that came soon after the question.
 *
 * Pure; times in nanoseconds; positions are the stream's running chunk numbers.
 */
#ifndef SWAGG_CORE_SWITCHML_REORDER_H
#define SWAGG_CORE_SWITCHML_REORDER_H

#include <stdbool.h>
#include <stdint.h>

struct sml_reorder {
    uint64_t round_end; /* the round ends with the result of a chunk from here on */
    uint8_t quarters;   /* of a round trip */
    uint8_t quiet;      /* rounds since the last question in vain, or since the allowance shrank */
    uint32_t asked;     /* chunks settled in this round that had been asked for ... */
    uint32_t in_vain;   /* ... and those found to have been asked for in vain */
};

void sml_reorder_init(struct sml_reorder *r);

/* After the path was interrupted. next: the next new chunk's position. */
static inline void sml_reorder_restart(struct sml_reorder *r, uint64_t next)
{
    r->round_end = next;
}

static inline uint64_t sml_reorder_allowance(const struct sml_reorder *r, uint64_t srtt_ns)
{
    return srtt_ns / 4 * r->quarters;
}

/* Whether reordering explains a result that came so long after its chunk was asked for. What comes later may
 * as well have been mended for another rank. */
static inline bool sml_reorder_explains(uint64_t since_asked_ns, uint64_t srtt_ns)
{
    return since_asked_ns <= srtt_ns / 4 * 3;
}

/* A chunk was asked for while its result was on its way. */
static inline void sml_reorder_in_vain(struct sml_reorder *r)
{
    r->in_vain++;
}

/* The result of the chunk at this position has come; next as above. asked: it had been asked for. */
void sml_reorder_result(struct sml_reorder *r, uint64_t position, uint64_t next, bool asked);

#endif
