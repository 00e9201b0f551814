/* Chunks: they cover a tensor exactly, in order, and each fits its packet. */
#include "transfer/chunks.h"

#include "random.h"
#include "unit.h"

TEST(an_empty_tensor_takes_its_opening_packet)
{
    uint64_t offset;
    size_t bytes;

    CU_ASSERT_EQUAL(xfer_chunk_count(1460, 4, 0), 1);
    xfer_chunk_span(1460, 4, 0, 0, &offset, &bytes);
    CU_ASSERT_EQUAL(offset, 0);
    CU_ASSERT_EQUAL(bytes, 0);
}

TEST(the_first_chunk_is_shorter_by_the_call)
{
    CU_ASSERT_EQUAL(xfer_chunk_open_bytes(1460, 4), 1440);
    CU_ASSERT_EQUAL(xfer_chunk_open_bytes(1460, 8), 1440);
    CU_ASSERT_EQUAL(xfer_chunk_open_bytes(64, 8), 40);
    CU_ASSERT_EQUAL(xfer_chunk_data_bytes(1460, 4), 1460);
    CU_ASSERT_EQUAL(xfer_chunk_data_bytes(1460, 8), 1456); /* whole elements */
}

TEST(one_element_more_than_fits_takes_one_chunk_more)
{
    CU_ASSERT_EQUAL(xfer_chunk_count(1024, 4, 1004), 1);
    CU_ASSERT_EQUAL(xfer_chunk_count(1024, 4, 1008), 2);
    CU_ASSERT_EQUAL(xfer_chunk_count(1024, 4, 1004 + 1024), 2);
    CU_ASSERT_EQUAL(xfer_chunk_count(1024, 4, 1004 + 1024 + 4), 3);
}

/* A chunk count that no tensor in memory reaches must not overflow on its way. */
TEST(the_largest_tensor_is_counted_without_overflow)
{
    uint64_t tensor = UINT64_MAX - 63, offset;
    uint64_t chunks = xfer_chunk_count(64, 8, tensor);
    size_t bytes;

    CU_ASSERT_EQUAL(chunks, 1 + (tensor - 40 + 63) / 64);
    xfer_chunk_span(64, 8, tensor, chunks - 1, &offset, &bytes);
    CU_ASSERT_EQUAL(offset + bytes, tensor);
}

TEST(chunks_cover_any_tensor_without_gap_or_overlap)
{
    uint64_t rng = rng_seed(11);

    for (unsigned turn = 0; turn < 2000; turn++) {
        size_t element = rng_below(&rng, 2) ? 4 : 8;
        size_t chunk_bytes = 64 + 4 * rng_below(&rng, 2225);
        uint64_t tensor = rng_below(&rng, 20000) * element, next = 0;
        uint64_t chunks = xfer_chunk_count(chunk_bytes, element, tensor);

        for (uint64_t c = 0; c < chunks; c++) {
            uint64_t offset;
            size_t bytes;
            xfer_chunk_span(chunk_bytes, element, tensor, c, &offset, &bytes);
            CU_ASSERT_EQUAL(offset, next);
            CU_ASSERT_EQUAL(bytes % element, 0);
            CU_ASSERT(bytes + (c == 0 ? XFER_CALL_BYTES : 0) <= chunk_bytes);
            CU_ASSERT(c == 0 || bytes > 0);
            next = offset + bytes;
        }
        CU_ASSERT_EQUAL(next, tensor);
    }
}
