/* A tensor in segments, for tests: cut at odd places, some segments empty, and laid out in memory in reverse
 * order, so that accesses past the end of one get wrong elements. */
#pragma once

#include <string.h>

#include "transfer/segments.h"

enum { SCATTERED_MAX = 8 };

struct scattered {
    struct xfer_segment segment[SCATTERED_MAX];
    unsigned n; /* at least 1 */
    size_t element;
};

/* in and out, which may be equal or out be NULL, have room for count elements. how decides where to cut; with
 * a multiple of SCATTERED_MAX the tensor stays in one piece. */
static inline struct scattered scattered_cut(void *in, void *out, uint64_t count, size_t element,
                                             uint64_t how)
{
    struct scattered s = {.n = 1 + (unsigned)(how % SCATTERED_MAX), .element = element};
    uint64_t left = count;

    for (unsigned i = 0; i < s.n; i++) {
        uint64_t few = i % 3 < left ? i % 3 : left, take = how >> (i + 3) & 1 ? left / 2 : few;
        take = i + 1 == s.n ? left : take;
        left -= take;
        s.segment[i] = (struct xfer_segment){.in = (uint8_t *)in + left * element,
                                             .out = out ? (uint8_t *)out + left * element : NULL,
                                             .count = take};
    }
    return s;
}

/* Puts a tensor that lies in one piece into the segments' `in`. */
static inline void scattered_put(const struct scattered *s, const void *tensor)
{
    const uint8_t *from = tensor;

    for (unsigned i = 0; i < s->n; i++) {
        size_t bytes = s->segment[i].count * s->element;
        memcpy((void *)s->segment[i].in, from, bytes);
        from += bytes;
    }
}

/* Gets it out of their `out`. */
static inline void scattered_get(const struct scattered *s, void *tensor)
{
    uint8_t *to = tensor;

    for (unsigned i = 0; i < s->n; i++) {
        size_t bytes = s->segment[i].count * s->element;
        memcpy(to, s->segment[i].out, bytes);
        to += bytes;
    }
}
