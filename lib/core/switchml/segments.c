#include "switchml/segments.h"

bool sml_segments_given(const struct sml_segment segments[], size_t n, bool wants)
{
    for (size_t i = 0; i < n; i++)
        if (segments[i].count > 0 && (segments[i].in == NULL || (wants && segments[i].out == NULL)))
            return false;
    return true;
}

bool sml_segments_measure(struct sml_segment segments[], size_t n, size_t element, uint64_t *count)
{
    uint64_t end = 0;

    *count = 0;
    for (size_t i = 0; i < n; i++) {
        struct sml_segment *g = &segments[i];
        if (g->count > (PTRDIFF_MAX - end) / element)
            return false;
        g->start = end;
        g->end = end += g->count * element;
        *count += g->count;
    }
    return true;
}

size_t sml_pieces_pass(struct sml_pieces *p)
{
    size_t first = sml_pieces_first(p);

    p->offset += first;
    p->bytes -= first;
    while (p->segment->end == p->offset)
        p->segment++;
    return first;
}

void sml_pieces_gather(const struct sml_pieces *p, void *dst, agg_convert_fn *convert)
{
    struct sml_pieces rest = *p;
    uint8_t *to = dst;

    for (; !sml_pieces_whole(&rest); to += sml_pieces_pass(&rest))
        convert(to, sml_pieces_at(&rest), sml_pieces_first(&rest));
    convert(to, sml_pieces_at(&rest), rest.bytes);
}

void sml_pieces_scatter(const struct sml_pieces *p, const void *src, agg_convert_fn *convert)
{
    struct sml_pieces rest = *p;
    const uint8_t *from = src;

    for (; !sml_pieces_whole(&rest); from += sml_pieces_pass(&rest))
        convert(sml_pieces_out(&rest), from, sml_pieces_first(&rest));
    convert(sml_pieces_out(&rest), from, rest.bytes);
}
