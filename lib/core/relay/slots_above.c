/* What packets of the switch above do to a slot of a job in a tree. */
#include "relay/slots_state.h"

/* Whom a verdict may want to reach below. */
static const uint64_t nobody[AGG_MAX_WORKERS / 64], lowest_rank[AGG_MAX_WORKERS / 64] = {1};

/* Whether those below have contributed no elements, so that only others can tell how long the result is. */
static bool others_bring(const struct sml_pool *pool, const struct sml_slot *slot)
{
    return pool->cfg.empties && slot->body_bytes == slot->call_bytes;
}

/* Not all below have contributed, so what comes is a sum that a rank elsewhere has handed back: whole, or
 * only its header, if the switch above does not know yet that somebody here wants it. How long the whole is
 * tells whoever has contributed here, or handed it back; else a body does. Packets that carry exponents alone
 * have none. */
static bool is_whole(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p)
{
    const struct relay_slot *state = sml_slot_role(pool, slot);
    struct sml_packet sums = *p;

    sums.e1 |= SML_FLAG_SUMS; /* results bring no indices, and need not say so */
    if (sml_inspect(pool, &sums) != SML_HELD)
        return false;
    if (slot->contributed > 0 && !others_bring(pool, slot))
        return p->body_bytes == sml_slot_sum_bytes(slot);
    return state->restored > 0 ? p->body_bytes == state->restored - 1 : p->body_bytes > 0;
}

/* Whether this can be the result of the chunk that is being collected, and whoever wants its elements gets
 * them: ranks that have not contributed here may want them later. */
static bool fits(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p)
{
    const bool exponents = xfer_has_exponents(pool->cfg.format);

    if (p->kind != SML_DATA && exponents)
        return false;
    if (!relay_all_below_are_in(pool, slot))
        return relay_may_be_restored(pool, slot) && is_whole(pool, slot, p);
    if (p->kind != slot->kind || (p->e0 != slot->e0 && !exponents))
        return false;
    if (p->body_bytes == 0 && !exponents)
        return !relay_somebody_wants(pool, slot, p->ver);
    if (others_bring(pool, slot))
        return p->body_bytes >= slot->call_bytes && sml_inspect(pool, p) == SML_HELD;
    return p->body_bytes == sml_slot_sum_bytes(slot);
}

/* Of a result that opens a collective and brings elements, the first bytes are the call. */
static uint8_t call_bytes_of(const struct sml_packet *p)
{
    return p->kind == SML_OPEN && p->body_bytes >= XFER_CALL_BYTES ? XFER_CALL_BYTES : 0;
}

/* The partial sum has done its work; the result takes its place, or stays in its own buffer. */
static void replace_sum(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p,
                        void *buffer, struct agg_verdict *v)
{
    struct sml_result *result = sml_slot_result(pool, slot, p->ver);

    v->released = result->buffer;
    v->kept = buffer != NULL;
    result->buffer = buffer;
    slot->body[p->ver] = buffer != NULL ? (uint8_t *)p->body : sml_slot_memory(pool, slot, p->ver);
    if (buffer == NULL)
        memcpy(slot->body[p->ver], p->body, p->body_bytes);
    slot->kind = p->kind;
    slot->call_bytes = call_bytes_of(p);
    slot->e0 = p->e0;
    slot->e1 = p->e1;
}

/* The packet as those below are to see it. */
static struct sml_packet as_ours(const struct sml_pool *pool, const struct sml_packet *p)
{
    struct sml_packet ours = *p;

    ours.job = pool->cfg.job;
    return ours;
}

static enum sml_reason take_result(const struct sml_pool *pool, struct sml_slot *slot,
                                   const struct sml_packet *p, void *buffer, struct agg_verdict *v)
{
    const struct sml_packet ours = as_ours(pool, p);

    if (!fits(pool, slot, p))
        return SML_DROP_PARENT;
    replace_sum(pool, slot, p, buffer, v);
    sml_complete(pool, slot, &ours, p->body_bytes, v, SML_WHOLE);
    relay_forget(pool, slot);
    return SML_PARENT_RESULT;
}

static enum sml_reason note_wait(const struct sml_pool *pool, struct sml_slot *slot,
                                 const struct sml_packet *p)
{
    const struct relay_node *tree = relay_node_of(pool);
    struct relay_slot *state = sml_slot_role(pool, slot);

    if (p->body_bytes != ranks_map_bytes(tree->ranks))
        return SML_DROP_PARENT;
    state->told = 1;
    for (uint16_t rank = 0; rank < tree->ranks; rank++)
        if (tree->contributor[rank] == AGG_NOBODY && ranks_map_has(p->body, rank))
            ranks_add(relay_known(pool, slot), rank);
    return SML_PARENT_WAITS;
}

/* The same packet goes to these below, or, if they are NULL, to all. */
static enum sml_reason pass_down(const struct sml_pool *pool, struct sml_slot *slot,
                                 const struct sml_packet *p, const uint64_t *whom, struct agg_verdict *v)
{
    const struct sml_packet ours = as_ours(pool, p);

    memcpy(v->answer + SML_HEADER_BYTES, p->body, p->body_bytes);
    sml_answer(pool, slot, relay_our_rank(pool), &ours, (enum sml_kind)p->kind, p->body_bytes, v);
    if (p->checksum == XFER_CHECKSUM_NONE)
        v->bytes = SML_HEADER_BYTES + p->body_bytes; /* REJECT of a keyed job has no trailer */
    v->wants = whom != NULL ? whom : nobody;
    v->brief = v->payload;
    v->brief_bytes = whom != NULL ? 0 : v->bytes;
    return SML_PARENT_WORD;
}

/* SML_HELD if the switch above has sent this packet, as far as the job can tell, else the reason to drop it.
 */
static enum sml_reason check(const struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p)
{
    const struct xfer_route route = {.sender = XFER_SWITCH,
                                     .receiver = sml_receiver(p->kind, relay_our_rank(pool)),
                                     .wraps = sml_slot_wraps(pool, slot, p->tag)};

    if (pool->cfg.checksum != XFER_CHECKSUM_KEYED)
        return sml_check(pool, slot, XFER_SWITCH, p);
    if (p->kind == SML_REJECT) /* who does not know the job has no key of it: anybody may have said this */
        return p->checksum == XFER_CHECKSUM_NONE ? SML_HELD : SML_DROP_UNPROVEN;
    return sml_auth_holds(relay_node_of(pool)->auth, &route, p, call_bytes_of(p)) ? SML_HELD
                                                                                  : SML_DROP_UNPROVEN;
}

enum sml_reason relay_judge_above(struct sml_pool *pool, struct sml_slot *slot, const struct sml_packet *p,
                                  void *buffer, struct agg_verdict *v)
{
    const struct relay_node *tree = relay_node_of(pool);
    enum sml_reason checked;

    if (!tree->has_parent || p->job != tree->parent_job || !sml_is_its_slot(pool, p))
        return SML_DROP_PARENT;
    checked = check(pool, slot, p);
    if (checked != SML_HELD)
        return checked;
    if (p->kind == SML_REJECT)
        return pass_down(pool, slot, p, NULL, v);
    if (sml_tag_behind(pool, slot, p->tag) != 0)
        return SML_DROP_PARENT;
    if (p->kind == SML_DATA || p->kind == SML_OPEN)
        return take_result(pool, slot, p, buffer, v);
    if (p->kind == SML_WAIT)
        return note_wait(pool, slot, p);
    if (!relay_all_below_are_in(pool, slot))
        return SML_DROP_PARENT;
    if (p->kind == SML_MISMATCH)
        return pass_down(pool, slot, p, lowest_rank, v);
    if (p->kind != SML_NACK)
        return SML_DROP_PARENT;
    relay_send_sum(pool, slot, p, v);
    return SML_SEND_PARENT_AGAIN;
}
