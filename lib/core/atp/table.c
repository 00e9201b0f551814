#include "atp/reasons.h"
#include "atp/table_state.h"
#include "protocol/heard.h"

enum { LINE = 64, LOOK_AT_ONCE = 64 /* aggregators whose age is looked at in one go */ };

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static uint32_t shards_of(const struct atp_table_config *cfg)
{
    return cfg->shards == 0 ? 1 : cfg->shards;
}

static uint32_t parts_of(const struct atp_table_config *cfg)
{
    return cfg->parts == 0 ? 1 : cfg->parts;
}

static uint32_t per_shard_of(const struct atp_table_config *cfg)
{
    const uint32_t n = cfg->aggregators / shards_of(cfg), least = parts_of(cfg);

    return n < least ? least : n;
}

static size_t slot_bytes_of(const struct atp_table_config *cfg)
{
    return lines(sizeof(struct atp_aggregator) + ATP_HEADER_BYTES + cfg->chunk_bytes + XFER_TRAILER_BYTES);
}

static size_t hand_bytes_of(const struct atp_table_config *cfg)
{
    return lines(sizeof(struct atp_hand) + ATP_HEADER_BYTES + cfg->chunk_bytes + XFER_TRAILER_BYTES);
}

size_t atp_table_footprint(const struct atp_table_config *cfg)
{
    if (cfg->aggregators < 1 || cfg->aggregators > ATP_MAX_AGGREGATORS || cfg->max_age_ns == 0 ||
        cfg->chunk_bytes < ATP_MIN_CHUNK_BYTES || cfg->chunk_bytes > ATP_MAX_CHUNK_BYTES ||
        cfg->parts > ATP_MAX_PARTS || cfg->forward_ppm > ATP_ALL_CHUNKS)
        return 0;
    return lines(sizeof(struct atp_table)) +
           shards_of(cfg) * (hand_bytes_of(cfg) + per_shard_of(cfg) * slot_bytes_of(cfg));
}

struct atp_table *atp_table_init(void *mem, const struct atp_table_config *cfg)
{
    struct atp_table *t = mem;

    *t = (struct atp_table){.cfg = *cfg,
                            .per_shard = per_shard_of(cfg),
                            .parts = parts_of(cfg),
                            .per_part = per_shard_of(cfg) / parts_of(cfg),
                            .hand_bytes = hand_bytes_of(cfg),
                            .slot_bytes = slot_bytes_of(cfg)};
    t->hands = (uint8_t *)mem + lines(sizeof *t);
    t->aggregators = t->hands + shards_of(cfg) * t->hand_bytes;
    for (unsigned shard = 0; shard < shards_of(cfg); shard++)
        *atp_hand_of(t, shard) = (struct atp_hand){0};
    for (uint32_t i = 0; i < atp_table_size(t); i++)
        *atp_aggregator_at(t, i) = (struct atp_aggregator){0};
    return t;
}

uint32_t atp_table_size(const struct atp_table *t)
{
    return shards_of(&t->cfg) * t->per_shard;
}

void atp_aggregator_prefetch(const struct atp_aggregator *a)
{
    __builtin_prefetch(a, 1);
    __builtin_prefetch((const uint8_t *)a + LINE, 1);
}

bool atp_table_expire(struct atp_table *t, unsigned shard, uint64_t now, struct agg_verdict *v)
{
    struct atp_hand *hand = atp_hand_of(t, shard);

    if (hand->looked_at != now) {
        hand->looked_at = now;
        hand->left = t->per_shard < LOOK_AT_ONCE ? t->per_shard : LOOK_AT_ONCE;
    }
    while (hand->left > 0) {
        struct atp_aggregator *a = atp_aggregator_at(t, shard * t->per_shard + hand->next);
        hand->left--;
        hand->next = (hand->next + 1) % t->per_shard;
        if (a->taken && now - a->touched_at >= t->cfg.max_age_ns) {
            v->kept = false;
            v->released = v->buffer = NULL;
            atp_send_away(t, a, shard, ATP_SWITCH_AGED, v);
            return true;
        }
    }
    return false;
}

bool atp_table_awaits_time(const struct atp_table *t, unsigned shard)
{
    return atp_hand_of(t, shard)->taken > 0;
}

uint32_t atp_table_taken(const struct atp_table *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < atp_table_size(t); i++)
        n += __atomic_load_n(&atp_aggregator_at(t, i)->taken, __ATOMIC_RELAXED);
    return n;
}

bool atp_table_heard(struct atp_table *t)
{
    return agg_heard_take(&t->heard);
}

bool atp_table_view(const struct atp_table *t, uint32_t i, struct agg_slot_view *view)
{
    if (i >= atp_table_size(t))
        return false;
    const struct atp_aggregator *a = atp_aggregator_at(t, i);
    const uint64_t *bits = a->sum.flags & ATP_EDGE ? &a->sum.bitmap1 : &a->sum.bitmap0;
    *view = (struct agg_slot_view){.chunk = __atomic_load_n(&a->sum.sequence, __ATOMIC_RELAXED)};
    if (__atomic_load_n(&a->taken, __ATOMIC_RELAXED)) {
        view->ranks[0] = __atomic_load_n(bits, __ATOMIC_RELAXED);
        view->contributed = (uint16_t)__builtin_popcountll(view->ranks[0]);
    }
    return true;
}
