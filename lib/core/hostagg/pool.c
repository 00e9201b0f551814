/* In memory: struct hag_pool, then the slots, each of them
 *
 *     struct hag_slot with its map | sum | contribution of worker 0 | of worker 1 | ...
 *
 * everything in whole cache lines. The sum's header ends where a line ends.
 */
#include "hostagg/pool.h"

#include <assert.h>
#include <string.h>

#include "hostagg/reasons.h"
#include "wire/bytes.h"

enum { LINE = 64, MAP_WORDS = AGG_MAX_WORKERS / 64 };

static_assert(HAG_HEADER_BYTES + AGG_MAX_WORKERS / 8 <= AGG_ANSWER_BYTES, "the longest answer has room");

struct hag_pool {
    struct hag_pool_config cfg;
    size_t map_words;
    size_t chunk_room;         /* in whole lines */
    size_t head_bytes;         /* struct hag_slot with its map, in whole lines */
    size_t slot_bytes;         /* from one slot to the next */
    uint64_t wants[MAP_WORDS]; /* who gets sums */
    bool heard;                /* see hag_pool_heard; atomic */
};

/* Written by the slot's owner only; what hag_pool_view reads is stored with publish. */
struct hag_slot {
    uint32_t expected;    /* the chunk that is being collected */
    uint16_t contributed; /* workers that have contributed to it */
    uint16_t run;
    bool begun;         /* some packet has come: run and expected are known */
    bool completed;     /* the sum of chunk expected - slots is here */
    uint16_t bytes;     /* of a contribution's body; meaningful while contributed > 0 */
    uint16_t sum_bytes; /* of the sum's body */
    uint16_t first;     /* who contributed first */
    uint64_t seen[];    /* map of workers that have contributed */
};

#define publish(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static struct hag_slot *slot_at(const struct hag_pool *pool, size_t i)
{
    return (struct hag_slot *)((uint8_t *)pool + whole_lines(sizeof *pool) + i * pool->slot_bytes);
}

static uint8_t *sum_of(const struct hag_pool *pool, struct hag_slot *slot)
{
    return (uint8_t *)slot + pool->head_bytes + LINE;
}

static uint8_t *contribution_of(const struct hag_pool *pool, struct hag_slot *slot, size_t worker)
{
    return sum_of(pool, slot) + (1 + worker) * pool->chunk_room;
}

static bool has(const uint64_t *map, unsigned member)
{
    return map[member / 64] >> member % 64 & 1;
}

static bool config_valid(const struct hag_pool_config *cfg)
{
    const size_t element = agg_element_size(cfg->code & 15, cfg->code >> 4);
    const unsigned members = cfg->workers + (cfg->host != HAG_HOST_ABSENT);

    return cfg->workers >= 1 && members <= AGG_MAX_WORKERS && cfg->slots >= 1 &&
           cfg->slots <= HAG_MAX_SLOTS && (cfg->slots & (cfg->slots - 1)) == 0 && element != 0 &&
           cfg->chunk_bytes >= element && cfg->chunk_bytes <= HAG_MAX_CHUNK_BYTES &&
           cfg->chunk_bytes % element == 0 && cfg->host < HAG_HOSTS;
}

static struct hag_pool layout(const struct hag_pool_config *cfg)
{
    struct hag_pool pool = {.cfg = *cfg};

    pool.map_words = (cfg->workers + 63u) / 64;
    pool.chunk_room = whole_lines(cfg->chunk_bytes);
    pool.head_bytes = whole_lines(sizeof(struct hag_slot) + pool.map_words * sizeof(uint64_t));
    pool.slot_bytes = pool.head_bytes + LINE + (1u + cfg->workers) * pool.chunk_room;
    return pool;
}

size_t hag_pool_footprint(const struct hag_pool_config *cfg)
{
    return config_valid(cfg) ? whole_lines(sizeof(struct hag_pool)) + cfg->slots * layout(cfg).slot_bytes : 0;
}

struct hag_pool *hag_pool_init(void *mem, const struct hag_pool_config *cfg)
{
    struct hag_pool *pool = mem;
    const unsigned want = cfg->workers + (cfg->host == HAG_HOST_GETS_SUMS);

    *pool = layout(cfg);
    for (unsigned member = 0; member < want; member++)
        pool->wants[member / 64] |= UINT64_C(1) << member % 64;
    for (size_t i = 0; i < cfg->slots; i++)
        memset(slot_at(pool, i), 0, pool->head_bytes);
    return pool;
}

struct hag_slot *hag_pool_locate(struct hag_pool *pool, uint32_t sequence)
{
    return slot_at(pool, sequence & (pool->cfg.slots - 1u));
}

/* The slot waits for this chunk now; what it has collected is forgotten. */
static void expect(const struct hag_pool *pool, struct hag_slot *slot, uint32_t sequence)
{
    publish(slot->expected, sequence);
    publish(slot->contributed, 0);
    for (size_t i = 0; i < pool->map_words; i++)
        publish(slot->seen[i], 0);
}

static void begin_run(const struct hag_pool *pool, struct hag_slot *slot, const struct hag_packet *p)
{
    slot->begun = true;
    slot->completed = false;
    slot->run = p->run;
    expect(pool, slot, p->sequence);
}

/* A header about the packet's chunk. */
static void head(uint8_t *payload, enum hag_kind kind, uint16_t worker, const struct hag_packet *p)
{
    struct hag_packet h = *p;

    h.kind = kind;
    h.worker = worker;
    hag_build_header(payload, &h);
}

/* Completes an answer; its body, if any, was written before. */
static enum hag_reason answer(struct agg_verdict *v, enum hag_kind kind, uint16_t member,
                              const struct hag_packet *p, size_t body_bytes)
{
    head(v->answer, kind, member, p);
    v->payload = v->answer;
    v->bytes = HAG_HEADER_BYTES + body_bytes;
    return kind == HAG_DIFFERS ? HAG_SEND_DIFFERS : HAG_SEND_ANSWER;
}

static void show_sum(const struct hag_pool *pool, struct hag_slot *slot, const struct hag_packet *p,
                     struct agg_verdict *v)
{
    head(v->answer, HAG_DONE, HAG_EVERYBODY, p);
    v->brief = v->answer;
    v->brief_bytes = HAG_HEADER_BYTES;
    v->payload = sum_of(pool, slot) - HAG_HEADER_BYTES;
    v->bytes = HAG_HEADER_BYTES + slot->sum_bytes;
    v->wants = pool->wants;
}

/* The chunk is the one completed last. */
static enum hag_reason send_again(const struct hag_pool *pool, struct hag_slot *slot, uint16_t member,
                                  const struct hag_packet *p, struct agg_verdict *v)
{
    if (!has(pool->wants, member))
        return answer(v, HAG_DONE, member, p, 0);
    show_sum(pool, slot, p, v);
    return HAG_SEND_SUM;
}

static enum hag_reason complete(const struct hag_pool *pool, struct hag_slot *slot, uint16_t last,
                                const struct hag_packet *p, struct agg_verdict *v)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[pool->cfg.code];
    const void *in[AGG_MAX_WORKERS];
    uint8_t *sum = sum_of(pool, slot);

    for (unsigned worker = 0; worker < pool->cfg.workers; worker++)
        in[worker] = contribution_of(pool, slot, worker);
    in[last] = p->body;
    op->reduce(sum, in, pool->cfg.workers, slot->bytes);
    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(sum, sum, pool->cfg.workers, slot->bytes);

    slot->sum_bytes = slot->bytes;
    slot->completed = true;
    head(sum - HAG_HEADER_BYTES, HAG_SUM, HAG_EVERYBODY, p);
    expect(pool, slot, slot->expected + pool->cfg.slots);
    show_sum(pool, slot, p, v);
    return HAG_SEND_ALL;
}

static enum hag_reason answer_differs(const struct hag_slot *slot, uint16_t worker,
                                      const struct hag_packet *p, struct agg_verdict *v)
{
    put_be16(v->answer + HAG_HEADER_BYTES, slot->first);
    put_be16(v->answer + HAG_HEADER_BYTES + 2, slot->bytes);
    return answer(v, HAG_DIFFERS, worker, p, HAG_DIFFERS_BYTES);
}

static enum hag_reason contribute(const struct hag_pool *pool, struct hag_slot *slot, uint16_t worker,
                                  const struct hag_packet *p, struct agg_verdict *v)
{
    const size_t element = agg_element_size(pool->cfg.code & 15, pool->cfg.code >> 4);

    if (has(slot->seen, worker))
        return HAG_DROP_DUPLICATE;
    if (p->body_bytes == 0 || p->body_bytes > pool->cfg.chunk_bytes || p->body_bytes % element != 0)
        return HAG_DROP_BAD_LENGTH;
    if (slot->contributed > 0 && p->body_bytes != slot->bytes)
        return answer_differs(slot, worker, p, v);
    if (slot->contributed == 0) {
        slot->bytes = (uint16_t)p->body_bytes;
        slot->first = worker;
    }
    if (slot->contributed == pool->cfg.workers - 1)
        return complete(pool, slot, worker, p, v);
    memcpy(contribution_of(pool, slot, worker), p->body, p->body_bytes);
    publish(slot->seen[worker / 64], slot->seen[worker / 64] | UINT64_C(1) << worker % 64);
    publish(slot->contributed, slot->contributed + 1);
    return HAG_HELD;
}

static enum hag_reason answer_waiting(const struct hag_pool *pool, const struct hag_slot *slot,
                                      uint16_t member, const struct hag_packet *p, bool of_this_chunk,
                                      struct agg_verdict *v)
{
    const size_t bytes = (pool->cfg.workers + 7u) / 8;

    for (size_t i = 0; i < bytes; i++)
        v->answer[HAG_HEADER_BYTES + i] = of_this_chunk ? (uint8_t)(slot->seen[i / 8] >> i % 8 * 8) : 0;
    return answer(v, HAG_WAITING, member, p, bytes);
}

/* How far the packet's chunk lies behind the one that the slot collects; negative: ahead of it. */
static int32_t behind(const struct hag_slot *slot, const struct hag_packet *p)
{
    return (int32_t)(slot->expected - p->sequence);
}

static enum hag_reason judge_gradient(const struct hag_pool *pool, struct hag_slot *slot, uint16_t worker,
                                      const struct hag_packet *p, struct agg_verdict *v)
{
    if (!slot->begun || hag_is_newer(p->run, slot->run))
        begin_run(pool, slot, p);
    if (p->run != slot->run)
        return HAG_DROP_OLD_RUN;
    if (behind(slot, p) < 0 && slot->completed)
        return HAG_DROP_AHEAD;
    if (behind(slot, p) < 0)
        expect(pool, slot, p->sequence);
    if (behind(slot, p) == 0)
        return contribute(pool, slot, worker, p, v);
    return slot->completed && behind(slot, p) == pool->cfg.slots ? send_again(pool, slot, worker, p, v)
                                                                 : HAG_DROP_STALE;
}

static enum hag_reason judge_question(const struct hag_pool *pool, struct hag_slot *slot, uint16_t member,
                                      const struct hag_packet *p, struct agg_verdict *v)
{
    if (!slot->begun || hag_is_newer(p->run, slot->run))
        return answer_waiting(pool, slot, member, p, false, v);
    if (p->run != slot->run)
        return HAG_DROP_OLD_RUN;
    if (behind(slot, p) <= 0)
        return answer_waiting(pool, slot, member, p, behind(slot, p) == 0, v);
    if (!slot->completed)
        return HAG_DROP_STALE;
    return behind(slot, p) == pool->cfg.slots ? send_again(pool, slot, member, p, v)
                                              : answer(v, HAG_DONE, member, p, 0);
}

/* The flag's line is all shards', so it is written only where it changes. */
static void note_heard(struct hag_pool *pool, enum hag_reason reason)
{
    if (reason <= HAG_HELD && !__atomic_load_n(&pool->heard, __ATOMIC_RELAXED))
        publish(pool->heard, true);
}

static enum hag_reason judge(const struct hag_pool *pool, struct hag_slot *slot, uint16_t member,
                             const struct hag_packet *p, struct agg_verdict *v)
{
    if (p->worker != member)
        return HAG_DROP_BAD_WORKER;
    if (p->kind == HAG_ASK)
        return judge_question(pool, slot, member, p, v);
    if (p->kind != HAG_GRADIENT || member >= pool->cfg.workers)
        return HAG_DROP_BAD_KIND;
    return judge_gradient(pool, slot, member, p, v);
}

void hag_pool_apply(struct hag_pool *pool, struct hag_slot *slot, uint16_t member, const struct hag_packet *p,
                    struct agg_verdict *verdict)
{
    verdict->kept = false;
    verdict->released = NULL;
    verdict->buffer = NULL;
    verdict->reason = (uint8_t)judge(pool, slot, member, p, verdict);
    note_heard(pool, verdict->reason);
}

bool hag_pool_heard(struct hag_pool *pool)
{
    return __atomic_exchange_n(&pool->heard, false, __ATOMIC_RELAXED);
}

bool hag_pool_view(const struct hag_pool *pool, uint32_t i, struct agg_slot_view *view)
{
    const struct hag_slot *slot;

    if (i >= pool->cfg.slots)
        return false;
    slot = slot_at(pool, i);
    *view = (struct agg_slot_view){
        .chunk = __atomic_load_n(&slot->expected, __ATOMIC_RELAXED),
        .contributed = __atomic_load_n(&slot->contributed, __ATOMIC_RELAXED),
    };
    for (size_t w = 0; w < pool->map_words; w++)
        view->ranks[w] = __atomic_load_n(&slot->seen[w], __ATOMIC_RELAXED);
    if (pool->cfg.host != HAG_HOST_ABSENT)
        view->ranks[pool->cfg.workers / 64] |= UINT64_C(1) << pool->cfg.workers % 64;
    return true;
}
