/* One direction of a cable: bandwidth with a queue in front of it, delay, and what can go wrong on the way.
 */
#pragma once

#include "buffer.h"
#include "random.h"
#include "sim.h"

/* UDP over IPv4 over Ethernet. */
struct frame {
    struct frame *next,
        *previous; /* of all that are in flight; a receiver may use them once it owns the frame */
    unsigned host; /* the end that is not the switch */
    uint16_t switch_port, host_port; /* UDP */
    bool damaged;                    /* a bit has flipped on the way */
    bool marked;                     /* it has met a long queue (ECN) */
    bool unsummed;                   /* without UDP's checksum, so the receiver does not notice damage */
    bool forged;                     /* by somebody on the cable (forger.h) */
    bool untrue;                     /* ... who has changed it, or sends it in another's name */
    uint16_t bytes;
    uint16_t filler; /* bytes that it takes on the wire besides, for what the payload leaves out */
    const uint8_t *payload;
    struct buffer *buffer; /* that it lies in */
};

enum { FRAME_WIRE_OVERHEAD = 8 + 14 + 20 + 8 + 4 + 12 }; /* preamble, Ethernet, IPv4, UDP, FCS, gap */

struct link_quality {
    uint64_t bits_per_s;    /* 0: infinitely many */
    uint64_t delay, jitter; /* ns; a jitter longer than a frame takes reorders */
    uint32_t queue_bytes;   /* waiting for the wire; more are dropped. 0: no bound */
    uint32_t mark_bytes;    /* a queue as long marks what joins it; 0: none does */
    uint32_t loss_ppm;
    uint32_t loss_burst; /* frames lost in a row, on average; 0 or 1: independent */
    uint32_t duplicate_ppm;
    uint32_t corrupt_ppm;
    uint32_t delay_ppm;           /* frames that are held back ... */
    uint64_t held_ns;             /* ... for up to this long */
    uint64_t nap_every, nap_most; /* whoever receives takes nothing for up to nap_most ns, so often on the
                                     average; what arrives then waits. 0: never. Without jitter only */
};

struct link_stats {
    uint64_t sent, bytes, lost, overflowed, cut, duplicated, corrupted, held;
};

typedef void link_receiver(void *ctx, struct frame *frame); /* takes over the frame; frame_free */

struct link {
    struct sim *sim;
    uint64_t rng;
    struct link_quality quality;
    bool is_cut; /* nothing gets through */
    link_receiver *receiver;
    void *receiver_ctx;
    uint64_t free_at_ps; /* when the wire has sent all that is queued */
    bool in_burst;
    uint64_t awake_at, next_nap; /* of the receiver */
    struct frame *in_flight;
    struct link_stats stats;
};

void link_init(struct link *link, struct sim *sim, uint64_t *rng, link_receiver *receiver,
               void *receiver_ctx);
void link_fini(struct link *link); /* and what is in flight; the simulation must not step any more */

/* Takes over the frame. */
void link_send(struct link *link, struct frame *frame);

/* The payload is the whole buffer: the frame takes over a hold on it. */
struct frame *frame_around(unsigned host, uint16_t switch_port, uint16_t host_port, struct buffer *buffer,
                           bool unsummed);
/* Copies the payload. */
struct frame *frame_new(unsigned host, uint16_t switch_port, uint16_t host_port, const uint8_t *payload,
                        size_t bytes, bool unsummed);
struct frame *frame_copy(const struct frame *frame);
void frame_free(struct frame *frame);

/* Frames that wait, the first to come the first to go. */
struct frame_line {
    struct frame *first, *last;
    unsigned n;
};
void frame_line_put(struct frame_line *line, struct frame *frame); /* takes it over */
struct frame *frame_line_take(struct frame_line *line);            /* the caller's now; NULL: none waits */
void frame_line_drop(struct frame_line *line);                     /* all of them */

/* UDP's checksum says so. */
static inline bool frame_is_dropped(const struct frame *f)
{
    return f->damaged && !f->unsummed;
}
