/* Where chunks lie: in the tensors of the collective in progress, or in what is kept of those before it. */
#include "switchml/stream_state.h"
#include "transfer/chunks.h"
#include "transfer/parts.h"

struct xfer_scale sml_stream_scale(const struct sml_stream *s, uint64_t position,
                                   const struct sml_chunk *chunk)
{
    return xfer_scale_of(s->numbers, s->cfg.format, chunk->call, s->cfg.workers,
                         *sml_exponent_at(s, position - chunk->lead));
}

/* The chunk of a position of a collective in progress, in a format with exponents. */
static struct sml_chunk block_at(const struct sml_stream *s, const struct sml_order *o, uint64_t position)
{
    const struct xfer_blocks b = sml_blocks_of(s, &o->call, &o->share);
    const uint64_t first = o->share.first * b.element;
    struct sml_chunk chunk = {.call = &o->call,
                              .lead = b.lead,
                              .wants = xfer_gives(o->call.collective, o->call.root, s->cfg.rank),
                              .whole = true};
    const uint64_t i = position - o->base;
    uint64_t offset;
    size_t bytes;

    xfer_blocks_span(&b, o->share.count, i, &offset, &bytes);
    chunk.result = xfer_segments_find(o->segments, o->segment_count, first + offset, bytes, true);
    chunk.elements = chunk.result;
    chunk.elements.out = sml_restores(s, position, &chunk);
    xfer_blocks_span(&b, o->share.count, i + b.lead, &offset, &bytes);
    chunk.block =
        xfer_segments_find(o->segments, o->segment_count, first + offset, b.lead > 0 ? bytes : 0, false);
    return chunk;
}

/* The bytes of the call's tensor that the packet of a position carries. */
static void span_at(const struct sml_stream *s, const struct sml_order *o, uint64_t position,
                    uint64_t *offset, size_t *bytes)
{
    const size_t element = o->element.out;

    xfer_chunk_span(s->cfg.chunk_bytes, element, o->share.count * element,
                    xfer_interleaved(position - o->base, o->column, s->cfg.workers), offset, bytes);
    *offset += o->share.first * element;
}

/* The same in a typed job. A chunk is so long that its sum has room. */
static struct sml_chunk chunk_at(const struct sml_stream *s, const struct sml_order *o, uint64_t position)
{
    const struct sml_element e = o->element;
    struct xfer_part part;
    struct sml_chunk chunk = {.call = &o->call, .opening = position == o->base};
    uint64_t offset;
    size_t bytes;

    span_at(s, o, position, &offset, &bytes);
    chunk.result = xfer_segments_find(o->sums, o->segment_count, offset, bytes, true);
    part = xfer_part_in(&o->call, s->cfg.rank, o->owner_adds, &chunk.result);
    chunk.wants = part.gets;
    chunk.whole = part.whole;
    chunk.elements = chunk.result;
    chunk.elements.out = sml_restores(s, position, &chunk);
    if (chunk.elements.out)
        return chunk;
    if (!part.brings)
        chunk.elements.bytes = 0;
    else if (e.out != e.in)
        chunk.elements = xfer_segments_find(o->segments, o->segment_count, offset / e.out * e.in,
                                            bytes / e.out * e.in, false);
    return chunk;
}

struct sml_chunk sml_stream_chunk(const struct sml_stream *s, uint64_t position)
{
    if (position < s->base) {
        uint32_t place = sml_kept_index(s, position);
        const struct sml_kept *k = &s->kept[place];
        return (struct sml_chunk){.call = &k->call,
                                  .elements = xfer_segments_find(&k->elements, 1, 0, k->elements.end, false),
                                  .result = xfer_segments_find(&k->awaited, 1, 0, k->awaited.end, true),
                                  .lead = k->lead,
                                  .opening = k->opening,
                                  .wants = k->wants,
                                  .whole = k->whole};
    }

    const struct sml_order *o = sml_order_with(s, position);
    return xfer_has_exponents(s->cfg.format) ? block_at(s, o, position) : chunk_at(s, o, position);
}

void sml_stream_keep(struct sml_stream *s)
{
    /* Another switch would not be asked about what all ranks share; the present one is, if it has restarted.
     */
    uint64_t needed = s->shared < s->head ? s->shared : s->head;
    uint64_t position = needed > s->base ? needed : s->base;
    const uint64_t end = sml_oldest_end(s);

    if (s->cfg.quorum && position < s->oldest - s->cfg.slots) /* nobody tells what stragglers still lack */
        position = s->oldest - s->cfg.slots;

    for (; position < end; position++) {
        uint32_t place = sml_kept_index(s, position);
        uint8_t *data = s->kept_data + (size_t)place * sml_kept_bytes(&s->cfg);
        struct sml_chunk chunk = sml_stream_chunk(s, position);
        s->kept[place] =
            (struct sml_kept){.call = *chunk.call,
                              .elements = {.in = data, .out = data, .end = chunk.elements.bytes},
                              .awaited = {.out = data, .end = sml_have(s, position) ? 0 : chunk.result.bytes},
                              .lead = chunk.lead,
                              .opening = chunk.opening,
                              .wants = chunk.wants,
                              .whole = chunk.whole};
        if (chunk.elements.bytes > 0)
            xfer_pieces_gather(&chunk.elements, data, agg_convert_same);
        s->stats.kept++;
    }
    s->base = end;
    s->queue.first++;
}

void sml_stream_note_kept(struct sml_stream *s, uint64_t position)
{
    struct sml_kept *k = &s->kept[sml_kept_index(s, position)];

    k->elements.end = k->awaited.end;
    k->awaited.end = 0;
}

bool sml_stream_lacks(const struct sml_stream *s, uint64_t *from, uint64_t *offset, size_t *bytes)
{
    if (xfer_queue_empty(&s->queue))
        return false;

    const struct sml_order *o = sml_oldest_order(s);
    const uint64_t end = sml_oldest_end(s);
    uint64_t position = s->base + *from;

    if (position < s->oldest)
        position = s->oldest;
    while (position < end && sml_have(s, position))
        position++;
    if (position >= end)
        return false;
    *from = position - s->base + 1;
    span_at(s, o, position, offset, bytes);
    return true;
}

void sml_stream_hold(struct sml_stream *s, uint32_t number, uint64_t elements)
{
    const struct sml_order *o = sml_order_at(s, number);
    const uint64_t here = elements > o->share.first ? elements - o->share.first : 0;

    s->held = UINT64_MAX;
    if (here < o->share.count)
        s->held = o->base + xfer_chunk_with(s->cfg.chunk_bytes, o->element.out, here);
}

/* An order stays where it is until as many more have begun as may be in progress. */
uint64_t sml_stream_arrived(const struct sml_stream *s, uint32_t number, uint64_t *from)
{
    const struct sml_order *o = sml_order_at(s, number);
    const bool ended = (int32_t)(number - s->queue.first) < 0;
    uint64_t offset;
    size_t bytes;

    *from = o->share.first;
    if (ended && o->share.first + o->share.count == o->call.count)
        return UINT64_MAX;
    if (ended)
        return o->share.first + o->share.count;
    if (s->oldest <= o->base)
        return *from;
    span_at(s, o, s->oldest, &offset, &bytes);
    return offset / o->element.out;
}

/* Whether what is missing up to the end of the oldest is all of collectives that were left. */
static bool lacks_others_only(const struct sml_stream *s, uint64_t end)
{
    uint64_t from = 0, offset;
    size_t bytes;

    return s->cfg.may_leave && s->oldest < s->base && end - s->oldest <= s->cfg.slots &&
           sml_have(s, end - 1) && !sml_stream_lacks(s, &from, &offset, &bytes);
}

static bool oldest_is_done(const struct sml_stream *s)
{
    const uint64_t end = sml_oldest_end(s);
    const struct xfer_call *call = &sml_oldest_order(s)->call;
    const bool buffer = s->cfg.buffer_reduces && !xfer_gives(call->collective, call->root, s->cfg.rank);

    return end <= s->oldest || (buffer && end - s->oldest <= s->cfg.slots) || lacks_others_only(s, end);
}

void sml_stream_end_if_done(struct sml_stream *s)
{
    while (!xfer_queue_empty(&s->queue) && oldest_is_done(s))
        sml_stream_keep(s);
}
