/* The stream's receiving half. */
#include <string.h>

#include "atp/stream_state.h"
#include "wire/atp.h"

enum {
    QUEUED_FROM = 4, /* shortest round trips: one that takes longer has waited in a queue */
    STALLED_FROM =
        32, /* one that takes longer has waited for another rank, whose timer it tells, not the path */
};

/* As long as a round trip counts. Else the ranks' timers would learn from one another: where most chunks lack
 * some rank's packet, each wait makes the next one longer. */
static uint64_t of_path(const struct xfer_rtt *rtt, uint64_t took)
{
    const uint64_t longest = STALLED_FROM * rtt->base;

    return longest > 0 && took > longest ? longest : took;
}

/* Of three of a port that were acknowledged, the ones that were sent last. */
static void note_order(uint64_t latest[ATP_OUT_OF_ORDER], uint64_t order)
{
    for (unsigned i = 0; i < ATP_OUT_OF_ORDER; i++)
        if (order > latest[i]) {
            const uint64_t other = latest[i];
            latest[i] = order;
            order = other;
        }
}

/* What the acknowledgement of a chunk under way tells. Whatever it answers, all ranks have sent the chunk,
 * and each its own in the same order. So what counts is when this rank sent it first: a question that it has
 * sent later says nothing of chunks that other ranks, whose windows are smaller, have yet to send. */
static void sample(struct atp_stream *s, const struct atp_flight *f, uint64_t now)
{
    const uint64_t took = now - f->sent_at;

    if (f->sends == 1) {
        xfer_rtt_sample(&s->rtt, of_path(&s->rtt, took), now);
        if (took > QUEUED_FROM * s->rtt.base)
            atp_congestion_waits(&s->congestion);
    }
    note_order(s->latest[atp_port_of(s, (uint16_t)(f - s->flights))], f->first_order);
}

static bool store_scaled(struct atp_stream *s, uint64_t position, const struct atp_packet *p,
                         const uint8_t *elements, size_t bytes)
{
    const struct atp_order *o = atp_order_with(s, position);
    struct xfer_pieces pieces = atp_elements(s, position, false, true);
    struct xfer_scale scale = {.loops = NULL};
    size_t expected = pieces.bytes;

    if (o->cut.lead > 0) {
        scale = atp_scale(s, position, &o->call, o->cut.lead);
        expected = pieces.bytes / num_type_bytes(scale.type) * num_wire_bytes(scale.wire);
    }
    if (p->code != xfer_elements_code(s->cfg.terms.format, 0) ||
        bytes != (atp_wants(s, &o->call) ? expected : 0))
        return false;
    if (bytes > 0 && o->cut.lead > 0)
        xfer_scale_scatter(&scale, &pieces, elements);
    else if (bytes > 0)
        xfer_pieces_scatter(&pieces, elements, s->cfg.kernels->convert[o->call.type]);
    *atp_exponent_at(s, position) = p->exponent;
    return true;
}

static bool store_typed(const struct atp_stream *s, uint64_t position, const struct atp_packet *p,
                        const uint8_t *elements, size_t bytes)
{
    const struct xfer_call *call = &atp_order_with(s, position)->call;
    const struct xfer_pieces pieces = atp_elements(s, position, false, true);

    if (p->code != agg_code(call->type, call->op) || bytes != (atp_wants(s, call) ? pieces.bytes : 0))
        return false;
    if (bytes > 0)
        xfer_pieces_scatter(&pieces, elements, s->cfg.kernels->convert[call->type]);
    return true;
}

/* Stores the sum if it is the one that was asked for. */
static bool store(struct atp_stream *s, uint64_t position, const struct atp_packet *p, const uint8_t *body,
                  size_t bytes)
{
    const struct atp_order *o = atp_order_with(s, position);
    const bool opening = p->flags & ATP_OPENING, scaled = p->flags & ATP_SCALED;
    struct xfer_call theirs;

    if (opening != (position == o->base) || scaled != xfer_has_exponents(s->cfg.terms.format))
        return false;
    if (opening && (bytes > 0 || atp_wants(s, &o->call))) {
        if (!xfer_parse_call(&theirs, body, bytes) || !xfer_call_equal(&theirs, &o->call))
            return false;
        body += XFER_CALL_BYTES;
        bytes -= XFER_CALL_BYTES;
    }
    return scaled ? store_scaled(s, position, p, body, bytes) : store_typed(s, position, p, body, bytes);
}

static void heard(struct atp_stream *s, uint64_t now)
{
    s->silent = 0;
    s->quiet_since = now;
    s->rejected = false;
}

/* The server is done with this chunk, in its present life. */
static void settle(struct atp_stream *s, uint64_t position, const struct atp_packet *p, uint64_t now)
{
    struct atp_flight *f = atp_flight_of(s, position);
    const bool marked = p->flags & ATP_ECN, collided = p->flags & ATP_COLLISION, sent = position < s->inf;

    if (sent) {
        sample(s, f, now);
        atp_list_take(s, (uint16_t)(position & (s->cfg.terms.window - 1u)));
        s->under_way--;
        if (f->sends > 1 && !f->told) /* it was complete: the result was lost */
            atp_congestion_lost(&s->congestion, position, s->inf);
        atp_congestion_acknowledged(&s->congestion, position, s->inf, marked, collided, s->limited);
    }
    f->done = true;
    f->direct = false;
    f->index = p->next;
    s->signs.acknowledged++;
    s->signs.marks += marked;
    s->signs.collisions += collided;
    for (; s->una < s->sent_end && (f = atp_flight_of(s, s->una))->done; s->una++)
        f->done = false;
    if (s->inf < s->una)
        s->inf = s->una;
    s->backoff = 0;
    heard(s, now);
}

/* This rank has the chunk's result, or need not have it. */
static void take(struct atp_stream *s, uint64_t position, uint64_t now)
{
    struct atp_flight *f = atp_flight_of(s, position);

    f->have = true;
    for (; s->oldest < s->sent_end && (f = atp_flight_of(s, s->oldest))->have; s->oldest++)
        f->have = false;
    s->progress = now;
    s->stats.results++;
}

/* Every rank has contributed to the chunk, and said what it lacked then. More than this rank has is nobody's
 * to say. */
static void note_shared(struct atp_stream *s, uint64_t position, const struct atp_packet *p)
{
    const uint8_t said = (uint8_t)(p->held << XFER_HELD_SHIFT);
    uint64_t shared = position - xfer_held_parse(s->cfg.terms.window, said);

    shared = shared < s->oldest ? shared : s->oldest;
    if (shared > s->shared)
        s->shared = shared;
}

/* A chunk may be complete before this rank has sent it anew, if another has handed its sum back. */
static enum xfer_receive on_parameter(struct atp_stream *s, uint64_t position, const struct atp_packet *p,
                                      const uint8_t *body, size_t bytes, uint64_t now)
{
    const bool have = atp_have(s, position), asked = atp_flight_of(s, position)->sends > 1;

    if (!have && !store(s, position, p, body, bytes))
        return XFER_RX_BAD;
    settle(s, position, p, now);
    if (!have)
        take(s, position, now);
    note_shared(s, position, p);
    atp_group_note(s, p, atp_call_at(s, position)->collective == XFER_ALLREDUCE, asked);
    atp_end_if_done(s);
    return have ? XFER_RX_NEWS : XFER_RX_RESULT;
}

/* The server has this rank's part of a chunk that was sent, and waits for others': it is asked again only
 * once chunks that are sent from now on have been acknowledged. */
static void put_off(struct atp_stream *s, uint64_t position)
{
    const uint16_t place = (uint16_t)(position & (s->cfg.terms.window - 1u));

    atp_list_take(s, place);
    atp_list_put(s, &s->sent, place);
    s->flights[place].direct = false;
    s->flights[place].order = s->packets;
}

/* It lacks that part: lost, or in a switch where others have left without it. Several questions, of other
 * ranks too, have several answers; one is enough. */
static void send_whole(struct atp_stream *s, uint64_t position, uint64_t now)
{
    const struct atp_flight *f = atp_flight_of(s, position);
    const bool just_done = f->sends > 1 && !f->asked && now - f->sent_at < s->rtt.srtt / 2;

    if (just_done)
        return;
    atp_congestion_lost(&s->congestion, position, s->inf);
    atp_make_due(s, position, true);
}

/* The first answer of all tells how long a round trip takes, if no result has: where every chunk meets
 * others' aggregators none may come without a question. */
static void note_told(struct atp_stream *s, uint64_t position, uint64_t now)
{
    struct atp_flight *f = atp_flight_of(s, position);

    if (s->rtt.srtt == 0)
        xfer_rtt_sample(&s->rtt, now - f->sent_at, now);
    f->told = true;
}

/* Others wait for a chunk that this rank has yet to send. If it waits itself, for the result of one before
 * it, that is lost, most likely: they need not have it to send more. */
static void hurry(struct atp_stream *s, uint64_t position)
{
    atp_flight_of(s, position)->direct = true; /* once it is sent */
    if (s->under_way > 0)
        atp_make_due(s, s->una, false);
}

static enum xfer_receive on_waiting(struct atp_stream *s, uint64_t position, const uint8_t *body,
                                    size_t bytes, uint64_t now)
{
    if (bytes != ranks_map_bytes(s->cfg.workers))
        return XFER_RX_BAD;
    heard(s, now);
    if (position == s->una) {
        s->waiting_position = position;
        memcpy(s->waiting, body, bytes);
    }
    const bool there = ranks_map_has(body, s->cfg.rank), sent = position < s->inf;
    if (sent)
        note_told(s, position, now);
    if (sent && there && atp_flight_of(s, position)->asked)
        put_off(s, position);
    else if (sent && !there)
        send_whole(s, position, now);
    else if (!sent && !there)
        hurry(s, position);
    return XFER_RX_NEWS;
}

static enum xfer_receive on_mismatch(struct atp_stream *s, uint64_t position, const struct atp_packet *p,
                                     const uint8_t *body, size_t bytes)
{
    struct xfer_mismatch m;

    if (!xfer_parse_mismatch(&m, body, bytes) || m.your_rank != s->cfg.rank || m.your_tag != p->sequence)
        return XFER_RX_BAD;
    if (m.yours.collective == 0) /* the chunk does not open its call */
        m.yours = *atp_call_at(s, position);
    s->mismatch = m;
    s->mismatched = true;
    return XFER_RX_NEWS;
}

/* The server sends these to the group only. */
static enum xfer_receive on_group(struct atp_stream *s, const struct atp_packet *p)
{
    if (!(p->flags & ATP_BY_GROUP))
        return XFER_RX_BAD;
    atp_group_note(s, p, true, true);
    return XFER_RX_NEWS;
}

/* Of the chunk with this sequence number: less than 2^31 chunks from una. */
static uint64_t position_numbered(const struct atp_stream *s, uint32_t sequence)
{
    return s->una + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)s->una);
}

/* A server that does not know the job has no key of it, so in a keyed one anybody may have said this. */
static enum xfer_receive on_reject(struct atp_stream *s)
{
    if (s->cfg.terms.keyed)
        return XFER_RX_DOUBT;
    s->rejected = true;
    return XFER_RX_NEWS;
}

static enum xfer_receive receive(struct atp_stream *s, const struct atp_packet *p, const uint8_t *body,
                                 size_t bytes, uint64_t now)
{
    const uint64_t position = position_numbered(s, p->sequence), last = s->una + s->cfg.terms.window;
    const uint64_t known = p->kind == ATP_WAITING || s->sent_end > last ? last : s->sent_end;

    if (s->mismatched || p->job != s->cfg.job || p->life != s->cfg.terms.life)
        return XFER_RX_BAD;
    if (p->kind == ATP_GROUP)
        return on_group(s, p);
    if (position >= known)
        return XFER_RX_BAD;
    if (position < s->una || atp_flight_of(s, position)->done)
        return XFER_RX_DUPLICATE;
    switch ((enum atp_kind)p->kind) {
    case ATP_PARAMETER:
        return on_parameter(s, position, p, body, bytes, now);
    case ATP_WAITING:
        return on_waiting(s, position, body, bytes, now);
    case ATP_MISMATCH:
        return on_mismatch(s, position, p, body, bytes);
    case ATP_REJECT:
        return on_reject(s);
    default:
        return XFER_RX_BAD;
    }
}

/* Whether it ends with the job's trailer, as the server makes it. */
static bool is_believed(const struct atp_stream *s, const struct atp_packet *p, const uint8_t *payload,
                        size_t bytes)
{
    const struct xfer_route route = {.sender = XFER_SWITCH,
                                     .receiver = XFER_SWITCH,
                                     .wraps = atp_wraps(s, position_numbered(s, p->sequence))};

    if (s->cfg.terms.keyed && p->kind == ATP_REJECT)
        return p->seal == XFER_CHECKSUM_NONE;
    return p->seal == atp_terms_seal(&s->cfg.terms) && atp_seal_holds(p, payload, bytes, s->auth, &route);
}

enum xfer_receive atp_stream_receive(struct atp_stream *s, const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct atp_packet p;
    enum xfer_receive worth;

    if (atp_parse(&p, payload, bytes) != ATP_OK)
        worth = XFER_RX_BAD;
    else if (!is_believed(s, &p, payload, bytes))
        worth = XFER_RX_DAMAGED;
    else
        worth = receive(s, &p, payload + ATP_HEADER_BYTES, atp_body_bytes(&p, bytes), now);
    s->stats.duplicates += worth == XFER_RX_DUPLICATE;
    s->stats.bad += worth == XFER_RX_BAD;
    s->stats.damaged += worth == XFER_RX_DAMAGED;
    return worth;
}
