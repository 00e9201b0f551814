/* Segments: cut up anyhow, they hold the same elements as one tensor. */
#include "transfer/segments.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "unit.h"

enum { MANY = 10000, BYTES_MAX = 4096, SEGMENTS_MAX = 40 };

TEST(segments_are_measured_one_after_the_other)
{
    struct xfer_segment g[] = {{.count = 0}, {.count = 3}, {.count = 0}, {.count = 5}, {.count = 0}};
    uint64_t count;

    CU_ASSERT(xfer_segments_measure(g, 5, 16, &count));
    CU_ASSERT_EQUAL(count, 8);
    CU_ASSERT_EQUAL(g[1].start, 0);
    CU_ASSERT_EQUAL(g[1].end, 48);
    CU_ASSERT_EQUAL(g[3].start, 48);
    CU_ASSERT_EQUAL(g[4].end, 128);
    CU_ASSERT(xfer_segments_measure(g, 0, 16, &count));
    CU_ASSERT_EQUAL(count, 0);
}

TEST(more_than_an_address_space_is_refused)
{
    struct xfer_segment g[] = {{.count = PTRDIFF_MAX / 4}, {.count = 1}};
    uint64_t count;

    CU_ASSERT(xfer_segments_measure(g, 1, 4, &count));
    CU_ASSERT(!xfer_segments_measure(g, 2, 4, &count));
    g[0].count = g[1].count = UINT64_MAX / 4 + 2; /* together they would wrap to something small */
    CU_ASSERT(!xfer_segments_measure(g, 2, 4, &count));
    CU_ASSERT(!xfer_segments_measure(g, 1, 4, &count));
}

TEST(each_of_ten_thousand_is_found)
{
    struct xfer_segment *g = calloc(MANY, sizeof(*g));
    uint64_t count;

    for (unsigned i = 0; i < MANY; i++)
        g[i].count = i % 4;
    CU_ASSERT_FATAL(xfer_segments_measure(g, MANY, 2, &count));
    for (unsigned i = 0; i < MANY; i++)
        for (uint64_t at = g[i].start; at < g[i].end; at += 2)
            CU_ASSERT_PTR_EQUAL(xfer_segments_find(g, MANY, at, 2, false).segment, &g[i]);
    CU_ASSERT_EQUAL(xfer_segments_find(g, MANY, 2 * count, 0, false).bytes, 0);
    free(g);
}

/* Segments of random lengths, in random places of the memory. */
static unsigned scatter(uint64_t *r, uint8_t *memory, size_t element, struct xfer_segment g[])
{
    unsigned n = 1 + (unsigned)rng_below(r, SEGMENTS_MAX);
    size_t at = 0;

    for (unsigned i = 0; i < n; i++) {
        at += rng_below(r, 3) * element;
        g[i] = (struct xfer_segment){.in = memory + at, .out = memory + at, .count = rng_below(r, 6)};
        at += g[i].count * element;
    }
    for (unsigned i = n; i > 1; i--) { /* not in the order of their places */
        unsigned other = (unsigned)rng_below(r, i);
        struct xfer_segment swap = g[i - 1];
        g[i - 1] = g[other];
        g[other] = swap;
    }
    return n;
}

static void check_stretches(uint64_t *r, size_t element)
{
    uint8_t memory[BYTES_MAX * 2], after[sizeof memory], flat[BYTES_MAX * 2], got[BYTES_MAX * 2];
    struct xfer_segment g[SEGMENTS_MAX];
    uint64_t count, bytes = 0;

    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (uint8_t)rng_below(r, 256);
    unsigned n = scatter(r, memory, element, g);
    CU_ASSERT_FATAL(xfer_segments_measure(g, n, element, &count));
    for (unsigned i = 0; i < n; bytes += g[i].count * element, i++)
        memcpy(flat + bytes, g[i].in, g[i].count * element);
    CU_ASSERT_EQUAL_FATAL(bytes, count * element);

    size_t from = rng_below(r, (uint32_t)count + 1), length = rng_below(r, (uint32_t)(count - from) + 1);
    struct xfer_pieces p = xfer_segments_find(g, n, from * element, length * element, true);
    if (length == 0)
        return;
    xfer_pieces_gather(&p, got, agg_convert_same);
    CU_ASSERT_EQUAL(memcmp(got, flat + from * element, length * element), 0);

    for (size_t i = from * element; i < (from + length) * element; i++)
        flat[i] = (uint8_t)rng_below(r, 256);
    memcpy(after, memory, sizeof memory);
    xfer_pieces_scatter(&p, flat + from * element, agg_convert_same);
    bytes = 0;
    for (unsigned i = 0; i < n; bytes += g[i].count * element, i++) {
        CU_ASSERT_EQUAL(memcmp(flat + bytes, g[i].out, g[i].count * element), 0);
        memcpy(after + ((uint8_t *)g[i].out - memory), flat + bytes, g[i].count * element);
    }
    CU_ASSERT_EQUAL(memcmp(after, memory, sizeof memory), 0); /* nothing else was written to */
}

TEST(any_stretch_of_any_segments_is_gathered_and_scattered)
{
    uint64_t r = rng_seed(1);

    for (unsigned i = 0; i < unit_cases(5000); i++)
        check_stretches(&r, (size_t)1 << rng_below(&r, 5));
}
