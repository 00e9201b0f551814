#include "transfer/segments.h"

#include <string.h>

bool xfer_segments_given(const struct xfer_segment segments[], size_t n, bool wants)
{
    for (size_t i = 0; i < n; i++)
        if (segments[i].count > 0 && (segments[i].in == NULL || (wants && segments[i].out == NULL)))
            return false;
    return true;
}

bool xfer_segments_measure(struct xfer_segment segments[], size_t n, size_t element, uint64_t *count)
{
    uint64_t end = 0;

    *count = 0;
    for (size_t i = 0; i < n; i++) {
        struct xfer_segment *g = &segments[i];
        if (g->count > (PTRDIFF_MAX - end) / element)
            return false;
        g->start = end;
        g->end = end += g->count * element;
        *count += g->count;
    }
    return true;
}

size_t xfer_pieces_pass(struct xfer_pieces *p)
{
    size_t first = xfer_pieces_first(p);

    p->offset += first;
    p->bytes -= first;
    while (p->segment->end == p->offset)
        p->segment++;
    return first;
}

/* The first bytes of a stretch, in one segment. */
static void gather(const struct xfer_pieces *p, void *dst, size_t bytes, agg_convert_fn *convert)
{
    if (xfer_pieces_are_there(p))
        convert(dst, xfer_pieces_at(p), bytes);
    else
        memset(dst, 0, bytes);
}

static void scatter(const struct xfer_pieces *p, const void *src, size_t bytes, agg_convert_fn *convert)
{
    if (p->segment->out != NULL)
        convert(xfer_pieces_out(p), src, bytes);
}

void xfer_pieces_gather(const struct xfer_pieces *p, void *dst, agg_convert_fn *convert)
{
    struct xfer_pieces rest = *p;
    uint8_t *to = dst;

    for (; !xfer_pieces_whole(&rest); to += xfer_pieces_pass(&rest))
        gather(&rest, to, xfer_pieces_first(&rest), convert);
    gather(&rest, to, rest.bytes, convert);
}

void xfer_pieces_scatter(const struct xfer_pieces *p, const void *src, agg_convert_fn *convert)
{
    struct xfer_pieces rest = *p;
    const uint8_t *from = src;

    for (; !xfer_pieces_whole(&rest); from += xfer_pieces_pass(&rest))
        scatter(&rest, from, xfer_pieces_first(&rest), convert);
    scatter(&rest, from, rest.bytes, convert);
}
