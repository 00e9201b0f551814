/* A pool's memory: layout, initialization, and views for telemetry. pool_apply.c applies packets. */
#include "switchml/pool.h"

#include <string.h>

#include "protocol/burst.h"
#include "protocol/heard.h"
#include "switchml/pool_arrivals.h"

static size_t whole_lines(size_t bytes)
{
    return (bytes + SML_LINE - 1) / SML_LINE * SML_LINE;
}

static unsigned threads_of(const struct sml_pool_config *cfg)
{
    return cfg->threads == 0 ? 1 : cfg->threads;
}

static bool slots_valid(const struct sml_pool_config *cfg)
{
    if (cfg->slots < 1 || cfg->slots > SML_MAX_SLOTS)
        return false;
    if (cfg->labelled)
        return cfg->slots % threads_of(cfg) == 0 && !cfg->resumed && cfg->tag_bits == 0;
    return (cfg->slots & (cfg->slots - 1)) == 0 && threads_of(cfg) == 1;
}

/* Published clients' packets cannot be keyed, nor can a capture that is replayed. */
static bool checksum_valid(const struct sml_pool_config *cfg)
{
    if (cfg->checksum == XFER_CHECKSUM_KEYED)
        return cfg->shared != NULL && !cfg->labelled && cfg->tag_bits == 0;
    return cfg->checksum == XFER_CHECKSUM_NONE || cfg->checksum == XFER_CHECKSUM_CRC32C;
}

static bool table_valid(const struct sml_pool_config *cfg)
{
    const unsigned ranks = cfg->ranks == 0 ? cfg->workers : cfg->ranks;

    if (cfg->table.code == 0)
        return true;
    return cfg->format == XFER_FORMAT_TYPED && sml_table_valid(&cfg->table) &&
           sml_table_fits(&cfg->table, ranks) && cfg->chunk_bytes >= SML_LOOK_UP_CHUNK_MIN;
}

static bool quorum_valid(const struct sml_pool_config *cfg)
{
    return cfg->quorum == 0 || (cfg->quorum <= cfg->workers && cfg->format == XFER_FORMAT_TYPED &&
                                cfg->role == NULL && cfg->ranks == 0 && cfg->tag_bits == 0 &&
                                cfg->chunk_bytes + sml_names_bytes(cfg) <= SML_MAX_CHUNK_BYTES);
}

static bool empties_valid(const struct sml_pool_config *cfg)
{
    return !cfg->empties || (cfg->format == XFER_FORMAT_TYPED && cfg->quorum == 0);
}

static bool config_valid(const struct sml_pool_config *cfg)
{
    return cfg->workers >= 1 && cfg->workers <= AGG_MAX_WORKERS && slots_valid(cfg) &&
           cfg->chunk_bytes >= SML_MIN_CHUNK_BYTES && cfg->chunk_bytes <= SML_MAX_CHUNK_BYTES &&
           cfg->chunk_bytes % 4 == 0 && cfg->format < XFER_FORMATS &&
           (cfg->mode == XFER_ON_ARRIVAL || cfg->mode == XFER_ORDERED) && checksum_valid(cfg) &&
           table_valid(cfg) && quorum_valid(cfg) && empties_valid(cfg) &&
           (!cfg->labelled || (xfer_has_exponents(cfg->format) && cfg->role == NULL)) &&
           (cfg->ranks == 0 || (cfg->ranks >= cfg->workers && cfg->ranks <= AGG_MAX_RANKS)) &&
           cfg->role_bytes % sizeof(uint64_t) == 0 && cfg->shards <= SML_MAX_SLOTS &&
           (cfg->tag_bits == 0 || (cfg->tag_bits < 32 && UINT32_C(1) << cfg->tag_bits >= 4u * cfg->slots));
}

static sml_role_fn *role_of(const struct sml_pool_config *cfg)
{
    if (cfg->labelled)
        return sml_pool_apply_labelled;
    if (cfg->quorum != 0)
        return sml_pool_apply_quorum;
    if (cfg->role != NULL)
        return cfg->role;
    return cfg->mode == XFER_ON_ARRIVAL && cfg->checksum == XFER_CHECKSUM_NONE ? sml_pool_apply_at_once
                                                                               : sml_pool_apply_any;
}

static struct sml_pool layout(const struct sml_pool_config *cfg)
{
    struct sml_pool pool = {.cfg = *cfg};
    size_t wide = cfg->format == XFER_FORMAT_INT32 ? 0 : 2;
    size_t beside = cfg->mode == XFER_ORDERED ? cfg->workers - 1u + (cfg->ranks == 0 ? 0 : wide) : wide;
    size_t role = cfg->labelled      ? sizeof(struct sml_labels)
                  : cfg->quorum != 0 ? sml_closings_bytes(cfg->workers)
                                     : cfg->role_bytes;

    pool.cfg.role = role_of(cfg);
    pool.cfg.ranks = cfg->ranks == 0 ? cfg->workers : cfg->ranks;
    pool.cfg.shards = cfg->shards == 0 ? 1 : cfg->shards;
    pool.shards_inverse = (UINT32_MAX + UINT64_C(1) + pool.cfg.shards - 1) / pool.cfg.shards;
    pool.tag_shift = cfg->tag_bits == 0 ? 0 : 32 - cfg->tag_bits;
    pool.thread_slots = cfg->slots / threads_of(cfg);
    pool.map_words = ranks_words(cfg->workers);
    pool.maps = cfg->empties ? 4 : 3;
    pool.body_bytes =
        whole_lines(cfg->chunk_bytes + sml_names_bytes(cfg) + xfer_trailer_bytes(cfg->checksum));
    pool.watch_bytes =
        whole_lines(sizeof(struct sml_watch) + (cfg->workers + pool.map_words) * sizeof(uint64_t));
    pool.head_bytes =
        whole_lines(sizeof(struct sml_slot) + pool.maps * pool.map_words * sizeof(uint64_t) + role);
    pool.slot_bytes = pool.head_bytes + 2 * (SML_LINE + pool.body_bytes) + beside * pool.body_bytes;
    return pool;
}

static size_t arrivals_bytes(const struct sml_pool *pool)
{
    return pool->cfg.arrivals ? pool->cfg.shards * pool->cfg.workers * sizeof(struct sml_arrivals) : 0;
}

static size_t watches_bytes(const struct sml_pool *pool)
{
    return pool->cfg.quorum != 0 ? pool->cfg.shards * pool->watch_bytes : 0;
}

static size_t auth_bytes(const struct sml_pool_config *cfg)
{
    return cfg->checksum == XFER_CHECKSUM_KEYED ? xfer_auth_footprint(cfg->chunk_bytes + sml_names_bytes(cfg))
                                                : 0;
}

size_t sml_pool_footprint(const struct sml_pool_config *cfg)
{
    if (!config_valid(cfg))
        return 0;
    const struct sml_pool pool = layout(cfg);

    return whole_lines(sizeof(pool)) + cfg->slots * pool.slot_bytes +
           whole_lines(arrivals_bytes(&pool) + watches_bytes(&pool) + auth_bytes(cfg));
}

struct sml_pool *sml_pool_init(void *mem, const struct sml_pool_config *cfg)
{
    struct sml_pool *pool = mem;

    *pool = layout(cfg);
    pool->thc = cfg->table.code != 0 ? thc_loops_for(cfg->kernels) : NULL;
    for (uint32_t i = 0; i < cfg->slots; i++) {
        uint32_t tag = cfg->first_tag + i;
        struct sml_slot *slot = sml_slot_at(pool, cfg->labelled ? i : sml_tag_slot(tag, cfg->slots));

        memset(slot, 0, pool->head_bytes);
        slot->expected = tag;
        for (unsigned rank = 0; cfg->quorum != 0 && rank < cfg->workers; rank++)
            sml_slot_closings(pool, slot)->last[rank] = tag + (UINT32_MAX / 2 + 1); /* in none yet */
        for (unsigned ver = 0; ver < 2; ver++) {
            slot->body[ver] = sml_slot_memory(pool, slot, ver);
            /* the next chunk of either version: a tag that has wrapped already is of the second round */
            *sml_slot_result(pool, slot, ver) = (struct sml_result){.wraps = tag < cfg->first_tag};
        }
    }
    if (cfg->arrivals)
        pool->arrivals = memset(sml_slot_at(pool, cfg->slots), 0, arrivals_bytes(pool));
    uint8_t *behind = (uint8_t *)sml_slot_at(pool, cfg->slots) + arrivals_bytes(pool);
    if (cfg->quorum != 0)
        pool->watches = memset(behind, 0, watches_bytes(pool));
    behind += watches_bytes(pool);
    if (cfg->checksum == XFER_CHECKSUM_KEYED)
        pool->auth = xfer_auth_init(behind, cfg->shared, cfg->chunk_bytes + sml_names_bytes(cfg));
    pool->cfg.shared = NULL;
    return pool;
}

void sml_pool_drain(struct sml_pool *pool, void (*release)(void *buffer))
{
    for (size_t i = 0; i < pool->cfg.slots; i++) {
        for (unsigned ver = 0; ver < 2; ver++) {
            void *buffer = sml_slot_result(pool, sml_slot_at(pool, i), ver)->buffer;

            if (buffer != NULL)
                release(buffer);
        }
    }
}

struct sml_slot *sml_pool_locate(struct sml_pool *pool, const struct sml_packet *p, unsigned thread)
{
    struct sml_slot *slot;

    if (p->slot - thread * pool->thread_slots >= pool->thread_slots)
        return NULL;
    slot = sml_slot_at(pool, p->slot);
    __builtin_prefetch(slot, 1);
    return slot;
}

bool sml_pool_heard(struct sml_pool *pool)
{
    return agg_heard_take(&pool->heard);
}

void sml_pool_fetch(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p)
{
    const uint8_t *own = sml_slot_memory(pool, slot, p->ver);
    const unsigned contributed = slot->contributed;

    if (contributed == 0 || contributed + 1u == pool->cfg.workers) /* it begins or ends the chunk */
        __builtin_prefetch(own - SML_LINE, 1);                     /* struct sml_result */
    agg_fetch(contributed > 0 ? slot->body[p->ver] : own, p->body_bytes, true);
}

uint16_t sml_pool_slots(const struct sml_pool *pool)
{
    return pool->cfg.slots;
}

void sml_pool_view(const struct sml_pool *pool, uint16_t slot, struct agg_slot_view *view)
{
    const struct sml_slot *s = sml_slot_at(pool, slot);

    *view = (struct agg_slot_view){
        .chunk = __atomic_load_n(&s->expected, __ATOMIC_RELAXED),
        .contributed = __atomic_load_n(&s->contributed, __ATOMIC_RELAXED),
    };
    for (size_t i = 0; i < pool->map_words; i++)
        view->ranks[i] = __atomic_load_n(&s->maps[i], __ATOMIC_RELAXED);
}

static uint64_t read_count(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static void add_arrivals(struct agg_rank_view *v, const struct sml_arrivals *a)
{
    const uint64_t at = read_count(&a->at), worst = read_count(&a->delay_worst);

    v->bytes += read_count(&a->bytes);
    v->repeated += read_count(&a->repeated);
    v->probes += read_count(&a->probes);
    v->completed += read_count(&a->completed);
    v->lost_up += read_count(&a->lost_up);
    v->lost_down += read_count(&a->lost_down);
    v->delay_sum_ns += read_count(&a->delay_sum);
    v->delay_worst_ns = worst > v->delay_worst_ns ? worst : v->delay_worst_ns;
    if (at > v->contributed_at) {
        v->contributed_at = at;
        v->delay_last_ns = read_count(&a->delay_last);
    }
    for (unsigned i = 0; i < AGG_DELAY_BUCKETS; i++) {
        const uint64_t n = read_count(&a->delays[i]);

        v->delays[i] += n;
        v->contributions += n;
    }
}

bool sml_pool_view_rank(const struct sml_pool *pool, uint16_t rank, struct agg_rank_view *view)
{
    *view = (struct agg_rank_view){.sender = rank};
    for (unsigned shard = 0; pool->arrivals != NULL && shard < pool->cfg.shards; shard++) {
        add_arrivals(view, &pool->arrivals[(size_t)shard * pool->cfg.workers + rank]);
        if (pool->watches != NULL)
            view->missed += read_count(&sml_watch_of(pool, shard)->missed[rank]);
    }
    return pool->arrivals != NULL;
}
