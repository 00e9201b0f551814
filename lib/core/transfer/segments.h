/* Where a collective's elements are: in one tensor, or in several that are treated as one. A chunk may begin
 * in one of them and end in another. Pure; memory is the caller's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

struct xfer_segment {
    const void *in; /* NULL: zeros (parts.h) */
    void *out;      /* may equal in; NULL: not wanted */
    uint64_t count;
    uint64_t start, end; /* bytes from the first segment's beginning; xfer_segments_measure fills them in */
};

/* A stretch of elements in segments that have been measured. */
struct xfer_pieces {
    const struct xfer_segment *segment; /* where it begins; not an empty one, if bytes > 0 */
    uint64_t offset;                    /* from the first segment's beginning */
    size_t bytes;
    bool out; /* the elements are those of out, not of in */
};

/* Whether each segment with elements has an in and, if the rank wants the sum, an out. */
bool xfer_segments_given(const struct xfer_segment segments[], size_t n, bool wants);

/* Fills in start and end of each, and in *count the number of elements of all; element: bytes of one. False:
 * they would not fit into an address space. */
bool xfer_segments_measure(struct xfer_segment segments[], size_t n, size_t element, uint64_t *count);

/* The stretch of these bytes, all of them within the segments. By bisection. */
static inline struct xfer_pieces xfer_segments_find(const struct xfer_segment segments[], size_t n,
                                                    uint64_t offset, size_t bytes, bool out)
{
    size_t low = 0, high = n > 0 ? n - 1 : 0; /* the first that ends beyond the offset is one of these */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (segments[middle].end > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return (struct xfer_pieces){n > 0 ? &segments[low] : segments, offset, bytes, out};
}

/* How many of the bytes lie in the segment where the stretch begins. */
static inline size_t xfer_pieces_first(const struct xfer_pieces *p)
{
    uint64_t room = p->segment->end - p->offset;
    return room < p->bytes ? (size_t)room : p->bytes;
}

/* Whether that is the whole stretch. */
static inline bool xfer_pieces_whole(const struct xfer_pieces *p)
{
    return p->segment->end - p->offset >= p->bytes;
}

/* Whether the first piece lies anywhere. */
static inline bool xfer_pieces_are_there(const struct xfer_pieces *p)
{
    return (p->out ? p->segment->out : p->segment->in) != NULL;
}

/* Where the first piece lies, and where in `out` it does. bytes > 0 */
static inline const uint8_t *xfer_pieces_at(const struct xfer_pieces *p)
{
    const uint8_t *segment = p->out ? p->segment->out : p->segment->in;
    return segment + (p->offset - p->segment->start);
}
static inline uint8_t *xfer_pieces_out(const struct xfer_pieces *p)
{
    return (uint8_t *)p->segment->out + (p->offset - p->segment->start);
}

/* Moves on by the first piece, to the next that is not empty; returns the first one's bytes. Not if it is
 * whole. */
size_t xfer_pieces_pass(struct xfer_pieces *p);

/* Copies the stretch to dst, and src to where the stretch is in `out`, as far as there is one; each piece
 * through convert. bytes > 0 */
void xfer_pieces_gather(const struct xfer_pieces *p, void *dst, agg_convert_fn *convert);
void xfer_pieces_scatter(const struct xfer_pieces *p, const void *src, agg_convert_fn *convert);
