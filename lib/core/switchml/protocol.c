/* Implements struct agg_protocol (protocol/protocol.h) by SwitchML's packets and pools. */
#include "switchml/protocol.h"

#include <string.h>

#include "protocol/burst.h"

static_assert(sizeof(struct sml_packet) <= AGG_PARSED_BYTES, "a parsed packet has room");
static_assert((int)SML_REJECT_BYTES <= (int)AGG_ANSWER_BYTES, "so has a reject");
static_assert((int)AGG_MAX_WORKERS == (int)AGG_MAX_WORKERS && (int)AGG_MAX_RANKS == (int)AGG_MAX_RANKS,
              "views and seats are for as many");

#define NS_PER_MS UINT64_C(1000000)

static inline struct sml_packet *parsed(struct agg_packet *p)
{
    return (struct sml_packet *)p->parsed;
}

bool sml_pool_config_of(const struct agg_pool_config *cfg, struct sml_pool_config *out)
{
    struct sml_terms t;

    if (!sml_terms_parse(&t, &cfg->terms))
        return false;
    *out = (struct sml_pool_config){
        .workers = cfg->workers,
        .slots = t.slots,
        .chunk_bytes = t.chunk_bytes,
        .job = cfg->job,
        .format = t.format,
        .mode = t.mode,
        .checksum = sml_terms_checksum(&t),
        .shared = cfg->shared,
        .arrivals = cfg->delays,
        .shards = cfg->shards,
        .first_tag = t.first_tag,
        .resumed = t.resumed,
        .tag_bits = t.tag_bits,
        .labelled = t.labelled,
        .threads = t.threads,
        .table = t.table,
        .quorum = t.quorum,
        .wait_ns = t.wait_ms * NS_PER_MS,
        .empties = t.empties,
        .kernels = cfg->kernels,
    };
    return true;
}

static bool footprint(const struct agg_pool_config *cfg, struct agg_footprint *f)
{
    struct sml_pool_config pool;

    if (!sml_pool_config_of(cfg, &pool) || sml_pool_footprint(&pool) == 0)
        return false;
    const size_t names = pool.quorum == 0 ? 0 : ranks_map_bytes(pool.workers);
    *f = (struct agg_footprint){
        .bytes = sml_pool_footprint(&pool),
        .slots = pool.slots,
        .buffers = 2u * pool.slots,
        .payload_bytes =
            (uint16_t)(SML_HEADER_BYTES + pool.chunk_bytes + names + xfer_trailer_bytes(pool.checksum)),
        .checked = pool.checksum == XFER_CHECKSUM_CRC32C,
        .keyed = pool.checksum == XFER_CHECKSUM_KEYED,
    };
    return true;
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct sml_pool_config pool;

    return sml_pool_config_of(cfg, &pool) ? sml_pool_init(mem, &pool) : NULL;
}

void sml_protocol_drain(void *pool, void (*release)(void *buffer))
{
    sml_pool_drain(pool, release);
}

static uint8_t refused_as(enum sml_parse_error e)
{
    static const uint8_t reasons[] = {
        [SML_TOO_SHORT] = SML_REFUSED_TOO_SHORT,         [SML_BAD_KIND] = SML_REFUSED_BAD_KIND,
        [SML_BAD_SIZE_CODE] = SML_REFUSED_BAD_SIZE_CODE, [SML_BAD_SLOT] = SML_REFUSED_BAD_SLOT,
        [SML_BAD_LENGTH] = SML_REFUSED_BAD_LENGTH,
    };

    return reasons[e];
}

/* Fills in the packet's job, rank and slot. SML_HELD, or the reason for which it is refused. */
static inline uint8_t find(const struct agg_jobs *jobs, struct agg_packet *p)
{
    const enum sml_parse_error e = sml_parse(parsed(p), p->payload, p->bytes);
    const struct agg_seat *seat;

    p->job = NULL;
    p->slot = NULL;
    if (e != SML_OK)
        return refused_as(e);
    p->job = agg_jobs_find(jobs, agg_jobs_number(jobs, &p->from, parsed(p)->job));
    if (p->job == NULL)
        return SML_REFUSED_UNKNOWN_JOB;
    seat = agg_job_find(p->job, &p->from);
    if (seat == NULL)
        return SML_REFUSED_FOREIGN_SENDER;
    if (memcmp(seat->mac, p->from.mac, AGG_MAC_BYTES) != 0)
        return SML_REFUSED_FOREIGN_MAC;
    p->rank = seat->rank;
    p->thread = seat->thread;
    p->slot = sml_pool_locate(p->job->pool, parsed(p), p->thread);
    return p->slot == NULL ? SML_DROP_BAD_SLOT : SML_HELD;
}

static inline void fetch(const struct agg_packet *p)
{
    agg_fetch_packet(p);
    if (p->slot != NULL)
        sml_pool_fetch(p->job->pool, p->slot, (const struct sml_packet *)p->parsed);
}

void sml_protocol_locate(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n)
{
    agg_locate_burst(jobs, p, n, find, fetch);
}

bool sml_protocol_heard(void *pool)
{
    return sml_pool_heard(pool);
}

/* A published client would take any answer for the sum that it waits for. */
static bool may_be_published(const struct sml_packet *p)
{
    return p->kind == SML_DATA && p->size_code != SML_SIZE_AGREED;
}

size_t sml_protocol_refuse(const struct agg_packet *p, uint64_t boot_id, uint8_t answer[AGG_ANSWER_BYTES])
{
    if (p->reason != SML_REFUSED_UNKNOWN_JOB && p->reason != SML_REFUSED_FOREIGN_SENDER)
        return 0;
    if (may_be_published((const struct sml_packet *)p->parsed))
        return 0;
    return sml_build_reject(answer, (const struct sml_packet *)p->parsed, boot_id);
}

/* Applies one packet; true if the caller has something to do for it. */
static inline bool apply_one(struct agg_packet *p, uint64_t now, struct agg_verdict *v)
{
    if (p->slot == NULL)
        return false;
    sml_pool_apply(p->job->pool, p->slot, p->rank, parsed(p), p->buffer, now, v);
    p->reason = v->reason;
    return v->reason < SML_HELD || v->kept || v->released != NULL;
}

unsigned sml_protocol_apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    return agg_apply_burst(p, n, now, v, sml_reasons, apply_one, fetch);
}

static bool view(const void *pool, uint32_t i, struct agg_slot_view *out)
{
    if (i >= sml_pool_slots(pool))
        return false;
    sml_pool_view(pool, (uint16_t)i, out);
    return true;
}

static bool view_rank(const void *pool, uint16_t rank, struct agg_rank_view *out)
{
    return sml_pool_view_rank(pool, rank, out);
}

static bool tick(const struct agg_job *job, unsigned shard, unsigned shards, uint64_t now,
                 struct agg_verdict *v)
{
    (void)shards; /* the pool has as many */
    return sml_pool_tick(job->pool, shard, now, v);
}

static bool ticks(const void *pool, unsigned shard)
{
    return sml_pool_awaits_time(pool, shard);
}

const struct agg_protocol sml_protocol = {
    SML_PROTOCOL_COMMON,    .footprint = footprint, .init = init,   .view = view,
    .view_rank = view_rank, .tick = tick,           .ticks = ticks,
};
