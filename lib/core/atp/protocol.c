/* Implements struct agg_protocol (protocol/protocol.h) by ATP's packets and collectors. */
#include "atp/protocol.h"

#include <assert.h>
#include <string.h>

#include "atp/collector.h"
#include "atp/reasons.h"
#include "atp/worker.h"
#include "protocol/burst.h"
#include "wire/atp.h"

static_assert(sizeof(struct atp_packet) <= AGG_PARSED_BYTES, "a parsed packet has room");
static_assert((int)ATP_REJECT_BYTES <= (int)AGG_ANSWER_BYTES, "so has a reject");
static_assert(ATP_HEADER_BYTES + (int)ATP_MAX_WORKERS / 8 <= (int)AGG_ANSWER_BYTES, "and who is waited for");
static_assert((int)AGG_MAX_WORKERS == (int)ATP_MAX_WORKERS, "views and seats are for as many");

static inline struct atp_packet *parsed(struct agg_packet *p)
{
    return (struct atp_packet *)p->parsed;
}

static bool collector_config(const struct agg_pool_config *cfg, struct atp_collector_config *out)
{
    struct atp_terms t;

    if (!atp_terms_parse(&t, &cfg->terms))
        return false;
    *out = (struct atp_collector_config){
        .topology = {.workers = cfg->workers, .per_rack = t.per_rack, .near = t.near},
        .window = t.window,
        .chunk_bytes = t.chunk_bytes,
        .job = cfg->job,
        .mode = t.mode,
        .format = t.format,
        .mapping = t.mapping,
        .seal = atp_terms_seal(&t),
        .shared = cfg->shared,
        .life = t.life,
        .first_sequence = t.first_sequence,
        .resumed = t.resumed,
        .has_group = t.group != 0,
        .kernels = cfg->kernels,
    };
    return true;
}

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct atp_collector_config c;
    struct atp_terms t;

    if (!collector_config(cfg, &c) || atp_collector_footprint(&c) == 0 || !atp_terms_parse(&t, &cfg->terms))
        return false;
    *f = (struct agg_footprint){
        .bytes = atp_collector_footprint(&c),
        .slots = c.window,
        .payload_bytes = (uint16_t)(ATP_HEADER_BYTES + c.chunk_bytes + xfer_trailer_bytes(c.seal)),
        .checked = c.seal == XFER_CHECKSUM_CRC32C,
        .keyed = c.seal == XFER_CHECKSUM_KEYED,
        .group = t.group,
        .group_port = t.group_port,
    };
    return true;
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct atp_collector_config c;

    return collector_config(cfg, &c) ? atp_collector_init(mem, &c) : NULL;
}

static uint8_t refused_as(enum atp_parse_error e)
{
    static const uint8_t reasons[] = {
        [ATP_TOO_SHORT] = ATP_REFUSED_TOO_SHORT,
        [ATP_BAD_KIND] = ATP_REFUSED_BAD_KIND,
        [ATP_BAD_FIELD] = ATP_REFUSED_BAD_FIELD,
        [ATP_BAD_LENGTH] = ATP_REFUSED_BAD_LENGTH,
    };

    return reasons[e];
}

/* Fills in the packet's job, rank and lane. ATP_HELD, or the reason for which it is refused. */
static inline uint8_t find(const struct agg_jobs *jobs, struct agg_packet *p)
{
    const enum atp_parse_error e = atp_parse(parsed(p), p->payload, p->bytes);
    const struct agg_seat *seat;

    p->job = NULL;
    p->slot = NULL;
    if (e != ATP_OK)
        return refused_as(e);
    p->job = agg_jobs_find(jobs, parsed(p)->job);
    if (p->job == NULL)
        return ATP_REFUSED_UNKNOWN_JOB;
    seat = agg_job_find(p->job, &p->from);
    if (seat == NULL)
        return ATP_REFUSED_FOREIGN_SENDER;
    if (memcmp(seat->mac, p->from.mac, AGG_MAC_BYTES) != 0)
        return ATP_REFUSED_FOREIGN_MAC;
    p->rank = seat->rank;
    p->thread = seat->thread;
    p->slot = atp_collector_locate(p->job->pool, parsed(p));
    if (p->slot == NULL)
        return ATP_REFUSED_OTHER_LIFE;
    atp_lane_prefetch(p->slot);
    return ATP_HELD;
}

static void locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    agg_locate_burst(jobs, p, n, find, agg_fetch_packet);
}

static size_t refuse(const struct agg_packet *p, uint64_t boot_id, uint8_t out[AGG_ANSWER_BYTES])
{
    const struct atp_packet *const packet = (const struct atp_packet *)p->parsed;

    if (p->reason != ATP_REFUSED_UNKNOWN_JOB && p->reason != ATP_REFUSED_OTHER_LIFE &&
        p->reason != ATP_REFUSED_FOREIGN_SENDER)
        return 0;
    if (packet->seal == XFER_CHECKSUM_CRC32C && !atp_seal_holds(packet, p->payload, p->bytes, NULL, NULL))
        return 0; /* what it says of its job may be the damage */
    return atp_build_reject(out, packet, boot_id);
}

/* Nothing at a server depends on time. */
static inline bool apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v)
{
    (void)now;
    if (p->slot == NULL)
        return false;
    atp_collector_apply(p->job->pool, p->slot, p->rank, parsed(p), p->payload, p->bytes, v);
    p->reason = v->reason;
    return v->reason < ATP_HELD;
}

static unsigned apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    return agg_apply_burst(p, n, now, v, atp_reasons, apply_one, agg_fetch_packet);
}

static bool view(const void *pool, uint32_t i, struct agg_slot_view *out)
{
    if (i >= atp_collector_lanes(pool))
        return false;
    atp_collector_view(pool, (uint16_t)i, out);
    return true;
}

const struct agg_protocol atp_protocol = {
    .name = "atp",
    .id = AGG_PROTOCOL_ATP,
    .worker = &atp_worker,
    .reason = atp_reasons,
    .reasons = ATP_REASONS,
    .udp_ports = {.first = ATP_PORT_FIRST, .last = ATP_PORT_LAST},
    .header_bytes = ATP_HEADER_BYTES,
    .shard_key = {.at = ATP_SEQUENCE_LOW_AT, .mask = ATP_MIN_WINDOW - 1},
    .check = atp_terms_check,
    .differ = atp_terms_differ,
    .grant = atp_terms_grant,
    .lower = atp_terms_lower,
    .list = atp_terms_list,
    .footprint = footprint,
    .init = init,
    .drain = agg_drain_nothing,
    .mark = atp_mark,
    .note_group = atp_note_group,
    .locate = locate,
    .apply = apply,
    .refuse = refuse,
    .describe = atp_describe,
    .view = view,
};
