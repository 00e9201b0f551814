/* Implements struct agg_protocol (protocol/protocol.h) for frames that pass by. */
#include "clone/protocol.h"

#include <assert.h>
#include <string.h>

#include "clone/pool.h"
#include "clone/reasons.h"
#include "clone/terms.h"
#include "gather/gather.h"
#include "protocol/burst.h"
#include "wire/hostagg.h"

enum { NS_PER_MS = 1000000 };

static_assert(sizeof(struct cln_copy) <= AGG_PARSED_BYTES, "what is found in a frame has room");

static inline struct cln_copy *found(struct agg_packet *p)
{
    return (struct cln_copy *)p->parsed;
}

/* Of the members of a job, the last is the collector, if there is one. */
static bool pool_config(const struct agg_pool_config *cfg, struct cln_pool_config *out)
{
    struct cln_terms t;

    if (!cln_terms_parse(&t, &cfg->terms) || cfg->workers == 0)
        return false;
    *out = (struct cln_pool_config){.workers = (uint16_t)(cfg->workers - t.collector),
                                    .slots = t.slots,
                                    .shards = cfg->shards == 0 ? 1 : cfg->shards,
                                    .chunk_bytes = t.chunk_bytes,
                                    .job = cfg->job,
                                    .code = t.code,
                                    .collector = t.collector,
                                    .missing_after_ns = (uint64_t)t.missing_after_ms * NS_PER_MS,
                                    .layout = t.layout,
                                    .kernels = cfg->kernels};
    return true;
}

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct cln_pool_config pool;

    if (!pool_config(cfg, &pool) || cln_pool_footprint(&pool) == 0)
        return false;
    *f = (struct agg_footprint){.bytes = cln_pool_footprint(&pool),
                                .slots = pool.slots,
                                .payload_bytes = (uint16_t)(HAG_HEADER_BYTES + pool.chunk_bytes)};
    return true;
}

/* Only the configuration knows where in a frame the number of its chunk lies: of that, the low half. */
static struct agg_key_field job_key(const struct agg_terms *terms)
{
    struct cln_terms t;

    if (!cln_terms_parse(&t, terms))
        return (struct agg_key_field){0};
    return (struct agg_key_field){.at = (uint16_t)(t.layout.sequence_at + (t.layout.little ? 0 : 2)),
                                  .mask = (uint16_t)(t.slots - 1),
                                  .little = t.layout.little};
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct cln_pool_config pool;

    return pool_config(cfg, &pool) ? cln_pool_init(mem, &pool) : NULL;
}

static inline uint8_t find(const struct agg_jobs *jobs, struct agg_packet *p)
{
    static const uint8_t reasons[] = {[CLN_FOUND] = CLN_HELD,
                                      [CLN_OTHER_FLOW] = CLN_IGNORED_SENDER,
                                      [CLN_NO_MATCH] = CLN_IGNORED_NO_MATCH,
                                      [CLN_TOO_SHORT] = CLN_IGNORED_TOO_SHORT};
    const struct agg_seat *seat;
    uint8_t reason;

    p->slot = NULL;
    p->job = agg_jobs_find(jobs, agg_jobs_number(jobs, &p->from, 0));
    seat = p->job == NULL ? NULL : agg_job_find(p->job, &p->from);
    if (seat == NULL || memcmp(seat->mac, p->from.mac, AGG_MAC_BYTES) != 0)
        return CLN_IGNORED_SENDER;
    p->rank = seat->rank;
    reason = reasons[cln_pool_find(p->job->pool, p->payload, p->bytes, found(p))];
    if (reason != CLN_HELD)
        return reason;
    p->slot = cln_pool_locate(p->job->pool, found(p)->sequence);
    __builtin_prefetch(p->slot, 1);
    return CLN_HELD;
}

static void locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    agg_locate_burst(jobs, p, n, find, agg_fetch_packet);
}

static inline bool apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v)
{
    if (p->slot == NULL)
        return false;
    cln_pool_apply(p->job->pool, p->slot, p->rank, found(p), now, v);
    p->reason = v->reason;
    return cln_reasons[v->reason].action == AGG_TO_ALL;
}

static unsigned apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    return agg_apply_burst(p, n, now, v, cln_reasons, apply_one, agg_fetch_packet);
}

static bool tick(const struct agg_job *job, unsigned shard, unsigned shards, uint64_t now,
                 struct agg_verdict *v)
{
    (void)shards; /* the pool knows */
    if (!cln_pool_tick(job->pool, shard, now, v))
        return false;
    v->action = cln_reasons[v->reason].action;
    return true;
}

static bool ticks(const void *pool, unsigned shard)
{
    return cln_pool_awaits_time(pool, shard);
}

const struct agg_protocol cln_protocol = {
    .name = "clone",
    .id = AGG_PROTOCOL_CLONE,
    .reason = cln_reasons,
    .reasons = CLN_REASONS,
    .frames = true,
    .job_key = job_key,
    GATHER_PROTOCOL,
    .list = cln_terms_list,
    .footprint = footprint,
    .init = init,
    .locate = locate,
    .apply = apply,
    .tick = tick,
    .ticks = ticks,
};
