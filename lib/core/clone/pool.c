/* In memory: struct cln_pool, then the slots, each of them
 *
 *     struct cln_slot with its map | header and sum | copy of worker 0 | of worker 1 | ...
 *
 * everything in whole cache lines. The sum's header ends where a line ends.
 */
#include "clone/pool.h"

#include <assert.h>
#include <string.h>

#include "clone/reasons.h"
#include "wire/bytes.h"
#include "wire/hostagg.h"

enum { LINE = 64, MAP_WORDS = AGG_MAX_WORKERS / 64 };

static_assert(HAG_HEADER_BYTES + AGG_MAX_WORKERS / 8 <= AGG_ANSWER_BYTES, "the longest report has room");

struct cln_pool {
    struct cln_pool_config cfg;
    size_t map_words, chunk_room, head_bytes, slot_bytes;
    uint64_t wants[MAP_WORDS];          /* the collector */
    bool heard;                         /* see cln_pool_heard; atomic */
    uint16_t next_tick[CLN_MAX_SHARDS]; /* the slot to be looked at next, by shard */
};

/* Written by the slot's owner only; what other threads read is stored with publish. */
struct cln_slot {
    uint32_t expected;    /* the chunk that is being collected */
    uint16_t contributed; /* workers of whom there is a copy */
    bool begun;           /* expected is known */
    bool reported;        /* it has been said that copies are missing */
    uint64_t since;       /* when its first copy came */
    uint32_t sum_of;      /* the chunk whose sum is here */
    uint32_t sums;        /* made in this slot, twice; odd while one is being made (a sequence lock) */
    uint64_t seen[];      /* map of workers of whom there is a copy */
};

#define publish(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static struct cln_slot *slot_at(const struct cln_pool *pool, size_t i)
{
    return (struct cln_slot *)((uint8_t *)pool + whole_lines(sizeof *pool) + i * pool->slot_bytes);
}

static uint8_t *sum_of(const struct cln_pool *pool, const struct cln_slot *slot)
{
    return (uint8_t *)slot + pool->head_bytes + LINE;
}

static uint8_t *copy_of(const struct cln_pool *pool, const struct cln_slot *slot, size_t worker)
{
    return sum_of(pool, slot) + (1 + worker) * pool->chunk_room;
}

static bool config_valid(const struct cln_pool_config *cfg)
{
    const size_t element = agg_element_size(cfg->code & 15, cfg->code >> 4);
    const unsigned members = cfg->workers + cfg->collector;

    return cfg->workers >= 1 && members <= AGG_MAX_WORKERS && cfg->slots >= 1 &&
           cfg->slots <= CLN_MAX_SLOTS && (cfg->slots & (cfg->slots - 1)) == 0 && cfg->shards >= 1 &&
           cfg->shards <= CLN_MAX_SHARDS && element != 0 && cfg->chunk_bytes >= element &&
           cfg->chunk_bytes <= CLN_MAX_CHUNK_BYTES && cfg->chunk_bytes % element == 0 &&
           cfg->layout.match_bytes <= CLN_MATCH_MAX;
}

static struct cln_pool layout(const struct cln_pool_config *cfg)
{
    struct cln_pool pool = {.cfg = *cfg};

    pool.map_words = (cfg->workers + 63u) / 64;
    pool.chunk_room = whole_lines(cfg->chunk_bytes);
    pool.head_bytes = whole_lines(sizeof(struct cln_slot) + pool.map_words * sizeof(uint64_t));
    pool.slot_bytes = pool.head_bytes + LINE + (1u + cfg->workers) * pool.chunk_room;
    return pool;
}

size_t cln_pool_footprint(const struct cln_pool_config *cfg)
{
    return config_valid(cfg) ? whole_lines(sizeof(struct cln_pool)) + cfg->slots * layout(cfg).slot_bytes : 0;
}

struct cln_pool *cln_pool_init(void *mem, const struct cln_pool_config *cfg)
{
    struct cln_pool *pool = mem;

    *pool = layout(cfg);
    if (cfg->collector)
        pool->wants[cfg->workers / 64] = UINT64_C(1) << cfg->workers % 64;
    for (size_t i = 0; i < CLN_MAX_SHARDS; i++)
        pool->next_tick[i] = (uint16_t)i;
    for (size_t i = 0; i < cfg->slots; i++)
        memset(slot_at(pool, i), 0, pool->head_bytes);
    return pool;
}

enum cln_found cln_pool_find(const struct cln_pool *pool, const uint8_t *frame, size_t bytes,
                             struct cln_copy *copy)
{
    const struct cln_layout *l = &pool->cfg.layout;

    if (bytes < (size_t)l->match_at + l->match_bytes ||
        memcmp(frame + l->match_at, l->match, l->match_bytes) != 0)
        return CLN_NO_MATCH;
    if (bytes < l->sequence_at + sizeof(uint32_t) || bytes < (size_t)l->elements_at + pool->cfg.chunk_bytes)
        return CLN_TOO_SHORT;
    copy->sequence = get_be32(frame + l->sequence_at);
    if (l->little)
        copy->sequence = __builtin_bswap32(copy->sequence);
    copy->elements = frame + l->elements_at;
    return CLN_FOUND;
}

struct cln_slot *cln_pool_locate(struct cln_pool *pool, uint32_t sequence)
{
    return slot_at(pool, sequence & (pool->cfg.slots - 1u));
}

static void expect(const struct cln_pool *pool, struct cln_slot *slot, uint32_t sequence)
{
    slot->begun = true;
    slot->reported = false;
    publish(slot->expected, sequence);
    publish(slot->contributed, 0);
    for (size_t i = 0; i < pool->map_words; i++)
        publish(slot->seen[i], 0);
}

static bool has(const struct cln_slot *slot, unsigned worker)
{
    return slot->seen[worker / 64] >> worker % 64 & 1;
}

static void head(const struct cln_pool *pool, uint8_t *payload, enum hag_kind kind, uint32_t sequence)
{
    hag_build_header(payload,
                     &(struct hag_packet){
                         .kind = kind, .job = pool->cfg.job, .worker = HAG_EVERYBODY, .sequence = sequence});
}

static void to_collector(const struct cln_pool *pool, struct agg_verdict *v, const uint8_t *payload,
                         size_t bytes)
{
    v->payload = payload;
    v->bytes = bytes;
    v->brief = NULL;
    v->brief_bytes = 0;
    v->wants = pool->wants;
}

/* Of which workers there are copies. */
static void report(const struct cln_pool *pool, const struct cln_slot *slot, struct agg_verdict *v)
{
    const size_t bytes = (pool->cfg.workers + 7u) / 8;

    head(pool, v->answer, HAG_WAITING, slot->expected);
    for (size_t i = 0; i < bytes; i++)
        v->answer[HAG_HEADER_BYTES + i] = (uint8_t)(slot->seen[i / 8] >> i % 8 * 8);
    to_collector(pool, v, v->answer, HAG_HEADER_BYTES + bytes);
}

/* Who looks at the sum meanwhile sees that it changes. */
static enum cln_reason complete(const struct cln_pool *pool, struct cln_slot *slot, struct agg_verdict *v)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[pool->cfg.code];
    const void *in[AGG_MAX_WORKERS];
    uint8_t *sum = sum_of(pool, slot);

    for (unsigned worker = 0; worker < pool->cfg.workers; worker++)
        in[worker] = copy_of(pool, slot, worker);
    __atomic_store_n(&slot->sums, slot->sums + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    op->reduce(sum, in, pool->cfg.workers, pool->cfg.chunk_bytes);
    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(sum, sum, pool->cfg.workers, pool->cfg.chunk_bytes);
    publish(slot->sum_of, slot->expected);
    __atomic_store_n(&slot->sums, slot->sums + 1, __ATOMIC_RELEASE);

    head(pool, sum - HAG_HEADER_BYTES, HAG_SUM, slot->expected);
    to_collector(pool, v, sum - HAG_HEADER_BYTES, HAG_HEADER_BYTES + pool->cfg.chunk_bytes);
    expect(pool, slot, slot->expected + pool->cfg.slots);
    return pool->cfg.collector ? CLN_SEND_SUM : CLN_SUMMED;
}

/* The copy is of the chunk that the slot collects. */
static enum cln_reason add(const struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                           const struct cln_copy *copy, uint64_t now, struct agg_verdict *v)
{
    if (has(slot, worker))
        return CLN_DROP_DUPLICATE;
    memcpy(copy_of(pool, slot, worker), copy->elements, pool->cfg.chunk_bytes);
    if (slot->contributed == 0)
        slot->since = now;
    publish(slot->seen[worker / 64], slot->seen[worker / 64] | UINT64_C(1) << worker % 64);
    publish(slot->contributed, slot->contributed + 1);
    return slot->contributed == pool->cfg.workers ? complete(pool, slot, v) : CLN_HELD;
}

/* The slot goes on to a later chunk, which the copy is of. */
static enum cln_reason go_on(const struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                             const struct cln_copy *copy, uint64_t now, struct agg_verdict *v)
{
    const bool lacking = slot->begun && slot->contributed > 0;

    if (lacking)
        report(pool, slot, v);
    expect(pool, slot, copy->sequence);
    if (!lacking)
        return add(pool, slot, worker, copy, now, v);
    add(pool, slot, worker, copy, now, v); /* it completes nothing: the slot lacked a copy, so n > 1 */
    return pool->cfg.collector ? CLN_SEND_GIVEN_UP : CLN_GIVEN_UP;
}

static enum cln_reason judge(const struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                             const struct cln_copy *copy, uint64_t now, struct agg_verdict *v)
{
    const int32_t ahead = (int32_t)(copy->sequence - slot->expected);

    if (worker >= pool->cfg.workers)
        return CLN_IGNORED_SENDER; /* the collector sends nothing */
    if (!slot->begun || ahead > 0)
        return go_on(pool, slot, worker, copy, now, v);
    return ahead == 0 ? add(pool, slot, worker, copy, now, v) : CLN_DROP_STALE;
}

void cln_pool_apply(struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                    const struct cln_copy *copy, uint64_t now, struct agg_verdict *verdict)
{
    verdict->kept = false;
    verdict->released = NULL;
    verdict->buffer = NULL;
    verdict->reason = (uint8_t)judge(pool, slot, worker, copy, now, verdict);
    if (verdict->reason <= CLN_HELD && !__atomic_load_n(&pool->heard, __ATOMIC_RELAXED))
        publish(pool->heard, true);
}

static bool is_late(const struct cln_pool *pool, const struct cln_slot *slot, uint64_t now)
{
    return slot->contributed > 0 && !slot->reported && now - slot->since >= pool->cfg.missing_after_ns;
}

bool cln_pool_tick(struct cln_pool *pool, unsigned shard, uint64_t now, struct agg_verdict *v)
{
    for (; pool->next_tick[shard] < pool->cfg.slots; pool->next_tick[shard] += pool->cfg.shards) {
        struct cln_slot *slot = slot_at(pool, pool->next_tick[shard]);

        if (!is_late(pool, slot, now))
            continue;
        slot->reported = true;
        *v = (struct agg_verdict){.reason = pool->cfg.collector ? CLN_SEND_MISSING : CLN_MISSING};
        report(pool, slot, v);
        return true;
    }
    pool->next_tick[shard] = (uint16_t)shard;
    return false;
}

bool cln_pool_heard(struct cln_pool *pool)
{
    return __atomic_exchange_n(&pool->heard, false, __ATOMIC_RELAXED);
}

bool cln_pool_view(const struct cln_pool *pool, uint32_t i, struct agg_slot_view *view)
{
    const struct cln_slot *slot;

    if (i >= pool->cfg.slots)
        return false;
    slot = slot_at(pool, i);
    *view = (struct agg_slot_view){
        .chunk = __atomic_load_n(&slot->expected, __ATOMIC_RELAXED),
        .contributed = __atomic_load_n(&slot->contributed, __ATOMIC_RELAXED),
    };
    for (size_t w = 0; w < pool->map_words; w++)
        view->ranks[w] = __atomic_load_n(&slot->seen[w], __ATOMIC_RELAXED);
    for (size_t w = 0; w < MAP_WORDS; w++)
        view->ranks[w] |= pool->wants[w];
    return true;
}

bool cln_pool_view_sum(const struct cln_pool *pool, uint32_t i, struct agg_sum_view *view)
{
    const struct cln_slot *slot = i < pool->cfg.slots ? slot_at(pool, i) : NULL;
    uint32_t sums;

    if (slot == NULL)
        return false;
    sums = __atomic_load_n(&slot->sums, __ATOMIC_ACQUIRE);
    if (sums == 0 || sums % 2 == 1)
        return false;
    view->code = pool->cfg.code;
    view->chunk = __atomic_load_n(&slot->sum_of, __ATOMIC_RELAXED);
    view->bytes =
        pool->cfg.chunk_bytes < sizeof view->elements ? pool->cfg.chunk_bytes : sizeof view->elements;
    memcpy(view->elements, sum_of(pool, slot), view->bytes);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&slot->sums, __ATOMIC_RELAXED) == sums;
}
