/* How many chunks may be in flight at once: a delay-based controller.
 *
 * It keeps some packets queued beyond what the path itself holds, as FAST TCP does: once per round trip the
 * window moves towards  window * base / rtt + queue. The queue keeps every link busy, also while a host gets
 * no CPU for some milliseconds; a longer one would only add delay, to others, too, where many share a link.
 * How long it may be depends on the slots: it takes a little more than three round trips to recover from a
 * loss, and new chunks should not run out of slots meanwhile. If nothing has been lost for a while, that need
 * not be considered.
 *
 * A late result is not always a queue (a rank may be computing, a core may be busy elsewhere), so the
 * smallest round trip of a round counts, and the window shrinks in small steps. Losses are repaired by the
 * stream and do not count here, unless there are so many that a queue on the way must have been full. That is
 * remembered: the window stays below, and tries more little by little, as TCP does. It is taken back if so
 * many of them turn out to have been on their way that the others may be chance (RFC 4015 does so): a switch
 * whose lcores take turns overtakes itself.
 *
 * Threads of a rank have a stream each, and one link: they share the queue, and what they begin with. Each
 * rank's threads begin a call in another order. If each sent a whole window at once, one rank's link would
 * carry the chunks of one thread first, another's those of another, and no sum would be complete before both
 * had passed. So after a pause they begin with what the path itself holds, and queue by and by.
 *
 * Pure; times in nanoseconds; positions are the stream's running chunk numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct xfer_window {
    uint32_t size; /* chunks that may be in flight */
    uint32_t floor, start, ceiling;
    uint32_t bearable; /* at most ceiling: less, where more was lost than happens by chance */
    uint32_t before;   /* what it was before it was last cut, ... */
    uint32_t excess;   /* ... which is taken back when so many of the lost are found; 0: it stays */
    uint32_t slots;
    uint32_t shares;          /* windows that share a link's queue */
    uint32_t held;            /* what the path itself holds, as the last round told */
    uint32_t careful;         /* rounds for which losses are still expected */
    uint64_t round_end;       /* the round ends with the result of a chunk from here on */
    uint64_t round_rtt;       /* its smallest sample; 0: none */
    uint32_t delivered, lost; /* chunks since the path was last judged by its losses */
    bool lossy;               /* this round had a loss */
    bool limited;             /* the window was full at some time in this round; it grows only then */
};

/* ceiling >= 1 */
void xfer_window_init(struct xfer_window *w, uint32_t ceiling, uint32_t slots);

/* Back to the start, after the path was interrupted. next: the next new chunk's position. */
void xfer_window_restart(struct xfer_window *w, uint64_t next);

/* From here on so many windows share the link's queue. idle: nothing is in flight. next as above. */
void xfer_window_share(struct xfer_window *w, uint32_t shares, bool idle, uint64_t next);

/* The stream could have sent more than the window allows. */
static inline void xfer_window_full(struct xfer_window *w)
{
    w->limited = true;
}

/* The result of the chunk at this position has come; next as above. lost: it or our contribution had to be
 * repeated. rtt_ns: an unambiguous sample, or 0; base_ns: the path's base round trip, or 0. */
void xfer_window_result(struct xfer_window *w, uint64_t position, uint64_t next, bool lost, uint64_t rtt_ns,
                        uint64_t base_ns);

/* A chunk that counted as lost was not: it was only overtaken. */
void xfer_window_found(struct xfer_window *w);
