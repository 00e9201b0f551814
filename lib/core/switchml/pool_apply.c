/* Applies a packet to its slot. */
#include "protocol/heard.h"
#include "switchml/pool.h"
#include "switchml/pool_arrivals.h"
#include "switchml/pool_parts.h"

SML_ALWAYS_INLINE enum sml_reason contribute(const struct sml_pool *pool, struct sml_slot *slot,
                                             uint16_t rank, const struct sml_packet *p, void *buffer,
                                             struct agg_verdict *v, const enum sml_part part)
{
    const enum sml_reason taken = sml_take_in(pool, slot, rank, p, buffer, v, part);

    if (taken == SML_DROP_MISMATCH && part == SML_WHOLE)
        return sml_answer_mismatch(pool, slot, rank, sml_slot_result(pool, slot, p->ver)->first_rank, p, v);
    if (taken != SML_HELD)
        return taken;
    if (slot->contributed != pool->cfg.workers - 1)
        return sml_hold(slot, rank);
    sml_finish(pool, slot, p->ver);
    sml_complete(pool, slot, p, sml_slot_sum_bytes(slot), v, part);
    return SML_SEND_ALL;
}

static enum sml_reason judge(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                             const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    const enum sml_reason admitted = sml_admit(pool, slot, rank, p);
    int32_t behind;

    if (admitted != SML_HELD)
        return admitted;

    behind = sml_tag_behind(pool, slot, p->tag);
    if (behind == 0) {
        switch (p->kind) {
        case SML_PROBE:
            return sml_answer_probe(pool, slot, rank, p, v);
        case SML_RESTORE:
            return sml_restore(pool, slot, rank, p, v);
        default:
            return contribute(pool, slot, rank, p, buffer, v, SML_WHOLE);
        }
    }
    return sml_judge_old(pool, slot, rank, p, behind, v);
}

/* newest: as it was when this tensor's number was told by it. Where another thread has meanwhile noted one,
 * that is near enough. */
static void note_tensor(struct sml_pool *pool, uint32_t tensor, uint32_t newest)
{
    if (sml_tensor_is_newer(tensor, newest))
        __atomic_compare_exchange_n(&pool->newest, &newest, tensor, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

/* Where the chunk of a published client's packet stands, which its label tells. If the packet may begin it,
 * the chunk is that of this label. */
static enum sml_age label_age(struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p)
{
    struct sml_labels *labels = sml_slot_labels(pool, slot);
    const uint32_t newest = __atomic_load_n(&pool->newest, __ATOMIC_RELAXED);
    const struct sml_label label = sml_label_of(p, newest);
    const enum sml_age age =
        sml_label_age(labels, &label, slot->contributed > 0, sml_slot_has_shadow(pool, slot));

    if (age == SML_NOW || age == SML_BEFORE)
        agg_heard_set(&pool->heard);
    if (age == SML_NOW && slot->contributed == 0) {
        labels->now = label;
        note_tensor(pool, label.tensor, newest);
    }
    return age;
}

static enum sml_reason judge_labelled(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                      const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    switch (label_age(pool, slot, p)) {
    case SML_NOW:
        return contribute(pool, slot, rank, p, buffer, v, SML_LABELLED);
    case SML_NEWER:
        return SML_DROP_AHEAD;
    case SML_BEFORE:
        return sml_slot_has_shadow(pool, slot) ? sml_resend(pool, slot, p, v) : SML_DROP_STALE;
    default:
        return SML_DROP_STALE;
    }
}

/* Published clients send nothing but contributions, choose their slots, and know no answers but results. */
void sml_pool_apply_labelled(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                             const struct sml_packet *p, void *buffer, uint64_t now, struct agg_verdict *v)
{
    v->kept = false;
    v->released = NULL;
    if (sml_check(pool, slot, rank, p) != SML_HELD)
        v->reason = SML_DROP_BAD_CHECKSUM;
    else if (p->kind != SML_DATA)
        v->reason = SML_DROP_BAD_KIND;
    else
        v->reason = (uint8_t)judge_labelled(pool, slot, rank, p, buffer, v);
    if (pool->arrivals != NULL)
        sml_arrivals_note(pool, slot, rank, p, v, now);
}

void sml_pool_apply_any(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                        const struct sml_packet *p, void *buffer, uint64_t now, struct agg_verdict *v)
{
    v->kept = false;
    v->released = NULL;
    v->reason = (uint8_t)judge(pool, slot, rank, p, buffer, v);
    if (pool->arrivals != NULL)
        sml_arrivals_note(pool, slot, rank, p, v, now);
}

/* Whether it is another contribution of numbers like those before it. It follows that its slot is the right
 * one, from its tag, which the slot expects; and from the others that it is well formed, and that the sum is
 * started. */
static inline bool is_one_more(const struct sml_pool *pool, const struct sml_slot *slot,
                               const struct sml_packet *p)
{
    return sml_tag_behind(pool, slot, p->tag) == 0 && slot->contributed > 0 && p->kind == SML_DATA &&
           slot->kind == SML_DATA && p->size_code == slot->size_code && p->e0 == slot->e0 &&
           p->body_bytes == slot->body_bytes && p->body_bytes > 0 && p->checksum == XFER_CHECKSUM_NONE &&
           p->ver == sml_tag_ver(p->tag, pool->cfg.slots);
}

/* The last one, which has been looked at. */
__attribute__((noinline)) static void apply_last(const struct sml_pool *pool, struct sml_slot *slot,
                                                 uint16_t rank, const struct sml_packet *p, uint64_t now,
                                                 struct agg_verdict *v)
{
    pool->cfg.kernels->operations[slot->code].fold(slot->body[p->ver], p->body, p->body_bytes);
    sml_finish(pool, slot, p->ver);
    sml_complete(pool, slot, p, p->body_bytes, v, SML_WHOLE);
    v->reason = SML_SEND_ALL;
    if (pool->arrivals != NULL)
        sml_arrivals_note(pool, slot, rank, p, v, now);
}

/* Most packets go this short way, which does to them what the long one would. */
void sml_pool_apply_at_once(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                            const struct sml_packet *p, void *buffer, uint64_t now, struct agg_verdict *v)
{
    const struct agg_operation *op = &pool->cfg.kernels->operations[slot->code];
    uint64_t *seen = sml_slot_seen(slot);

    if (!is_one_more(pool, slot, p) || ranks_has(seen, rank) || op->fold == NULL || agg_is_wide(op)) {
        sml_pool_apply_any(pool, slot, rank, p, buffer, now, v);
        return;
    }
    v->kept = false;
    v->released = NULL;
    sml_combine_codes(pool, slot, p);
    if (sml_wants(pool, p))
        ranks_add(sml_slot_want(pool, slot, p->ver), rank);
    if (slot->contributed == pool->cfg.workers - 1) {
        apply_last(pool, slot, rank, p, now, v);
        return;
    }
    v->reason = SML_HELD;
    sml_hold(slot, rank);
    if (pool->arrivals != NULL)
        sml_arrivals_count(sml_arrivals_of(pool, p->slot, rank), p, now - slot->first_at, now);
    op->fold(slot->body[p->ver], p->body, p->body_bytes);
}

void sml_pool_apply(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank, const struct sml_packet *p,
                    void *buffer, uint64_t now, struct agg_verdict *verdict)
{
    pool->cfg.role(pool, slot, rank, p, buffer, now, verdict);
}
