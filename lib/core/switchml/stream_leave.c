/* Best effort: the end of a collective for a rank that will not wait for all of its sums. */
#include "switchml/stream_state.h"
#include "transfer/chunks.h"

bool sml_stream_lacks(const struct sml_stream *s, uint64_t *from, uint64_t *offset, size_t *bytes)
{
    const size_t element = s->element.out;
    uint64_t position = s->base + *from;

    if (position < s->oldest)
        position = s->oldest;
    while (position < s->end && sml_have(s, position))
        position++;
    if (position >= s->end)
        return false;
    *from = position - s->base + 1;
    xfer_chunk_span(s->cfg.chunk_bytes, element, s->call.count * element, position - s->base, offset, bytes);
    return true;
}

bool sml_stream_leave(struct sml_stream *s)
{
    if (!s->cfg.may_leave || sml_stream_status(s) != XFER_RUNNING || s->end - s->oldest > s->cfg.slots)
        return false;
    sml_stream_keep(s);
    return true;
}

bool sml_stream_lacks_others_only(const struct sml_stream *s)
{
    uint64_t from = 0, offset;
    size_t bytes;

    return s->cfg.may_leave && s->oldest < s->base && s->end - s->oldest <= s->cfg.slots &&
           sml_have(s, s->end - 1) && !sml_stream_lacks(s, &from, &offset, &bytes);
}

void sml_stream_note_kept(struct sml_stream *s, uint64_t position)
{
    struct sml_kept *k = &s->kept[sml_kept_place(s, position)];

    k->elements.end = k->awaited.end;
    k->awaited.end = 0;
}
