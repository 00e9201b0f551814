/* Implements struct agg_protocol (protocol/protocol.h) by a switch's table of aggregators. */
#include "atp/protocol.h"
#include "atp/reasons.h"
#include "atp/table.h"
#include "atp/terms.h"
#include "protocol/burst.h"
#include "protocol/fixed_terms.h"

static inline struct atp_packet *parsed(struct agg_packet *p)
{
    return (struct atp_packet *)p->parsed;
}

static bool table_config(const struct agg_pool_config *cfg, struct atp_table_config *out)
{
    struct atp_switch_terms t;

    if (!atp_switch_terms_parse(&t, &cfg->terms))
        return false;
    *out = (struct atp_table_config){
        .aggregators = t.aggregators,
        .chunk_bytes = t.chunk_bytes,
        .shards = cfg->shards,
        .max_age_ns = t.max_age_ns,
        .preempt = t.preempt,
        .parts = t.parts,
        .forward_ppm = t.forward_ppm,
        .seed = t.seed,
        .kernels = cfg->kernels,
    };
    return true;
}

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct atp_table_config t;

    if (!table_config(cfg, &t) || atp_table_footprint(&t) == 0)
        return false;
    *f = (struct agg_footprint){
        .bytes = atp_table_footprint(&t),
        .slots = t.aggregators,
        .payload_bytes = (uint16_t)(ATP_HEADER_BYTES + t.chunk_bytes + XFER_TRAILER_BYTES),
    };
    return true;
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct atp_table_config t;

    return table_config(cfg, &t) ? atp_table_init(mem, &t) : NULL;
}

static bool heard(void *pool)
{
    return atp_table_heard(pool);
}

/* Fills in the packet's job, which is the table, and aggregator. */
static inline uint8_t find(const struct agg_jobs *jobs, struct agg_packet *p)
{
    p->job = agg_jobs_find(jobs, 0);
    p->slot = NULL;
    p->rank = p->thread = 0;
    if (p->job == NULL || atp_parse(parsed(p), p->payload, p->bytes) != ATP_OK)
        return ATP_SWITCH_NOT_ATP;
    p->slot = atp_table_locate(p->job->pool, parsed(p));
    atp_aggregator_prefetch(p->slot);
    return ATP_SWITCH_HELD;
}

static void locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    agg_locate_burst(jobs, p, n, find, agg_fetch_packet);
}

/* What is not ATP's goes on. */
static inline bool apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v)
{
    if (p->slot == NULL) {
        v->reason = p->reason;
        v->kept = false;
        v->released = NULL;
        return true;
    }
    atp_table_apply(p->job->pool, p->slot, parsed(p), p, now, v);
    p->reason = v->reason;
    return v->reason < ATP_SWITCH_HELD;
}

static unsigned apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    return agg_apply_burst(p, n, now, v, atp_switch_reasons, apply_one, agg_fetch_packet);
}

static bool tick(const struct agg_job *job, unsigned shard, unsigned shards, uint64_t now,
                 struct agg_verdict *v)
{
    (void)shards; /* as the table was made */
    if (!atp_table_expire(job->pool, shard, now, v))
        return false;
    v->action = atp_switch_reasons[v->reason].action;
    return true;
}

static bool ticks(const void *pool, unsigned shard)
{
    return atp_table_awaits_time(pool, shard);
}

static bool view(const void *pool, uint32_t i, struct agg_slot_view *out)
{
    return atp_table_view(pool, i, out);
}

const struct agg_protocol atp_switch_protocol = {
    .name = "atp_switch",
    .id = AGG_PROTOCOL_ATP_SWITCH,
    .reason = atp_switch_reasons,
    .reasons = ATP_SWITCH_REASONS,
    .transit_ports = {.first = ATP_PORT_FIRST, .last = ATP_PORT_LAST},
    .header_bytes = ATP_HEADER_BYTES,
    .shard_key = {.at = ATP_INDEX_AT, .mask = 0xffff},
    .check = agg_fixed_check,
    .differ = agg_fixed_differ,
    .grant = agg_fixed_grant,
    .lower = agg_fixed_lower,
    .list = atp_switch_terms_list,
    .footprint = footprint,
    .init = init,
    .drain = agg_drain_nothing,
    .heard = heard,
    .mark = atp_mark,
    .locate = locate,
    .apply = apply,
    .tick = tick,
    .ticks = ticks,
    .view = view,
};
