#include "clone/pool.h"

#include <assert.h>
#include <string.h>

#include "clone/reasons.h"
#include "gather/gather.h"
#include "wire/bytes.h"
#include "wire/hostagg.h"

enum { MAP_WORDS = AGG_MAX_WORKERS / 64 };

static_assert(HAG_HEADER_BYTES + AGG_MAX_WORKERS / 8 <= AGG_ANSWER_BYTES, "the longest report has room");
static_assert((int)HAG_HEADER_BYTES <= (int)GATHER_HEAD_ROOM, "a sum's header has room before it");
static_assert((int)CLN_MAX_SLOTS == (int)GATHER_MAX_SLOTS, "slots are numbered alike");

struct cln_pool {
    struct gather gather;
    struct cln_layout layout;
    uint64_t missing_after_ns;
    uint16_t shards;
    uint8_t job;
    bool collector;
    uint64_t wants[MAP_WORDS];          /* the collector */
    uint16_t next_tick[CLN_MAX_SHARDS]; /* the slot to be looked at next, by shard */
    uint16_t waiting[CLN_MAX_SHARDS];   /* slots that will be reported if nothing comes, by shard */
};

struct cln_slot {
    struct gather_slot gathered;
    bool begun;     /* some copy has come: the chunk is known */
    bool reported;  /* it has been said that copies are missing */
    uint64_t since; /* when the chunk's first copy came */
};

static struct gather_config gather_config(const struct cln_pool_config *cfg)
{
    return (struct gather_config){.workers = cfg->workers,
                                  .members = (uint16_t)(cfg->workers + cfg->collector),
                                  .slots = cfg->slots,
                                  .chunk_bytes = cfg->chunk_bytes,
                                  .code = cfg->code,
                                  .pool_struct_bytes = sizeof(struct cln_pool),
                                  .slot_struct_bytes = sizeof(struct cln_slot),
                                  .kernels = cfg->kernels};
}

size_t cln_pool_footprint(const struct cln_pool_config *cfg)
{
    const struct gather_config gather = gather_config(cfg);
    const bool valid = cfg->shards >= 1 && cfg->shards <= CLN_MAX_SHARDS &&
                       cfg->chunk_bytes <= CLN_MAX_CHUNK_BYTES && cfg->layout.match_bytes <= CLN_MATCH_MAX;

    return valid ? gather_footprint(&gather) : 0;
}

struct cln_pool *cln_pool_init(void *mem, const struct cln_pool_config *cfg)
{
    const struct gather_config gather = gather_config(cfg);
    struct cln_pool *pool = mem;

    *pool = (struct cln_pool){.layout = cfg->layout,
                              .missing_after_ns = cfg->missing_after_ns,
                              .shards = cfg->shards,
                              .job = cfg->job,
                              .collector = cfg->collector};
    gather_init(&pool->gather, &gather);
    if (cfg->collector)
        ranks_add(pool->wants, cfg->workers);
    for (size_t i = 0; i < CLN_MAX_SHARDS; i++)
        pool->next_tick[i] = (uint16_t)i;
    return pool;
}

enum cln_found cln_pool_find(const struct cln_pool *pool, const uint8_t *frame, size_t bytes,
                             struct cln_copy *copy)
{
    const struct cln_layout *l = &pool->layout;

    if (bytes < CLN_ETHERNET_BYTES || memcmp(frame, l->host, sizeof(l->host)) != 0 ||
        get_be16(frame + CLN_ETHERNET_BYTES - 2) != l->ether_type)
        return CLN_OTHER_FLOW;
    if (bytes < (size_t)l->match_at + l->match_bytes ||
        memcmp(frame + l->match_at, l->match, l->match_bytes) != 0)
        return CLN_NO_MATCH;
    if (bytes < l->sequence_at + sizeof(uint32_t) ||
        bytes < (size_t)l->elements_at + pool->gather.cfg.chunk_bytes)
        return CLN_TOO_SHORT;
    copy->sequence = get_be32(frame + l->sequence_at);
    if (l->little)
        copy->sequence = __builtin_bswap32(copy->sequence);
    copy->elements = frame + l->elements_at;
    return CLN_FOUND;
}

struct cln_slot *cln_pool_locate(struct cln_pool *pool, uint32_t sequence)
{
    return (struct cln_slot *)gather_slot(&pool->gather, sequence);
}

static void expect(const struct cln_pool *pool, struct cln_slot *slot, uint32_t sequence)
{
    slot->begun = true;
    slot->reported = false;
    gather_expect(&pool->gather, &slot->gathered, sequence);
}

static void head(const struct cln_pool *pool, uint8_t *payload, enum hag_kind kind, uint32_t sequence)
{
    hag_build_header(
        payload,
        &(struct hag_packet){.kind = kind, .job = pool->job, .worker = HAG_EVERYBODY, .sequence = sequence});
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
    const size_t bytes = gather_write_map(&pool->gather, &slot->gathered, v->answer + HAG_HEADER_BYTES);

    head(pool, v->answer, HAG_WAITING, slot->gathered.expected);
    to_collector(pool, v, v->answer, HAG_HEADER_BYTES + bytes);
}

/* The copy is of the chunk that the slot collects. */
static enum cln_reason add(const struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                           const struct cln_copy *copy, uint64_t now, struct agg_verdict *v)
{
    const struct gather *gather = &pool->gather;
    uint8_t *sum;

    if (gather_has(gather, &slot->gathered, worker))
        return CLN_DROP_DUPLICATE;
    if (slot->gathered.contributed == 0)
        slot->since = now;
    if (!gather_add(gather, &slot->gathered, worker, copy->elements, gather->cfg.chunk_bytes))
        return CLN_HELD;
    slot->reported = false;
    sum = gather_sum(gather, &slot->gathered) - HAG_HEADER_BYTES;
    head(pool, sum, HAG_SUM, copy->sequence);
    to_collector(pool, v, sum, HAG_HEADER_BYTES + gather->cfg.chunk_bytes);
    return pool->collector ? CLN_SEND_SUM : CLN_SUMMED;
}

/* The slot goes on to a later chunk, which the copy is of. */
static enum cln_reason go_on(const struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                             const struct cln_copy *copy, uint64_t now, struct agg_verdict *v)
{
    const bool lacking = slot->begun && slot->gathered.contributed > 0;

    if (lacking)
        report(pool, slot, v);
    expect(pool, slot, copy->sequence);
    if (!lacking)
        return add(pool, slot, worker, copy, now, v);
    add(pool, slot, worker, copy, now, v); /* it completes nothing: the slot lacked a copy, so n > 1 */
    return pool->collector ? CLN_SEND_GIVEN_UP : CLN_GIVEN_UP;
}

static enum cln_reason judge(const struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                             const struct cln_copy *copy, uint64_t now, struct agg_verdict *v)
{
    const int32_t ahead = (int32_t)(copy->sequence - slot->gathered.expected);

    if (worker >= pool->gather.cfg.workers)
        return CLN_IGNORED_SENDER; /* the collector sends nothing */
    if (!slot->begun || ahead > 0)
        return go_on(pool, slot, worker, copy, now, v);
    return ahead == 0 ? add(pool, slot, worker, copy, now, v) : CLN_DROP_STALE;
}

/* It lacks copies, and that has not been said yet. */
static bool waits(const struct cln_slot *slot)
{
    return slot->gathered.contributed > 0 && !slot->reported;
}

void cln_pool_apply(struct cln_pool *pool, struct cln_slot *slot, uint16_t worker,
                    const struct cln_copy *copy, uint64_t now, struct agg_verdict *verdict)
{
    const bool waited = waits(slot);

    verdict->kept = false;
    verdict->released = NULL;
    verdict->buffer = NULL;
    verdict->reason = (uint8_t)judge(pool, slot, worker, copy, now, verdict);
    if (waits(slot) != waited)
        pool->waiting[copy->sequence % pool->gather.cfg.slots % pool->shards] += waited ? -1 : 1;
    if (verdict->reason <= CLN_HELD)
        gather_note_heard(&pool->gather);
}

static bool is_late(const struct cln_pool *pool, const struct cln_slot *slot, uint64_t now)
{
    return waits(slot) && now - slot->since >= pool->missing_after_ns;
}

bool cln_pool_awaits_time(const struct cln_pool *pool, unsigned shard)
{
    return pool->waiting[shard] > 0;
}

bool cln_pool_tick(struct cln_pool *pool, unsigned shard, uint64_t now, struct agg_verdict *v)
{
    uint16_t *next = &pool->next_tick[shard];

    for (; *next < pool->gather.cfg.slots; *next += pool->shards) {
        struct cln_slot *slot = cln_pool_locate(pool, *next);

        if (!is_late(pool, slot, now))
            continue;
        slot->reported = true;
        pool->waiting[shard]--;
        *v = (struct agg_verdict){.reason = pool->collector ? CLN_SEND_MISSING : CLN_MISSING};
        report(pool, slot, v);
        return true;
    }
    *next = (uint16_t)shard;
    return false;
}
