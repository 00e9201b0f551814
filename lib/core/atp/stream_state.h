/* The private state of a stream; included by the stream's own files only. A chunk's position is its running
 * number in 64 bits, so that nothing wraps; its sequence number is the lower half.
 *
 *   base   the first of the collective in progress
 *   una    the first that is not acknowledged
 *   inf    the first that was never sent
 *   end    one past the last of the collective; base <= una <= inf <= end
 */
#ifndef SWAGG_CORE_ATP_STREAM_STATE_H
#define SWAGG_CORE_ATP_STREAM_STATE_H

#include "atp/congestion.h"
#include "atp/cut.h"
#include "atp/stream.h"
#include "switchml/rtt.h"

enum { ATP_NO_PLACE = 0xFFFF, ATP_OUT_OF_ORDER = 3 };

/* The chunk in one place of the window: position % window. */
struct atp_flight {
    uint64_t sent_at; /* last */
    uint64_t order;   /* the how-manieth packet of the stream that was; 0: never sent */
    uint16_t next, prev;
    uint16_t index; /* of the aggregator */
    uint8_t sends;
    bool listed; /* in one of the two lists */
    bool due;    /* which: due, or sent */
    bool direct; /* the server has asked for it, perhaps before it was sent */
    bool done;
};

/* Places of chunks that are under way. */
struct atp_list {
    uint16_t first, last;
};

/* What the rank knows of the job's group (stream_group.c). */
struct atp_group {
    bool hears;       /* packets have come by it, and do still */
    bool told;        /* the server was told last that they do */
    unsigned misses;  /* results in a row that came one by one, though it was told */
    uint64_t tell_at; /* not earlier again */
    uint64_t pause;
};

struct atp_stream {
    struct atp_stream_config cfg;
    struct atp_flight *flights; /* [window] */
    int8_t *exponents;          /* [4 * window]: of the last results, where they have some */
    const struct num_loops *numbers;
    struct sml_auth *auth; /* of a keyed job */
    uint64_t round;        /* the position whose running number in this life is 0 (struct sml_route) */
    struct atp_topology topology;

    struct sml_call call; /* the collective in progress; the next one's number otherwise */
    struct atp_cut cut;
    const struct sml_segment *segments;
    size_t segment_count;
    uint64_t base, una, inf, end;

    struct atp_list sent; /* in the order of sending */
    struct atp_list due;  /* to be sent again now */
    uint32_t under_way;
    uint64_t orders;                   /* packets sent so far */
    uint64_t latest[ATP_OUT_OF_ORDER]; /* orders of those that were acknowledged, the largest, falling */
    struct sml_rtt rtt;
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
    struct sml_mismatch mismatch;
    struct sml_stream_stats stats;
    struct atp_stream_signs signs;
};

static inline struct atp_flight *atp_flight_of(const struct atp_stream *s, uint64_t position)
{
    return &s->flights[position & (s->cfg.terms.window - 1u)];
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
static inline bool atp_wants(const struct atp_stream *s)
{
    return s->call.collective == SML_ALLREDUCE || s->call.root == s->cfg.rank;
}
static inline uint32_t atp_window(const struct atp_stream *s)
{
    return s->cfg.fixed_window > 0 ? s->cfg.fixed_window : s->congestion.window;
}

/* Puts a place at the end of a list, or takes it out of the one that it is in. */
void atp_list_put(struct atp_stream *s, struct atp_list *list, uint16_t place);
void atp_list_take(struct atp_stream *s, uint16_t place);

/* Has a chunk that is under way sent again. */
void atp_make_due(struct atp_stream *s, uint64_t position, bool direct);

/* Notes how a result, or a packet for finding that out, has come. */
void atp_group_init(struct atp_stream *s);
void atp_group_note(struct atp_stream *s, const struct atp_packet *p);

/* When the server is to be told, or asked, next (UINT64_MAX: not at all), and the packet that does so. */
uint64_t atp_group_due(const struct atp_stream *s);
void atp_group_tell(struct atp_stream *s, uint64_t now, struct sml_send *send);

/* Begins a packet to the server about a chunk: all that it says of itself, but for its header. */
void atp_begin_packet(const struct atp_stream *s, uint64_t position, struct sml_send *send);

/* The elements of a packet of the collective in progress, or those whose exponent it tells (block). */
struct sml_pieces atp_elements(const struct atp_stream *s, uint64_t position, bool block, bool out);

/* What the elements at this position are scaled by. cut.lead > 0 */
struct sml_scale atp_scale(const struct atp_stream *s, uint64_t position);

#endif
