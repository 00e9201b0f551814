/* The stream's receiving half; with a quorum, results may lack ranks (pool_quorum.c says what a switch tells
 * a worker that lags). */
#include <string.h>

#include "switchml/stream_state.h"
#include "wire/bytes.h"

static const uint8_t nothing[SML_MAX_CHUNK_BYTES];

/* Of a call in progress. names: NULL, the result cannot be had; mine: but this rank is in it. */
static void note(struct sml_stream *s, uint64_t position, const struct sml_chunk *chunk, const uint8_t *names,
                 bool mine)
{
    struct sml_order *o = sml_order_with(s, position);
    const uint64_t elements = o->element.out > 0 ? chunk->result.bytes / o->element.out : 0;
    struct xfer_roll roll = xfer_turnout_add(&o->turnout, names, s->cfg.workers, s->cfg.rank, elements);

    roll.mine |= mine;
    if (o->roll != NULL)
        o->roll[position - o->base] = roll;
}

const struct xfer_turnout *sml_stream_turnout(const struct sml_stream *s, uint32_t number)
{
    return &sml_order_at(s, number)->turnout;
}

void sml_stream_call_roll(struct sml_stream *s, struct xfer_roll roll[])
{
    s->roll = roll;
}

/* There is none, or it was not wanted. */
static void forget_names(struct sml_stream *s, uint64_t position)
{
    memset(sml_names_at(s, position), 0, s->names_bytes);
}

/* With a quorum. A result with these names behind its elements has been stored. */
static void note_names(struct sml_stream *s, uint64_t position, const uint8_t *names)
{
    const struct sml_chunk chunk = sml_stream_chunk(s, position);

    memcpy(sml_names_at(s, position), names, s->names_bytes);
    if (position >= s->base)
        note(s, position, &chunk, names, false);
}

/* Whether all ranks are in the chunk's result. */
static bool has_all(const struct sml_stream *s, uint64_t position)
{
    const uint8_t *names = sml_names_at(s, position);
    unsigned n = 0;

    for (size_t i = 0; i < s->names_bytes; i++)
        n += (unsigned)__builtin_popcount(names[i]);
    return n == s->cfg.workers;
}

static void heard(struct sml_stream *s)
{
    s->silent = 0;
    s->rejected = false;
}

/* The round trip of the chunk's packet, if it is unambiguous, or 0. A packet that was sent before the timer
 * last expired has waited for something other than the path. */
static uint64_t sample(struct sml_stream *s, const struct sml_flight *f, uint64_t now)
{
    if (f->sends != 1 || f->sent_at < s->expired_at)
        return 0;
    xfer_rtt_sample(&s->rtt, now - f->sent_at, now);
    return now - f->sent_at;
}

enum { SUSPECTS = 2 }; /* so that recovery takes few round trips */

/* What becomes of a chunk in flight says something of others that were sent before the timer expired. If it
 * had to be asked for since, and was lost, they may be, too: two more may be asked for. Not all at once, for
 * it may be a full queue that has lost them; so TCP goes on after its timer (RFC 5681, section 3.1). If it
 * comes by itself, a rank had been slow, and the others are on their way. */
static void suspect(struct sml_stream *s, const struct sml_flight *f)
{
    if (f->sent_at < s->expired_at)
        s->suspects = 0;
    else if (f->sends > 1 && !f->heard && s->suspects < s->cfg.slots)
        s->suspects += SUSPECTS;
}

/* The switch is done with the chunk; position is in [head, head + slots). This rank is; it is in [oldest,
 * oldest + slots). */
static void settle(struct sml_stream *s, uint64_t position, uint64_t now)
{
    uint16_t slot = sml_slot_of(s, position);
    struct sml_flight *f = &s->flights[slot];

    if (f->list != NULL) {
        uint64_t rtt = sample(s, f, now);
        if (f->sends == 1) {
            if (position >= s->furthest) /* what others have overtaken was held up */
                s->settled_rtt = now - f->sent_at;
            s->measured_at = now;
        }
        suspect(s, f);
        sml_flight_unlink(s->flights, slot);
        s->in_flight--;
        xfer_window_result(&s->window, position, s->next, f->sends > 1 && !f->heard, rtt, s->rtt.base);
        xfer_reorder_result(&s->reorder, position, s->next, f->sends > 1);
    }
    if (position >= s->furthest)
        s->furthest = position + 1;
    if (position >= s->sent_end) /* a straggler's, who need not send it any more */
        s->sent_end = position + 1;
    s->settled_at = now;
    bool asked =
        f->sends == 2 && f->probed && !f->heard && xfer_reorder_explains(now - f->sent_at, s->rtt.srtt);
    uint64_t took = f->sends > 1 && f->first_at > 0 ? now - f->first_at : 0;
    *f = (struct sml_flight){.settled = true, .asked = asked, .took = took, .have = f->have};
    for (; (f = sml_flight_of(s, s->head))->settled; s->head++)
        f->settled = false;
    if (s->next < s->head)
        s->next = s->head;

    s->quiet_since = now;
    s->backoff = 0;
}

static void take(struct sml_stream *s, uint64_t position, uint64_t now)
{
    struct sml_flight *f = sml_flight_of(s, position);

    f->have = true;
    for (; (f = sml_flight_of(s, s->oldest))->have; s->oldest++)
        f->have = false;
    s->progress = now;
    s->stats.results++;
    sml_stream_end_if_done(s);
}

/* This rank has to do without the result; position is in [oldest, oldest + slots), and not done with. is_in:
 * its contribution is not lost. */
static void miss(struct sml_stream *s, uint64_t position, bool is_in, uint64_t now)
{
    const struct sml_chunk chunk = sml_stream_chunk(s, position);

    if (position >= s->base && chunk.wants) {
        if (chunk.result.bytes > 0)
            xfer_pieces_scatter(&chunk.result, nothing, agg_convert_same);
        note(s, position, &chunk, NULL, is_in);
    }
    forget_names(s, position);
    while (position >= s->head + s->cfg.slots)
        settle(s, s->head, now);
    if (!sml_flight_of(s, position)->settled)
        settle(s, position, now);
    take(s, position, now);
}

/* This rank's contribution, which was sent, may be in the result: the switch will say so. */
static void ask(struct sml_stream *s, uint64_t position)
{
    const struct sml_flight *f = sml_flight_of(s, position);

    if (!f->probed && f->due == SML_DUE_NOTHING)
        sml_make_due(s, sml_slot_of(s, position), SML_DUE_PROBE);
}

void sml_stream_skip(struct sml_stream *s, uint64_t position, uint64_t now)
{
    if (position > s->gone)
        s->gone = position;
    for (uint64_t at = s->oldest; at < s->end && at < s->gone && at < s->oldest + s->cfg.slots; at++)
        if (sml_have(s, at))
            continue;
        else if (sml_flight_of(s, at)->list != NULL)
            ask(s, at);
        else
            miss(s, at, false, now);
    while (s->head < s->oldest && s->head < s->gone) /* results that this rank had before a restart */
        settle(s, s->head, now);
}

/* SML_LATE. */
static enum xfer_receive on_late(struct sml_stream *s, uint64_t position, const struct sml_packet *p,
                                 uint64_t now)
{
    const uint32_t slots = s->cfg.slots, ahead = get_be32(p->body) - p->tag;

    if (!s->cfg.quorum || (int32_t)ahead < (int32_t)(2 * slots) || ahead % slots != 0)
        return XFER_RX_BAD;
    if (!sml_have(s, position))
        miss(s, position, p->e1 & SML_FLAG_IN, now);
    else if (!sml_flight_of(s, position)->settled)
        settle(s, position, now);
    sml_stream_skip(s, position + ahead - 3 * slots + 1, now);
    return XFER_RX_NEWS;
}

/* The lowest rank that a map names. */
static uint16_t first_of(const uint8_t *names, size_t bytes)
{
    size_t i = 0;

    while (i + 1 < bytes && names[i] == 0)
        i++;
    return (uint16_t)(8 * i + (names[i] != 0 ? (unsigned)__builtin_ctz(names[i]) : 0));
}

/* Whether a result can be of this chunk. theirs: the call that it carries. A header alone tells nothing. */
static bool fits(const struct sml_stream *s, const struct sml_chunk *chunk, const struct sml_packet *p,
                 const struct xfer_call *theirs)
{
    const bool opens = p->kind == SML_OPEN;

    if (p->body_bytes == 0)
        return true;
    if (opens != chunk->opening || p->e0 != agg_code(chunk->call->type, chunk->call->op))
        return false;
    if (opens)
        return xfer_call_equal(theirs, chunk->call);
    return !chunk->wants || p->body_bytes == chunk->result.bytes + s->names_bytes;
}

/* Whether it is the result of another call than this rank's, for a rank may lack the switch's MISMATCH. That
 * is noted as one. */
static bool is_other_call(struct sml_stream *s, uint64_t position, const struct sml_packet *p)
{
    const struct sml_chunk chunk = sml_stream_chunk(s, position);
    const bool opens = p->kind == SML_OPEN;
    const size_t least = (opens ? XFER_CALL_BYTES : 0) + s->names_bytes;
    struct xfer_call theirs = {0};

    if (opens && p->body_bytes > 0 && !xfer_parse_call(&theirs, p->body, p->body_bytes))
        return false;
    if (fits(s, &chunk, p, &theirs) || p->body_bytes < least)
        return false;
    s->mismatch = (struct xfer_mismatch){
        .your_rank = s->cfg.rank,
        .peer_rank = first_of(p->body + p->body_bytes - s->names_bytes, s->names_bytes),
        .your_tag = p->tag,
        .peer_tag = p->tag,
        .your_e0 = agg_code(chunk.call->type, chunk.call->op),
        .peer_e0 = p->e0,
        .your_bytes = (uint16_t)chunk.elements.bytes,
        .peer_bytes = (uint16_t)(p->body_bytes - least),
        .opening = true,
        .yours = *chunk.call,
        .peers = theirs,
    };
    s->mismatched = true;
    return true;
}

enum { EXPECTED_AHEAD = 2 }; /* chunks; fetching one takes longer than storing one */

/* Results come nearly in the order of their chunks. */
static void fetch_expected(const struct xfer_pieces *chunk)
{
    struct xfer_pieces ahead = *chunk;

    ahead.offset += EXPECTED_AHEAD * chunk->bytes;
    if (ahead.offset + ahead.bytes <= ahead.segment->end && xfer_pieces_are_there(&ahead))
        sml_fetch_to_write(xfer_pieces_at(&ahead), ahead.bytes);
}

/* A result with exponents, which every rank gets whole: whether it wants the sum or not, it needs the
 * exponent. */
static bool store_numbers(struct sml_stream *s, uint64_t position, const struct sml_packet *p,
                          struct sml_chunk *chunk)
{
    const struct xfer_pieces *elements = &chunk->result;
    const struct xfer_scale scale = sml_stream_scale(s, position, chunk);
    size_t bytes = elements->bytes;

    if (chunk->lead > 0)
        bytes = bytes / num_type_bytes(scale.type) * num_wire_bytes(scale.wire);
    if (p->kind != SML_DATA || p->body_bytes != (s->cfg.plain ? s->cfg.chunk_bytes : bytes))
        return false;
    if (bytes > 0 && chunk->wants) {
        fetch_expected(elements);
        if (chunk->lead > 0)
            xfer_scale_scatter(&scale, elements, p->body);
        else
            xfer_pieces_scatter(elements, p->body, s->cfg.kernels->convert[chunk->call->type]);
    }
    *sml_exponent_at(s, position) = (int8_t)p->e0;
    return true;
}

/* Stores the sum if it is the one that was asked for. */
static bool store(struct sml_stream *s, uint64_t position, const struct sml_packet *p)
{
    struct sml_chunk chunk = sml_stream_chunk(s, position);
    const uint8_t *body = p->body;
    size_t bytes = p->body_bytes;

    if (xfer_has_exponents(s->cfg.format))
        return store_numbers(s, position, p, &chunk);
    if (p->kind != (chunk.opening ? SML_OPEN : SML_DATA) ||
        p->e0 != agg_code(chunk.call->type, chunk.call->op))
        return false;
    if (chunk.opening && bytes > 0) {
        struct xfer_call theirs;
        if (!xfer_parse_call(&theirs, body, bytes) || !xfer_call_equal(&theirs, chunk.call))
            return false;
        body += XFER_CALL_BYTES;
        bytes -= XFER_CALL_BYTES;
    } else if (chunk.opening && chunk.wants) {
        return false;
    }
    if (!chunk.wants) {
        forget_names(s, position);
        return bytes == 0 || s->cfg.quorum; /* with one it may come whole, before the switch was told */
    }
    if (bytes != chunk.result.bytes + s->names_bytes || !sml_has_names(s, body + chunk.result.bytes))
        return false;
    if (chunk.result.bytes > 0) {
        fetch_expected(&chunk.result);
        xfer_pieces_scatter(&chunk.result, body, s->cfg.kernels->convert[sml_order_of(p->e0)]);
    }
    if (position < s->base)
        sml_stream_note_kept(s, position);
    if (s->cfg.quorum)
        note_names(s, position, body + chunk.result.bytes);
    return true;
}

/* A chunk was asked for in vain, and its result took so long. If round trips have become longer, all chunks
 * are asked for, none is left that was sent once and would tell, and so it would remain. (So TCP takes a
 * segment that has come twice for proof that it need not have been sent again: RFC 4015.) As long as others
 * tell, it says nothing: another rank's loss may have held it up. */
static void learn(struct sml_stream *s, uint64_t took, uint64_t now)
{
    if (s->measured_at + took > now)
        return;
    xfer_rtt_sample(&s->rtt, took, now);
    s->settled_rtt = took;
}

/* A second result of the chunk that was settled in its slot last: the first was on its way when the chunk was
 * probed, and this one answers the probe. */
static enum xfer_receive on_second_result(struct sml_stream *s, uint64_t position, uint64_t now)
{
    struct sml_flight *f = sml_flight_of(s, position);

    s->suspects = 0; /* it was on its way */
    if (position + s->cfg.slots < s->head)
        return XFER_RX_DUPLICATE;
    if (f->asked) {
        xfer_reorder_in_vain(&s->reorder);
        xfer_window_found(&s->window);
    }
    if (f->took > 0)
        learn(s, f->took, now);
    f->asked = false;
    f->took = 0;
    return XFER_RX_DUPLICATE;
}

/* Every rank has contributed to the chunk, and said what it lacked then. More than this rank has is nobody's
 * to say. */
static void note_shared(struct sml_stream *s, uint64_t position, const struct sml_packet *p)
{
    const uint8_t said =
        xfer_has_exponents(s->cfg.format) ? 0 : p->e1; /* exponents leave no room to say it */
    uint64_t shared = position - xfer_held_parse(s->cfg.slots, said);

    shared = shared < s->oldest ? shared : s->oldest;
    if (shared > s->shared)
        s->shared = shared;
}

/* The switch sends results to ranks that have not contributed, too, if it has a quorum. */
static bool may_come_unasked(const struct sml_stream *s, uint64_t position)
{
    return s->cfg.quorum && position < s->end && position < s->oldest + s->cfg.slots;
}

static enum xfer_receive on_result(struct sml_stream *s, uint64_t position, const struct sml_packet *p,
                                   uint64_t now)
{
    if (s->cfg.quorum) /* whoever is in it knew that all chunks before were closed by a window and more */
        sml_stream_skip(s, position - 2u * s->cfg.slots + 1, now);
    if (position >= s->sent_end && !may_come_unasked(s, position))
        return s->cfg.quorum ? XFER_RX_DUPLICATE : XFER_RX_BAD;
    if (position < s->head)
        return on_second_result(s, position, now);

    bool have = sml_have(s, position);
    if (s->cfg.quorum && !have && is_other_call(s, position, p))
        return XFER_RX_NEWS;
    if (!have && !store(s, position, p))
        return XFER_RX_BAD;
    heard(s);
    if (!s->cfg.quorum || has_all(s, position))
        note_shared(s, position, p);
    /* Every rank has contributed to this chunk, so the switch is done with all chunks that are `slots` or
     * more before it. */
    while (position >= s->head + s->cfg.slots)
        settle(s, s->head, now);
    if (have && sml_flight_of(s, position)->settled)
        return on_second_result(s, position, now);
    settle(s, position, now);
    if (have)
        return XFER_RX_NEWS;
    take(s, position, now);
    if (s->cfg.quorum)
        sml_stream_skip(s, s->gone, now); /* what comes behind it, too, may be gone */
    return XFER_RX_RESULT;
}

static enum xfer_receive on_nack(struct sml_stream *s, uint16_t slot, uint64_t now)
{
    struct sml_flight *f = &s->flights[slot];

    if (!f->probed || f->due == SML_DUE_FULL) /* answers an earlier probe, and was acted upon */
        return XFER_RX_DUPLICATE;
    f->heard = false;
    suspect(s, f);
    sml_make_due(s, slot, SML_DUE_FULL);
    s->quiet_since = now;
    return XFER_RX_NEWS;
}

/* For the chunk in this slot, that the switch was asked for, others are missing. */
static void wait_from_now(struct sml_stream *s, uint16_t slot, uint64_t now)
{
    struct sml_flight *f = &s->flights[slot];

    f->sent_at = now;
    sml_flight_unlink(s->flights, slot);
    sml_flight_link(s->flights, &s->sent[f->asks], slot);
}

static enum xfer_receive on_wait(struct sml_stream *s, uint64_t position, const struct sml_packet *p,
                                 uint64_t now)
{
    struct sml_flight *f = sml_flight_of(s, position);

    if (p->body_bytes != ranks_map_bytes(s->cfg.workers))
        return XFER_RX_BAD;
    if (f->sends == 2 && f->probed && !f->heard)
        xfer_rtt_answered(&s->rtt, now - f->sent_at);
    f->heard = true;
    if (f->probed && f->due == SML_DUE_NOTHING)
        wait_from_now(s, p->slot, now);
    if (position == s->head) {
        s->waiting_position = position;
        memcpy(s->waiting, p->body, p->body_bytes);
    }
    return XFER_RX_NEWS;
}

static enum xfer_receive on_mismatch(struct sml_stream *s, uint64_t position, const struct sml_packet *p)
{
    struct xfer_mismatch m;

    if (!xfer_parse_mismatch(&m, p->body, p->body_bytes) || m.your_rank != s->cfg.rank ||
        m.your_tag != p->tag)
        return XFER_RX_BAD;
    if (m.yours.collective == 0) /* the chunk does not open its call */
        m.yours = *sml_stream_chunk(s, position).call;
    s->mismatch = m;
    s->mismatched = true;
    return XFER_RX_NEWS;
}

/* A switch that does not know the job has no key of it, so in a keyed one anybody may have said this. */
static enum xfer_receive on_reject(struct sml_stream *s, const struct sml_packet *p)
{
    if (s->cfg.checksum == XFER_CHECKSUM_KEYED)
        return XFER_RX_DOUBT;
    s->boot_id = 0;
    for (size_t i = 0; i < p->body_bytes; i++)
        s->boot_id = s->boot_id << 8 | p->body[i];
    s->rejected = true;
    return XFER_RX_NEWS;
}

/* Of the chunk with this tag: less than 2^31 chunks from the head. */
static uint64_t position_tagged(const struct sml_stream *s, uint32_t tag)
{
    return s->head + (uint64_t)(int64_t)(int32_t)(tag - (uint32_t)s->head);
}

static enum xfer_receive receive(struct sml_stream *s, const struct sml_packet *p, uint64_t now)
{
    if (s->mismatched || p->job != s->cfg.job || p->slot != sml_tag_slot(p->tag, s->cfg.slots) ||
        p->ver != sml_tag_ver(p->tag, s->cfg.slots))
        return XFER_RX_BAD;

    const uint64_t position = position_tagged(s, p->tag);
    if (p->kind == SML_DATA || p->kind == SML_OPEN)
        return on_result(s, position, p, now);

    /* The rest is about chunks on their way now. */
    if (position < s->head || position >= s->next || sml_flight_of(s, position)->list == NULL)
        return position < s->sent_end ? XFER_RX_DUPLICATE : XFER_RX_BAD;
    if (p->kind == SML_REJECT)
        return on_reject(s, p);
    heard(s);
    switch (p->kind) {
    case SML_NACK:
        return on_nack(s, p->slot, now);
    case SML_WAIT:
        return on_wait(s, position, p, now);
    case SML_MISMATCH:
        return on_mismatch(s, position, p);
    case SML_LATE:
        return on_late(s, position, p, now);
    default:
        return XFER_RX_BAD;
    }
}

static bool is_believed(const struct sml_stream *s, const struct sml_packet *p)
{
    struct xfer_route route = {.sender = XFER_SWITCH, .receiver = sml_receiver(p->kind, s->cfg.rank)};
    const bool has_call = p->kind == SML_OPEN && p->body_bytes >= XFER_CALL_BYTES;

    if (s->cfg.checksum != XFER_CHECKSUM_KEYED)
        return sml_checksum_holds(p, s->cfg.checksum, XFER_SWITCH);
    if (p->kind == SML_REJECT)
        return p->checksum == XFER_CHECKSUM_NONE;
    route.wraps = sml_wraps(s, position_tagged(s, p->tag));
    return sml_auth_holds(s->auth, &route, p, has_call ? XFER_CALL_BYTES : 0);
}

enum xfer_receive sml_stream_receive(struct sml_stream *s, const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct sml_packet p;
    enum xfer_receive worth;

    if (sml_parse(&p, payload, bytes) != SML_OK)
        worth = XFER_RX_BAD;
    else if (!is_believed(s, &p))
        worth = XFER_RX_DAMAGED;
    else
        worth = receive(s, &p, now);
    s->stats.duplicates += worth == XFER_RX_DUPLICATE;
    s->stats.bad += worth == XFER_RX_BAD;
    s->stats.damaged += worth == XFER_RX_DAMAGED;
    return worth;
}
