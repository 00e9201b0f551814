/* A pool in which only the low bits of a tag count: the same packets, over and over, are summed every time.
 */
#include "pool_rig.h"

enum { SLOTS = 4, BITS = 5, CHUNKS = 1 << BITS, PASSES = 5 };

static void start(uint32_t first_tag)
{
    rig_start((struct sml_pool_config){
        .workers = 2, .slots = SLOTS, .format = XFER_FORMAT_TYPED, .first_tag = first_tag, .tag_bits = BITS});
}

static void pass(uint32_t first_tag)
{
    for (uint32_t c = 0; c < CHUNKS; c++) {
        CU_ASSERT_EQUAL(rig_data(0, first_tag + c, c), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(1, first_tag + c, 100), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(first_tag + c, c + 100));
    }
}

TEST(a_capture_can_be_replayed_over_and_over)
{
    static const uint32_t firsts[] = {0, 8, 0 - 16u};

    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        start(firsts[i]);
        for (unsigned p = 0; p < PASSES; p++)
            pass(firsts[i]);
    }
}

/* After tag 15 (slot 3), slot 3 expects 19, holds 15; half of the 32 tags around lie behind, half ahead. */
TEST(stale_and_early_packets_are_told_apart_within_half_the_tags)
{
    static const struct {
        uint32_t tag;
        enum sml_reason verdict;
    } known[] = {{15, SML_SEND_ONE},  {15 + 32, SML_SEND_ONE},  {11, SML_DROP_STALE},
                 {7, SML_DROP_STALE}, {23, SML_DROP_AHEAD},     {31, SML_DROP_AHEAD},
                 {3, SML_DROP_AHEAD}, {3 + 64, SML_DROP_AHEAD}, {19 + 32, SML_HELD}};

    start(0);
    for (uint32_t tag = 0; tag < 16; tag++) {
        rig_data(0, tag, 1);
        rig_data(1, tag, 1);
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        CU_ASSERT_EQUAL(rig_data(0, known[i].tag, 1), known[i].verdict);
}

TEST(too_few_bits_for_the_slots_are_refused)
{
    struct sml_pool_config cfg = {
        .workers = 2, .slots = SLOTS, .chunk_bytes = 64, .format = XFER_FORMAT_TYPED, .tag_bits = 4};

    CU_ASSERT(sml_pool_footprint(&cfg) > 0);
    cfg.tag_bits = 3;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
}

/* Not even those that a shift by as many bits would take for fewer. */
TEST(more_bits_than_a_tag_has_are_refused)
{
    struct sml_pool_config cfg = {
        .workers = 2, .slots = SLOTS, .chunk_bytes = 64, .format = XFER_FORMAT_TYPED, .tag_bits = 31};

    CU_ASSERT(sml_pool_footprint(&cfg) > 0);
    for (unsigned bits = 32; bits <= UINT8_MAX; bits++) {
        cfg.tag_bits = (uint8_t)bits;
        CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    }
}
