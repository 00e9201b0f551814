/* A pool with a quorum, packet by packet: when a chunk is closed, who is in its result, and what those are
 * told that are not. */
#include "kernels_chosen.h"
#include "pool_rig.h"
#include "wire/bytes.h"

enum { WORKERS = 4, QUORUM = 2, WAIT = 1000 };

static void start(enum xfer_mode mode, uint64_t wait_ns)
{
    rig.now = 5000;
    rig_start((struct sml_pool_config){
        .workers = WORKERS, .format = XFER_FORMAT_TYPED, .mode = mode, .quorum = QUORUM, .wait_ns = wait_ns});
}

static bool ticks(uint64_t now)
{
    return sml_pool_tick(rig.pool, 0, now, &rig.v);
}

/* The last verdict is a result with this first element and these ranks in it. */
static bool result_is(uint32_t tag, int64_t first, unsigned names)
{
    struct sml_packet p;
    int64_t x;

    if (sml_parse(&p, rig.v.payload, rig.v.bytes) != SML_OK || p.kind != SML_DATA || p.tag != tag ||
        p.body_bytes != 65)
        return false;
    memcpy(&x, p.body, sizeof x);
    return x == first && p.body[64] == names;
}

TEST(a_quorum_is_enough_once_time_is_up)
{
    for (enum xfer_mode mode = XFER_ON_ARRIVAL; mode <= XFER_ORDERED; mode++) {
        start(mode, WAIT);
        CU_ASSERT(!ticks(rig.now));
        CU_ASSERT(!sml_pool_awaits_time(rig.pool, 0));
        CU_ASSERT_EQUAL(rig_data(3, 0, 100), SML_HELD);
        CU_ASSERT(sml_pool_awaits_time(rig.pool, 0));
        rig.now += WAIT - 1;
        CU_ASSERT(!ticks(rig.now));
        CU_ASSERT_EQUAL(rig_data(1, 0, 10), SML_HELD);
        CU_ASSERT(!ticks(rig.now));
        rig.now++;
        CU_ASSERT(ticks(rig.now));
        CU_ASSERT(rig.v.reason == SML_SEND_QUORUM && rig.v.action == AGG_TO_ALL);
        CU_ASSERT(result_is(0, 110, 1 << 3 | 1 << 1));
        CU_ASSERT(agg_wants(&rig.v, 0) && agg_wants(&rig.v, 1));
        CU_ASSERT(sml_pool_awaits_time(rig.pool, 0)); /* it may have more to close */
        CU_ASSERT(!ticks(rig.now));
        CU_ASSERT(!sml_pool_awaits_time(rig.pool, 0));
    }
}

TEST(less_than_a_quorum_waits_for_more)
{
    start(XFER_ORDERED, WAIT);
    rig_data(0, 0, 1);
    CU_ASSERT(!ticks(rig.now + 100 * WAIT));
    rig.now += 100 * WAIT;
    CU_ASSERT_EQUAL(rig_data(2, 0, 5), SML_SEND_QUORUM);
    CU_ASSERT(result_is(0, 6, 5));
}

TEST(all_are_never_waited_for)
{
    start(XFER_ON_ARRIVAL, WAIT);
    for (uint16_t r = 0; r < WORKERS - 1; r++)
        CU_ASSERT_EQUAL(rig_data(r, 0, 1), SML_HELD);
    CU_ASSERT_EQUAL(rig_data(WORKERS - 1, 0, 1), SML_SEND_ALL);
    CU_ASSERT(result_is(0, 4, 15));
}

/* Once a chunk was closed without a rank, nobody waits for it until it is heard. */
TEST(who_is_silent_is_waited_for_once)
{
    start(XFER_ORDERED, WAIT);
    for (uint16_t r = 0; r < 3; r++)
        rig_data(r, 0, 1);
    CU_ASSERT(ticks(rig.now + WAIT));
    for (uint16_t r = 0; r < 2; r++)
        CU_ASSERT_EQUAL(rig_data(r, 1, 1), SML_HELD);
    CU_ASSERT_EQUAL(rig_data(2, 1, 1), SML_SEND_QUORUM);
    CU_ASSERT_EQUAL(rig_data(3, 1, 1), SML_SEND_LATE);
    CU_ASSERT(result_is(1, 3, 7));
    for (uint16_t r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(rig_data(r, 2, 1), SML_HELD);
    CU_ASSERT_EQUAL(rig_data(3, 2, 1), SML_SEND_ALL);
}

TEST(a_straggler_is_told_how_far_the_others_are)
{
    struct sml_packet late;

    start(XFER_ORDERED, 0);
    for (uint32_t tag = 0; tag <= 8; tag += 4)
        for (uint16_t r = 0; r < QUORUM; r++)
            CU_ASSERT_EQUAL(rig_data(r, tag, 7), r == 0 ? SML_HELD : SML_SEND_QUORUM);
    CU_ASSERT_EQUAL(rig_data(3, 4, 7), SML_SEND_STRAGGLES);
    CU_ASSERT_FATAL(sml_parse(&late, rig.v.payload, rig.v.bytes) == SML_OK && late.kind == SML_LATE);
    CU_ASSERT(late.tag == 4 && get_be32(late.body) == 12);
    CU_ASSERT_EQUAL(rig_probe(3, 0), SML_SEND_STRAGGLES);
    CU_ASSERT_EQUAL(rig_data(3, 8, 7), SML_SEND_LATE);
    CU_ASSERT_EQUAL(rig_probe(3, 8), SML_SEND_ONE);
    CU_ASSERT_EQUAL(rig_data(0, 8, 7), SML_SEND_ONE);
}

/* Ranks 1 and 3, or 0 and 1, are in the chunk; resumed: so says somebody who hands it back. */
static void close_without_others(uint32_t tag, bool resumed)
{
    const uint16_t other = tag == 0 ? 3 : 0;
    struct sml_packet p = rig_packet(SML_RESTORE, tag);

    rig_elements(&p, 0, 14, 8);
    rig.body[p.body_bytes++] = (uint8_t)(1 << 1 | 1 << other);
    if (resumed) {
        CU_ASSERT_EQUAL(rig_apply(2, &p), SML_RESTORED);
        return;
    }
    CU_ASSERT_EQUAL(rig_data(other, tag, 7), SML_HELD);
    CU_ASSERT_EQUAL(rig_data(1, tag, 7), SML_SEND_QUORUM);
}

TEST(a_straggler_is_told_whether_it_is_in_what_it_has_missed)
{
    for (int resumed = 0; resumed < 2; resumed++) {
        rig_start((struct sml_pool_config){
            .workers = WORKERS, .format = XFER_FORMAT_TYPED, .resumed = resumed, .quorum = QUORUM});
        for (uint32_t tag = 0; tag <= 12; tag += 4)
            close_without_others(tag, resumed && tag <= 4);
        CU_ASSERT_EQUAL(rig_probe(3, 0), SML_SEND_STRAGGLES);
        CU_ASSERT_EQUAL(rig.v.payload[9], SML_FLAG_IN);
        CU_ASSERT_EQUAL(rig_data(2, 0, 7), SML_SEND_STRAGGLES);
        CU_ASSERT_EQUAL(rig.v.payload[9], 0);
        CU_ASSERT_EQUAL(rig_probe(3, 8), SML_SEND_STRAGGLES);
        CU_ASSERT_EQUAL(rig.v.payload[9], 0);
    }
}

/* Contributions of two floats or numbers each, of ranks 1 and 3. */
static uint16_t closed(enum xfer_mode mode, unsigned op, unsigned type, const void *a, const void *b,
                       size_t size)
{
    uint16_t result = 0;

    start(mode, 0);
    for (unsigned i = 0; i < 2; i++) {
        struct sml_packet p = rig_packet(SML_DATA, 0);
        p.e0 = agg_code(type, op);
        memcpy(rig.body, i == 0 ? a : b, size);
        p.body_bytes = size;
        CU_ASSERT_EQUAL(rig_apply(i == 0 ? 3 : 1, &p), i == 0 ? SML_HELD : SML_SEND_QUORUM);
    }
    memcpy(&result, rig.v.payload + SML_HEADER_BYTES, size);
    CU_ASSERT_EQUAL(rig.v.payload[SML_HEADER_BYTES + size], 10);
    return result;
}

TEST(operations_are_of_those_that_are_in)
{
    const uint16_t six = 6, eleven = 11, half_6 = 0x4600, half_11 = 0x4980, half_8_5 = 0x4840;

    for (enum xfer_mode mode = XFER_ON_ARRIVAL; mode <= XFER_ORDERED; mode++) {
        CU_ASSERT_EQUAL(closed(mode, AGG_PROD, AGG_U16, &six, &eleven, 2), 66);
        CU_ASSERT_EQUAL(closed(mode, AGG_MIN, AGG_U16, &six, &eleven, 2), 6);
        CU_ASSERT_EQUAL(closed(mode, AGG_AVG, AGG_U16, &six, &eleven, 2), 8);
        CU_ASSERT_EQUAL(closed(mode, AGG_AVG, AGG_F16, &half_6, &half_11, 2), half_8_5);
    }
}

TEST(missed_chunks_are_counted_by_rank)
{
    struct agg_rank_view view;

    rig_start((struct sml_pool_config){
        .workers = 3, .format = XFER_FORMAT_TYPED, .quorum = 1, .arrivals = true, .shards = 2});
    for (uint32_t tag = 0; tag < 6; tag++)
        CU_ASSERT_EQUAL(rig_data(1, tag, 1), SML_SEND_QUORUM);
    CU_ASSERT(sml_pool_view_rank(rig.pool, 1, &view) && view.missed == 0 && view.completed == 6);
    CU_ASSERT(sml_pool_view_rank(rig.pool, 2, &view) && view.missed == 6);
}

TEST(quorums_that_cannot_be_are_none)
{
    struct sml_pool_config cfg = {.workers = 3,
                                  .slots = 4,
                                  .chunk_bytes = 64,
                                  .format = XFER_FORMAT_TYPED,
                                  .quorum = 3,
                                  .kernels = kernels_or_exit()};

    CU_ASSERT(sml_pool_footprint(&cfg) > 0);
    cfg.quorum = 4;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg.quorum = 3;
    cfg.format = XFER_FORMAT_INT32;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg.format = XFER_FORMAT_TYPED;
    cfg.chunk_bytes = SML_MAX_CHUNK_BYTES;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
}
