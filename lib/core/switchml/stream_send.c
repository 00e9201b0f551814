/* The stream's sending half: what leaves next, and when to ask again. */
#include <string.h>

#include "switchml/stream_state.h"

enum { REST_IN_FLIGHT = 64, REST_MAX_NS = 100000 }; /* so many keep the path busy while results gather */

enum { RESENDS_AT_ONCE = 4 }; /* when nothing is heard at all, so that a restarting switch is not flooded */

static bool travels_swapped(enum agg_type type)
{
    bool big_endian_wire = type == AGG_I32;
    return big_endian_wire == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* What a contribution says of the results before it that this rank lacks. */
static uint8_t held(const struct sml_stream *s, uint64_t position)
{
    return xfer_held_build(s->cfg.slots, position > s->oldest ? (uint32_t)(position - s->oldest) : 0);
}

/* Kinds and flags that are ours, and the call. */
static void fill_in_typed(const struct sml_stream *s, uint64_t position, const struct sml_chunk *chunk,
                          bool have, struct sml_packet *p, struct xfer_send *send)
{
    const bool wants = chunk->wants;

    p->e0 = agg_code(chunk->call->type, chunk->call->op);
    p->e1 = wants && !have ? SML_FLAG_WANT : 0;
    if (p->kind == SML_DATA)
        p->e1 |= held(s, position);
    if (p->kind == SML_PROBE || !chunk->opening)
        return;
    if (p->kind == SML_RESTORE)
        p->e1 |= SML_FLAG_OPENING;
    else
        p->kind = SML_OPEN;
    xfer_build_call(send->head + SML_HEADER_BYTES, chunk->call);
    send->head_bytes += XFER_CALL_BYTES;
}

/* The exponent, of this rank's block or as the switch has returned it, and the scale of the elements. */
static void fill_in_numbers(const struct sml_stream *s, uint64_t position, const struct sml_chunk *chunk,
                            bool have, struct sml_packet *p, struct xfer_send *send)
{
    int8_t exponent = NUM_NO_BLOCK;

    if (p->kind == SML_PROBE)
        return;
    if (have)
        exponent = *sml_exponent_at(s, position);
    else if (chunk->block.bytes > 0)
        exponent = xfer_blocks_exponent(s->numbers, chunk->call, &chunk->block);
    p->e0 = p->e1 = (uint8_t)exponent;
    if (chunk->lead > 0) {
        send->convert = NULL;
        send->scale = sml_stream_scale(s, position, chunk);
        if (p->kind == SML_RESTORE)
            xfer_scale_sums(&send->scale, chunk->call, s->cfg.workers);
        send->elements_bytes =
            chunk->elements.bytes / num_type_bytes(send->scale.type) * num_wire_bytes(send->scale.wire);
    }
    send->body_bytes = s->cfg.plain ? s->cfg.chunk_bytes : send->elements_bytes;
}

static void seal(const struct xfer_send *send, const void *body, uint8_t trailer[XFER_TRAILER_MAX])
{
    const struct xfer_route route = {.sender = send->rank, .receiver = XFER_SWITCH, .wraps = send->wraps};

    if (send->checksum == XFER_CHECKSUM_KEYED)
        xfer_auth_build(trailer, send->auth, &route, send->head, send->head_bytes, body, send->body_bytes);
    else
        sml_build_trailer(trailer, send->rank, send->head, send->head_bytes, body, send->body_bytes);
}

static void build(const struct sml_stream *s, uint64_t position, enum sml_due what, struct xfer_send *send)
{
    struct sml_chunk chunk = sml_stream_chunk(s, position);
    const bool have = sml_have(s, position);
    const bool restores = sml_restores(s, position, &chunk);
    struct sml_packet p = {
        .kind = what == SML_DUE_PROBE ? SML_PROBE
                : restores            ? SML_RESTORE
                                      : SML_DATA,
        .size_code = s->cfg.plain ? sml_size_code(s->cfg.chunk_bytes) : SML_SIZE_AGREED,
        .checksum = s->cfg.checksum,
        .job = s->cfg.job,
        .ver = sml_tag_ver((uint32_t)position, s->cfg.slots),
        .slot = sml_slot_of(s, position),
        .tag = (uint32_t)position,
    };

    *send = (struct xfer_send){.head_bytes = SML_HEADER_BYTES,
                               .rank = s->cfg.rank,
                               .checksum = s->cfg.checksum,
                               .auth = s->auth,
                               .wraps = sml_wraps(s, position),
                               .seal = seal};
    if (restores && what != SML_DUE_PROBE && s->cfg.quorum)
        send->names = sml_names_at(s, position);
    if (what != SML_DUE_PROBE) {
        send->elements = chunk.elements;
        send->elements_bytes = send->body_bytes = chunk.elements.bytes;
        const enum agg_type order = sml_order_of(agg_code(chunk.call->type, chunk.call->op));
        send->convert = s->cfg.kernels->convert[order];
        send->swapped = travels_swapped(order);
        if (chunk.elements.bytes > 0 && xfer_pieces_are_there(&chunk.elements))
            sml_fetch_to_read(xfer_pieces_at(&chunk.elements), xfer_pieces_first(&chunk.elements));
    }
    if (xfer_has_exponents(s->cfg.format))
        fill_in_numbers(s, position, &chunk, have, &p, send);
    else
        fill_in_typed(s, position, &chunk, have, &p, send);
    if (send->names != NULL)
        send->body_bytes += s->names_bytes;
    sml_build_header(send->head, &p);
}

/* How the switch is asked about a chunk: where it knows no probes, by a second copy. */
static enum sml_due question(const struct sml_stream *s)
{
    return s->cfg.plain ? SML_DUE_FULL : SML_DUE_PROBE;
}

enum { SENT_AGAIN = 1, ASKED_ONCE = 2 }; /* values of `asks` */

/* What `asks` is to be once the chunk's packet has left. */
static uint8_t asks_with(const struct sml_stream *s, const struct sml_flight *f, enum sml_due what)
{
    if (f->sends == 0)
        return 0;
    if (what != question(s))
        return SENT_AGAIN;
    if (f->asks < ASKED_ONCE)
        return ASKED_ONCE;
    return f->asks < SML_ASKS_MAX ? f->asks + 1 : SML_ASKS_MAX;
}

/* Builds the packet and notes that it leaves now. */
static void emit(struct sml_stream *s, uint64_t position, enum sml_due what, uint64_t now,
                 struct xfer_send *send)
{
    uint16_t slot = sml_slot_of(s, position);
    struct sml_flight *f = &s->flights[slot];

    build(s, position, what, send);

    if (s->in_flight == 0)
        s->quiet_since = now;
    if (f->list == NULL)
        s->in_flight++;
    sml_flight_unlink(s->flights, slot);
    f->asks = asks_with(s, f, what);
    sml_flight_link(s->flights, &s->sent[f->asks], slot);

    s->stats.sent++;
    if (what == SML_DUE_PROBE)
        s->stats.probes++;
    else if (f->sends > 0)
        s->stats.retransmitted++;
    if (f->sends == 0)
        f->first_at = now;
    else if (what != question(s))
        f->first_at = 0;
    f->sends += f->sends < UINT8_MAX;
    f->probed = what == SML_DUE_PROBE || (s->cfg.plain && f->sends > 1);
    f->due = SML_DUE_NOTHING;
    f->sent_at = now;
}

/* The position, in [head, head + slots), of a slot's chunk. */
static uint64_t position_of(const struct sml_stream *s, uint16_t slot)
{
    return s->head + ((slot - s->head) & (s->cfg.slots - 1u));
}

/* The timer has expired, and a chunk that was asked for then had been lost. So were, most likely, others that
 * were sent before; and of the last ones nothing tells that comes behind them. */
static bool is_suspect(const struct sml_stream *s, const struct sml_flight *f)
{
    return s->suspects > 0 && f->sent_at < s->expired_at;
}

/* When the first chunk of those asked for so often will be late; UINT64_MAX: unknown. Every rank sends its
 * chunks in order, so when a chunk is complete, all ranks have sent those before it. If the answer for one of
 * these is overdue, by the round trip of others and an allowance for reordering, a packet was lost. Unless a
 * later chunk has completed since it was last probed, probing again would tell nothing new. Lists are in the
 * order of sending, so if the first chunk is not late, none is.
 *
 * From the second question on, each waits twice as long as the one before; and who is told that others are
 * missing waits from there on. For all ranks ask for a chunk that lacks one contribution. Where an lcore of
 * a switch falls behind, all of its chunks seem late to all of them, and questions that kept their pace would
 * be more than it can answer: it would stay behind. */
static uint64_t late_at(const struct sml_stream *s, unsigned asks)
{
    const struct sml_list *list = &s->sent[asks];

    if (list->first == SML_NO_SLOT)
        return UINT64_MAX;
    const struct sml_flight *f = &s->flights[list->first];
    if (is_suspect(s, f))
        return f->sent_at;
    if (position_of(s, list->first) >= s->furthest || f->sent_at >= s->settled_at)
        return UINT64_MAX;
    const uint64_t wait = s->settled_rtt + xfer_reorder_allowance(&s->reorder, s->rtt.srtt);
    return f->sent_at + (wait << (asks > ASKED_ONCE ? asks - ASKED_ONCE : 0));
}

/* Makes a late chunk due to be asked for. */
static void ask_for_late(struct sml_stream *s, uint64_t now)
{
    unsigned asks = 0;

    while (asks <= SML_ASKS_MAX && late_at(s, asks) > now)
        asks++;
    if (asks > SML_ASKS_MAX)
        return;
    const uint16_t slot = s->sent[asks].first;
    s->suspects -= is_suspect(s, &s->flights[slot]);
    sml_make_due(s, slot, question(s));
}

static uint64_t expiry(const struct sml_stream *s)
{
    return s->quiet_since + xfer_rtt_interval(&s->rtt, s->backoff);
}

/* Nothing has moved for a while. Probes the oldest chunk; if even probes get no answer, sends the oldest few
 * again, since there may be switches that do not know probes. */
static void expire(struct sml_stream *s, uint64_t now)
{
    unsigned resends = 0;

    if (s->silent % 2 == 1)
        for (uint64_t p = s->head; p < s->next && resends < RESENDS_AT_ONCE; p++) {
            const struct sml_flight *f = sml_flight_of(s, p);
            if (f->list == NULL || f->heard)
                continue;
            sml_make_due(s, sml_slot_of(s, p), SML_DUE_FULL);
            resends++;
        }
    if (resends == 0)
        sml_make_due(s, sml_slot_of(s, s->head), question(s));

    s->stats.timeouts += s->silent > 0;
    s->suspects = 0;
    s->silent++;
    s->backoff++;
    s->quiet_since = s->expired_at = now;
}

/* Whether the exponent that the chunk's elements are scaled by is here. */
static bool has_its_exponent(const struct sml_stream *s, uint64_t position)
{
    if (!xfer_has_exponents(s->cfg.format) || position < s->base)
        return true;
    const uint64_t lead = sml_stream_chunk(s, position).lead;
    return lead == 0 || position - sml_order_with(s, position)->base < lead || sml_have(s, position - lead);
}

/* Moves `next` past chunks that need not be sent again, and says whether a new one may leave. */
static bool may_send_next(struct sml_stream *s)
{
    while (s->next < s->end && s->next < s->head + s->cfg.slots && sml_flight_of(s, s->next)->settled)
        s->next++;
    if (s->next == s->end || s->next >= s->held || s->next == s->head + s->cfg.slots ||
        !has_its_exponent(s, s->next))
        return false;
    if (s->in_flight >= s->window.size) {
        xfer_window_full(&s->window);
        return false;
    }
    return true;
}

bool sml_stream_poll(struct sml_stream *s, uint64_t now, struct xfer_send *send)
{
    if (s->mismatched)
        return false;
    if (s->in_flight > 0 && now >= expiry(s))
        expire(s, now);
    else if (!s->rejected && s->due.first == SML_NO_SLOT)
        ask_for_late(s, now);

    if (s->due.first != SML_NO_SLOT) {
        uint64_t position = position_of(s, s->due.first);
        emit(s, position, (enum sml_due)s->flights[s->due.first].due, now, send);
        return true;
    }
    if (s->rejected || !may_send_next(s))
        return false;

    emit(s, s->next, SML_DUE_FULL, now, send);
    s->next++;
    if (s->next > s->sent_end)
        s->sent_end = s->next;
    return true;
}

uint64_t sml_stream_timer(const struct sml_stream *s)
{
    if (s->in_flight == 0 || s->mismatched)
        return UINT64_MAX;
    uint64_t timer = expiry(s);
    for (unsigned asks = 0; asks <= SML_ASKS_MAX && !s->rejected; asks++) {
        const uint64_t late = late_at(s, asks);
        timer = late < timer ? late : timer;
    }
    return timer;
}

uint64_t sml_stream_rest(const struct sml_stream *s, uint64_t now)
{
    uint64_t part = s->rtt.srtt / 8;
    bool results_come = now - s->settled_at < s->rtt.srtt;

    if (s->in_flight < REST_IN_FLIGHT || s->rejected || !results_come)
        return 0;
    return part < REST_MAX_NS ? part : REST_MAX_NS;
}
