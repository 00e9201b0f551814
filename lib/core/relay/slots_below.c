/* What packets of ranks, and of the switches below, do to a slot of a job in a tree. */
#include "relay/slots_state.h"

/* Questions and answers */

/* Whether this rank is known to have contributed. Of a rank elsewhere nothing is known before the switch
 * above has spoken; it is not said to be missing then. */
static bool has_contributed(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank)
{
    const struct relay_slot *state = sml_slot_role(pool, slot);
    const uint16_t c = relay_node_of(pool)->contributor[rank];

    if (ranks_has(relay_known(pool, slot), rank))
        return true;
    return c == AGG_NOBODY ? !state->told : ranks_has(sml_slot_seen(slot), c);
}

/* A bitmap of the ranks that have contributed, as WAIT and ASK have it: of all, or of those below. Returns
 * its length. */
static size_t put_bitmap(const struct sml_pool *pool, struct sml_slot *slot, bool all, uint8_t *out)
{
    const struct relay_node *tree = relay_node_of(pool);

    memset(out, 0, ranks_map_bytes(tree->ranks));
    for (uint16_t rank = 0; rank < tree->ranks; rank++)
        if ((all || tree->contributor[rank] != AGG_NOBODY) && has_contributed(pool, slot, rank))
            ranks_map_add(out, rank);
    return ranks_map_bytes(tree->ranks);
}

/* Notes what a switch below says of its ranks. Returns whether it has the contributions of all. */
static bool note_known(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                       const struct sml_packet *ask)
{
    const struct relay_node *tree = relay_node_of(pool);
    bool all = true;

    for (uint16_t rank = tree->lowest[from]; rank < tree->ranks; rank++) {
        if (tree->contributor[rank] != from)
            continue;
        if (ranks_map_has(ask->body, rank))
            ranks_add(relay_known(pool, slot), rank);
        else
            all = false;
    }
    return all;
}

/* Of several who ask, the first is passed up, and whoever asks again: his first question, or its answer, may
 * have been lost. */
static bool is_to_be_passed_up(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from)
{
    uint64_t *asked = relay_asked(pool, slot);
    const bool again = ranks_has(asked, from);
    const bool first = ranks_none(asked, pool->map_words);

    if (again)
        ranks_clear(asked, pool->map_words);
    ranks_add(asked, from);
    return first || again;
}

/* Writes the question into v->aside, and shows it. */
static enum sml_reason ask_parent(const struct sml_pool *pool, struct sml_slot *slot,
                                  const struct sml_packet *p, struct agg_verdict *v)
{
    const bool want = relay_somebody_wants(pool, slot, p->ver) || relay_may_be_restored(pool, slot);
    const struct sml_packet head = {
        .kind = SML_ASK,
        .size_code = SML_SIZE_AGREED,
        .checksum = (uint8_t)pool->cfg.checksum,
        .job = relay_node_of(pool)->parent_job,
        .ver = p->ver,
        .slot = p->slot,
        .tag = p->tag,
        .e1 = want && pool->cfg.format == XFER_FORMAT_TYPED ? SML_FLAG_WANT : 0,
    };
    const size_t bitmap = put_bitmap(pool, slot, false, v->aside + SML_HEADER_BYTES);

    sml_build_header(v->aside, &head);
    relay_send_up(v, v->aside, relay_end_payload(pool, slot, p->tag, v->aside, 0, SML_HEADER_BYTES + bitmap),
                  NULL);
    return SML_ASK_PARENT;
}

/* PROBE, ASK: the sender is told how things stand here; the switch above may know more. */
static enum sml_reason answer_question(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                       const struct sml_packet *p, struct agg_verdict *v)
{
    const bool seen = ranks_has(sml_slot_seen(slot), from), switch_asks = p->kind == SML_ASK;
    const uint16_t asker = relay_node_of(pool)->lowest[from];
    bool has_all = true;

    if (switch_asks) {
        if (p->body_bytes != ranks_map_bytes(relay_node_of(pool)->ranks))
            return SML_DROP_BAD_LENGTH;
        has_all = note_known(pool, slot, from, p);
    }
    if (!seen && has_all)
        sml_answer(pool, slot, asker, p, SML_NACK, 0, v);
    else
        sml_answer(pool, slot, asker, p, SML_WAIT, put_bitmap(pool, slot, true, v->answer + SML_HEADER_BYTES),
                   v);
    if (!relay_node_of(pool)->has_parent || !(seen || switch_asks || relay_may_be_restored(pool, slot)) ||
        !is_to_be_passed_up(pool, slot, from))
        return SML_SEND_ANSWER;
    v->brief = v->payload;
    v->brief_bytes = v->bytes;
    return ask_parent(pool, slot, p, v);
}

/* Contributions and handed-back results */

/* A contribution that has come before: its sender has had no answer for long, and may know no PROBE. */
static enum sml_reason take_for_question(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                         const struct sml_packet *p, struct agg_verdict *v)
{
    if (!relay_node_of(pool)->has_parent ||
        !(relay_all_below_are_in(pool, slot) || relay_may_be_restored(pool, slot)) ||
        !is_to_be_passed_up(pool, slot, from))
        return SML_DROP_DUPLICATE;
    return ask_parent(pool, slot, p, v);
}

/* What came of a contribution that was taken in, if it was not the last: `taken` as sml_take_in returned it.
 */
static enum sml_reason settle(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                              const struct sml_packet *p, struct agg_verdict *v, enum sml_reason taken)
{
    const uint16_t *lowest = relay_node_of(pool)->lowest;

    if (taken == SML_DROP_DUPLICATE)
        return take_for_question(pool, slot, from, p, v);
    if (taken == SML_DROP_MISMATCH)
        return sml_answer_mismatch(pool, slot, lowest[from],
                                   lowest[sml_slot_result(pool, slot, p->ver)->first_rank], p, v);
    return taken == SML_HELD ? sml_hold(slot, from) : taken;
}

static enum sml_reason contribute_to_root(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                          const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    const enum sml_reason taken = sml_take_in(pool, slot, from, p, buffer, v, SML_WHOLE);

    if (taken != SML_HELD || slot->contributed != pool->cfg.workers - 1)
        return settle(pool, slot, from, p, v, taken);
    sml_finish(pool, slot, p->ver);
    sml_complete(pool, slot, p, sml_slot_sum_bytes(slot), v, SML_WHOLE);
    relay_forget(pool, slot);
    return SML_SEND_ALL;
}

static enum sml_reason contribute_to_part(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                          const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    const enum sml_reason taken = sml_take_in(pool, slot, from, p, buffer, v, SML_PART_OF_SUM);
    const enum sml_reason settled = settle(pool, slot, from, p, v, taken);

    if (settled != SML_HELD || !relay_all_below_are_in(pool, slot))
        return settled;
    relay_send_sum(pool, slot, p, v);
    return SML_SEND_PARENT;
}

/* A switch that hands a sum back does it for one of its ranks; it wants the sum for the others. */
static void note_want(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                      const struct sml_packet *p)
{
    if (sml_wants(pool, p))
        ranks_add(sml_slot_want(pool, slot, p->ver), from);
}

static enum sml_reason restore_root(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                    const struct sml_packet *p, struct agg_verdict *v)
{
    const enum sml_reason reason = sml_restore(pool, slot, from, p, v);

    if (reason != SML_RESTORED)
        return reason;
    note_want(pool, slot, from, p); /* v->wants is the same map */
    relay_forget(pool, slot);
    return reason;
}

/* The slot has completed nothing, so the memory of its other version is free to build the packet in. What
 * comes back is to be whole: a header alone would complete nothing here (slots_above.c), and who has handed
 * the sum back would have to ask for each chunk of its window, one timer after the other. */
static enum sml_reason pass_up_restored(const struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                        const struct sml_packet *p, struct agg_verdict *v)
{
    const enum sml_reason formed = sml_inspect(pool, p);
    uint8_t *body = sml_slot_memory(pool, slot, !p->ver), *payload = body - SML_HEADER_BYTES;
    const size_t call_bytes = sml_opens(pool, p) ? XFER_CALL_BYTES : 0;
    struct sml_packet head = *p;

    if (formed != SML_HELD)
        return formed;
    if (sml_slot_has_shadow(pool, slot))
        return SML_DROP_AHEAD;
    ((struct relay_slot *)sml_slot_role(pool, slot))->restored = (uint32_t)p->body_bytes + 1;
    note_want(pool, slot, from, p);
    head.job = relay_node_of(pool)->parent_job;
    head.e1 |= pool->cfg.format == XFER_FORMAT_TYPED ? SML_FLAG_WANT : 0;
    sml_build_header(payload, &head);
    memcpy(body, p->body, p->body_bytes);
    relay_send_up(
        v, payload,
        relay_end_payload(pool, slot, p->tag, payload, call_bytes, SML_HEADER_BYTES + p->body_bytes), NULL);
    return SML_RESTORE_PARENT;
}

/* Judging */

enum sml_reason relay_judge_below(struct sml_pool *pool, struct sml_slot *slot, uint16_t from,
                                  const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    const struct relay_node *tree = relay_node_of(pool);
    const enum sml_reason checked = sml_check(pool, slot, tree->lowest[from], p);
    int32_t behind;

    if (checked != SML_HELD)
        return checked;
    if ((p->kind != SML_DATA && p->kind != SML_ASK && !sml_comes_from_workers(pool, p)) ||
        p->job != pool->cfg.job)
        return SML_DROP_BAD_KIND;
    if (!sml_is_its_slot(pool, p))
        return SML_DROP_BAD_SLOT;
    behind = sml_tag_behind(pool, slot, p->tag);
    if (behind != 0)
        return sml_judge_old(pool, slot, from, p, behind, v);
    switch (p->kind) {
    case SML_PROBE:
    case SML_ASK:
        return answer_question(pool, slot, from, p, v);
    case SML_RESTORE:
        return tree->has_parent ? pass_up_restored(pool, slot, from, p, v)
                                : restore_root(pool, slot, from, p, v);
    default:
        return tree->has_parent ? contribute_to_part(pool, slot, from, p, buffer, v)
                                : contribute_to_root(pool, slot, from, p, buffer, v);
    }
}
