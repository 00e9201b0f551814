/* Implements struct agg_protocol (protocol/protocol.h) by RDMA writes and their pools. */
#include "roce/protocol.h"

#include <assert.h>
#include <string.h>

#include "protocol/burst.h"
#include "protocol/fixed_terms.h"
#include "roce/pool.h"
#include "roce/reasons.h"
#include "roce/terms.h"

static_assert(sizeof(struct roce_packet) <= AGG_PARSED_BYTES, "a parsed packet has room");
static_assert((int)ROCE_HEADERS_MAX <= (int)AGG_HEAD_BYTES && (int)ROCE_ICRC_BYTES <= (int)AGG_TAIL_BYTES,
              "so has what is around a sum");

static inline struct roce_packet *parsed(struct agg_packet *p)
{
    return (struct roce_packet *)p->parsed;
}

static bool pool_config(const struct agg_pool_config *cfg, struct rce_pool_config *out)
{
    struct rce_terms t;

    if (!rce_terms_parse(&t, &cfg->terms))
        return false;
    *out = (struct rce_pool_config){.workers = cfg->workers,
                                    .queue_pairs = t.queue_pairs,
                                    .packet_bytes = t.packet_bytes,
                                    .packets = t.packets,
                                    .member = cfg->particulars.at,
                                    .kernels = cfg->kernels};
    return true;
}

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct rce_pool_config pool;

    if (!pool_config(cfg, &pool) || rce_pool_footprint(&pool) == 0)
        return false;
    *f = (struct agg_footprint){
        .bytes = rce_pool_footprint(&pool),
        .slots = rce_slots(&pool),
        .payload_bytes = (uint16_t)(ROCE_HEADERS_MAX + pool.packet_bytes + ROCE_ICRC_BYTES),
        .checked = true,
    };
    return true;
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct rce_pool_config pool;

    return pool_config(cfg, &pool) ? rce_pool_init(mem, &pool) : NULL;
}

static inline uint8_t find(const struct agg_jobs *jobs, struct agg_packet *p)
{
    static const uint8_t refused_as[] = {[ROCE_TOO_SHORT] = RCE_REFUSED_TOO_SHORT,
                                         [ROCE_NO_WRITE] = RCE_REFUSED_NO_WRITE,
                                         [ROCE_BAD_SEND] = RCE_REFUSED_BAD_SEND,
                                         [ROCE_BAD_HEADER] = RCE_REFUSED_BAD_HEADER};
    const enum roce_parse_error e = roce_parse(parsed(p), p->payload, p->bytes);
    const struct agg_sender from = agg_seated(&rce_protocol, &p->from);
    const struct agg_seat *seat;

    p->job = NULL;
    p->slot = NULL;
    if (e != ROCE_OK)
        return refused_as[e];
    p->job = agg_jobs_find(jobs, agg_jobs_number(jobs, &from, 0));
    seat = p->job == NULL ? NULL : agg_job_find(p->job, &from);
    if (seat == NULL)
        return RCE_REFUSED_FOREIGN_SENDER;
    if (memcmp(seat->mac, p->from.mac, AGG_MAC_BYTES) != 0)
        return RCE_REFUSED_FOREIGN_MAC;
    p->rank = seat->rank;
    p->slot = rce_pool_locate(p->job->pool, p->rank, parsed(p));
    if (p->slot == NULL)
        return RCE_DROP_BAD_QUEUE_PAIR;
    __builtin_prefetch(p->slot, 1);
    return RCE_HELD;
}

static void locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    agg_locate_burst(jobs, p, n, find, agg_fetch_packet);
}

static inline bool apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v)
{
    if (p->slot == NULL)
        return false;
    if (p->headers != NULL && !roce_icrc_holds(p->headers, p->payload, p->bytes)) {
        p->reason = RCE_DROP_BAD_ICRC;
        return false;
    }
    rce_pool_apply(p->job->pool, p->slot, p->rank, parsed(p), now, v);
    p->reason = v->reason;
    return v->reason < RCE_HELD;
}

static unsigned apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    return agg_apply_burst(p, n, now, v, rce_reasons, apply_one, agg_fetch_packet);
}

static bool wrap(const struct agg_job *job, uint16_t rank, const struct agg_verdict *v,
                 struct agg_wrapping *w)
{
    return rce_pool_wrap(job->pool, rank, v, w);
}

static bool heard(void *pool)
{
    return rce_pool_heard(pool);
}

static bool view(const void *pool, uint32_t i, struct agg_slot_view *out)
{
    return rce_pool_view(pool, i, out);
}

const struct agg_protocol rce_protocol = {
    .name = "roce",
    .id = AGG_PROTOCOL_ROCE,
    .reason = rce_reasons,
    .reasons = RCE_REASONS,
    .amiss = rce_amiss,
    .udp_ports = {ROCE_PORT, ROCE_PORT},
    .carries = AGG_PROTOCOL_SWITCHML,
    .members_port = ROCE_PORT, /* NICs choose the port that they send from */
    .header_bytes = ROCE_BTH_BYTES,
    .shard_key = {.at = 6, .mask = RCE_MAX_QUEUE_PAIRS - 1}, /* the queue pair's index */
    .check = agg_fixed_check,
    .differ = agg_fixed_differ,
    .grant = agg_fixed_grant,
    .lower = agg_fixed_lower,
    .list = rce_terms_list,
    .footprint = footprint,
    .init = init,
    .drain = agg_drain_nothing,
    .heard = heard,
    .locate = locate,
    .apply = apply,
    .wrap = wrap,
    .seal = rce_seal,
    .describe = rce_describe,
    .view = view,
};
