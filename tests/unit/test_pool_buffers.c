/* Buffers that the pool keeps instead of copying what is in them: which, for how long, and that sums are made
 * in them. What any sequence of packets leads to is in test_pool_random.c. */
#include "pool_rig.h"

enum { BUFFERS = 8 };

static uint8_t buffers[BUFFERS][SML_HEADER_BYTES + 256];
static unsigned given_back[BUFFERS];

static const struct xfer_call call = {
    .seq = 3, .collective = XFER_ALLREDUCE, .type = AGG_I64, .op = AGG_SUM, .count = 50};

/* Contributes value, 2 * value, ... out of buffer b; behind a call, if there is one. */
static enum sml_reason offer(unsigned b, uint16_t rank, uint32_t tag, const struct xfer_call *opening,
                             int64_t value)
{
    struct sml_packet p = rig_packet(opening != NULL ? SML_OPEN : SML_DATA, tag);
    size_t call_bytes = opening != NULL ? XFER_CALL_BYTES : 0;

    if (opening != NULL)
        xfer_build_call(rig.body, opening);
    rig_elements(&p, call_bytes, value, opening != NULL ? 5 : 8);
    p.body = memcpy(buffers[b] + SML_HEADER_BYTES, rig.body, p.body_bytes);
    rig.slot = sml_pool_locate(rig.pool, &p, 0);
    sml_pool_apply(rig.pool, rig.slot, rank, &p, buffers[b], 0, &rig.v);
    return rig.v.reason;
}

static void count_given_back(void *buffer)
{
    given_back[((uint8_t *)buffer - buffers[0]) / sizeof buffers[0]]++;
}

TEST(a_sum_is_made_in_the_buffer_that_starts_it)
{
    RIG_FOR_EACH_MODE(.workers = 3)
    {
        CU_ASSERT_EQUAL(offer(0, 0, 0, NULL, 1), SML_HELD);
        CU_ASSERT(rig.v.kept && rig.v.released == NULL);
        CU_ASSERT_EQUAL(offer(1, 1, 0, NULL, 10), SML_HELD);
        CU_ASSERT(!rig.v.kept);
        CU_ASSERT_EQUAL(offer(2, 2, 0, NULL, 100), SML_SEND_ALL);
        CU_ASSERT(!rig.v.kept && rig.v.released == NULL);
        CU_ASSERT_PTR_EQUAL(rig.v.buffer, buffers[0]);
        CU_ASSERT_PTR_EQUAL(rig.v.payload, buffers[0]);
        CU_ASSERT(rig_result_is(0, 111));
    }
}

TEST(a_result_is_kept_for_two_phases)
{
    RIG_FOR_EACH_MODE(.workers = 1, .slots = 2)
    {
        CU_ASSERT_EQUAL(offer(0, 0, 0, NULL, 1), SML_SEND_ALL);
        CU_ASSERT_EQUAL(offer(1, 0, 2, NULL, 2), SML_SEND_ALL);
        CU_ASSERT_PTR_NULL(rig.v.released);
        CU_ASSERT_EQUAL(rig_data(0, 2, 2), SML_SEND_ONE);
        CU_ASSERT_PTR_EQUAL(rig.v.buffer, buffers[1]);
        CU_ASSERT(rig_result_is(2, 2));
        CU_ASSERT_EQUAL(offer(2, 0, 4, NULL, 3), SML_SEND_ALL);
        CU_ASSERT(rig.v.kept && rig.v.released == buffers[0]);
        /* One that must be copied releases, too, and its result is in the slot's memory. */
        CU_ASSERT_EQUAL(rig_data(0, 6, 4), SML_SEND_ALL);
        CU_ASSERT(!rig.v.kept && rig.v.released == buffers[1]);
        CU_ASSERT_PTR_NULL(rig.v.buffer);
        CU_ASSERT(rig_result_is(6, 4));
    }
}

TEST(in_rank_order_the_first_ranks_buffer_is_kept)
{
    struct sml_packet p;

    rig_start((struct sml_pool_config){.workers = 3, .format = XFER_FORMAT_TYPED, .mode = XFER_ORDERED});
    CU_ASSERT_EQUAL(offer(0, 2, 0, &call, 100), SML_HELD);
    CU_ASSERT(!rig.v.kept);
    memset(buffers[0], 0xff, sizeof buffers[0]); /* the adapter's again */
    CU_ASSERT_EQUAL(offer(1, 0, 0, &call, 1), SML_HELD);
    CU_ASSERT(rig.v.kept);
    CU_ASSERT_EQUAL(offer(2, 1, 0, &call, 10), SML_SEND_ALL);
    CU_ASSERT(!rig.v.kept);
    CU_ASSERT_PTR_EQUAL(rig.v.payload, buffers[1]);
    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, rig.v.payload, rig.v.bytes), SML_OK);
    CU_ASSERT_EQUAL(p.kind, SML_OPEN);
    for (int64_t i = 0, x; i < 5; i++) {
        memcpy(&x, p.body + XFER_CALL_BYTES + (size_t)i * sizeof x, sizeof x);
        CU_ASSERT_EQUAL(x, 111 * (i + 1));
    }
}

TEST(the_call_in_a_kept_buffer_is_the_one_to_agree_with)
{
    struct xfer_call other = call;
    struct xfer_mismatch m;

    other.count++;
    RIG_FOR_EACH_MODE(.workers = 3)
    {
        CU_ASSERT_EQUAL(offer(0, 0, 0, &call, 1), SML_HELD);
        CU_ASSERT_EQUAL(offer(1, 1, 0, &other, 10), SML_SEND_MISMATCH);
        CU_ASSERT(!rig.v.kept);
        CU_ASSERT(xfer_parse_mismatch(&m, rig.v.payload + SML_HEADER_BYTES, XFER_MISMATCH_BYTES));
        CU_ASSERT(xfer_call_equal(&m.peers, &call) && xfer_call_equal(&m.yours, &other));
        CU_ASSERT_EQUAL(offer(1, 1, 0, &call, 10), SML_HELD);
        CU_ASSERT_EQUAL(offer(2, 2, 0, &call, 100), SML_SEND_ALL);
        CU_ASSERT_PTR_EQUAL(rig.v.buffer, buffers[0]);
    }
}

TEST(a_result_handed_back_releases_the_sum_that_was_begun)
{
    struct sml_packet p;

    RIG_FOR_EACH_MODE(.workers = 2, .resumed = true)
    {
        CU_ASSERT_EQUAL(offer(0, 0, 0, NULL, 1), SML_HELD);
        CU_ASSERT(rig.v.kept);
        p = rig_packet(SML_RESTORE, 0);
        rig_elements(&p, 0, 7, 8);
        p.body = memcpy(buffers[1] + SML_HEADER_BYTES, rig.body, p.body_bytes);
        sml_pool_apply(rig.pool, rig.slot, 1, &p, buffers[1], 0, &rig.v);
        CU_ASSERT_EQUAL(rig.v.reason, SML_RESTORED);
        CU_ASSERT(!rig.v.kept && rig.v.released == buffers[0]);
        CU_ASSERT_PTR_NULL(rig.v.buffer);
        CU_ASSERT(rig_result_is(0, 7));
    }
}

TEST(draining_gives_back_what_is_kept)
{
    RIG_FOR_EACH_MODE(.workers = 1, .slots = 2)
    {
        for (unsigned b = 0; b < 4; b++)
            CU_ASSERT_EQUAL(offer(b, 0, b, NULL, 1), SML_SEND_ALL);
        CU_ASSERT_EQUAL(offer(4, 0, 4, NULL, 1), SML_SEND_ALL);
        CU_ASSERT_PTR_EQUAL(rig.v.released, buffers[0]);
        memset(given_back, 0, sizeof given_back);
        sml_pool_drain(rig.pool, count_given_back);
        for (unsigned b = 0; b < BUFFERS; b++)
            CU_ASSERT_EQUAL(given_back[b], b >= 1 && b <= 4);
    }
}
