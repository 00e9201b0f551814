/* Streams of jobs with a quorum: results that lack ranks, and what becomes of one that lags (pool_quorum.c
 * says what a switch tells it). */
#include <string.h>

#include "switchml/stream_state.h"
#include "wire/bytes.h"

static const uint8_t nothing[SML_MAX_CHUNK_BYTES];

static void copy(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

/* Of the call in progress. names: NULL, the result cannot be had; mine: but this rank is in it. */
static void note(struct sml_stream *s, uint64_t position, const struct sml_chunk *chunk, const uint8_t *names,
                 bool mine)
{
    const uint64_t elements = s->element.out > 0 ? chunk->result.bytes / s->element.out : 0;
    struct xfer_roll roll = xfer_turnout_add(&s->turnout, names, s->cfg.workers, s->cfg.rank, elements);

    roll.mine |= mine;
    if (s->roll != NULL)
        s->roll[position - s->base] = roll;
}

const struct xfer_turnout *sml_stream_turnout(const struct sml_stream *s)
{
    return &s->turnout;
}

void sml_stream_call_roll(struct sml_stream *s, struct xfer_roll roll[])
{
    s->roll = roll;
}

void sml_stream_forget_names(struct sml_stream *s, uint64_t position)
{
    memset(sml_names_at(s, position), 0, s->names_bytes);
}

void sml_stream_note_names(struct sml_stream *s, uint64_t position, const uint8_t *names)
{
    const struct sml_chunk chunk = sml_stream_chunk(s, position);

    memcpy(sml_names_at(s, position), names, s->names_bytes);
    if (position >= s->base)
        note(s, position, &chunk, names, false);
}

bool sml_stream_missed(const struct sml_stream *s, uint64_t position)
{
    const uint8_t *names = sml_names_at(s, position);
    uint8_t any = 0;

    for (size_t i = 0; i < s->names_bytes; i++)
        any |= names[i];
    return s->cfg.quorum && any == 0;
}

bool sml_stream_has_all(const struct sml_stream *s, uint64_t position)
{
    const uint8_t *names = sml_names_at(s, position);
    unsigned n = 0;

    for (size_t i = 0; i < s->names_bytes; i++)
        n += (unsigned)__builtin_popcount(names[i]);
    return n == s->cfg.workers;
}

/* This rank has to do without the result; position is in [oldest, oldest + slots), and not done with. is_in:
 * its contribution is not lost. */
static void miss(struct sml_stream *s, uint64_t position, bool is_in, uint64_t now)
{
    const struct sml_chunk chunk = sml_stream_chunk(s, position);

    if (position >= s->base && sml_wants(s, &s->call)) {
        if (chunk.result.bytes > 0)
            xfer_pieces_scatter(&chunk.result, nothing, copy);
        note(s, position, &chunk, NULL, is_in);
    }
    sml_stream_forget_names(s, position);
    while (position >= s->head + s->cfg.slots)
        sml_stream_settle(s, s->head, now);
    if (!sml_flight_of(s, position)->settled)
        sml_stream_settle(s, position, now);
    sml_stream_take(s, position, now);
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
        sml_stream_settle(s, s->head, now);
}

enum xfer_receive sml_stream_on_late(struct sml_stream *s, uint64_t position, const struct sml_packet *p,
                                     uint64_t now)
{
    const uint32_t slots = s->cfg.slots, ahead = get_be32(p->body) - p->tag;

    if (!s->cfg.quorum || (int32_t)ahead < (int32_t)(2 * slots) || ahead % slots != 0)
        return XFER_RX_BAD;
    if (!sml_have(s, position))
        miss(s, position, p->e1 & SML_FLAG_IN, now);
    else if (!sml_flight_of(s, position)->settled)
        sml_stream_settle(s, position, now);
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
    return !sml_wants(s, chunk->call) || p->body_bytes == chunk->result.bytes + s->names_bytes;
}

bool sml_stream_is_other_call(struct sml_stream *s, uint64_t position, const struct sml_packet *p)
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
