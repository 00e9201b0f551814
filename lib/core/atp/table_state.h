/* The private state of a table; included by the table's own files only. In memory: struct atp_table, a struct
 * atp_hand for each shard, and the aggregators; each in whole cache lines. */
#ifndef SWAGG_CORE_ATP_TABLE_STATE_H
#define SWAGG_CORE_ATP_TABLE_STATE_H

#include "atp/table.h"

/* Of one shard: how far its search for old sums has come, and the sum that it has sent away last, whose
 * aggregator has a new owner. */
struct atp_hand {
    uint32_t taken;     /* aggregators: none is, none gets old */
    uint64_t looked_at; /* the time at which it looks now */
    uint32_t next, left;
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

/* Written by the shard's owner only; what atp_table_view reads is stored atomically. */
struct atp_aggregator {
    bool taken;
    uint16_t body_bytes;
    uint64_t touched_at;
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
static inline void atp_take(struct atp_aggregator *a, bool taken)
{
    __atomic_store_n(&a->taken, taken, __ATOMIC_RELAXED);
}

/* The verdict: send the sum to where it was to go, which need not be where the present packet goes. The
 * aggregator is empty then; the sum lies at the shard's hand. reason: an enum atp_switch_reason */
void atp_send_away(const struct atp_table *t, struct atp_aggregator *a, unsigned shard, unsigned reason,
                   struct agg_verdict *v);

#endif
