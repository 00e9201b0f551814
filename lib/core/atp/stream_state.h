/* The private state of a stream; included by the stream's own files only. A chunk's position is its running
 * number in 64 bits, so that nothing wraps; its sequence number is the lower half.
 *
 *   una     the first that the server, in its present life, has not acknowledged
 *   inf     the first that was not sent in that life
 *   oldest  the first that this rank is not done with
 *   base    the first of the oldest collective in progress; end, if there is none
 *   end     one past the last of the newest; una <= inf <= end, una <= oldest <= end
 *
 * While no server restarts, una and oldest are the same. A restart takes una and inf back to the first chunk
 * that any rank lacks; from there the stream goes forward again by the same rules, sending its result where
 * it has one and its contribution where not. */
#pragma once

#include "atp/congestion.h"
#include "atp/cut.h"
#include "atp/stream.h"
#include "protocol/ranks.h"
#include "transfer/queue.h"
#include "transfer/rtt.h"

enum { ATP_NO_FLIGHT = 0xFFFF, ATP_OUT_OF_ORDER = 3, ATP_SERVER_PORTS = 16 };

/* The chunk in one place of the window: position % window. */
struct atp_flight {
    uint64_t sent_at;     /* last */
    uint64_t order;       /* the how-manieth packet of the stream that was; 0: never sent */
    uint64_t first_order; /* of the first one that was this chunk's */
    uint16_t next, prev;
    uint16_t index; /* of the aggregator */
    uint8_t sends;
    bool listed; /* in one of the two lists */
    bool due;    /* which: due, or sent */
    bool told;   /* since it was sent the server has said who is missing */
    bool asked;  /* its last packet was a question, without elements */
    bool direct; /* the server has asked for it, perhaps before it was sent */
    bool done;   /* acknowledged, by the server in its present life */
    bool have;   /* this rank is done with it. Of chunks from oldest on */
};

/* What is kept of a chunk after its collective has ended: the result, or the contribution of a rank that
 * wanted none. Its elements, host order, are a segment of their own. */
struct atp_kept {
    struct xfer_call call;
    struct xfer_segment elements;
    uint64_t lead; /* as of struct atp_chunk */
    bool opening;
};

/* Where a chunk's elements are, and what they belong to. */
struct atp_chunk {
    const struct xfer_call *call;
    struct xfer_pieces elements; /* to be sent: the result, if this rank has and wanted one, else its
                                   contribution */
    uint64_t lead; /* so many positions earlier the exponent of its elements came; 0: they have none */
    bool opening;
};

/* Places of chunks that are under way. */
struct atp_list {
    uint16_t first, last;
};

/* What the rank knows of the job's group. */
struct atp_group {
    bool hears;       /* packets have come by it, and do still */
    bool told;        /* the server was told last that they do */
    unsigned misses;  /* results in a row that came one by one, though it was told */
    uint64_t tell_at; /* not earlier again */
    uint64_t pause;
};

/* A collective in progress. */
struct atp_order {
    struct xfer_call call;
    struct atp_cut cut;
    const struct xfer_segment *segments;
    size_t segment_count;
    uint64_t base; /* its first position */
};

struct atp_stream {
    struct atp_stream_config cfg;
    struct atp_flight *flights; /* [window] */
    int8_t *exponents;          /* [4 * window]: of the last results, where they have some */
    struct atp_kept *kept;      /* [window], by position, as flights */
    uint8_t *kept_data;         /* [window][atp_kept_bytes] */
    const struct num_loops *numbers;
    struct xfer_auth *auth; /* of a keyed job */
    uint64_t round;         /* the position whose running number in this life is 0 (struct xfer_route) */
    struct atp_topology topology;

    struct xfer_queue queue;  /* the collectives in progress */
    struct atp_order *orders; /* [queue.room] */
    uint64_t base, una, inf, oldest, end;
    uint64_t sent_end; /* one past the last that was ever sent */
    uint64_t shared;   /* all ranks have the results of all positions before this one */

    struct atp_list sent; /* in the order of sending */
    struct atp_list due;  /* to be sent again now */
    uint32_t under_way;
    uint64_t packets;                                    /* sent so far */
    unsigned ports;                                      /* of the server, that are told apart, 1.. */
    uint64_t latest[ATP_SERVER_PORTS][ATP_OUT_OF_ORDER]; /* by port, orders of those that were acknowledged:
                                                            the largest, falling */
    struct xfer_rtt rtt;
    struct atp_congestion congestion;
    bool limited;         /* the window keeps more from being sent */
    uint64_t quiet_since; /* the timer counts from here */
    unsigned backoff;     /* times that it has expired since the last result */
    unsigned silent;      /* ... since the server was last heard */
    uint64_t progress;

    struct atp_group group;
    uint64_t waiting_position; /* which chunk the last WAITING was about; 0: none */
    uint8_t waiting[ATP_MAX_WORKERS / 8];
    bool rejected, mismatched;
    struct xfer_mismatch mismatch;
    struct xfer_stats stats;
    struct atp_stream_signs signs;
};

static inline struct atp_flight *atp_flight_of(const struct atp_stream *s, uint64_t position)
{
    return &s->flights[position & (s->cfg.terms.window - 1u)];
}
/* Of the server, that the chunk in this place is dealt to, as atp_protocol.shard_key says; or which of some
 * that are not told apart. */
static inline unsigned atp_port_of(const struct atp_stream *s, uint16_t place)
{
    return (place & (ATP_MIN_WINDOW - 1u)) % s->ports;
}
static inline int8_t *atp_exponent_at(const struct atp_stream *s, uint64_t position)
{
    return &s->exponents[position & (4u * s->cfg.terms.window - 1)];
}
/* How often sequence numbers had wrapped in this life before this position. */
static inline uint32_t atp_wraps(const struct atp_stream *s, uint64_t position)
{
    return (uint32_t)((position - s->round) >> 32);
}
static inline bool atp_wants(const struct atp_stream *s, const struct xfer_call *call)
{
    return xfer_gives(call->collective, call->root, s->cfg.rank);
}
static inline bool atp_have(const struct atp_stream *s, uint64_t position)
{
    return position < s->oldest ||
           (position < s->oldest + s->cfg.terms.window && atp_flight_of(s, position)->have);
}
/* Bytes that a kept chunk takes: fp16 has twice as many elements in a packet as there is room for floats. */
static inline size_t atp_kept_bytes(const struct atp_stream_config *cfg)
{
    return cfg->terms.format == XFER_FORMAT_FP16 ? 2u * cfg->terms.chunk_bytes : cfg->terms.chunk_bytes;
}
static inline uint32_t atp_window(const struct atp_stream *s)
{
    return s->cfg.fixed_window > 0 ? s->cfg.fixed_window : s->congestion.window;
}

/* The collective in progress that a position belongs to, from base on. */
static inline struct atp_order *atp_order_with(const struct atp_stream *s, uint64_t position)
{
    return &s->orders[xfer_queue_slot(&s->queue, xfer_queue_find(&s->queue, position))];
}

/* Puts a place at the end of a list, or takes it out of the one that it is in. */
void atp_list_put(struct atp_stream *s, struct atp_list *list, uint16_t place);
void atp_list_take(struct atp_stream *s, uint16_t place);

/* Has a chunk that is under way sent again. */
void atp_make_due(struct atp_stream *s, uint64_t position, bool direct);

/* Notes how a result, or a packet for finding that out, has come. for_all: it is for all ranks; asked: this
 * rank had asked for it. */
void atp_group_note(struct atp_stream *s, const struct atp_packet *p, bool for_all, bool asked);

/* When the server is to be told, or asked, next (UINT64_MAX: not at all), and the header of the packet that
 * does so, which leaves now. */
uint64_t atp_group_due(const struct atp_stream *s);
struct atp_packet atp_group_tell(struct atp_stream *s, uint64_t now);

/* The chunk at a position of a collective in progress, or at a kept one before them; which call it is of,
 * without a search for its elements. */
const struct xfer_call *atp_call_at(const struct atp_stream *s, uint64_t position);
struct atp_chunk atp_chunk_at(const struct atp_stream *s, uint64_t position);

/* Ends the oldest collectives in progress if this rank is done with all of them: the tensors go back to the
 * caller, and what a server may still ask for is kept in copies. */
void atp_end_if_done(struct atp_stream *s);

/* The elements of a packet of a collective in progress, or those whose exponent it tells (block). */
struct xfer_pieces atp_elements(const struct atp_stream *s, uint64_t position, bool block, bool out);

/* What the elements of a chunk at this position are scaled by. lead > 0 */
struct xfer_scale atp_scale(const struct atp_stream *s, uint64_t position, const struct xfer_call *call,
                            uint64_t lead);
