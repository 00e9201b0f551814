#include "roce/pool.h"

#include <assert.h>
#include <string.h>

#include "switchml/pool.h"
#include "wire/crc32.h"

enum { LINE = 64, NOWHERE = UINT16_MAX };

/* A worker's queue pair, in both directions. */
struct rce_pair {
    uint64_t address; /* that its message says; the sum goes there */
    uint32_t length;
    uint32_t expected;  /* number of its next packet */
    uint16_t place;     /* of its next packet in the message; NOWHERE: the message is void, or at its end */
    uint8_t version;    /* of the message's slots */
    bool heard;         /* some message has begun */
    uint8_t message[2]; /* its number, as the immediate has it: the sum's has it, too */

    uint16_t next;       /* place in a message of what may be sent to it, beside a first packet */
    uint32_t number;     /* of the next that is sent */
    uint32_t queue_pair; /* to which */
    uint32_t key;
};

/* What SwitchML's pool is told of a slot's chunks: they are counted. */
struct rounds {
    uint32_t completed;
    uint8_t version; /* of the latest of them */
};

struct rce_pool {
    struct rce_pool_config cfg;
    struct sml_pool *sums;
    struct rce_pair *pair; /* [queue_pairs][workers] */
    struct rounds *rounds; /* by slot */
    uint32_t crc_shift;    /* by the elements of a packet */
};

/* Of the packets to send, in verdict->answer. */
struct outgoing {
    uint32_t body_crc, crc_shift;
    uint16_t index; /* of the queue pair */
    uint16_t place; /* in the message */
    uint8_t e0, e1; /* exponents */
};

static_assert(sizeof(struct outgoing) <= AGG_ANSWER_BYTES, "it has room");

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static struct sml_pool_config sums_config(const struct rce_pool_config *cfg)
{
    return (struct sml_pool_config){.workers = cfg->workers,
                                    .slots = (uint16_t)rce_slots(cfg),
                                    .chunk_bytes = cfg->packet_bytes,
                                    .format = XFER_FORMAT_INT32,
                                    .mode = XFER_ON_ARRIVAL,
                                    .labelled = true,
                                    .kernels = cfg->kernels};
}

static bool is_power_of_two(unsigned n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static bool is_valid(const struct rce_pool_config *cfg)
{
    return cfg->workers >= 1 && cfg->workers <= RCE_MAX_WORKERS && cfg->queue_pairs >= 1 &&
           cfg->queue_pairs <= RCE_MAX_QUEUE_PAIRS && is_power_of_two(cfg->packet_bytes) &&
           cfg->packet_bytes >= RCE_MIN_PACKET_BYTES && cfg->packet_bytes <= RCE_MAX_PACKET_BYTES &&
           is_power_of_two(cfg->packets) && cfg->packets <= RCE_MAX_PACKETS;
}

static_assert((int)RCE_MAX_QUEUE_PAIRS * (int)RCE_MAX_PACKETS <= (int)SML_MAX_SLOTS,
              "each packet has a slot");

static size_t pairs_bytes(const struct rce_pool_config *cfg)
{
    return whole_lines((size_t)cfg->queue_pairs * cfg->workers * sizeof(struct rce_pair));
}

static size_t rounds_bytes(const struct rce_pool_config *cfg)
{
    return whole_lines(rce_slots(cfg) * sizeof(struct rounds));
}

size_t rce_pool_footprint(const struct rce_pool_config *cfg)
{
    if (!is_valid(cfg))
        return 0;
    const struct sml_pool_config sums = sums_config(cfg);

    return whole_lines(sizeof(struct rce_pool)) + pairs_bytes(cfg) + rounds_bytes(cfg) +
           sml_pool_footprint(&sums);
}

static struct rce_pair *pair_at(const struct rce_pool *pool, unsigned index, unsigned rank)
{
    return &pool->pair[index * pool->cfg.workers + rank];
}

struct rce_pool *rce_pool_init(void *mem, const struct rce_pool_config *cfg)
{
    const struct sml_pool_config sums = sums_config(cfg);
    struct rce_pool *pool = mem;
    uint8_t *at = (uint8_t *)mem + whole_lines(sizeof(*pool));

    *pool = (struct rce_pool){.cfg = *cfg, .crc_shift = crc32_ieee_shift(cfg->packet_bytes)};
    pool->pair = (struct rce_pair *)at;
    pool->rounds = memset(at + pairs_bytes(cfg), 0, rounds_bytes(cfg));
    pool->sums = sml_pool_init((uint8_t *)pool->rounds + rounds_bytes(cfg), &sums);
    for (unsigned index = 0; index < cfg->queue_pairs; index++)
        for (unsigned rank = 0; rank < cfg->workers; rank++)
            *pair_at(pool, index, rank) = (struct rce_pair){.place = NOWHERE,
                                                            .next = NOWHERE,
                                                            .queue_pair = cfg->member[rank].queue_pair[index],
                                                            .key = cfg->member[rank].key};
    pool->cfg.member = NULL;
    return pool;
}

struct rce_pair *rce_pool_locate(struct rce_pool *pool, uint16_t rank, const struct roce_packet *p)
{
    const unsigned index = p->queue_pair & 0xffff;

    if (p->queue_pair >> 16 != (RCE_QUEUE_PAIR >> 16 | rank) || index >= pool->cfg.queue_pairs)
        return NULL;
    return pair_at(pool, index, rank);
}

/* A message begins. */
static enum rce_reason begin(const struct rce_pool *pool, struct rce_pair *pair, unsigned index,
                             const struct roce_packet *p)
{
    const uint32_t first_slot = index * pool->cfg.packets;

    pair->heard = true;
    pair->expected = (p->number + 1) % ROCE_NUMBERS;
    pair->place = NOWHERE;
    if (p->key >> 1 != first_slot)
        return RCE_DROP_BAD_SLOT;
    if (p->length != (uint32_t)pool->cfg.packets * pool->cfg.packet_bytes)
        return RCE_DROP_BAD_LENGTH;
    pair->address = p->address;
    pair->length = p->length;
    pair->version = p->key & 1;
    pair->place = 0;
    return RCE_HELD;
}

/* Whether the packet is the next of the latest message: RCE_HELD, or why not. */
static enum rce_reason follow(const struct rce_pool *pool, struct rce_pair *pair, unsigned index,
                              const struct roce_packet *p)
{
    const int32_t ahead = pair->heard ? roce_ahead(p->number, pair->expected) : 0;

    if (ahead < 0)
        return RCE_DROP_STALE;
    if (roce_begins(p->opcode))
        return begin(pool, pair, index, p);
    if (ahead > 0 || pair->place == NOWHERE) {
        pair->place = NOWHERE;
        return RCE_DROP_OUT_OF_ORDER;
    }
    pair->expected = (pair->expected + 1) % ROCE_NUMBERS;
    return RCE_HELD;
}

/* Whether it is as long as the job's, and ends the message where it should: RCE_HELD. */
static enum rce_reason measure(const struct rce_pool *pool, struct rce_pair *pair,
                               const struct roce_packet *p)
{
    if (p->body_bytes == pool->cfg.packet_bytes &&
        roce_ends(p->opcode) == (pair->place == pool->cfg.packets - 1))
        return RCE_HELD;
    pair->place = NOWHERE;
    return RCE_DROP_BAD_LENGTH;
}

/* The packet as SwitchML's pool knows it. A worker's version is that of the chunk which is being collected,
 * or of the one before. */
static struct sml_packet chunk_of(const struct rounds *rounds, uint16_t slot, uint8_t version,
                                  const struct roce_packet *p)
{
    const bool before = rounds->completed > 0 && version == rounds->version;

    return (struct sml_packet){.kind = SML_DATA,
                               .size_code = sml_size_code(p->body_bytes),
                               .checksum = XFER_CHECKSUM_NONE,
                               .ver = version,
                               .slot = slot,
                               .tag = rounds->completed - before,
                               .e0 = p->immediate[2],
                               .e1 = p->immediate[3],
                               .body = p->body,
                               .body_bytes = p->body_bytes};
}

/* What the sum is without SwitchML's header; the packets to send. */
static void show_sum(const struct rce_pool *pool, struct outgoing out, struct agg_verdict *v)
{
    const uint8_t *elements = v->payload + SML_HEADER_BYTES;

    out.e0 = elements[-2];
    out.e1 = elements[-1];
    out.crc_shift = pool->crc_shift;
    v->payload = elements;
    v->bytes -= SML_HEADER_BYTES;
    v->brief_bytes = 0;
    out.body_crc = crc32_ieee(0, v->payload, v->bytes);
    memcpy(v->answer, &out, sizeof(out));
}

static enum rce_reason verdict_of(uint8_t reason)
{
    switch (reason) {
    case SML_SEND_ALL:
        return RCE_SEND_ALL;
    case SML_SEND_ONE:
        return RCE_SEND_ONE;
    case SML_HELD:
        return RCE_HELD;
    case SML_DROP_DUPLICATE:
        return RCE_DROP_DUPLICATE;
    default:
        return RCE_DROP_STALE;
    }
}

/* A packet in its place. */
static enum rce_reason sum(struct rce_pool *pool, struct rce_pair *pair, unsigned index, uint16_t rank,
                           const struct roce_packet *p, uint64_t now, struct agg_verdict *v)
{
    const struct outgoing out = {.index = (uint16_t)index, .place = pair->place};
    const uint16_t slot = (uint16_t)(index * pool->cfg.packets + pair->place);
    struct rounds *rounds = &pool->rounds[slot];
    const struct sml_packet chunk = chunk_of(rounds, slot, pair->version, p);

    if (roce_ends(p->opcode))
        memcpy(pair->message, p->immediate, sizeof(pair->message));
    pair->place = roce_ends(p->opcode) ? NOWHERE : (uint16_t)(pair->place + 1);
    sml_pool_apply(pool->sums, sml_pool_locate(pool->sums, &chunk, 0), rank, &chunk, NULL, now, v);
    const enum rce_reason reason = verdict_of(v->reason);
    if (reason == RCE_SEND_ALL) {
        rounds->completed++;
        rounds->version = chunk.ver;
    }
    if (reason == RCE_SEND_ALL || reason == RCE_SEND_ONE)
        show_sum(pool, out, v);
    return reason;
}

void rce_pool_apply(struct rce_pool *pool, struct rce_pair *pair, uint16_t rank, const struct roce_packet *p,
                    uint64_t now, struct agg_verdict *v)
{
    const unsigned index = p->queue_pair & 0xffff;
    enum rce_reason reason = follow(pool, pair, index, p);

    v->kept = false;
    v->released = NULL;
    if (reason == RCE_HELD)
        reason = measure(pool, pair, p);
    if (reason == RCE_HELD)
        reason = sum(pool, pair, index, rank, p, now, v);
    v->reason = (uint8_t)reason;
}

static uint8_t opcode_at(unsigned place, unsigned packets)
{
    if (place == packets - 1)
        return place == 0 ? ROCE_WRITE_ONLY_IMMEDIATE : ROCE_WRITE_LAST_IMMEDIATE;
    return place == 0 ? ROCE_WRITE_FIRST : ROCE_WRITE_MIDDLE;
}

bool rce_pool_wrap(struct rce_pool *pool, uint16_t rank, const struct agg_verdict *v, struct agg_wrapping *w)
{
    struct rce_pair *pair;
    struct outgoing out;

    memcpy(&out, v->answer, sizeof(out));
    pair = pair_at(pool, out.index, rank);
    if (out.place != 0 && out.place != pair->next)
        return false;
    pair->next = out.place + 1;
    const struct roce_packet p = {.opcode = opcode_at(out.place, pool->cfg.packets),
                                  .queue_pair = pair->queue_pair,
                                  .number = pair->number,
                                  .address = pair->address,
                                  .key = pair->key,
                                  .length = pair->length,
                                  .immediate = {pair->message[0], pair->message[1], out.e0, out.e1}};
    pair->number = (pair->number + 1) % ROCE_NUMBERS;
    w->head_bytes = (uint8_t)roce_build_headers(w->head, &p);
    w->tail_bytes = ROCE_ICRC_BYTES;
    return true;
}

void rce_seal(const struct agg_verdict *v, const uint8_t *headers, size_t bytes, uint8_t *tail)
{
    struct outgoing out;

    memcpy(&out, v->answer, sizeof(out));
    roce_put_icrc(tail, crc32_ieee_join(roce_crc_of_headers(headers, bytes), out.body_crc, out.crc_shift));
}

bool rce_pool_heard(struct rce_pool *pool)
{
    return sml_pool_heard(pool->sums);
}

bool rce_pool_view(const struct rce_pool *pool, uint32_t slot, struct agg_slot_view *view)
{
    if (slot >= rce_slots(&pool->cfg))
        return false;
    sml_pool_view(pool->sums, (uint16_t)slot, view);
    return true;
}
