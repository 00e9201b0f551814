/* A network for tests: packets between real streams and a real pool lie in a bag, from which they are drawn
 * in any order, never, or several times. */
#pragma once

#include <string.h>

#include "random.h"
#include "switchml/pool.h"
#include "switchml/stream.h"

enum { BAG_MAX = 512, BAG_PAYLOAD_MAX = SML_HEADER_BYTES + 192 + XFER_TRAILER_MAX };

struct bag_packet {
    bool to_switch;
    uint16_t rank; /* the worker's */
    uint16_t bytes;
    uint8_t payload[BAG_PAYLOAD_MAX];
};

struct bag {
    unsigned n;
    struct bag_packet packet[BAG_MAX];
};

/* For the payload to be filled in. When the bag is full, something in it is lost. */
static inline struct bag_packet *bag_put(struct bag *b, uint64_t *random, bool to_switch, unsigned rank)
{
    struct bag_packet *p = &b->packet[b->n < BAG_MAX ? b->n++ : rng_below(random, BAG_MAX)];

    p->to_switch = to_switch;
    p->rank = (uint16_t)rank;
    return p;
}

static inline void bag_send(struct bag *b, uint64_t *random, unsigned rank, const uint8_t *payload,
                            size_t bytes)
{
    struct bag_packet *p = bag_put(b, random, false, rank);

    memcpy(p->payload, payload, bytes);
    p->bytes = (uint16_t)bytes;
}

/* What the stream has to send now. */
static inline void bag_poll(struct bag *b, uint64_t *random, struct sml_stream *stream, unsigned rank,
                            uint64_t now)
{
    struct xfer_send send;

    while (sml_stream_poll(stream, now, &send)) {
        struct bag_packet *p = bag_put(b, random, true, rank);
        p->bytes = (uint16_t)xfer_send_copy(&send, p->payload);
    }
}

/* What the switch sends to all, or to the rank whose packet it was. */
static inline void bag_carry(struct bag *b, uint64_t *random, const struct agg_verdict *v, unsigned workers,
                             unsigned rank)
{
    if (sml_reasons[v->reason].action == AGG_TO_ALL)
        for (unsigned r = 0; r < workers; r++)
            bag_send(b, random, r, agg_wants(v, r) ? v->payload : v->brief,
                     agg_wants(v, r) ? v->bytes : v->brief_bytes);
    else if (sml_reasons[v->reason].action == AGG_REPLY)
        bag_send(b, random, rank, v->payload, v->bytes);
}

/* The place of one of its packets; there are some. */
static inline unsigned bag_draw(const struct bag *b, uint64_t *random)
{
    return (unsigned)rng_below(random, b->n);
}

static inline void bag_remove(struct bag *b, unsigned place)
{
    b->packet[place] = b->packet[--b->n];
}
