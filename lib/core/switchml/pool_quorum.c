/* Pools with a quorum ("THC: Accelerating Distributed Deep Learning Using Tensor Homomorphic Compression", Li
 * et al., 2024, section 6 and pseudocode 1, which sums so with compressed gradients only): a chunk is closed
 * with all contributions, or when it has been collected for cfg.wait_ns, with as many as there are then, or
 * as soon after that as there are cfg.quorum.
 *
 * A closed chunk's result ends with a map of the ranks that are in it. It is made once; whoever asks later
 * gets those bytes. Ranks that are not in it get it, too.
 *
 * A rank contributes to chunk `tag` when it knows that all chunks up to tag - slots are closed: it has their
 * results, or was told that they are gone. So while a slot expects `tag`, all slots have closed their chunks
 * up to tag - 2 * slots, and the results of those up to tag - 3 * slots are gone. A rank that asks for such a
 * one is told the tag (SML_LATE), and can go on from there; and whether it is in the result, for it asks
 * about nothing older than the latest chunk of the slot that it has contributed to.
 *
 * After a restart of the switch a rank may hold the result of any of the first 2 * slots chunks: those are
 * only closed by being handed back, or by all contributions, one of which is then missing where a rank holds
 * it. */
#include "switchml/pool.h"
#include "switchml/pool_arrivals.h"
#include "switchml/pool_parts.h"
#include "wire/bytes.h"

enum { ROUNDS_HELD = 2 }; /* of which ranks may hold results after a restart */

static struct sml_watch *watch_of(const struct sml_pool *pool, uint16_t slot)
{
    return sml_watch_of(pool, slot % pool->cfg.shards);
}

/* Ranks that have not been heard since a chunk was closed without them. */
static uint64_t *absent(const struct sml_pool *pool, struct sml_watch *w)
{
    return w->missed + pool->cfg.workers;
}

static bool may_be_held(const struct sml_pool *pool, struct sml_slot *slot)
{
    return pool->cfg.resumed && sml_slot_closings(pool, slot)->n < ROUNDS_HELD;
}

static bool only_absent_are_missing(const struct sml_pool *pool, struct sml_slot *slot, const uint64_t gone[])
{
    for (unsigned i = 0; i < pool->map_words; i++)
        if ((ranks_below(pool->cfg.workers, i) & ~sml_slot_seen(slot)[i] & ~gone[i]) != 0)
            return false;
    return true;
}

/* Whether the chunk that is being collected may be closed now. */
static bool is_due(const struct sml_pool *pool, struct sml_slot *slot, struct sml_watch *w, uint64_t now)
{
    if (slot->contributed == pool->cfg.workers)
        return true;
    if (slot->contributed < pool->cfg.quorum || may_be_held(pool, slot))
        return false;
    return now - slot->first_at >= pool->cfg.wait_ns || only_absent_are_missing(pool, slot, absent(pool, w));
}

/* These ranks are in the result of this chunk. */
static void note_named(const struct sml_pool *pool, struct sml_slot *slot, uint32_t tag, const uint8_t *names)
{
    struct sml_closings *c = sml_slot_closings(pool, slot);

    for (unsigned rank = 0; rank < pool->cfg.workers; rank++)
        if (ranks_map_has(names, rank))
            c->last[rank] = tag;
}

/* Ranks that are missing are not waited for until they are heard again; they get the result whole. */
static void note_missing(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver,
                         struct sml_watch *w)
{
    for (unsigned rank = 0; rank < pool->cfg.workers; rank++) {
        if (ranks_has(sml_slot_seen(slot), rank))
            continue;
        sml_publish(w->missed[rank], w->missed[rank] + 1);
        ranks_add(absent(pool, w), rank);
        ranks_add(sml_slot_want(pool, slot, ver), rank);
    }
}

static void write_names(const struct sml_pool *pool, struct sml_slot *slot, uint8_t *names)
{
    ranks_map_write(names, sml_slot_seen(slot), pool->cfg.workers);
}

static void count_closing(const struct sml_pool *pool, struct sml_slot *slot)
{
    struct sml_closings *c = sml_slot_closings(pool, slot);

    c->n += c->n < ROUNDS_HELD;
}

/* Closes the chunk that is being collected. */
static enum sml_reason close_chunk(const struct sml_pool *pool, struct sml_slot *slot, struct sml_watch *w,
                                   struct agg_verdict *v)
{
    const uint32_t slots = pool->cfg.slots;
    const bool all = slot->contributed == pool->cfg.workers;
    const struct sml_packet head = {
        .size_code = slot->size_code,
        .checksum = (uint8_t)pool->cfg.checksum,
        .job = pool->cfg.job,
        .tag = slot->expected,
        .slot = sml_tag_slot(slot->expected, slots),
        .ver = sml_tag_ver(slot->expected, slots),
    };
    const size_t bytes = sml_slot_sum_bytes(slot);

    sml_sum_gathered(pool, slot, head.ver);
    write_names(pool, slot, slot->body[head.ver] + bytes);
    note_named(pool, slot, slot->expected, slot->body[head.ver] + bytes);
    if (!all)
        note_missing(pool, slot, head.ver, w);
    count_closing(pool, slot);
    sml_complete(pool, slot, &head, bytes + sml_names_bytes(&pool->cfg), v, SML_QUORATE);
    return all ? SML_SEND_ALL : SML_SEND_QUORUM;
}

static enum sml_reason contribute(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                  const struct sml_packet *p, uint64_t now, struct agg_verdict *v)
{
    struct sml_watch *w = watch_of(pool, p->slot);
    const enum sml_reason taken = sml_take_in(pool, slot, rank, p, NULL, v, SML_QUORATE);

    if (taken == SML_DROP_MISMATCH)
        return sml_answer_mismatch(pool, slot, rank, sml_slot_result(pool, slot, p->ver)->first_rank, p, v);
    if (taken != SML_HELD)
        return taken;
    if (slot->contributed == 0) {
        slot->first_at = now;
        if (now + pool->cfg.wait_ns < w->soonest)
            w->soonest = now + pool->cfg.wait_ns;
    }
    sml_hold(slot, rank);
    return is_due(pool, slot, w, now) ? close_chunk(pool, slot, w, v) : SML_HELD;
}

/* Where the names of the ranks in the result of this version are. */
static const uint8_t *names_in(const struct sml_pool *pool, struct sml_slot *slot, unsigned ver)
{
    const size_t end = sml_slot_result(pool, slot, ver)->bytes - xfer_trailer_bytes(pool->cfg.checksum);

    return slot->body[ver] - SML_HEADER_BYTES + end - sml_names_bytes(&pool->cfg);
}

/* Whether they are some of the job's ranks. */
static bool names_are_valid(const struct sml_pool *pool, const uint8_t *names)
{
    const unsigned workers = pool->cfg.workers;
    uint8_t any = 0;

    for (size_t i = 0; i < ranks_map_bytes(workers); i++)
        any |= names[i];
    return any != 0 && (workers % 8 == 0 || names[workers / 8] >> workers % 8 == 0);
}

static enum sml_reason restore(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                               const struct sml_packet *p, struct agg_verdict *v)
{
    const size_t names = sml_names_bytes(&pool->cfg);
    struct sml_packet sum = *p;

    if (p->body_bytes < names)
        return SML_DROP_BAD_LENGTH;
    sum.body_bytes -= names;
    const enum sml_reason formed = sml_inspect(pool, &sum);
    if (formed != SML_HELD)
        return formed;
    if (!names_are_valid(pool, p->body + sum.body_bytes))
        return SML_DROP_BAD_LENGTH;
    if (!may_be_held(pool, slot))
        return SML_DROP_AHEAD;
    sml_begin(pool, slot, rank, &sum, v, SML_QUORATE);
    memcpy(slot->body[p->ver], p->body, p->body_bytes);
    note_named(pool, slot, p->tag, p->body + sum.body_bytes);
    count_closing(pool, slot);
    sml_complete(pool, slot, p, p->body_bytes, v, SML_QUORATE);
    return SML_RESTORED;
}

static enum sml_reason answer_straggler(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                        const struct sml_packet *p, struct agg_verdict *v)
{
    const bool is_in = sml_slot_closings(pool, slot)->last[rank] == p->tag;

    put_be32(v->answer + SML_HEADER_BYTES, slot->expected);
    sml_answer_flagged(pool, slot, rank, p, SML_LATE, is_in ? SML_FLAG_IN : 0, SML_LATE_BYTES, v);
    return SML_SEND_STRAGGLES;
}

/* About a chunk that is closed. */
static enum sml_reason judge_closed(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                                    const struct sml_packet *p, int32_t behind, struct agg_verdict *v)
{
    if (p->kind == SML_RESTORE)
        return SML_DROP_DUPLICATE;
    if (!sml_slot_has_shadow(pool, slot))
        return SML_DROP_STALE;
    if (behind != (int32_t)pool->cfg.slots)
        return answer_straggler(pool, slot, rank, p, v);
    sml_resend(pool, slot, p, v);
    const bool is_in = ranks_map_has(names_in(pool, slot, p->ver), rank);
    return is_in || p->kind == SML_PROBE ? SML_SEND_ONE : SML_SEND_LATE;
}

static enum sml_reason judge(const struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                             const struct sml_packet *p, uint64_t now, struct agg_verdict *v)
{
    const enum sml_reason admitted = sml_admit(pool, slot, rank, p);
    uint64_t *away = absent(pool, watch_of(pool, p->slot));

    if (admitted != SML_HELD)
        return admitted;
    if (p->kind == SML_DATA || p->kind == SML_OPEN)
        ranks_remove(away, rank);

    const int32_t behind = sml_tag_behind(pool, slot, p->tag);
    if (behind < 0)
        return SML_DROP_AHEAD;
    if (behind > 0)
        return judge_closed(pool, slot, rank, p, behind, v);
    if (p->kind == SML_PROBE)
        return sml_answer_probe(pool, slot, rank, p, v);
    if (p->kind == SML_RESTORE)
        return restore(pool, slot, rank, p, v);
    return contribute(pool, slot, rank, p, now, v);
}

void sml_pool_apply_quorum(struct sml_pool *pool, struct sml_slot *slot, uint16_t rank,
                           const struct sml_packet *p, void *buffer, uint64_t now, struct agg_verdict *v)
{
    (void)buffer; /* results are longer than contributions */
    v->kept = false;
    v->released = NULL;
    v->reason = (uint8_t)judge(pool, slot, rank, p, now, v);
    if (pool->arrivals != NULL)
        sml_arrivals_note(pool, slot, rank, p, v, now);
}

/* When time may close the chunk, which is not due yet. If it has waited long enough, a contribution will. */
static uint64_t closes_at(const struct sml_pool *pool, const struct sml_slot *slot, uint64_t now)
{
    const uint64_t at = slot->first_at + pool->cfg.wait_ns;

    return at > now ? at : UINT64_MAX;
}

bool sml_pool_tick(struct sml_pool *pool, unsigned shard, uint64_t now, struct agg_verdict *v)
{
    if (pool->cfg.quorum == 0 || shard >= pool->cfg.shards)
        return false;
    struct sml_watch *w = sml_watch_of(pool, shard);
    if (w->next == 0) {
        if (now < w->soonest)
            return false;
        w->soonest = UINT64_MAX;
        w->next = shard;
    }
    while (w->next < pool->cfg.slots) {
        struct sml_slot *slot = sml_slot_at(pool, w->next);

        w->next += pool->cfg.shards;
        if (slot->contributed == 0)
            continue;
        if (is_due(pool, slot, w, now)) {
            v->kept = false;
            v->released = NULL;
            if (pool->arrivals != NULL)
                sml_arrivals_sent(pool, slot, sml_tag_ver(slot->expected, pool->cfg.slots), now);
            v->reason = (uint8_t)close_chunk(pool, slot, w, v);
            v->action = sml_reasons[v->reason].action;
            return true;
        }
        if (closes_at(pool, slot, now) < w->soonest)
            w->soonest = closes_at(pool, slot, now);
    }
    w->next = 0;
    return false;
}

bool sml_pool_awaits_time(const struct sml_pool *pool, unsigned shard)
{
    if (pool->cfg.quorum == 0 || shard >= pool->cfg.shards)
        return false;
    const struct sml_watch *w = sml_watch_of(pool, shard);
    return w->next != 0 || w->soonest != UINT64_MAX;
}
