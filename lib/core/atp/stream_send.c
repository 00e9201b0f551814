/* The stream's sending half: what leaves next, and when to send again. */
#include "atp/stream_state.h"
#include "wire/atp.h"

enum { RESENDS_AT_ONCE = 4 }; /* when nothing is heard at all */

static bool travels_swapped(uint8_t type)
{
    const bool big_endian_wire = type == AGG_I32;

    return big_endian_wire == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* What a contribution says of the results before it that this rank lacks. */
static uint8_t held(const struct atp_stream *s, uint64_t position)
{
    const uint32_t lacked = position > s->oldest ? (uint32_t)(position - s->oldest) : 0;

    return xfer_held_build(s->cfg.terms.window, lacked) >> XFER_HELD_SHIFT;
}

/* Elements as they are. */
static void fill_in_typed(const struct atp_stream *s, const struct atp_chunk *chunk, struct atp_packet *p,
                          struct xfer_send *send)
{
    p->code = agg_code(chunk->call->type, chunk->call->op);
    send->elements = chunk->elements;
    send->elements_bytes = send->body_bytes = send->elements.bytes;
    send->convert = s->cfg.kernels->convert[chunk->call->type];
    send->swapped = travels_swapped(chunk->call->type);
}

/* The exponent that a packet tells: as it came back, where it did; else that of this rank's block. */
static int8_t exponent_of(const struct atp_stream *s, uint64_t position, const struct atp_chunk *chunk)
{
    if (atp_have(s, position))
        return *atp_exponent_at(s, position);
    const struct xfer_pieces block = atp_elements(s, position, true, false);
    return block.bytes > 0 ? xfer_blocks_exponent(s->numbers, chunk->call, &block) : NUM_NO_BLOCK;
}

/* Elements scaled by the exponent that came back `lead` packets earlier, and an exponent. */
static void fill_in_scaled(const struct atp_stream *s, uint64_t position, const struct atp_chunk *chunk,
                           struct atp_packet *p, struct xfer_send *send)
{
    fill_in_typed(s, chunk, p, send);
    p->flags |= ATP_SCALED;
    p->code = xfer_elements_code(s->cfg.terms.format, 0);
    p->exponent = exponent_of(s, position, chunk);
    if (chunk->lead == 0)
        return;
    send->convert = NULL;
    send->scale = atp_scale(s, position, chunk->call, chunk->lead);
    if (p->kind == ATP_RESTORE)
        xfer_scale_sums(&send->scale, chunk->call, s->cfg.workers);
    send->elements_bytes = send->body_bytes =
        send->elements.bytes / num_type_bytes(send->scale.type) * num_wire_bytes(send->scale.wire);
}

static void make_trailer(const struct xfer_send *send, const void *body, uint8_t trailer[XFER_TRAILER_MAX])
{
    const struct xfer_route route = {.sender = send->rank, .receiver = XFER_SWITCH, .wraps = send->wraps};

    atp_seal_build(trailer, send->auth, &route, send->head, send->head_bytes, body, send->body_bytes);
}

/* All that a packet about a chunk says of itself, but for its header. */
static void begin_packet(const struct atp_stream *s, uint64_t position, struct xfer_send *send)
{
    *send = (struct xfer_send){.head_bytes = ATP_HEADER_BYTES,
                               .rank = s->cfg.rank,
                               .checksum = atp_terms_seal(&s->cfg.terms),
                               .auth = s->auth,
                               .wraps = atp_wraps(s, position),
                               .seal = make_trailer};
}

/* What of a header says how the chunk is to be added on its way. */
static void fill_in_contribution(const struct atp_stream *s, uint64_t position, struct atp_packet *p)
{
    atp_topology_fill(&s->topology, s->cfg.rank, p);
    p->held = held(s, position);
    if (atp_flight_of(s, position)->direct || s->cfg.terms.mode == XFER_ORDERED || s->cfg.terms.keyed)
        p->flags |= ATP_DIRECT;
}

/* Elements, and what the header says of them. */
static void fill_in_body(const struct atp_stream *s, uint64_t position, const struct atp_chunk *chunk,
                         struct atp_packet *p, struct xfer_send *send)
{
    if (xfer_has_exponents(s->cfg.terms.format))
        fill_in_scaled(s, position, chunk, p, send);
    else
        fill_in_typed(s, chunk, p, send);
    if (atp_flight_of(s, position)->sends > 0)
        p->flags |= ATP_RESEND;
    if (p->kind == ATP_GRADIENT && agg_is_wide(&s->cfg.kernels->operations[p->code]))
        p->flags |= ATP_DIRECT;
    if (chunk->opening) {
        p->flags |= ATP_OPENING;
        xfer_build_call(send->head + ATP_HEADER_BYTES, chunk->call);
        send->head_bytes += XFER_CALL_BYTES;
    }
}

/* A chunk that was sent once is asked for; its elements are sent again only if the server says that it has to
 * have them. */
static bool asks(const struct atp_flight *f)
{
    return f->sends > 0 && !f->direct;
}

/* Returns its kind. */
static enum atp_kind build(const struct atp_stream *s, uint64_t position, struct xfer_send *send)
{
    const struct atp_flight *f = atp_flight_of(s, position);
    const struct atp_chunk chunk = atp_chunk_at(s, position);
    const bool restores = atp_have(s, position) && atp_wants(s, chunk.call);
    struct atp_packet p = {
        .kind = restores  ? ATP_RESTORE
                : asks(f) ? ATP_ASK
                          : ATP_GRADIENT,
        .job = s->cfg.job,
        .life = s->cfg.terms.life,
        .sequence = (uint32_t)position,
        .index = f->index,
        .root = chunk.call->collective == XFER_REDUCE ? (uint16_t)chunk.call->root : ATP_ALL,
        .priority = s->cfg.terms.priority,
        .seal = (uint8_t)atp_terms_seal(&s->cfg.terms),
    };

    begin_packet(s, position, send);
    if (!restores)
        fill_in_contribution(s, position, &p);
    if (p.kind != ATP_ASK)
        fill_in_body(s, position, &chunk, &p, send);
    atp_build_header(send->head, &p);
    return p.kind;
}

/* Builds the packet and notes that it leaves now. */
static void emit(struct atp_stream *s, uint64_t position, uint64_t now, struct xfer_send *send)
{
    const uint16_t place = (uint16_t)(position & (s->cfg.terms.window - 1u));
    struct atp_flight *f = &s->flights[place];

    f->asked = build(s, position, send) == ATP_ASK;
    if (s->under_way == 0)
        s->quiet_since = now;
    s->under_way += f->sends == 0;
    s->stats.sent++;
    s->stats.retransmitted += f->sends > 0;
    atp_list_take(s, place);
    atp_list_put(s, &s->sent, place);
    f->sends += f->sends < UINT8_MAX;
    f->direct = false;
    f->sent_at = now;
    f->order = ++s->packets;
    if (f->sends == 1)
        f->first_order = f->order;
}

/* The position, in [una, una + window), of a place's chunk. */
static uint64_t position_of(const struct atp_stream *s, uint16_t place)
{
    return s->una + ((place - s->una) & (s->cfg.terms.window - 1u));
}

/* The one that was sent first of those under way to a port, if three that were sent there later have been
 * acknowledged: all ranks send their chunks in the same order, so a packet was lost, or partial sums did not
 * meet. Of another port's that says nothing: a server has a thread for each, and one may wait for its CPU.
 * ATP_NO_FLIGHT: none is. */
static uint16_t find_overtaken(const struct atp_stream *s)
{
    unsigned looks = 2 * s->ports; /* chunks are dealt to ports in turn, so each has one among the first */

    for (uint16_t place = s->sent.first; place != ATP_NO_FLIGHT && looks > 0;
         place = s->flights[place].next, looks--)
        if (s->flights[place].order < s->latest[atp_port_of(s, place)][ATP_OUT_OF_ORDER - 1])
            return place;
    return ATP_NO_FLIGHT;
}

/* When too long nothing has come: after some two round trips, as TCP's tail loss probe (RFC 8985, section 7),
 * and later each time. Where every chunk lacks some packet, as with many workers, hardly any result shows
 * that those before it are lost. */
static uint64_t expiry(const struct atp_stream *s)
{
    return s->quiet_since + xfer_rtt_interval(&s->rtt, s->backoff);
}

/* Nothing has come for a while: the last chunks are lost, or some rank has not sent its own. */
static void expire(struct atp_stream *s, uint64_t now)
{
    const unsigned resends = s->silent == 0 ? 1 : RESENDS_AT_ONCE;

    if (s->silent > 0) {
        s->stats.timeouts++;
        atp_congestion_lost(&s->congestion, s->una, s->inf);
    }
    for (unsigned i = 0; i < resends && s->sent.first != ATP_NO_FLIGHT; i++) {
        atp_make_due(s, i == 0 ? s->una : position_of(s, s->sent.first), false);
        s->stats.probes++;
    }
    s->silent++;
    s->backoff++;
    s->quiet_since = now;
}

/* Whether the exponent that the chunk's elements are scaled by is here. */
static bool has_its_exponent(const struct atp_stream *s, uint64_t position)
{
    if (position < s->base)
        return true;
    const struct atp_order *o = atp_order_with(s, position);
    return o->cut.lead == 0 || position - o->base < o->cut.lead || atp_have(s, position - o->cut.lead);
}

/* Moves `inf` past chunks that the server has completed without this rank, and says whether a new one may
 * leave. */
static bool may_send_next(struct atp_stream *s)
{
    const uint64_t last = s->una + s->cfg.terms.window;

    while (s->inf < s->sent_end && s->inf < last && atp_flight_of(s, s->inf)->done)
        s->inf++;
    const bool ready = s->inf < s->end && s->inf < last && has_its_exponent(s, s->inf);
    s->limited = ready && s->under_way >= atp_window(s);
    return ready && !s->limited;
}

/* What is due by time, or by what has come. */
static void make_due(struct atp_stream *s, uint64_t now)
{
    if (s->under_way > 0 && now >= expiry(s))
        expire(s, now);
    if (!s->rejected && s->due.first == ATP_NO_FLIGHT) {
        const uint16_t place = find_overtaken(s);

        if (place != ATP_NO_FLIGHT)
            atp_make_due(s, position_of(s, place), false);
    }
}

bool atp_stream_poll(struct atp_stream *s, uint64_t now, struct xfer_send *send)
{
    if (s->mismatched)
        return false;
    if (!s->rejected && now >= atp_group_due(s)) {
        const struct atp_packet p = atp_group_tell(s, now);

        begin_packet(s, s->una, send);
        atp_build_header(send->head, &p);
        return true;
    }
    make_due(s, now);
    if (s->due.first != ATP_NO_FLIGHT) {
        emit(s, position_of(s, s->due.first), now, send);
        return true;
    }
    if (s->rejected || !may_send_next(s))
        return false;
    struct atp_flight *f = atp_flight_of(s, s->inf);
    *f = (struct atp_flight){.index = f->index, .direct = f->direct, .have = f->have};
    emit(s, s->inf, now, send);
    s->inf++;
    if (s->inf > s->sent_end)
        s->sent_end = s->inf;
    return true;
}

/* When a packet is due. With none under way the next one, if there is one, may leave at once: after resume
 * also where the collective in progress has none for this server. */
static uint64_t packet_due(const struct atp_stream *s)
{
    if (s->under_way > 0)
        return expiry(s);
    return s->inf < s->end && !s->rejected ? s->quiet_since : UINT64_MAX;
}

uint64_t atp_stream_timer(const struct atp_stream *s)
{
    const uint64_t group = s->rejected ? UINT64_MAX : atp_group_due(s);
    const uint64_t packets = packet_due(s);

    if (s->mismatched)
        return UINT64_MAX;
    return group < packets ? group : packets;
}
