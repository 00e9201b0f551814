#include "hostagg/pool.h"

#include <assert.h>
#include <string.h>

#include "gather/gather.h"
#include "hostagg/reasons.h"
#include "wire/bytes.h"

enum { MAP_WORDS = AGG_MAX_WORKERS / 64 };

static_assert(HAG_HEADER_BYTES + AGG_MAX_WORKERS / 8 <= AGG_ANSWER_BYTES, "the longest answer has room");
static_assert((int)HAG_HEADER_BYTES <= (int)GATHER_HEAD_ROOM, "a sum's header has room before it");
static_assert((int)HAG_MAX_SLOTS == (int)GATHER_MAX_SLOTS, "slots are numbered alike");

struct hag_pool {
    struct gather gather;
    uint64_t wants[MAP_WORDS]; /* who gets sums */
};

struct hag_slot {
    struct gather_slot gathered;
    uint16_t run;
    bool begun;     /* some packet has come: the run and the chunk are known */
    bool completed; /* the sum of the chunk before the one that is collected is here */
    uint16_t bytes; /* of a contribution's body; meaningful while there is one */
    uint16_t first; /* who contributed first */
};

static struct gather_config gather_config(const struct hag_pool_config *cfg)
{
    return (struct gather_config){.workers = cfg->workers,
                                  .members = (uint16_t)(cfg->workers + (cfg->host != HAG_HOST_ABSENT)),
                                  .slots = cfg->slots,
                                  .chunk_bytes = cfg->chunk_bytes,
                                  .code = cfg->code,
                                  .pool_struct_bytes = sizeof(struct hag_pool),
                                  .slot_struct_bytes = sizeof(struct hag_slot),
                                  .kernels = cfg->kernels};
}

size_t hag_pool_footprint(const struct hag_pool_config *cfg)
{
    const struct gather_config gather = gather_config(cfg);

    return cfg->chunk_bytes <= HAG_MAX_CHUNK_BYTES && cfg->host < HAG_HOSTS ? gather_footprint(&gather) : 0;
}

struct hag_pool *hag_pool_init(void *mem, const struct hag_pool_config *cfg)
{
    const struct gather_config gather = gather_config(cfg);
    const unsigned want = cfg->workers + (cfg->host == HAG_HOST_GETS_SUMS);
    struct hag_pool *pool = mem;

    *pool = (struct hag_pool){0};
    gather_init(&pool->gather, &gather);
    for (unsigned member = 0; member < want; member++)
        ranks_add(pool->wants, member);
    return pool;
}

struct hag_slot *hag_pool_locate(struct hag_pool *pool, uint32_t sequence)
{
    return (struct hag_slot *)gather_slot(&pool->gather, sequence);
}

static void begin_run(const struct hag_pool *pool, struct hag_slot *slot, const struct hag_packet *p)
{
    slot->begun = true;
    slot->completed = false;
    slot->run = p->run;
    gather_expect(&pool->gather, &slot->gathered, p->sequence);
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

static void show_sum(const struct hag_pool *pool, const struct hag_slot *slot, const struct hag_packet *p,
                     struct agg_verdict *v)
{
    head(v->answer, HAG_DONE, HAG_EVERYBODY, p);
    v->brief = v->answer;
    v->brief_bytes = HAG_HEADER_BYTES;
    v->payload = gather_sum(&pool->gather, &slot->gathered) - HAG_HEADER_BYTES;
    v->bytes = HAG_HEADER_BYTES + slot->gathered.sum_bytes;
    v->wants = pool->wants;
}

/* The chunk is the one completed last. */
static enum hag_reason send_again(const struct hag_pool *pool, struct hag_slot *slot, uint16_t member,
                                  const struct hag_packet *p, struct agg_verdict *v)
{
    if (!ranks_has(pool->wants, member))
        return answer(v, HAG_DONE, member, p, 0);
    show_sum(pool, slot, p, v);
    return HAG_SEND_SUM;
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
    const struct gather *gather = &pool->gather;

    if (gather_has(gather, &slot->gathered, worker))
        return HAG_DROP_DUPLICATE;
    if (p->body_bytes == 0 || p->body_bytes > gather->cfg.chunk_bytes || p->body_bytes % gather->element != 0)
        return HAG_DROP_BAD_LENGTH;
    if (slot->gathered.contributed > 0 && p->body_bytes != slot->bytes)
        return answer_differs(slot, worker, p, v);
    if (slot->gathered.contributed == 0) {
        slot->bytes = (uint16_t)p->body_bytes;
        slot->first = worker;
    }
    if (!gather_add(gather, &slot->gathered, worker, p->body, p->body_bytes))
        return HAG_HELD;
    slot->completed = true;
    head(gather_sum(gather, &slot->gathered) - HAG_HEADER_BYTES, HAG_SUM, HAG_EVERYBODY, p);
    show_sum(pool, slot, p, v);
    return HAG_SEND_ALL;
}

static enum hag_reason answer_waiting(const struct hag_pool *pool, const struct hag_slot *slot,
                                      uint16_t member, const struct hag_packet *p, bool of_this_chunk,
                                      struct agg_verdict *v)
{
    const size_t bytes = gather_write_map(&pool->gather, &slot->gathered, v->answer + HAG_HEADER_BYTES);

    if (!of_this_chunk)
        memset(v->answer + HAG_HEADER_BYTES, 0, bytes);
    return answer(v, HAG_WAITING, member, p, bytes);
}

/* How far the packet's chunk lies behind the one that the slot collects; negative: ahead of it. */
static int32_t behind(const struct hag_slot *slot, const struct hag_packet *p)
{
    return (int32_t)(slot->gathered.expected - p->sequence);
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
        gather_expect(&pool->gather, &slot->gathered, p->sequence);
    if (behind(slot, p) == 0)
        return contribute(pool, slot, worker, p, v);
    return slot->completed && behind(slot, p) == pool->gather.cfg.slots ? send_again(pool, slot, worker, p, v)
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
    return behind(slot, p) == pool->gather.cfg.slots ? send_again(pool, slot, member, p, v)
                                                     : answer(v, HAG_DONE, member, p, 0);
}

static enum hag_reason judge(const struct hag_pool *pool, struct hag_slot *slot, uint16_t member,
                             const struct hag_packet *p, struct agg_verdict *v)
{
    if (p->worker != member)
        return HAG_DROP_BAD_WORKER;
    if (p->kind == HAG_ASK)
        return judge_question(pool, slot, member, p, v);
    if (p->kind != HAG_GRADIENT || member >= pool->gather.cfg.workers)
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
    if (verdict->reason <= HAG_HELD)
        gather_note_heard(&pool->gather);
}
