/* The private state of a table; included by the table's own files only. In memory: struct atp_table, a struct
 * atp_hand for each shard, and the aggregators; each in whole cache lines. */
#pragma once

#include "atp/table.h"

enum { ATP_PASSED = 256 /* chunks of which a shard remembers what has passed */ };

/* Ranks of a chunk, at one level, whose contributions have passed on because no aggregator was free. */
struct atp_passed {
    uint64_t ranks; /* bits of the level's bitmap */
    uint32_t life, sequence;
    uint16_t job;
    uint8_t network, rack; /* rack 0 at the edge */
    bool edge;
};

/* Of one shard: how far its search for old sums has come, what has passed, and the sum that it has sent away
 * last, whose aggregator has a new owner. */
struct atp_hand {
    uint32_t taken;     /* aggregators: none is, none gets old */
    uint64_t looked_at; /* the time at which it looks now */
    uint32_t next, left;
    struct atp_passed passed[ATP_PASSED]; /* by sequence: a later chunk takes an earlier one's place */
    struct agg_flow flow;
    uint8_t payload[];
};

struct atp_table {
    struct atp_table_config cfg;
    uint32_t per_shard, parts, per_part; /* per_part: of one shard */
    size_t hand_bytes, slot_bytes;       /* from one to the next */
    uint8_t *hands, *aggregators;
    bool heard; /* atomic */
};

/* Written by the shard's owner only; what atp_table_view reads is stored atomically. A chunk's home is the
 * aggregator that its index names. If that is taken, the chunk goes to another nearby; so there is none to
 * look for but at home, as long as nobody is away. */
struct atp_aggregator {
    bool taken;
    bool complete; /* its sum is, but for those that have passed before, and was sent */
    uint8_t away;  /* chunks whose home this is, and that are at another one */
    uint16_t body_bytes;
    struct atp_aggregator *home; /* of its chunk; NULL: this one */
    uint64_t touched_at;
    uint64_t passed;       /* ranks of its chunk that it need not wait for: they have passed before */
    struct atp_packet sum; /* its header */
    struct agg_flow flow;  /* of the packet that has claimed it */
    uint8_t payload[];     /* as it is sent on: room for the header, then the body, room for the trailer */
};

static inline uint32_t atp_table_shards(const struct atp_table *t)
{
    return t->cfg.shards == 0 ? 1 : t->cfg.shards;
}
static inline struct atp_hand *atp_hand_of(const struct atp_table *t, unsigned shard)
{
    return (struct atp_hand *)(t->hands + shard * t->hand_bytes);
}
static inline struct atp_aggregator *atp_aggregator_at(const struct atp_table *t, uint32_t i)
{
    return (struct atp_aggregator *)(t->aggregators + i * t->slot_bytes);
}

/* That of the shard that a packet is for. */
static inline struct atp_hand *atp_hand_for(const struct atp_table *t, const struct atp_packet *p)
{
    return atp_hand_of(t, p->index % atp_table_shards(t));
}

/* The verdict: send the sum to where it was to go, which need not be where the present packet goes. The
 * aggregator is empty then; the sum lies at the shard's hand. reason: an enum atp_switch_reason */
void atp_send_away(const struct atp_table *t, struct atp_aggregator *a, unsigned shard, unsigned reason,
                   struct agg_verdict *v);
