/* The private state of a collector; included by the collector's own files only. In memory: struct
 * atp_collector, what authenticators are made with (keyed jobs), then the lanes, each of them
 *
 *     struct atp_lane | the result, with its header and trailer | the sum | the part aside
 *
 * or, in ordered mode, a place for each rank's contribution instead of the last two. A wide operation's sum
 * takes the place of both: it has no parts aside. */
#pragma once

#include "atp/collector.h"
#include "atp/reasons.h"
#include "protocol/ranks.h"

struct atp_collector {
    struct atp_collector_config cfg;
    unsigned words;    /* of a set of ranks */
    size_t lane_bytes; /* from one lane to the next */
    uint8_t *lanes;
    struct xfer_auth *auth;         /* of keyed jobs */
    uint64_t hears[ATP_RANK_WORDS]; /* the group; atomic: lanes may be different threads' */
};

enum { ATP_AGAIN_NOBODY = ATP_ALL - 1 };

/* What a contribution says of its call. */
struct atp_side {
    uint16_t rank; /* who says so */
    uint16_t bytes, root;
    uint8_t code;
    bool opening, scaled;
    struct xfer_call call; /* if opening */
};

/* Written by the lane's owner only; what atp_collector_view reads is stored atomically. */
struct atp_lane {
    uint32_t expected; /* the chunk that is being collected */
    uint32_t wraps;    /* how often sequence numbers had wrapped in this life before that one */
    uint16_t index;    /* its aggregators' */
    uint16_t contributed;
    bool begun;            /* something of it has come: first is known */
    bool differs;          /* and something that differs: other is known, and there will be no sum */
    bool marked, collided; /* some part of it was */
    uint8_t held;          /* the least that its contributions say (struct atp_packet) */
    int8_t exponent, aside_exponent;
    struct atp_side first, other;
    uint64_t in[ATP_RANK_WORDS];     /* whose contributions are in the sum */
    uint64_t aside[ATP_RANK_WORDS];  /* in the part aside; none: there is none */
    uint64_t askers[ATP_RANK_WORDS]; /* who has asked, or sent again, in this round of questions: one ends
                                        when one of them does so once more */
    uint64_t asked[ATP_RANK_WORDS];  /* who was told in it that the chunk waits for them */
    uint64_t wants[ATP_RANK_WORDS];  /* of the last verdict that was for some ranks only */
    uint64_t grouped[ATP_RANK_WORDS];
    bool has_result;   /* of chunk expected - window */
    uint16_t again_to; /* whom it was sent to once more: ATP_ALL: all that hear the group; ATP_AGAIN_NOBODY */
    uint64_t spared[ATP_RANK_WORDS]; /* whose next question that has answered already */
    uint16_t result_root, result_bytes;
    uint8_t result[]; /* header, body, trailer */
};

static inline bool atp_sides_agree(const struct atp_side *a, const struct atp_side *b)
{
    return a->bytes == b->bytes && a->root == b->root && a->code == b->code && a->opening == b->opening &&
           a->scaled == b->scaled && (!a->opening || xfer_call_equal(&a->call, &b->call));
}

/* What a packet brings. */
struct atp_part {
    uint64_t ranks[ATP_RANK_WORDS];
    const uint8_t *elements;
    size_t bytes;
    int8_t exponent;
};

enum atp_brought {
    ATP_BROUGHT_SOMETHING,
    ATP_BROUGHT_NOTHING,
    ATP_BROUGHT_OVERLAP, /* new ranks, which cannot be used as they are */
    ATP_BROUGHT_SUM,     /* where only single contributions may come */
};

static inline const struct agg_operation *atp_operation(const struct atp_collector *c, uint8_t code)
{
    return &c->cfg.kernels->operations[code];
}

static inline uint8_t *atp_lane_sum(const struct atp_collector *c, struct atp_lane *lane)
{
    return lane->result + ATP_HEADER_BYTES + c->cfg.chunk_bytes + XFER_TRAILER_MAX;
}

/* The sum (collector_sum.c). Takes a part of the lane's chunk, which is like those before it. */
enum atp_brought atp_lane_take(const struct atp_collector *c, struct atp_lane *lane,
                               const struct atp_part *part);
/* The elements of the result, once all ranks are in. */
void atp_lane_finish(const struct atp_collector *c, struct atp_lane *lane, uint8_t *out, size_t bytes);
