/* The private state of a stream; included by the stream's own files only. A chunk's position is its running
 * number in 64 bits, so that nothing wraps; its tag is the lower half. Four positions describe the progress,
 * head <= oldest <= end and head <= next <= end:
 *
 *   head    the first chunk that the switch, in its present life, may not be done with
 *   next    the next chunk to send for the first time in the switch's present life
 *   oldest  the first chunk that this rank is not done with
 *   end     one past the last chunk of the newest collective
 *
 * The oldest collective in progress begins at `base`, the others follow one another. Buffered ones end there:
 * then oldest < base, by at most the number of slots.
 *
 * While no switch restarts, head and oldest are the same. A restart takes head and next back to the first
 * chunk that any rank lacks; from there the stream goes forward again by the same rules, sending its result
 * where it has one and its contribution where not. */
#pragma once

#include "protocol/ranks.h"
#include "switchml/flight.h"
#include "switchml/stream.h"
#include "transfer/queue.h"
#include "transfer/reorder.h"
#include "transfer/rtt.h"
#include "transfer/window.h"

/* What is kept of a chunk after its collective has ended; its elements, host order, are a segment of their
 * own. A switch that has restarted may ask for those from `shared` on, at most `slots` that this rank is done
 * with, and where reduces are buffered there may be as many that it is not done with. */
struct sml_kept {
    struct xfer_call call;
    struct xfer_segment elements;
    struct xfer_segment
        awaited;   /* a sum that has not come, and will take their place; end 0: there is none */
    uint64_t lead; /* as of struct sml_chunk */
    bool opening, wants, whole;
};

/* Which of a call's elements this stream sums. */
struct sml_share {
    uint64_t first, count;
};

/* A collective in progress. */
struct sml_order {
    struct xfer_call call;
    struct sml_element element;
    struct sml_share share;
    bool owner_adds;                     /* as xfer_owner_adds */
    const struct xfer_segment *segments; /* where contributions are; and sums, if they are as long */
    const struct xfer_segment *sums;     /* as many */
    size_t segment_count;
    struct xfer_segment tensor; /* the only segment, if the caller has given no array */
    struct xfer_segment sum;    /* the only one of sums, if they are longer */
    uint64_t base;              /* its first position */
    uint64_t column;            /* as xfer_interleaved */
    struct xfer_roll *roll;     /* with a quorum; NULL: not wanted */
    struct xfer_turnout turnout;
};

struct sml_stream {
    struct sml_stream_config cfg;
    struct sml_flight *flights; /* [slots] */
    struct sml_kept *kept;      /* [sml_kept_chunks] */
    int8_t *exponents;          /* [sml_exponents]: of the results that this rank has, where they have some */
    const struct num_loops *numbers;
    struct xfer_auth *auth; /* XFER_CHECKSUM_KEYED */
    uint64_t round;     /* the position whose running number in the present life is 0 (struct xfer_route) */
    uint8_t *kept_data; /* [sml_kept_chunks][chunk_bytes] */

    /* With a quorum. */
    uint8_t *names;     /* [2 * slots], maps of the ranks in the results of positions from oldest - slots to
                           oldest + slots; all 0: there was none to be had, or it was not wanted */
    size_t names_bytes; /* of one; 0: there is no quorum */
    uint64_t gone;      /* results of positions before this one cannot be had any more */
    struct xfer_roll *roll; /* of the next collective to begin; NULL: not wanted */

    uint32_t share_from, share_to; /* as of sml_stream_share; both 0: nobody has said */
    struct xfer_queue queue;       /* the collectives in progress */
    struct sml_order *orders;      /* [queue.room] */
    uint64_t base, end;            /* equal if none is in progress */

    uint64_t head, next, oldest;
    uint64_t held;     /* positions from this one on may not leave yet; UINT64_MAX: all may */
    uint64_t shared;   /* every rank has the results of all positions before this one */
    uint64_t sent_end; /* one past the last position ever sent */

    struct sml_list sent[SML_ASKS_MAX + 1]; /* by their `asks`; each by sent_at */
    struct sml_list due;
    uint32_t in_flight; /* slots in any of the lists */
    struct xfer_rtt rtt;
    struct xfer_window window;
    struct xfer_reorder reorder;
    uint64_t furthest;    /* one past the furthest position that is settled */
    uint64_t settled_at;  /* when the last one was */
    uint64_t settled_rtt; /* the round trip of the furthest of which it is known */
    uint64_t measured_at; /* when a chunk was settled that was sent once */
    uint64_t quiet_since; /* the timer counts from here */
    unsigned backoff;     /* probes that the timer has caused since the last result */
    unsigned silent;      /* how many of them since the switch was last heard */
    uint64_t expired_at;  /* when the timer last expired; 0: never */
    unsigned suspects;    /* how many more of the chunks that were sent before that may be asked for */
    uint64_t progress;

    uint64_t waiting_position; /* which chunk the last WAIT was about; 0: none */
    uint8_t waiting[AGG_MAX_RANKS / 8];

    bool rejected, mismatched;
    uint64_t boot_id;
    struct xfer_mismatch mismatch;
    struct xfer_stats stats;
};

/* The collective in progress with this number; the oldest, and one past its
 * last position; the one that a position belongs to, from base on. */
static inline struct sml_order *sml_order_at(const struct sml_stream *s, uint32_t number)
{
    return &s->orders[xfer_queue_slot(&s->queue, number)];
}
static inline struct sml_order *sml_oldest_order(const struct sml_stream *s)
{
    return sml_order_at(s, s->queue.first);
}
static inline uint64_t sml_oldest_end(const struct sml_stream *s)
{
    return xfer_queue_oldest_end(&s->queue, s->end);
}
static inline struct sml_order *sml_order_with(const struct sml_stream *s, uint64_t position)
{
    return sml_order_at(s, xfer_queue_find(&s->queue, position));
}

/* Where a chunk's elements are and what they belong to. */
struct sml_chunk {
    const struct xfer_call *call;
    /* to be sent: the result, if this rank has and wanted one, else its contribution */
    struct xfer_pieces elements;
    struct xfer_pieces result; /* where that goes */
    struct xfer_pieces block;  /* formats with exponents: whose exponent its packet tells; bytes 0: none */
    uint64_t lead; /* ... so many positions earlier the exponent of its elements came; 0: they have none */
    bool opening;
    bool wants; /* this rank is to get the result, or some of it */
    bool whole; /* ... of which it can hand back all */
};

static inline uint16_t sml_slot_of(const struct sml_stream *s, uint64_t position)
{
    return (uint16_t)(position & (s->cfg.slots - 1u));
}
static inline struct sml_flight *sml_flight_of(const struct sml_stream *s, uint64_t position)
{
    return &s->flights[sml_slot_of(s, position)];
}
static inline bool sml_have(const struct sml_stream *s, uint64_t position)
{
    return position < s->oldest || (position < s->oldest + s->cfg.slots && sml_flight_of(s, position)->have);
}
static inline uint32_t sml_kept_chunks(const struct sml_stream_config *cfg)
{
    return cfg->buffer_reduces || cfg->may_leave ? 2u * cfg->slots : cfg->slots;
}
/* How often tags had wrapped in the switch's present life before this position. */
static inline uint32_t sml_wraps(const struct sml_stream *s, uint64_t position)
{
    return (uint32_t)((position - s->round) >> 32);
}
/* Where a kept chunk is. */
static inline uint32_t sml_kept_index(const struct sml_stream *s, uint64_t position)
{
    return (uint32_t)position & (sml_kept_chunks(&s->cfg) - 1);
}
/* A result is scaled by an exponent that came up to `slots` positions earlier. Results of the last `slots`
 * positions may be asked for again while those of the next have come, so three times as many count, in a
 * power of two. */
static inline uint32_t sml_exponents(const struct sml_stream_config *cfg)
{
    return xfer_has_exponents(cfg->format) ? 4u * cfg->slots : 0;
}
static inline int8_t *sml_exponent_at(const struct sml_stream *s, uint64_t position)
{
    return &s->exponents[position & (sml_exponents(&s->cfg) - 1)];
}
/* Bytes that a kept chunk takes: fp16 has twice as many elements in a packet as there is room for floats. */
static inline size_t sml_kept_bytes(const struct sml_stream_config *cfg)
{
    return cfg->format == XFER_FORMAT_FP16 ? 2u * cfg->chunk_bytes : cfg->chunk_bytes;
}
/* Shares begin where vectors do. The first is not less than the others. */
enum { SML_SHARE_STEP = 16 };
static inline uint64_t sml_share_first(uint64_t count, unsigned place, unsigned places)
{
    const uint64_t even = count / places * place + count % places * place / places;
    const uint64_t first = (even + SML_SHARE_STEP - 1) / SML_SHARE_STEP * SML_SHARE_STEP;

    return first < count ? first : count;
}
/* Where a place begins among so many elements, by a fraction of them. */
static inline uint64_t sml_share_at(uint64_t count, uint32_t fraction)
{
    const uint64_t at =
        count / SML_SHARE_WHOLE * fraction + count % SML_SHARE_WHOLE * fraction / SML_SHARE_WHOLE;
    const uint64_t first = (at + SML_SHARE_STEP - 1) / SML_SHARE_STEP * SML_SHARE_STEP;

    return first < count ? first : count;
}
/* The same of a call of which places have fractions, within what the thread has. */
static inline struct sml_share sml_share_by_fraction(const struct sml_stream *s, const struct xfer_call *call)
{
    const unsigned threads = call->shares ? call->shares : 1;
    const uint64_t all = sml_share_first(call->count, call->share, threads),
                   count = sml_share_first(call->count, call->share + 1u, threads) - all;
    const uint64_t first = sml_share_at(count, s->share_from);

    return (struct sml_share){all + first, sml_share_at(count, s->share_to) - first};
}
static inline struct sml_share sml_share_of(const struct sml_stream *s, const struct xfer_call *call)
{
    const unsigned here = s->cfg.places ? s->cfg.places : 1,
                   places = here * (call->shares ? call->shares : 1);
    const unsigned place = call->share * here + s->cfg.place;

    if (s->share_to > 0)
        return sml_share_by_fraction(s, call);
    const uint64_t first = sml_share_first(call->count, place, places);
    return (struct sml_share){first, sml_share_first(call->count, place + 1, places) - first};
}

/* share: this stream's of the call. */
static inline struct xfer_blocks sml_blocks_of(const struct sml_stream *s, const struct xfer_call *call,
                                               const struct sml_share *share)
{
    struct xfer_call part = *call;

    part.count = share->count;
    return xfer_blocks_of(s->cfg.format, s->cfg.chunk_bytes, s->cfg.slots, &part);
}
/* A tensor does not fit into the caches, and a chunk ends before the CPU has noticed a sequential access, so
 * memory is prefetched a little before it is used. */
enum { SML_CACHE_LINE = 64 };
static inline void sml_fetch_to_read(const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += SML_CACHE_LINE)
        __builtin_prefetch(at + i, 0, 2);
}
static inline void sml_fetch_to_write(const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += SML_CACHE_LINE)
        __builtin_prefetch(at + i, 1);
}

/* Has the slot's chunk, which is in flight, sent again. */
static inline void sml_make_due(struct sml_stream *s, uint16_t slot, enum sml_due what)
{
    sml_flight_unlink(s->flights, slot);
    sml_flight_link(s->flights, &s->due, slot);
    s->flights[slot].due = (uint8_t)what;
}

/* With a quorum: who is in the result of a position. */
static inline uint8_t *sml_names_at(const struct sml_stream *s, uint64_t position)
{
    return s->names + (position & (2u * s->cfg.slots - 1)) * s->names_bytes;
}

/* Whether a result, with these names behind its elements, could be had. */
static inline bool sml_has_names(const struct sml_stream *s, const uint8_t *names)
{
    for (size_t i = 0; i < s->names_bytes; i++)
        if (names[i] != 0)
            return true;
    return !s->cfg.quorum;
}

/* Whether this rank was to get the chunk's result, is done with it, and has none. Of a position from oldest -
 * slots on. */
static inline bool sml_missed(const struct sml_stream *s, uint64_t position)
{
    return !sml_has_names(s, sml_names_at(s, position));
}

/* Whether this rank hands the chunk's result back to a switch that has lost it. */
static inline bool sml_restores(const struct sml_stream *s, uint64_t position, const struct sml_chunk *chunk)
{
    return chunk->wants && chunk->whole && sml_have(s, position) && !sml_missed(s, position);
}

/* The results of chunks before this position cannot be had any more: goes on behind them, as far as the
 * collectives in progress have any, but that the switch is asked about those that this rank has sent. */
void sml_stream_skip(struct sml_stream *s, uint64_t position, uint64_t now);

/* The chunk at a position of a collective in progress, or at a kept one before them. */
struct sml_chunk sml_stream_chunk(const struct sml_stream *s, uint64_t position);

/* What the elements of a chunk at this position are scaled by. lead > 0 */
struct xfer_scale sml_stream_scale(const struct sml_stream *s, uint64_t position,
                                   const struct sml_chunk *chunk);

/* Copies what the switch, in this life or the next, may still ask for of the oldest collective in progress,
 * which ends. */
void sml_stream_keep(struct sml_stream *s);

/* The result of a kept chunk is where its contribution was. */
void sml_stream_note_kept(struct sml_stream *s, uint64_t position);

/* Ends the oldest collectives in progress for which this rank need not wait any longer: in and out go back to
 * the caller, and what the switch may still ask for is kept in copies. */
void sml_stream_end_if_done(struct sml_stream *s);
