/* How far results may overtake each other before the chunk left behind counts as late: an allowance that
 * adapts, as RACK's reordering window does (RFC 8985, section 6.2, step 4). A switch with several shards does
 * not answer in strict order, so with a fixed allowance chunks would be probed whose results are on their
 * way. Such an unnecessary probe is noticed, since the result comes twice, as TCP's DSACK tells of an
 * unnecessary retransmission. The allowance starts at a quarter of a round trip and grows by a quarter with
 * each round in which most probes were unnecessary. RACK returns to the start after 16 recoveries without
 * one; here the allowance shrinks by one quarter after 16 rounds, so that it is not lost all at once if
 * reordering lasts. Losses cause unnecessary probes, too: another rank has probed earlier, and the result
 * that this has brought about is on its way when this rank probes. Hence "most", and only results count that
 * came soon after the probe.
 *
 * Pure; times in nanoseconds; positions are the stream's running chunk numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct xfer_reorder {
    uint64_t round_end; /* the round ends with the result of a chunk from here on */
    uint8_t quarters;   /* of a round trip */
    uint8_t quiet;      /* rounds since the last unnecessary probe, or since the allowance shrank */
    uint32_t asked;     /* chunks settled in this round that had been probed ... */
    uint32_t in_vain;   /* ... and those of them whose probe was unnecessary */
};

void xfer_reorder_init(struct xfer_reorder *r);

/* After the path was interrupted. next: the next new chunk's position. */
static inline void xfer_reorder_restart(struct xfer_reorder *r, uint64_t next)
{
    r->round_end = next;
}

static inline uint64_t xfer_reorder_allowance(const struct xfer_reorder *r, uint64_t srtt_ns)
{
    return srtt_ns / 4 * r->quarters;
}

/* Whether reordering explains a result that came so long after its chunk was probed. A later one may be due
 * to another rank's probe. */
static inline bool xfer_reorder_explains(uint64_t since_asked_ns, uint64_t srtt_ns)
{
    return since_asked_ns <= srtt_ns / 4 * 3;
}

/* A chunk was probed while its result was on its way. */
static inline void xfer_reorder_in_vain(struct xfer_reorder *r)
{
    r->in_vain++;
}

/* The result of the chunk at this position has come; next as above. asked: it had been probed. */
void xfer_reorder_result(struct xfer_reorder *r, uint64_t position, uint64_t next, bool asked);
