/* Implements struct agg_protocol (protocol/protocol.h) by the packets and pools of host-addressed
 * aggregation. */
#include "hostagg/protocol.h"

#include <assert.h>
#include <string.h>

#include "gather/gather.h"
#include "hostagg/pool.h"
#include "hostagg/reasons.h"
#include "hostagg/terms.h"
#include "protocol/burst.h"

static_assert(sizeof(struct hag_packet) <= AGG_PARSED_BYTES, "a parsed packet has room");

static inline struct hag_packet *parsed(struct agg_packet *p)
{
    return (struct hag_packet *)p->parsed;
}

/* Of the members of a job, the last is the host, unless it is absent. */
static bool pool_config(const struct agg_pool_config *cfg, struct hag_pool_config *out)
{
    struct hag_terms t;

    if (!hag_terms_parse(&t, &cfg->terms))
        return false;
    *out = (struct hag_pool_config){
        .workers = (uint16_t)(cfg->workers - (t.host != HAG_HOST_ABSENT)),
        .slots = t.slots,
        .chunk_bytes = t.chunk_bytes,
        .job = cfg->job,
        .code = t.code,
        .host = t.host,
        .kernels = cfg->kernels,
    };
    return cfg->workers > 0;
}

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct hag_pool_config pool;

    if (!pool_config(cfg, &pool) || hag_pool_footprint(&pool) == 0)
        return false;
    *f = (struct agg_footprint){
        .bytes = hag_pool_footprint(&pool),
        .slots = pool.slots,
        .payload_bytes = (uint16_t)(HAG_HEADER_BYTES + pool.chunk_bytes),
    };
    return true;
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct hag_pool_config pool;

    return pool_config(cfg, &pool) ? hag_pool_init(mem, &pool) : NULL;
}

/* A chunk's number tells its slot only together with the job's slots. */
static struct agg_key_field job_key(const struct agg_terms *terms)
{
    struct agg_key_field key = hag_protocol.shard_key;
    struct hag_terms t;

    if (hag_terms_parse(&t, terms))
        key.mask = (uint16_t)(t.slots - 1);
    return key;
}

/* Fills in the packet's job, member and slot. HAG_HELD, or the reason for which it is none of ours. */
static inline uint8_t find(const struct agg_jobs *jobs, struct agg_packet *p)
{
    const struct agg_seat *seat;

    p->job = NULL;
    p->slot = NULL;
    if (!hag_parse(parsed(p), p->payload, p->bytes))
        return HAG_PASSED_NOT_OURS;
    p->job = agg_jobs_find(jobs, parsed(p)->job);
    if (p->job == NULL)
        return HAG_PASSED_NOT_OURS;
    seat = agg_job_find(p->job, &p->from);
    if (seat == NULL)
        return HAG_PASSED_FOREIGN_SENDER;
    if (memcmp(seat->mac, p->from.mac, AGG_MAC_BYTES) != 0)
        return HAG_PASSED_FOREIGN_MAC;
    p->rank = seat->rank;
    p->slot = hag_pool_locate(p->job->pool, parsed(p)->sequence);
    __builtin_prefetch(p->slot, 1);
    return HAG_HELD;
}

static void locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    agg_locate_burst(jobs, p, n, find, agg_fetch_packet);
}

/* What is none of ours is sent on. Nothing in such a pool depends on time. */
static inline bool apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v)
{
    (void)now;
    if (p->slot == NULL) {
        *v = (struct agg_verdict){.reason = p->reason};
        return true;
    }
    hag_pool_apply(p->job->pool, p->slot, p->rank, parsed(p), v);
    p->reason = v->reason;
    return v->reason < HAG_HELD;
}

static unsigned apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    return agg_apply_burst(p, n, now, v, hag_reasons, apply_one, agg_fetch_packet);
}

const struct agg_protocol hag_protocol = {
    .name = "hostagg",
    .id = AGG_PROTOCOL_HOSTAGG,
    .reason = hag_reasons,
    .reasons = HAG_REASONS,
    .header_bytes = HAG_HEADER_BYTES,
    .shard_key = {.at = 6, .mask = HAG_MAX_SLOTS - 1},
    .job_key = job_key,
    GATHER_PROTOCOL,
    .list = hag_terms_list,
    .footprint = footprint,
    .init = init,
    .locate = locate,
    .apply = apply,
    .describe = hag_describe,
};
