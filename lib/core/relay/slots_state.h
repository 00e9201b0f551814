/* What a pool in a tree has besides its slots, and each slot besides its maps. For slots*.c only. */
#pragma once

#include "relay/slots.h"
#include "switchml/pool_parts.h"

/* Lies behind the pool. */
struct relay_node {
    uint16_t ranks;
    bool has_parent;
    uint8_t parent_job;
    const uint16_t *contributor; /* [ranks] */
    const uint16_t *lowest;      /* [contributors]: rank, by which messages name a contributor */
    /* keyed, with a parent: by which that one and this switch believe each other */
    const struct xfer_auth *auth;
};

/* Of the chunk that is being collected. Written by the slot's owner only. */
struct relay_slot {
    uint32_t told;     /* the switch above has said whom it waits for */
    uint32_t restored; /* a rank below has handed back a result whose body has this length, and one more; 0:
                          none */
    /* contributors who have asked; ranks that are known to have contributed: of a contributor that has not,
     * since it said so in ASK; elsewhere, since the switch above said so */
    uint64_t words[];
};

static inline const struct relay_node *relay_node_of(const struct sml_pool *pool)
{
    return pool->tree;
}

static inline uint64_t *relay_asked(const struct sml_pool *pool, const struct sml_slot *slot)
{
    return ((struct relay_slot *)sml_slot_role(pool, slot))->words;
}

static inline uint64_t *relay_known(const struct sml_pool *pool, const struct sml_slot *slot)
{
    return relay_asked(pool, slot) + pool->map_words;
}

/* The chunk is complete. */
static inline void relay_forget(const struct sml_pool *pool, struct sml_slot *slot)
{
    memset(sml_slot_role(pool, slot), 0, pool->cfg.role_bytes);
}

static inline bool relay_all_below_are_in(const struct sml_pool *pool, const struct sml_slot *slot)
{
    return slot->contributed == pool->cfg.workers;
}

/* A rank elsewhere may have handed back the chunk's sum. */
static inline bool relay_may_be_restored(const struct sml_pool *pool, struct sml_slot *slot)
{
    return pool->cfg.resumed && !sml_slot_has_shadow(pool, slot);
}

static inline bool relay_somebody_wants(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver)
{
    return !ranks_none(sml_slot_want(pool, slot, ver), pool->map_words);
}

/* Who this switch is to the one above, and in whose name it is answered. */
static inline uint16_t relay_our_rank(const struct sml_pool *pool)
{
    return relay_node_of(pool)->lowest[0];
}

/* Appends the trailer, if the job has one, to a payload for the switch above about the chunk with this tag.
 * call_bytes: that its body begins with. Returns the length of both. */
static inline size_t relay_end_payload(const struct sml_pool *pool, struct sml_slot *slot, uint32_t tag,
                                       uint8_t *payload, size_t call_bytes, size_t bytes)
{
    const struct xfer_route route = {
        .sender = relay_our_rank(pool), .receiver = XFER_SWITCH, .wraps = sml_slot_wraps(pool, slot, tag)};
    const size_t head_bytes = SML_HEADER_BYTES + call_bytes;

    if (pool->cfg.checksum == XFER_CHECKSUM_CRC32C)
        sml_build_trailer(payload + bytes, route.sender, payload, bytes, NULL, 0);
    else if (pool->cfg.checksum == XFER_CHECKSUM_KEYED)
        xfer_auth_build(payload + bytes, relay_node_of(pool)->auth, &route, payload, head_bytes,
                        payload + head_bytes, bytes - head_bytes);
    return bytes + xfer_trailer_bytes(pool->cfg.checksum);
}

/* Shows a packet to the switch above. */
static inline void relay_send_up(struct agg_verdict *v, const uint8_t *payload, size_t bytes, void *buffer)
{
    v->payload = payload;
    v->bytes = bytes;
    v->buffer = buffer;
}

/* The sum of those below goes up. p: of its chunk. */
static inline void relay_send_sum(const struct sml_pool *pool, struct sml_slot *slot,
                                  const struct sml_packet *p, struct agg_verdict *v)
{
    const bool typed = pool->cfg.format == XFER_FORMAT_TYPED;
    const bool want = typed && relay_somebody_wants(pool, slot, p->ver);
    const bool sums = sml_looks_up(slot->code);
    const struct sml_packet head = {
        .kind = slot->kind,
        .size_code = slot->size_code,
        .checksum = (uint8_t)pool->cfg.checksum,
        .job = relay_node_of(pool)->parent_job,
        .ver = p->ver,
        .slot = p->slot,
        .tag = p->tag,
        .e0 = slot->e0,
        .e1 = (uint8_t)(slot->e1 | (want ? SML_FLAG_WANT : 0) | (sums ? SML_FLAG_SUMS : 0)),
    };
    uint8_t *payload = slot->body[p->ver] - SML_HEADER_BYTES;

    sml_build_header(payload, &head);
    relay_send_up(v, payload,
                  relay_end_payload(pool, slot, p->tag, payload, slot->call_bytes,
                                    SML_HEADER_BYTES + sml_slot_sum_bytes(slot)),
                  sml_slot_result(pool, slot, p->ver)->buffer);
}

/* The two halves of the role, by where a packet is from. */
enum sml_reason relay_judge_below(struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                  const struct sml_packet *p, void *buffer, struct agg_verdict *v);
enum sml_reason relay_judge_above(struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p,
                                  void *buffer, struct agg_verdict *v);
