/* Applies a packet to its slot. */
#include <string.h>

#include "switchml/blocks.h"
#include "switchml/pool.h"
#include "switchml/pool_arrivals.h"
#include "switchml/pool_auth.h"
#include "switchml/pool_reduce.h"
#include "switchml/pool_state.h"

static_assert((int)SML_HEADER_BYTES + SML_MISMATCH_BYTES + SML_TRAILER_MAX <= AGG_ANSWER_BYTES &&
                  (int)SML_HEADER_BYTES + SML_MAX_WORKERS / 8 + SML_TRAILER_MAX <= AGG_ANSWER_BYTES,
              "the longest answers, MISMATCH and WAIT, have room");

/* Whether the body starts with the call of a collective. */
static bool opens(const struct sml_pool *pool, const struct sml_packet *p)
{
    if (p->kind == SML_RESTORE)
        return pool->cfg.format == SML_FORMAT_TYPED && p->e1 & SML_FLAG_OPENING;
    return p->kind == SML_OPEN;
}

/* SML_HELD if a contribution or a handed-back result is well formed, else the reason to drop it. */
static enum sml_reason inspect(const struct sml_pool *pool, const struct sml_packet *p)
{
    const struct sml_pool_config *cfg = &pool->cfg;
    bool typed = cfg->format == SML_FORMAT_TYPED, opening = opens(pool, p);
    uint8_t code = sml_elements_code(pool->cfg.format, p->e0);
    size_t element = agg_element_size(code & 15, code >> 4);
    size_t call_bytes = opening ? SML_CALL_BYTES : 0;
    bool may_be_empty = opening || !typed; /* an empty tensor; exponents only */

    if (element == 0)
        return SML_DROP_BAD_TYPE;
    if (p->body_bytes < call_bytes || p->body_bytes > cfg->chunk_bytes)
        return SML_DROP_BAD_LENGTH;
    if (((p->body_bytes - call_bytes) & (element - 1)) != 0 || (p->body_bytes == 0 && !may_be_empty))
        return SML_DROP_BAD_LENGTH;
    if (p->size_code != SML_SIZE_AGREED && sml_size_bytes(p->size_code) != cfg->chunk_bytes)
        return SML_DROP_BAD_LENGTH;
    return SML_HELD;
}

/* Appends the trailer, if the job has one, to a payload of so many bytes about the chunk with this tag, for
 * receiver (sml_receiver). Returns the length of both. */
static size_t finish(const struct sml_pool *pool, struct sml_slot *slot, uint32_t tag, uint16_t receiver,
                     uint8_t *payload, size_t head_bytes, size_t bytes)
{
    if (pool->cfg.checksum == SML_CHECKSUM_CRC32C)
        sml_build_trailer(payload + bytes, SML_SWITCH, payload, bytes, NULL, 0);
    else if (pool->cfg.checksum == SML_CHECKSUM_KEYED)
        sml_slot_prove(pool, slot, tag, receiver, payload, head_bytes, bytes);
    return bytes + sml_trailer_bytes(pool->cfg.checksum);
}

/* Completes an answer to rank about its packet's chunk; its body, if any, was written before. */
static enum sml_reason answer(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                              const struct sml_packet *p, enum sml_kind kind, size_t body_bytes,
                              struct agg_verdict *v)
{
    struct sml_packet head = *p;

    head.kind = kind;
    head.e1 = 0;
    sml_build_header(v->answer, &head);
    v->payload = v->answer;
    v->bytes = finish(pool, slot, p->tag, sml_receiver(kind, rank), v->answer, SML_HEADER_BYTES,
                      SML_HEADER_BYTES + body_bytes);
    v->buffer = NULL;
    return kind == SML_MISMATCH ? SML_SEND_MISMATCH : SML_SEND_ANSWER;
}

/* Whether the sender of p is to get the sum itself. In the published format every sender is. */
static bool wants(const struct sml_pool *pool, const struct sml_packet *p)
{
    return sml_has_exponents(pool->cfg.format) || p->e1 & SML_FLAG_WANT;
}

/* Of the chunk of p. */
static void show_result(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p,
                        struct agg_verdict *v)
{
    const unsigned ver = p->ver;

    v->payload = v->brief = slot->body[ver] - SML_HEADER_BYTES;
    v->bytes = sml_slot_result(pool, slot, ver)->bytes;
    v->buffer = sml_slot_result(pool, slot, ver)->buffer;
    v->brief_bytes = SML_HEADER_BYTES;
    v->wants = sml_slot_want(pool, slot, ver);
    if (pool->cfg.checksum == SML_CHECKSUM_NONE)
        return;
    v->brief = memcpy(v->answer, v->payload, SML_HEADER_BYTES);
    v->brief_bytes = finish(pool, slot, p->tag, SML_SWITCH, v->answer, SML_HEADER_BYTES, SML_HEADER_BYTES);
}

static enum sml_reason resend(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p,
                              struct agg_verdict *v)
{
    show_result(pool, slot, p, v);
    if (!wants(pool, p)) {
        v->payload = v->brief;
        v->bytes = v->brief_bytes;
        v->buffer = NULL;
    }
    return SML_SEND_ONE;
}

/* Begins a chunk: notes the properties that all contributions must share. The old content of this version's
 * memory is no longer needed: a result that all ranks have, or contributions to a chunk whose result was
 * handed back. */
static void begin(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                  const struct sml_packet *p, struct agg_verdict *v)
{
    bool opening = opens(pool, p);
    struct sml_result *result = sml_slot_result(pool, slot, p->ver);

    v->released = result->buffer;
    result->buffer = NULL;
    result->first_rank = rank;
    slot->body[p->ver] = sml_slot_memory(pool, slot, p->ver);

    slot->kind = opening ? SML_OPEN : SML_DATA;
    slot->size_code = p->size_code;
    slot->e0 = p->e0;
    slot->e1 = p->kind == SML_RESTORE && pool->cfg.format == SML_FORMAT_TYPED ? 0 : p->e1;
    slot->code = sml_elements_code(pool->cfg.format, p->e0);
    slot->call_bytes = opening ? SML_CALL_BYTES : 0;
    slot->body_bytes = (uint16_t)p->body_bytes;
    slot->summed = 0;
    memcpy(slot->body[p->ver], p->body, slot->call_bytes);
    if (pool->cfg.labelled) {
        sml_slot_labels(pool, slot)->now = sml_label_of(p);
        sml_publish(slot->expected, p->tag);
    }
}

/* Whether it has the same properties as the first contribution; then it is well formed, too. */
static bool agrees(const struct sml_pool *pool, const struct sml_slot *slot, const struct sml_packet *p)
{
    return slot->kind == p->kind && slot->size_code == p->size_code && slot->body_bytes == p->body_bytes &&
           (slot->e0 == p->e0 || sml_has_exponents(pool->cfg.format)) &&
           (slot->call_bytes == 0 || memcmp(slot->body[p->ver], p->body, slot->call_bytes) == 0);
}

static enum sml_reason answer_mismatch(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                       const struct sml_packet *p, struct agg_verdict *v)
{
    struct sml_mismatch m = {
        .your_rank = rank,
        .peer_rank = sml_slot_result(pool, slot, p->ver)->first_rank,
        .your_tag = p->tag,
        .peer_tag = slot->expected,
        .your_e0 = p->e0,
        .peer_e0 = slot->e0,
        .your_bytes = (uint16_t)p->body_bytes,
        .peer_bytes = slot->body_bytes,
        .opening = p->kind == SML_OPEN || slot->kind == SML_OPEN,
    };

    if (p->kind == SML_OPEN)
        sml_parse_call(&m.yours, p->body, p->body_bytes);
    if (slot->kind == SML_OPEN)
        sml_parse_call(&m.peers, slot->body[p->ver], slot->body_bytes);
    sml_build_mismatch(v->answer + SML_HEADER_BYTES, &m);
    return answer(pool, slot, rank, p, SML_MISMATCH, SML_MISMATCH_BYTES, v);
}

/* What the result says of all contributions in its bytes 8 and 9. */
static void combine_codes(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p)
{
    if (pool->cfg.format == SML_FORMAT_TYPED) {
        slot->e1 = sml_held_worst(slot->e1, p->e1);
        return;
    }
    if ((int8_t)p->e0 > (int8_t)slot->e0)
        slot->e0 = p->e0;
    if ((int8_t)p->e1 > (int8_t)slot->e1)
        slot->e1 = p->e1;
}

/* The chunk is complete: what was collected becomes the shadow. */
static void complete(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p,
                     struct agg_verdict *v)
{
    struct sml_packet head = *p;

    head.kind = slot->kind;
    head.e0 = slot->e0;
    head.e1 = slot->e1;
    uint8_t *result = slot->body[p->ver] - SML_HEADER_BYTES;
    sml_build_header(result, &head);
    sml_slot_result(pool, slot, p->ver)->bytes =
        (uint16_t)finish(pool, slot, p->tag, SML_SWITCH, result, SML_HEADER_BYTES + slot->call_bytes,
                         SML_HEADER_BYTES + slot->body_bytes);
    if (pool->cfg.checksum == SML_CHECKSUM_KEYED)
        sml_slot_number_next(pool, slot);
    if (pool->cfg.labelled)
        sml_slot_labels(pool, slot)->before = sml_label_of(p);
    else
        sml_publish(slot->expected, slot->expected + pool->cfg.slots);
    sml_publish(slot->contributed, 0);
    sml_map_clear(pool, sml_slot_seen(slot));
    sml_map_clear(pool, sml_slot_want(pool, slot, !p->ver));
    show_result(pool, slot, p, v);
}

/* Inlined, though judge_labelled has it, too: as a function it took 35 instructions more a packet. */
static inline __attribute__((always_inline)) enum sml_reason contribute(const struct sml_pool *pool,
                                                                        struct sml_slot *slot, uint16_t rank,
                                                                        const struct sml_packet *p,
                                                                        void *buffer, struct agg_verdict *v)
{
    if (sml_map_has(sml_slot_seen(slot), rank))
        return SML_DROP_DUPLICATE;
    if (slot->contributed == 0 || !agrees(pool, slot, p)) {
        enum sml_reason formed = inspect(pool, p);
        if (formed != SML_HELD)
            return formed;
        if (slot->contributed > 0)
            return pool->cfg.labelled ? SML_DROP_MISMATCH : answer_mismatch(pool, slot, rank, p, v);
        begin(pool, slot, rank, p, v);
    }

    combine_codes(pool, slot, p);
    if (wants(pool, p))
        sml_map_add(sml_slot_want(pool, slot, p->ver), rank);
    sml_reduce(pool, slot, rank, p, buffer, v);

    if (slot->contributed == pool->cfg.workers - 1) {
        sml_finish(pool, slot, p->ver);
        complete(pool, slot, p, v);
        return SML_SEND_ALL;
    }
    sml_map_add(sml_slot_seen(slot), rank);
    sml_publish(slot->contributed, slot->contributed + 1);
    return SML_HELD;
}

/* Adopts a result of the job's life before the switch restarted. Contributions that have come for the chunk
 * are forgotten, all but who wants the sum. */
static enum sml_reason restore(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                               const struct sml_packet *p, struct agg_verdict *v)
{
    enum sml_reason formed = inspect(pool, p);

    if (formed != SML_HELD)
        return formed;
    if (sml_slot_has_shadow(pool, slot))
        return SML_DROP_AHEAD; /* one chunk of the slot can have been completed before the restart: it is done
                                */
    begin(pool, slot, rank, p, v);
    memcpy(slot->body[p->ver], p->body, p->body_bytes);
    complete(pool, slot, p, v);
    return SML_RESTORED;
}

static enum sml_reason answer_probe(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                    const struct sml_packet *p, struct agg_verdict *v)
{
    const uint64_t *seen = sml_slot_seen(slot);
    size_t map_bytes = (pool->cfg.workers + 7u) / 8;

    if (!sml_map_has(seen, rank))
        return answer(pool, slot, rank, p, SML_NACK, 0, v);
    for (size_t i = 0; i < map_bytes; i++)
        v->answer[SML_HEADER_BYTES + i] = (uint8_t)(seen[i / 8] >> i % 8 * 8);
    return answer(pool, slot, rank, p, SML_WAIT, map_bytes, v);
}

static bool comes_from_workers(const struct sml_pool *pool, const struct sml_packet *p)
{
    switch (p->kind) {
    case SML_DATA:
        return true;
    case SML_PROBE:
        return !pool->cfg.labelled;
    case SML_OPEN:
        return pool->cfg.format == SML_FORMAT_TYPED;
    case SML_RESTORE:
        return pool->cfg.resumed;
    default:
        return false;
    }
}

/* How far tag lies behind what the slot expects; negative: ahead of it (serial number arithmetic, RFC 1982).
 * The bits that do not count are shifted out, so the unit is 1 << tag_shift. */
static int32_t tag_behind(const struct sml_pool *pool, const struct sml_slot *slot, uint32_t tag)
{
    return (int32_t)((slot->expected - tag) << pool->tag_shift);
}

/* Where the chunk of a published client's packet stands, which its label tells. */
__attribute__((noinline)) static enum sml_age label_age(struct sml_pool *pool, struct sml_slot *slot,
                                                        const struct sml_packet *p)
{
    const struct sml_label label = sml_label_of(p);
    const enum sml_age age = sml_label_age(sml_slot_labels(pool, slot), &label, slot->contributed > 0,
                                           sml_slot_has_shadow(pool, slot));
    const bool heard = age == SML_NOW || age == SML_BEFORE;

    if (heard && !__atomic_load_n(&pool->heard, __ATOMIC_RELAXED)) /* a line that all shards share */
        sml_publish(pool->heard, true);
    return age;
}

/* How far the chunk of a packet lies behind what the slot expects, in a pool with labels as well: 0 if it is
 * being collected, the number of slots if it was completed last. */
static int32_t how_far_behind(struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p)
{
    static const int32_t units[] = {[SML_NOW] = 0, [SML_BEFORE] = 1, [SML_OLDER] = 2, [SML_NEWER] = -1};

    if (pool->cfg.labelled)
        return units[label_age(pool, slot, p)] * (int32_t)pool->cfg.slots;
    return tag_behind(pool, slot, p->tag);
}

/* Whether slot and version are those of the tag; with labels, the worker chooses them. */
static bool is_its_slot(const struct sml_pool *pool, const struct sml_packet *p)
{
    const uint32_t slots = pool->cfg.slots;

    return (p->slot == sml_tag_slot(p->tag, slots) && p->ver == sml_tag_ver(p->tag, slots)) ||
           pool->cfg.labelled;
}

/* SML_HELD if the packet is as rank has sent it, as far as its job can tell, else the reason to drop it. */
static inline enum sml_reason check(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                    const struct sml_packet *p)
{
    size_t call_bytes;

    if (pool->cfg.checksum != SML_CHECKSUM_KEYED)
        return sml_checksum_holds(p, pool->cfg.checksum, rank) ? SML_HELD : SML_DROP_BAD_CHECKSUM;
    call_bytes = opens(pool, p) && p->body_bytes >= SML_CALL_BYTES ? SML_CALL_BYTES : 0;
    return sml_slot_believes(pool, slot, rank, p, call_bytes) ? SML_HELD : SML_DROP_UNPROVEN;
}

static enum sml_reason judge(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                             const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    const enum sml_reason checked = check(pool, slot, rank, p);
    uint32_t slots = pool->cfg.slots;
    int32_t behind;

    if (checked != SML_HELD)
        return checked;
    if (!comes_from_workers(pool, p))
        return SML_DROP_BAD_KIND;
    if (!is_its_slot(pool, p))
        return SML_DROP_BAD_SLOT;

    behind = how_far_behind(pool, slot, p);
    if (behind == 0) {
        switch (p->kind) {
        case SML_PROBE:
            return answer_probe(pool, slot, rank, p, v);
        case SML_RESTORE:
            return restore(pool, slot, rank, p, v);
        default:
            return contribute(pool, slot, rank, p, buffer, v);
        }
    }
    if (behind < 0)
        return SML_DROP_AHEAD;
    if (!sml_slot_has_shadow(pool, slot))
        return SML_DROP_STALE;
    if (behind == (int32_t)(slots << pool->tag_shift))
        return p->kind == SML_RESTORE ? SML_DROP_DUPLICATE : resend(pool, slot, p, v);
    /* Whoever contributed to the shadow held all results before it, the sender of this old probe too. */
    return p->kind == SML_PROBE ? answer(pool, slot, rank, p, SML_DATA, 0, v) : SML_DROP_STALE;
}

void sml_pool_apply(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank, const struct sml_packet *p,
                    void *buffer, uint64_t now, struct agg_verdict *verdict)
{
    verdict->kept = false;
    verdict->released = NULL;
    verdict->reason = (uint8_t)judge(pool, slot, rank, p, buffer, verdict);
    if (pool->arrivals != NULL)
        sml_arrivals_note(pool, slot, rank, p, verdict->reason, now);
}
