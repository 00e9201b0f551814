/* The layout of a pool in memory; for pool*.c, and for the role that a pool has in a tree (relay/slots*.c).
 * First struct sml_pool, then the slots, each of them
 *
 *     struct sml_slot with its maps | result, version 0 | result, version 1 | beside them
 *
 * where "beside them" is: in ORDERED jobs contributions 1 .. n-1 (rank 0's never has to wait); in jobs
 * ON_ARRIVAL with typed elements an accumulator for wide operations, twice as long as a chunk; in ORDERED
 * jobs where a worker may stand for several ranks, both;
 *
 * everything in whole cache lines. A result's header ends where a line ends, so that its body begins on a
 * line; that line begins with what is rarely needed of the result (struct sml_result). Up to 64 workers,
 * struct sml_slot with its maps is one line. Behind the last slot lie the arrivals (pool_arrivals.h), by
 * shard and rank, if they are kept; behind them, by shard, what a pool with a quorum knows of its ranks; and
 * behind that what a keyed job's packets are proven with.
 */
#pragma once

#include "switchml/labels.h"
#include "switchml/pool.h"
#include "thc/loops.h"
#include "wire/auth.h"

enum { SML_LINE = 64 };

struct sml_pool {
    struct sml_pool_config cfg;
    unsigned tag_shift;    /* how many high bits of a tag do not count */
    uint32_t thread_slots; /* of one thread of a worker: thread t's slots are the t-th so many */
    bool heard;            /* see sml_pool_heard; atomic */
    uint32_t newest;       /* labelled: the newest tensor that was heard of (labels.h); atomic */
    size_t map_words;
    size_t maps;                   /* of a slot: the first three or, where contributions may be empty, four */
    size_t body_bytes;             /* room for a chunk and its trailer, in whole lines */
    size_t head_bytes;             /* struct sml_slot with its maps, in whole lines */
    size_t slot_bytes;             /* from one slot to the next */
    uint64_t shards_inverse;       /* 2^32 / shards, rounded up */
    struct sml_arrivals *arrivals; /* [shards][workers]; NULL: they are not kept */
    uint8_t *watches;              /* with a quorum: [shards], watch_bytes each (struct sml_watch) */
    size_t watch_bytes;
    const struct xfer_auth *auth; /* XFER_CHECKSUM_KEYED */
    const struct thc_loops *thc;
    const void *tree; /* the role's own, for the whole pool */
};

/* Written by the slot's owner only; what sml_pool_view reads is stored with sml_publish. */
struct sml_slot {
    uint32_t expected;    /* the tag that is being collected; tag - slots is the shadow. Labelled: the tag of
                             the latest chunk */
    uint16_t contributed; /* ranks that have contributed to it */
    /* Properties of the first contribution that all others must share; meaningful while contributed > 0. */
    uint16_t body_bytes; /* of call and elements; of indices, if the code looks up (elements.h) */
    uint64_t first_at;   /* ns: when it came */
    uint8_t kind;        /* SML_DATA or SML_OPEN */
    uint8_t size_code;
    uint8_t e0, e1;     /* typed: element code, and the worst that was said of results held; published format:
                           the largest exponents so far */
    uint8_t code;       /* of operation and type (kernels.h) */
    uint8_t call_bytes; /* in front of the elements: XFER_CALL_BYTES or 0 */
    uint16_t summed;    /* ORDERED: the contributions of the ranks below this one are in the sum */
    uint8_t *body[2];   /* of the result, by version, its header just before it: in own memory, or kept */
    uint64_t maps[];    /* of ranks: contributed; want the sum, version 0; want the sum, version 1; where
                           contributions may be empty, whose are. In labelled pools a struct sml_labels follows,
                           with a quorum a struct sml_closings; in a tree what the role keeps of the slot */
};

static_assert(sizeof(struct sml_slot) + 3 * sizeof(uint64_t) == SML_LINE, "one line up to 64 workers");

/* With a quorum, of a slot. */
struct sml_closings {
    uint64_t n;      /* chunks that it has closed, but no more than two */
    uint32_t last[]; /* [workers]: tag of the latest of them that has the rank in its result */
};

/* With a quorum, of a shard. Written by its owner. */
struct sml_watch {
    uint64_t soonest;  /* ns: no chunk is to be closed by time before that */
    uint64_t next;     /* slot that the tick goes on with; 0: it begins */
    uint64_t missed[]; /* [workers]: chunks that were closed without the rank; read by anybody. Behind them a
                          map of the ranks that have not been heard since */
};

/* Begins the line in which a result's header ends. */
struct sml_result {
    void *buffer;        /* that it lies in; NULL: in own memory */
    uint16_t bytes;      /* header and trailer included; 0: there has not been one */
    uint16_t first_rank; /* that contributed to it, or to what is being collected in its place */
    uint32_t wraps;      /* keyed: of its chunk, or of the one that is being collected (struct xfer_route) */
    uint16_t empties;    /* contributions without elements to what is being collected in its place */
    uint64_t sent_at;    /* ns: in which burst; of a pool that keeps arrivals */
};

static_assert(sizeof(struct sml_result) + SML_HEADER_BYTES <= SML_LINE, "the header has room in its line");

#define sml_publish(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static inline struct sml_slot *sml_slot_at(const struct sml_pool *pool, size_t i)
{
    size_t first = (sizeof *pool + SML_LINE - 1) / SML_LINE * SML_LINE;

    return (struct sml_slot *)((uint8_t *)pool + first + i * pool->slot_bytes);
}

/* The slot's own memory for the body of this version's result. */
static inline uint8_t *sml_slot_memory(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver)
{
    return (uint8_t *)slot + pool->head_bytes + ver * (SML_LINE + pool->body_bytes) + SML_LINE;
}

static inline struct sml_result *sml_slot_result(const struct sml_pool *pool, struct sml_slot *slot,
                                                 unsigned ver)
{
    return (struct sml_result *)(sml_slot_memory(pool, slot, ver) - SML_LINE);
}

/* Whether any chunk was completed, so that there is a shadow. */
static inline bool sml_slot_has_shadow(const struct sml_pool *pool, struct sml_slot *slot)
{
    return (sml_slot_result(pool, slot, 0)->bytes | sml_slot_result(pool, slot, 1)->bytes) > 0;
}

/* ordered; rank >= 1 */
static inline uint8_t *sml_slot_contribution(const struct sml_pool *pool, struct sml_slot *slot, size_t rank)
{
    return sml_slot_memory(pool, slot, 1) + rank * pool->body_bytes;
}

/* Floats for a chunk of half as long elements. */
static inline uint8_t *sml_slot_accumulator(const struct sml_pool *pool, struct sml_slot *slot)
{
    return sml_slot_memory(pool, slot, 1) +
           (pool->cfg.mode == XFER_ORDERED ? pool->cfg.workers : 1u) * pool->body_bytes;
}

/* Bytes of call and elements of the result. */
static inline size_t sml_slot_sum_bytes(const struct sml_slot *slot)
{
    return sml_looks_up(slot->code) ? sml_length_of_sums(slot->code, slot->call_bytes, slot->body_bytes)
                                    : slot->body_bytes;
}

/* Whether the elements are sums: of a rank that hands a result back, or of a switch below. */
static inline bool sml_brings_sums(const struct sml_pool *pool, const struct sml_packet *p)
{
    return p->kind == SML_RESTORE || (pool->tree != NULL && p->e1 & SML_FLAG_SUMS);
}

static inline uint64_t *sml_slot_seen(struct sml_slot *slot)
{
    return slot->maps;
}

static inline uint64_t *sml_slot_want(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver)
{
    return slot->maps + (1 + ver) * pool->map_words;
}

/* Where contributions may be empty: whose to the chunk that is being collected are. Meaningful while there
 * are any. */
static inline uint64_t *sml_slot_empty(const struct sml_pool *pool, struct sml_slot *slot)
{
    return slot->maps + 3 * pool->map_words;
}

/* What the role keeps of a slot: cfg.role_bytes. */
static inline void *sml_slot_role(const struct sml_pool *pool, const struct sml_slot *slot)
{
    return (void *)(slot->maps + pool->maps * pool->map_words);
}

/* labelled */
static inline struct sml_labels *sml_slot_labels(const struct sml_pool *pool, struct sml_slot *slot)
{
    return sml_slot_role(pool, slot);
}

static inline struct sml_closings *sml_slot_closings(const struct sml_pool *pool, struct sml_slot *slot)
{
    return sml_slot_role(pool, slot);
}

/* In a multiple of 8 bytes. */
static inline size_t sml_closings_bytes(unsigned workers)
{
    return sizeof(struct sml_closings) + (workers + 1u) / 2 * 2 * sizeof(uint32_t);
}

/* shard < shards */
static inline struct sml_watch *sml_watch_of(const struct sml_pool *pool, unsigned shard)
{
    return (struct sml_watch *)(pool->watches + shard * pool->watch_bytes);
}

/* Bytes of the map of ranks behind a result's elements. */
static inline size_t sml_names_bytes(const struct sml_pool_config *cfg)
{
    return cfg->quorum == 0 ? 0 : ranks_map_bytes(cfg->workers);
}

/* The roles of a labelled pool, of one with a quorum, of one that adds contributions as they come and has no
 * checksum of its own, and of any other that is not in a tree. */
sml_role_fn sml_pool_apply_labelled, sml_pool_apply_quorum, sml_pool_apply_at_once, sml_pool_apply_any;
