/* Implements struct agg_protocol (protocol/protocol.h) by the packets and pools of host-addressed
 * aggregation. */
#include "hostagg/protocol.h"

#include <assert.h>
#include <string.h>

#include "hostagg/pool.h"
#include "hostagg/reasons.h"
#include "hostagg/terms.h"
#include "protocol/fixed_terms.h"

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

static void drain(void *pool, void (*release)(void *buffer))
{
    (void)pool; /* it keeps no buffers */
    (void)release;
}

static bool heard(void *pool)
{
    return hag_pool_heard(pool);
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
    for (unsigned i = 0; i < n; i++)
        p[i].reason = find(jobs, &p[i]);
}

/* Applies one packet; true if something is to be sent for it, if only the packet itself. */
static inline bool apply_one(struct agg_packet *p, struct agg_verdict *v)
{
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
    unsigned i = 0;

    (void)now; /* nothing in such a pool depends on time */
    while (i < n && !apply_one(&p[i], v))
        i++;
    if (i == n) {
        i = n - 1;
        *v = (struct agg_verdict){.reason = p[i].reason};
    }
    v->action = hag_reasons[v->reason].action;
    return i + 1;
}

static bool view(const void *pool, uint32_t i, struct agg_slot_view *out)
{
    return hag_pool_view(pool, i, out);
}

const struct agg_protocol hag_protocol = {
    .name = "hostagg",
    .id = AGG_PROTOCOL_HOSTAGG,
    .reason = hag_reasons,
    .reasons = HAG_REASONS,
    .header_bytes = HAG_HEADER_BYTES,
    .shard_key = {.at = 6, .mask = HAG_MAX_SLOTS - 1},
    .check = agg_fixed_check,
    .differ = agg_fixed_differ,
    .grant = agg_fixed_grant,
    .lower = agg_fixed_lower,
    .list = hag_terms_list,
    .footprint = footprint,
    .init = init,
    .drain = drain,
    .heard = heard,
    .locate = locate,
    .apply = apply,
    .view = view,
};
