/* Which ranks bring and get what of a chunk, and where chunks lie within blocks. That all of it gets where it
 * belongs is in test_streams.c. */
#include "transfer/parts.h"

#include <string.h>

#include "kernels_chosen.h"
#include "random.h"
#include "transfer/chunks.h"
#include "unit.h"

/* Ten bytes of five ranks' blocks, of which rank 1 brings its own. */
static struct xfer_part part_of(uint8_t collective, struct xfer_segment s[], size_t n, uint64_t offset,
                                size_t bytes, bool owner_adds)
{
    const struct xfer_call call = {.collective = collective, .root = 1};
    const struct xfer_pieces p = xfer_segments_find(s, n, offset, bytes, true);

    return xfer_part_in(&call, 1, owner_adds, &p);
}

static bool is(struct xfer_part p, bool brings, bool gets, bool whole)
{
    return p.brings == brings && p.gets == gets && p.whole == whole;
}

TEST(what_a_rank_brings_and_gets_follows_from_its_segments)
{
    static uint8_t in[12], out[12];
    struct xfer_segment gathers[] = {{.out = out, .count = 4},
                                     {.in = out, .out = out, .count = 0},
                                     {.in = out, .out = out, .count = 4},
                                     {.out = out, .count = 4}};
    struct xfer_segment scatters[] = {
        {.in = in, .count = 4}, {.in = in, .out = out, .count = 4}, {.in = in, .count = 4}};
    struct xfer_segment sends = {.in = in, .count = 12}, receives = {.out = out, .count = 12};
    uint64_t count;

    CU_ASSERT_FATAL(xfer_segments_measure(gathers, 4, 1, &count) && count == 12);
    CU_ASSERT(is(part_of(XFER_ALLGATHER, gathers, 4, 0, 4, false), false, true, true));
    CU_ASSERT(is(part_of(XFER_ALLGATHER, gathers, 4, 2, 4, false), true, true, true));
    CU_ASSERT(is(part_of(XFER_ALLGATHER, gathers, 4, 4, 4, false), true, false, true));
    CU_ASSERT(is(part_of(XFER_ALLGATHER, gathers, 4, 7, 5, false), true, true, true));

    CU_ASSERT_FATAL(xfer_segments_measure(scatters, 3, 1, &count));
    CU_ASSERT(is(part_of(XFER_REDUCE_SCATTER, scatters, 3, 0, 4, true), true, false, false));
    CU_ASSERT(is(part_of(XFER_REDUCE_SCATTER, scatters, 3, 2, 4, true), true, true, false));
    CU_ASSERT(is(part_of(XFER_REDUCE_SCATTER, scatters, 3, 4, 4, true), false, true, true));
    CU_ASSERT(is(part_of(XFER_REDUCE_SCATTER, scatters, 3, 4, 4, false), true, true, true));

    CU_ASSERT_FATAL(xfer_segments_measure(&sends, 1, 1, &count) &&
                    xfer_segments_measure(&receives, 1, 1, &count));
    CU_ASSERT(is(part_of(XFER_BROADCAST, &sends, 1, 3, 5, false), true, false, false));
    CU_ASSERT(is(part_of(XFER_BROADCAST, &receives, 1, 3, 5, false), false, true, true));
    CU_ASSERT(is(part_of(XFER_BROADCAST, &receives, 1, 0, 0, false), false, false, true));
    CU_ASSERT(is(part_of(XFER_BARRIER, NULL, 0, 0, 0, false), false, false, true));
    CU_ASSERT(is(part_of(XFER_ALLREDUCE, &sends, 1, 0, 4, false), true, true, true));
    CU_ASSERT(is(part_of(XFER_REDUCE, &sends, 1, 0, 4, false), true, true, true));
}

TEST(an_owner_adds_where_sums_are_not_rounded_or_divided_at_the_end)
{
    const struct agg_kernels *k = kernels_or_exit();
    struct xfer_call call = {.collective = XFER_REDUCE_SCATTER, .type = AGG_F32, .op = AGG_SUM};

    CU_ASSERT(xfer_owner_adds(k, &call, 2) && !xfer_owner_adds(k, &call, 1));
    call.op = AGG_AVG;
    CU_ASSERT(!xfer_owner_adds(k, &call, 2));
    call = (struct xfer_call){.collective = XFER_REDUCE_SCATTER, .type = AGG_BF16, .op = AGG_SUM};
    CU_ASSERT(!xfer_owner_adds(k, &call, 2));
    call = (struct xfer_call){.collective = XFER_ALLREDUCE, .type = AGG_F32, .op = AGG_SUM};
    CU_ASSERT(!xfer_owner_adds(k, &call, 2));
}

/* By going through all chunks. */
TEST(own_chunks_are_those_within_the_block)
{
    uint64_t random = rng_seed(9);

    for (unsigned i = 0; i < unit_cases(5000); i++) {
        const size_t element = (size_t)1 << rng_below(&random, 5), chunk = 64 + 4 * rng_below(&random, 30);
        const uint64_t tensor = rng_below(&random, 90) * element;
        const uint64_t from = rng_below(&random, tensor / element + 1) * element;
        const uint64_t to = from + rng_below(&random, (tensor - from) / element + 1) * element;
        uint64_t first, end, offset, bytes = 0, begin = to;
        size_t length;

        for (uint64_t c = 0; c < xfer_chunk_count(chunk, element, tensor); c++) {
            xfer_chunk_span(chunk, element, tensor, c, &offset, &length);
            if (length == 0 || offset < from || offset + length > to)
                continue;
            begin = bytes == 0 ? offset : begin;
            bytes += length;
        }
        xfer_own_chunks(chunk, element, tensor, from, to, &first, &end);
        CU_ASSERT_FATAL(end - first == bytes && (bytes == 0 || first == begin));
    }
}

/* All chunks leave, each once; and any stretches of as many columns as there are have one of each. */
TEST(chunks_leave_interleaved)
{
    enum { MOST = 700 };
    uint64_t random = rng_seed(10);

    for (unsigned i = 0; i < unit_cases(2000); i++) {
        const unsigned ranks = 1 + (unsigned)rng_below(&random, 20);
        const uint64_t chunks = 1 + rng_below(&random, MOST);
        const uint64_t column = xfer_interleaved_column(XFER_ALLGATHER, chunks, ranks);
        bool left[MOST] = {0};

        CU_ASSERT_FATAL(column % XFER_STRETCH == 0 && column * ranks <= chunks &&
                        chunks - column * ranks < (uint64_t)XFER_STRETCH * ranks);
        CU_ASSERT_EQUAL(xfer_interleaved(0, column, ranks), 0); /* the one that opens the call */
        for (uint64_t at = 0; at < chunks; at++) {
            const uint64_t chunk = xfer_interleaved(at, column, ranks);
            CU_ASSERT_FATAL(chunk < chunks && !left[chunk]);
            CU_ASSERT_FATAL(at < column * ranks ? chunk / column == at / XFER_STRETCH % ranks : chunk == at);
            left[chunk] = true;
        }
    }
    CU_ASSERT_EQUAL(xfer_interleaved(8, 16, 3), 16);
    CU_ASSERT_EQUAL(xfer_interleaved(33, 16, 3), 25); /* docs/protocol.md */
}

TEST(blocks_alone_are_interleaved)
{
    CU_ASSERT(xfer_interleaved_column(XFER_REDUCE_SCATTER, 100, 4) == 24);
    CU_ASSERT(xfer_interleaved_column(XFER_GATHER, 100, 4) == 24 &&
              xfer_interleaved_column(XFER_SCATTER, 100, 4) == 24);
    CU_ASSERT(xfer_interleaved_column(XFER_BROADCAST, 100, 4) == 0 &&
              xfer_interleaved_column(XFER_ALLREDUCE, 100, 4) == 0);
    CU_ASSERT(xfer_interleaved_column(XFER_ALLGATHER, 31, 4) == 0);
}

/* docs/protocol.md: CRC32C of the lengths in eight bytes each, big endian. */
TEST(blocks_are_compared_by_their_lengths)
{
    static const uint64_t lengths[] = {3, 0, 0x0102030405}, other[] = {0, 3, 0x0102030405};

    CU_ASSERT_EQUAL(xfer_blocks_hash(lengths, 0), 0);
    CU_ASSERT_EQUAL(xfer_blocks_hash(lengths, 3), 0x72f57191);
    CU_ASSERT(xfer_blocks_hash(lengths, 3) != xfer_blocks_hash(other, 3));
}

TEST(collectives_have_names)
{
    CU_ASSERT_STRING_EQUAL(xfer_collective_name(XFER_ALLREDUCE), "allreduce");
    CU_ASSERT_STRING_EQUAL(xfer_collective_name(XFER_SCATTER), "scatter");
    CU_ASSERT_STRING_EQUAL(xfer_collective_name(XFER_SCATTER + 1), "unknown collective");
    CU_ASSERT_STRING_EQUAL(xfer_collective_root(XFER_BROADCAST), "from rank");
    CU_ASSERT_PTR_NULL(xfer_collective_root(XFER_BARRIER));
}
