/* What packets do to a slot, piece by piece. For pool_apply.c, and for the role that a pool has in a tree of
 * switches (relay/slots*.c), which put the pieces together and inline them. */
#pragma once

#include <string.h>

#include "switchml/pool_auth.h"
#include "switchml/pool_reduce.h"
#include "switchml/pool_state.h"
#include "transfer/blocks.h"

#define SML_ALWAYS_INLINE static inline __attribute__((always_inline))

/* What a chunk's contributions become here; known when a piece is compiled. */
enum sml_part {
    SML_WHOLE,       /* its result */
    SML_PART_OF_SUM, /* a part of it, for the switch above */
    SML_LABELLED,    /* its result, in a labelled pool */
    SML_QUORATE,     /* its result, which may lack ranks (pool_quorum.c) */
};

static_assert((int)SML_HEADER_BYTES + XFER_MISMATCH_BYTES + XFER_TRAILER_MAX <= AGG_ANSWER_BYTES &&
                  (int)SML_HEADER_BYTES + AGG_MAX_RANKS / 8 + XFER_TRAILER_MAX <= AGG_ANSWER_BYTES,
              "the longest answers, MISMATCH and WAIT, have room");

/* Whether the body starts with the call of a collective. */
static inline bool sml_opens(const struct sml_pool *pool, const struct sml_packet *p)
{
    if (p->kind == SML_RESTORE)
        return pool->cfg.format == XFER_FORMAT_TYPED && p->e1 & SML_FLAG_OPENING;
    return p->kind == SML_OPEN;
}

/* Whether contributions of this code (kernels.h) may lack elements, while others have some. */
static inline bool sml_takes_empties(const struct sml_pool *pool, uint8_t code)
{
    return pool->cfg.empties && !sml_looks_up(code) && pool->cfg.kernels->operations[code].finish == NULL;
}

/* A packet without a body: of exponents only, or from a rank that has nothing to add. */
static inline bool sml_may_be_empty(const struct sml_pool *pool, const struct sml_packet *p)
{
    return xfer_has_exponents(pool->cfg.format) || (p->kind == SML_DATA && sml_takes_empties(pool, p->e0));
}

/* Whether the packet, of a published size, is as long as that says, and its result will be, which says it
 * too. */
static inline bool sml_is_sized(const struct sml_pool *pool, const struct sml_packet *p, bool same_length)
{
    return sml_size_bytes(p->size_code) == pool->cfg.chunk_bytes && same_length && pool->cfg.quorum == 0;
}

/* SML_HELD if a contribution or a handed-back result is well formed, else the reason to drop it. Elements
 * that are no indices have a power of two of bytes. */
static inline enum sml_reason sml_inspect(const struct sml_pool *pool, const struct sml_packet *p)
{
    const struct sml_pool_config *cfg = &pool->cfg;
    uint8_t code = xfer_elements_code(pool->cfg.format, p->e0);
    size_t element = agg_code_bytes(code);
    size_t call_bytes = sml_opens(pool, p) ? XFER_CALL_BYTES : 0;

    if (element == 0 && (code == 0 || code != cfg->table.code))
        return SML_DROP_BAD_TYPE;
    if (p->body_bytes < call_bytes || p->body_bytes > cfg->chunk_bytes)
        return SML_DROP_BAD_LENGTH;
    const size_t bytes = p->body_bytes - call_bytes;
    if (element == 0
            ? !sml_whole_elements(code, sml_brings_sums(pool, p), bytes, cfg->chunk_bytes - call_bytes)
            : (bytes & (element - 1)) != 0)
        return SML_DROP_BAD_LENGTH;
    if (p->body_bytes == 0 && !sml_may_be_empty(pool, p))
        return SML_DROP_BAD_LENGTH;
    if (p->size_code == SML_SIZE_AGREED ? cfg->labelled : !sml_is_sized(pool, p, element != 0))
        return SML_DROP_BAD_LENGTH;
    return SML_HELD;
}

/* SML_HELD if the packet is as rank has sent it, as far as its job can tell, else the reason to drop it. Most
 * jobs have no checksum: a call saved. */
static inline enum sml_reason sml_check(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                        const struct sml_packet *p)
{
    static_assert(XFER_CHECKSUM_NONE == 0, "for the comparison");
    size_t call_bytes;

    if ((p->checksum | pool->cfg.checksum) == XFER_CHECKSUM_NONE)
        return SML_HELD;
    if (pool->cfg.checksum != XFER_CHECKSUM_KEYED)
        return sml_checksum_holds(p, pool->cfg.checksum, rank) ? SML_HELD : SML_DROP_BAD_CHECKSUM;
    call_bytes = sml_opens(pool, p) && p->body_bytes >= XFER_CALL_BYTES ? XFER_CALL_BYTES : 0;
    return sml_slot_believes(pool, slot, rank, p, call_bytes) ? SML_HELD : SML_DROP_UNPROVEN;
}

/* Appends the trailer, if the job has one, to a payload of so many bytes about the chunk with this tag, for
 * receiver (sml_receiver). Returns the length of both. */
static inline size_t sml_end_payload(const struct sml_pool *pool, struct sml_slot *slot, uint32_t tag,
                                     uint16_t receiver, uint8_t *payload, size_t head_bytes, size_t bytes)
{
    if (pool->cfg.checksum == XFER_CHECKSUM_CRC32C)
        sml_build_trailer(payload + bytes, XFER_SWITCH, payload, bytes, NULL, 0);
    else if (pool->cfg.checksum == XFER_CHECKSUM_KEYED)
        sml_slot_prove(pool, slot, tag, receiver, payload, head_bytes, bytes);
    return bytes + xfer_trailer_bytes(pool->cfg.checksum);
}

/* Completes an answer to rank about its packet's chunk, with these flags; its body, if any, was written
 * before. */
static inline enum sml_reason sml_answer_flagged(const struct sml_pool *pool, struct sml_slot *slot,
                                                 uint16_t rank, const struct sml_packet *p,
                                                 enum sml_kind kind, uint8_t flags, size_t body_bytes,
                                                 struct agg_verdict *v)
{
    struct sml_packet head = *p;

    head.kind = kind;
    head.e1 = flags;
    sml_build_header(v->answer, &head);
    v->payload = v->answer;
    v->bytes = sml_end_payload(pool, slot, p->tag, sml_receiver(kind, rank), v->answer, SML_HEADER_BYTES,
                               SML_HEADER_BYTES + body_bytes);
    v->buffer = NULL;
    return kind == SML_MISMATCH ? SML_SEND_MISMATCH : SML_SEND_ANSWER;
}
static inline enum sml_reason sml_answer(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                         const struct sml_packet *p, enum sml_kind kind, size_t body_bytes,
                                         struct agg_verdict *v)
{
    return sml_answer_flagged(pool, slot, rank, p, kind, 0, body_bytes, v);
}

/* Whether the sender of p is to get the sum itself. In the published format every sender is. */
static inline bool sml_wants(const struct sml_pool *pool, const struct sml_packet *p)
{
    return xfer_has_exponents(pool->cfg.format) || p->e1 & SML_FLAG_WANT;
}

/* Of the chunk of p. */
static inline void sml_show_result(const struct sml_pool *pool, struct sml_slot *slot,
                                   const struct sml_packet *p, struct agg_verdict *v)
{
    const unsigned ver = p->ver;

    v->payload = v->brief = slot->body[ver] - SML_HEADER_BYTES;
    v->bytes = sml_slot_result(pool, slot, ver)->bytes;
    v->buffer = sml_slot_result(pool, slot, ver)->buffer;
    v->brief_bytes = SML_HEADER_BYTES;
    v->wants = sml_slot_want(pool, slot, ver);
    if (pool->cfg.checksum == XFER_CHECKSUM_NONE)
        return;
    v->brief = memcpy(v->answer, v->payload, SML_HEADER_BYTES);
    v->brief_bytes =
        sml_end_payload(pool, slot, p->tag, XFER_SWITCH, v->answer, SML_HEADER_BYTES, SML_HEADER_BYTES);
}

static inline enum sml_reason sml_resend(const struct sml_pool *pool, struct sml_slot *slot,
                                         const struct sml_packet *p, struct agg_verdict *v)
{
    sml_show_result(pool, slot, p, v);
    if (!sml_wants(pool, p)) {
        v->payload = v->brief;
        v->bytes = v->brief_bytes;
        v->buffer = NULL;
    }
    return SML_SEND_ONE;
}

/* The length of the body, if it were one of indices; of other elements its length. */
static inline size_t sml_indices_length(const struct sml_pool *pool, uint8_t code, size_t call_bytes,
                                        const struct sml_packet *p)
{
    return sml_looks_up(code) && sml_brings_sums(pool, p)
               ? sml_length_of_indices(code, call_bytes, p->body_bytes)
               : p->body_bytes;
}

/* Begins a chunk: notes the properties that all contributions must share. The old content of this version's
 * memory is no longer needed: a result that all ranks have, or contributions to a chunk whose result was
 * handed back. */
SML_ALWAYS_INLINE void sml_begin(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                 const struct sml_packet *p, struct agg_verdict *v, const enum sml_part part)
{
    bool opening = sml_opens(pool, p);
    struct sml_result *result = sml_slot_result(pool, slot, p->ver);

    v->released = result->buffer;
    result->buffer = NULL;
    result->first_rank = rank;
    result->empties = 0;
    slot->body[p->ver] = sml_slot_memory(pool, slot, p->ver);

    slot->kind = opening ? SML_OPEN : SML_DATA;
    slot->size_code = p->size_code;
    slot->e0 = p->e0;
    slot->e1 = p->kind == SML_RESTORE && pool->cfg.format == XFER_FORMAT_TYPED ? 0 : p->e1;
    slot->code = xfer_elements_code(pool->cfg.format, p->e0);
    if (part == SML_PART_OF_SUM && agg_code_op(slot->code) == AGG_AVG)
        slot->code = agg_code(agg_code_type(slot->code), AGG_SUM); /* whoever has them all divides */
    slot->call_bytes = opening ? XFER_CALL_BYTES : 0;
    slot->body_bytes = (uint16_t)sml_indices_length(pool, slot->code, slot->call_bytes, p);
    slot->summed = 0;
    memcpy(slot->body[p->ver], p->body, slot->call_bytes);
    if (part == SML_LABELLED)
        sml_publish(slot->expected, p->tag);
}

/* Whether it is of the same kind and call as the first contribution. */
static inline bool sml_is_alike(const struct sml_pool *pool, const struct sml_slot *slot,
                                const struct sml_packet *p)
{
    return slot->kind == p->kind && slot->size_code == p->size_code &&
           (slot->e0 == p->e0 || xfer_has_exponents(pool->cfg.format)) &&
           (slot->call_bytes == 0 || memcmp(slot->body[p->ver], p->body, slot->call_bytes) == 0);
}

/* Whether it has the same properties as the first contribution; then it is well formed, too. */
static inline bool sml_agrees(const struct sml_pool *pool, const struct sml_slot *slot,
                              const struct sml_packet *p)
{
    return slot->body_bytes == sml_indices_length(pool, slot->code, slot->call_bytes, p) &&
           sml_is_alike(pool, slot, p);
}

/* Whether a well-formed contribution differs from those before only in that it, or they, have no elements. If
 * it is the first with some, their length is noted. */
__attribute__((noinline)) static bool sml_joins(const struct sml_pool *pool, struct sml_slot *slot,
                                                const struct sml_packet *p)
{
    const bool brings = p->body_bytes > slot->call_bytes, brought = slot->body_bytes > slot->call_bytes;

    if (brings == brought || !sml_takes_empties(pool, p->e0) || !sml_is_alike(pool, slot, p))
        return false;
    if (brings)
        slot->body_bytes = (uint16_t)p->body_bytes;
    return true;
}

static inline enum sml_reason sml_answer_mismatch(const struct sml_pool *pool, struct sml_slot *slot,
                                                  uint16_t rank, uint16_t peer, const struct sml_packet *p,
                                                  struct agg_verdict *v)
{
    struct xfer_mismatch m = {
        .your_rank = rank,
        .peer_rank = peer,
        .your_tag = p->tag,
        .peer_tag = slot->expected,
        .your_e0 = p->e0,
        .peer_e0 = slot->e0,
        .your_bytes = (uint16_t)p->body_bytes,
        .peer_bytes = slot->body_bytes,
        .opening = p->kind == SML_OPEN || slot->kind == SML_OPEN,
    };

    if (p->kind == SML_OPEN)
        xfer_parse_call(&m.yours, p->body, p->body_bytes);
    if (slot->kind == SML_OPEN)
        xfer_parse_call(&m.peers, slot->body[p->ver], slot->body_bytes);
    xfer_build_mismatch(v->answer + SML_HEADER_BYTES, &m);
    return sml_answer(pool, slot, rank, p, SML_MISMATCH, XFER_MISMATCH_BYTES, v);
}

/* What the result says of all contributions in its bytes 8 and 9. */
static inline void sml_combine_codes(const struct sml_pool *pool, struct sml_slot *slot,
                                     const struct sml_packet *p)
{
    if (pool->cfg.format == XFER_FORMAT_TYPED) {
        slot->e1 = xfer_held_worst(slot->e1, p->e1);
        return;
    }
    if ((int8_t)p->e0 > (int8_t)slot->e0)
        slot->e0 = p->e0;
    if ((int8_t)p->e1 > (int8_t)slot->e1)
        slot->e1 = p->e1;
}

/* The chunk is complete: what was collected becomes the shadow. body_bytes: of call and elements of the
 * result.
 */
SML_ALWAYS_INLINE void sml_complete(const struct sml_pool *pool, struct sml_slot *slot,
                                    const struct sml_packet *p, size_t body_bytes, struct agg_verdict *v,
                                    const enum sml_part part)
{
    struct sml_packet head = *p;

    head.kind = slot->kind;
    head.e0 = slot->e0;
    head.e1 = slot->e1;
    uint8_t *result = slot->body[p->ver] - SML_HEADER_BYTES;
    sml_build_header(result, &head);
    sml_slot_result(pool, slot, p->ver)->bytes =
        (uint16_t)sml_end_payload(pool, slot, p->tag, XFER_SWITCH, result,
                                  SML_HEADER_BYTES + slot->call_bytes, SML_HEADER_BYTES + body_bytes);
    if (pool->cfg.checksum == XFER_CHECKSUM_KEYED)
        sml_slot_number_next(pool, slot);
    if (part == SML_LABELLED)
        sml_slot_labels(pool, slot)->before = sml_slot_labels(pool, slot)->now;
    else
        sml_publish(slot->expected, slot->expected + pool->cfg.slots);
    sml_publish(slot->contributed, 0);
    ranks_clear(sml_slot_seen(slot), pool->map_words);
    ranks_clear(sml_slot_want(pool, slot, !p->ver), pool->map_words);
    sml_show_result(pool, slot, p, v);
}

/* Takes in a contribution to the chunk that is being collected. SML_HELD: it counts, and may be the last one.
 * SML_DROP_MISMATCH: it differs from the first one. Inlined: as a function it took 35 instructions more a
 * packet. */
SML_ALWAYS_INLINE enum sml_reason sml_take_in(const struct sml_pool *pool, struct sml_slot *slot,
                                              uint16_t rank, const struct sml_packet *p, void *buffer,
                                              struct agg_verdict *v, const enum sml_part part)
{
    if (ranks_has(sml_slot_seen(slot), rank))
        return SML_DROP_DUPLICATE;
    if (slot->contributed == 0 || !sml_agrees(pool, slot, p)) {
        enum sml_reason formed = sml_inspect(pool, p);
        if (formed != SML_HELD)
            return formed;
        if (slot->contributed == 0)
            sml_begin(pool, slot, rank, p, v, part);
        else if (!sml_joins(pool, slot, p))
            return SML_DROP_MISMATCH;
    }
    sml_combine_codes(pool, slot, p);
    if (sml_wants(pool, p))
        ranks_add(sml_slot_want(pool, slot, p->ver), rank);
    if (part == SML_QUORATE)
        sml_gather(pool, slot, rank, p, v);
    else if (p->body_bytes == slot->call_bytes)
        sml_pass(pool, slot, rank, p);
    else
        sml_reduce(pool, slot, rank, p, buffer, v);
    return SML_HELD;
}

/* It counts, and others are still missing. */
static inline enum sml_reason sml_hold(struct sml_slot *slot, uint16_t rank)
{
    ranks_add(sml_slot_seen(slot), rank);
    sml_publish(slot->contributed, slot->contributed + 1);
    return SML_HELD;
}

/* Adopts a result of the job's life before the switch restarted. Contributions that have come for the chunk
 * are forgotten, all but who wants the sum. */
static inline enum sml_reason sml_restore(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                          const struct sml_packet *p, struct agg_verdict *v)
{
    enum sml_reason formed = sml_inspect(pool, p);

    if (formed != SML_HELD)
        return formed;
    if (sml_slot_has_shadow(pool, slot))
        return SML_DROP_AHEAD; /* one chunk of the slot can have been completed before the restart: it is done
                                */
    sml_begin(pool, slot, rank, p, v, SML_WHOLE);
    memcpy(slot->body[p->ver], p->body, p->body_bytes);
    sml_complete(pool, slot, p, p->body_bytes, v, SML_WHOLE);
    return SML_RESTORED;
}

/* To a question about the chunk that is being collected. */
static inline enum sml_reason sml_answer_probe(const struct sml_pool *pool, struct sml_slot *slot,
                                               uint16_t rank, const struct sml_packet *p,
                                               struct agg_verdict *v)
{
    const uint64_t *seen = sml_slot_seen(slot);

    if (!ranks_has(seen, rank))
        return sml_answer(pool, slot, rank, p, SML_NACK, 0, v);
    const size_t map_bytes = ranks_map_write(v->answer + SML_HEADER_BYTES, seen, pool->cfg.workers);
    return sml_answer(pool, slot, rank, p, SML_WAIT, map_bytes, v);
}

/* How far tag lies behind what the slot expects; negative: ahead of it (serial number arithmetic, RFC 1982).
 * The bits that do not count are shifted out, so the unit is 1 << tag_shift. */
static inline int32_t sml_tag_behind(const struct sml_pool *pool, const struct sml_slot *slot, uint32_t tag)
{
    return (int32_t)((slot->expected - tag) << pool->tag_shift);
}

/* Beside DATA, which comes always. */
static inline bool sml_comes_from_workers(const struct sml_pool *pool, const struct sml_packet *p)
{
    switch (p->kind) {
    case SML_PROBE:
        return true;
    case SML_OPEN:
        return pool->cfg.format == XFER_FORMAT_TYPED;
    case SML_RESTORE:
        return pool->cfg.resumed;
    default:
        return false;
    }
}

/* Whether slot and version are those of the tag. */
static inline bool sml_is_its_slot(const struct sml_pool *pool, const struct sml_packet *p)
{
    const uint32_t slots = pool->cfg.slots;

    return p->slot == sml_tag_slot(p->tag, slots) && p->ver == sml_tag_ver(p->tag, slots);
}

/* SML_HELD if it is a packet that rank has sent, that workers may send in this job, to this slot; else the
 * reason to drop it. */
static inline enum sml_reason sml_admit(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                        const struct sml_packet *p)
{
    const enum sml_reason checked = sml_check(pool, slot, rank, p);

    if (checked != SML_HELD)
        return checked;
    if (p->kind != SML_DATA && !sml_comes_from_workers(pool, p))
        return SML_DROP_BAD_KIND;
    return sml_is_its_slot(pool, p) ? SML_HELD : SML_DROP_BAD_SLOT;
}

/* A packet of a well-formed kind to a chunk that is not being collected: `behind` as sml_tag_behind, not 0.
 */
static inline enum sml_reason sml_judge_old(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                            const struct sml_packet *p, int32_t behind, struct agg_verdict *v)
{
    const bool asks = p->kind == SML_PROBE || p->kind == SML_ASK;

    if (behind < 0)
        return SML_DROP_AHEAD;
    if (!sml_slot_has_shadow(pool, slot))
        return SML_DROP_STALE;
    if (behind == (int32_t)((uint32_t)pool->cfg.slots << pool->tag_shift))
        return p->kind == SML_RESTORE ? SML_DROP_DUPLICATE : sml_resend(pool, slot, p, v);
    /* Whoever contributed to the shadow held all results before it, the sender of this old question too. */
    return asks ? sml_answer(pool, slot, rank, p, SML_DATA, 0, v) : SML_DROP_STALE;
}
