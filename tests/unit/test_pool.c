/* The slot protocol, switch side: every trap that a literal transcription of the paper's algorithm 3 falls
 * into. */
#include "pool_rig.h"

TEST(a_job_of_one_worker_completes_every_chunk_at_once)
{
    RIG_FOR_EACH_MODE(.workers = 1)
    {
        for (uint32_t tag = 0; tag < 20; tag++) {
            CU_ASSERT_EQUAL(rig_data(0, tag, tag), SML_SEND_ALL);
            CU_ASSERT(rig_result_is(tag, tag));
            CU_ASSERT_EQUAL(rig_data(0, tag, 999), SML_SEND_ONE);
            CU_ASSERT(rig_result_is(tag, tag));
        }
    }
}

TEST(a_duplicate_within_its_phase_is_not_added)
{
    RIG_FOR_EACH_MODE(.workers = 3)
    {
        CU_ASSERT_EQUAL(rig_data(0, 0, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(0, 0, 1), SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(rig_data(1, 0, 2), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(0, 0, 1), SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(rig_data(1, 0, 2), SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(rig_data(2, 0, 3), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(0, 6));
    }
}

/* The paper's switch has cleared the seen bit by then, and would add the packet to the wrong chunk. */
TEST(a_duplicate_delayed_by_two_and_more_phases_is_stale)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        for (uint32_t phase = 0; phase < 12; phase++) {
            rig_complete(0, phase * 4, phase + 1);
            for (uint32_t late = 2; late <= phase + 1; late++)
                for (uint16_t rank = 0; rank < 2; rank++)
                    CU_ASSERT_EQUAL(rig_data(rank, (phase + 1 - late) * 4, 777), SML_DROP_STALE);
        }
        rig_complete(0, 12 * 4, 5);
    }
}

/* The same, but into a chunk that is half collected and whose version is that of the old packet. */
TEST(a_duplicate_delayed_by_two_phases_does_not_enter_the_chunk_of_its_version)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        rig_complete(0, 1, 1);
        rig_complete(0, 5, 2);
        CU_ASSERT_EQUAL(rig_data(0, 9, 30), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(1, 1, 777), SML_DROP_STALE);
        CU_ASSERT_EQUAL(rig_data(1, 9, 60), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(9, 90));
    }
}

TEST(a_job_restarted_on_the_same_memory_sees_nothing_of_the_old_one)
{
    RIG_FOR_EACH_MODE(.workers = 2, .first_tag = 100)
    {
        rig_complete(0, 100, 1);
        CU_ASSERT_EQUAL(rig_data(0, 104, 7), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(1, 101, 7), SML_HELD);

        struct sml_pool_config again = rig.cfg;
        again.first_tag = 0x9000;
        rig.pool = sml_pool_init(rig.pool, &again);
        CU_ASSERT_EQUAL(rig_data(1, 104, 777), SML_DROP_STALE); /* the old life's packets */
        CU_ASSERT_EQUAL(rig_data(0, 100, 777), SML_DROP_STALE);
        CU_ASSERT_EQUAL(rig_probe(0, 100), SML_DROP_STALE);
        rig_complete(0, 0x9000, 3); /* no sum, no contributor is left over */
        rig_complete(0, 0x9001, 4);

        again.first_tag = 100; /* even if the tags were the same */
        rig.pool = sml_pool_init(rig.pool, &again);
        rig_complete(0, 104 - 4, 5);
        rig_complete(0, 101, 5);
        rig_complete(0, 104, 6);
    }
}

TEST(two_workers_retransmit_into_a_slot_that_completes_in_between)
{
    RIG_FOR_EACH_MODE(.workers = 3)
    {
        CU_ASSERT_EQUAL(rig_data(0, 2, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(1, 2, 2), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(0, 2, 1), SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(rig_data(2, 2, 3), SML_SEND_ALL);
        CU_ASSERT_EQUAL(rig_data(1, 2, 2), SML_SEND_ONE);
        CU_ASSERT(rig_result_is(2, 6));
        CU_ASSERT_EQUAL(rig_data(0, 2, 1), SML_SEND_ONE);
        CU_ASSERT(rig_result_is(2, 6));
        rig_complete(0, 6, 10);
    }
}

/* Worker 0 has its result and has moved on, when its old retransmission arrives after its new contribution.
 */
TEST(a_result_that_crosses_a_retransmission)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        rig_complete(0, 3, 1);
        CU_ASSERT_EQUAL(rig_data(0, 7, 5), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(0, 3, 1), SML_SEND_ONE);
        CU_ASSERT(rig_result_is(3, 3));
        CU_ASSERT_EQUAL(rig_data(1, 3, 2), SML_SEND_ONE);
        CU_ASSERT(rig_result_is(3, 3));
        CU_ASSERT_EQUAL(rig_data(1, 7, 6), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(7, 11));
    }
}

/* The header's promise: unchanged until the first contribution to tag + 2 * slots. */
TEST(a_result_stays_in_place_until_the_slot_begins_the_chunk_after_the_next)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        uint8_t copy[SML_HEADER_BYTES + 64];

        rig_complete(0, 0, 1);
        const uint8_t *result = rig.v.payload;
        CU_ASSERT_EQUAL_FATAL(rig.v.bytes, sizeof copy);
        CU_ASSERT_EQUAL((uintptr_t)(result + SML_HEADER_BYTES) % 64, 0);
        memcpy(copy, result, sizeof copy);

        CU_ASSERT_EQUAL(rig_data(0, 4, 50), SML_HELD);
        CU_ASSERT_EQUAL(memcmp(result, copy, sizeof copy), 0);
        CU_ASSERT_EQUAL(rig_data(1, 4, 50), SML_SEND_ALL);
        CU_ASSERT_EQUAL(memcmp(result, copy, sizeof copy), 0);
        CU_ASSERT_EQUAL(rig_data(1, 0, 1), SML_DROP_STALE);
        CU_ASSERT_EQUAL(memcmp(result, copy, sizeof copy), 0);
        rig_complete(0, 8, 9);
        CU_ASSERT_PTR_EQUAL(rig.v.payload, result); /* two areas take turns */
    }
}

TEST(before_its_first_completion_a_slot_has_no_shadow)
{
    RIG_FOR_EACH_MODE(.first_tag = 1000)
    {
        for (uint32_t tag = 996; tag < 1000; tag++) {
            CU_ASSERT_EQUAL(rig_data(0, tag, 1), SML_DROP_STALE);
            CU_ASSERT_EQUAL(rig_probe(0, tag), SML_DROP_STALE);
        }
        rig_complete(0, 1000, 1);
    }
}

TEST(a_chunk_that_cannot_have_been_reached_is_dropped)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        CU_ASSERT_EQUAL(rig_data(0, 4, 1), SML_DROP_AHEAD);
        CU_ASSERT_EQUAL(rig_probe(0, 4), SML_DROP_AHEAD);
        CU_ASSERT_EQUAL(rig_data(0, 0x7ffffffc, 1), SML_DROP_AHEAD);
        CU_ASSERT_EQUAL(rig_data(0, 0x80000000, 1), SML_DROP_AHEAD); /* as far as serial numbers go */
        CU_ASSERT_EQUAL(rig_data(0, 0x80000004, 1), SML_DROP_STALE);
        rig_complete(0, 0, 1);
        CU_ASSERT_EQUAL(rig_data(0, 8, 1), SML_DROP_AHEAD);
        rig_complete(0, 4, 1);
    }
}

TEST(tags_wrap_around_2_to_the_32)
{
    for (uint16_t slots = 1; slots <= 8; slots *= 2) {
        RIG_FOR_EACH_MODE(.slots = slots, .first_tag = (uint32_t)-20)
        {
            for (int i = 0; i < 60; i++) {
                uint32_t tag = (uint32_t)(i - 20);
                CU_ASSERT_EQUAL(rig_data(0, tag, i), SML_HELD);
                if (i >= slots) {
                    CU_ASSERT_EQUAL(rig_data(0, tag - slots, 777), SML_SEND_ONE);
                    CU_ASSERT(rig_result_is(tag - slots, 3 * (i - slots)));
                }
                if (i >= 2 * slots)
                    CU_ASSERT_EQUAL(rig_data(1, tag - 2 * slots, 777), SML_DROP_STALE);
                CU_ASSERT_EQUAL(rig_data(1, tag, 2 * i), SML_SEND_ALL);
                CU_ASSERT(rig_result_is(tag, 3 * i));
            }
        }
    }
}

TEST(a_pool_of_one_slot)
{
    RIG_FOR_EACH_MODE(.slots = 1, .first_tag = 7)
    {
        for (uint32_t tag = 7; tag < 30; tag++) {
            rig_complete(0, tag, tag);
            CU_ASSERT_EQUAL(rig_data(0, tag + 2, 1), SML_DROP_AHEAD);
            CU_ASSERT_EQUAL(rig_data(0, tag - 1, 1), SML_DROP_STALE);
        }
    }
}

TEST(a_pool_of_the_most_slots)
{
    RIG_FOR_EACH_MODE(.slots = SML_MAX_SLOTS, .first_tag = UINT32_MAX - 5)
    {
        for (uint32_t i = 0; i < SML_MAX_SLOTS + 10; i++)
            rig_complete(0, rig.cfg.first_tag + i, i);
    }
}

TEST(slots_do_not_touch_each_other)
{
    RIG_FOR_EACH_MODE(.workers = 3)
    {
        for (uint32_t tag = 0; tag < 4; tag++)
            CU_ASSERT_EQUAL(rig_data(2, tag, tag), SML_HELD);
        for (uint32_t tag = 4; tag-- > 0;)
            CU_ASSERT_EQUAL(rig_data(0, tag, 10 * tag), SML_HELD);
        for (uint32_t tag = 0; tag < 4; tag++) {
            CU_ASSERT_EQUAL(rig_data(1, tag, 100 * tag), SML_SEND_ALL);
            CU_ASSERT(rig_result_is(tag, 111 * tag));
        }
    }
}

TEST(jobs_of_64_and_of_1024_workers)
{
    static const uint16_t sizes[] = {63, 64, 65, 256, 1024};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        RIG_FOR_EACH_MODE(.workers = sizes[i], .slots = 2)
        {
            for (uint32_t tag = 0; tag < 6; tag++) {
                for (uint16_t r = 0; r < sizes[i] / 2; r++)
                    CU_ASSERT_EQUAL(rig_data(r, tag, r + 1), SML_HELD);
                for (uint16_t r = 0; r < sizes[i] / 2; r++)
                    CU_ASSERT_EQUAL(rig_data(r, tag, r + 1), SML_DROP_DUPLICATE);
                rig_complete(sizes[i] / 2, tag, 1);
                CU_ASSERT_EQUAL(rig_data(sizes[i] - 1, tag, 1), SML_SEND_ONE);
            }
        }
    }
}

TEST(slot_and_version_must_go_with_the_tag)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        struct sml_packet p = rig_packet(SML_DATA, 5);

        rig_elements(&p, 0, 1, 8);
        p.slot = 2;
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_DROP_BAD_SLOT);
        p = rig_packet(SML_PROBE, 5);
        p.ver = 0;
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_DROP_BAD_SLOT);
        p.slot = 4;
        CU_ASSERT_PTR_NULL(sml_pool_locate(rig.pool, &p, 0));
        p.slot = SML_MAX_SLOTS - 1;
        CU_ASSERT_PTR_NULL(sml_pool_locate(rig.pool, &p, 0));
    }
}

/* First, between others, and last: most packets that are neither go a short way. */
static void expect_of_each(const struct sml_packet *p, enum sml_reason reason)
{
    RIG_FOR_EACH_MODE(.workers = 4)
    {
        for (uint16_t rank = 0; rank < 4; rank++) {
            CU_ASSERT_EQUAL(rig_apply(rank, p), reason);
            CU_ASSERT_EQUAL(rig_data(rank, 1, 1), rank == 3 ? SML_SEND_ALL : SML_HELD);
        }
        CU_ASSERT(rig_result_is(1, 4));
    }
}

TEST(whichever_contribution_it_is_version_and_checksum_must_be_right)
{
    rig_start((struct sml_pool_config){.slots = 4});
    struct sml_packet p = rig_packet(SML_DATA, 1);

    rig_elements(&p, 0, 1, 8);
    p.ver = 1;
    expect_of_each(&p, SML_DROP_BAD_SLOT);
    p.ver = 0;
    p.checksum = XFER_CHECKSUM_CRC32C;
    expect_of_each(&p, SML_DROP_BAD_CHECKSUM);
}

static enum sml_kind answer_kind(struct sml_packet *p)
{
    CU_ASSERT_EQUAL_FATAL(sml_parse(p, rig.v.payload, rig.v.bytes), SML_OK);
    return (enum sml_kind)p->kind;
}

TEST(a_probe_is_told_to_send_again_to_wait_or_the_result)
{
    RIG_FOR_EACH_MODE(.workers = 10)
    {
        struct sml_packet p;

        CU_ASSERT_EQUAL(rig_probe(3, 6), SML_DROP_AHEAD);
        CU_ASSERT_EQUAL(rig_probe(3, 2), SML_SEND_ANSWER);
        CU_ASSERT_EQUAL(answer_kind(&p), SML_NACK);
        CU_ASSERT(p.job == RIG_JOB && p.tag == 2 && p.slot == 2 && p.ver == 0 && p.e1 == 0);

        CU_ASSERT_EQUAL(rig_data(3, 2, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(9, 2, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_probe(3, 2), SML_SEND_ANSWER);
        CU_ASSERT_EQUAL(answer_kind(&p), SML_WAIT);
        CU_ASSERT_EQUAL_FATAL(p.body_bytes, 2);
        CU_ASSERT(p.body[0] == 1 << 3 && p.body[1] == 1 << 1); /* rank r: bit r % 8 of byte r / 8 */
        CU_ASSERT_EQUAL(rig_probe(4, 2), SML_SEND_ANSWER);
        CU_ASSERT_EQUAL(answer_kind(&p), SML_NACK);

        for (uint16_t r = 0; r < 10; r++)
            rig_data(r, 2, 1);
        CU_ASSERT_EQUAL(rig_probe(3, 2), SML_SEND_ONE);
        CU_ASSERT(rig_result_is(2, 10));
    }
}

/* The longest WAIT: a bit for each of 1,024 ranks. */
TEST(a_probe_of_the_largest_job_is_told_whom_it_waits_for)
{
    RIG_FOR_EACH_MODE(.workers = AGG_MAX_WORKERS)
    {
        struct sml_packet p;

        for (uint16_t r = 0; r < AGG_MAX_WORKERS; r += 3)
            CU_ASSERT_EQUAL(rig_data(r, 1, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_probe(999, 1), SML_SEND_ANSWER);
        CU_ASSERT_EQUAL(answer_kind(&p), SML_WAIT);
        CU_ASSERT_EQUAL_FATAL(p.body_bytes, AGG_MAX_WORKERS / 8);
        for (unsigned r = 0; r < AGG_MAX_WORKERS; r++)
            CU_ASSERT_EQUAL(p.body[r / 8] >> r % 8 & 1, r % 3 == 0);
    }
}

/* From a rank that hands results back after a restart while the others are ahead: it must not ask for ever.
 */
TEST(a_probe_for_a_chunk_before_the_shadow_is_acknowledged)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        struct sml_packet p;

        rig_complete(0, 1, 1);
        rig_complete(0, 5, 1);
        CU_ASSERT_EQUAL(rig_probe(0, 1), SML_SEND_ANSWER);
        CU_ASSERT_EQUAL(answer_kind(&p), SML_DATA);
        CU_ASSERT(p.tag == 1 && p.slot == 1 && p.ver == 0 && p.body_bytes == 0);
    }
}

TEST(a_probe_changes_nothing)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        rig_probe(0, 0);
        rig_complete(0, 0, 1);
        CU_ASSERT_EQUAL(rig_data(0, 4, 1), SML_HELD);
        rig_probe(0, 4);
        rig_probe(1, 4);
        rig_probe(1, 0);
        CU_ASSERT_EQUAL(rig_data(1, 4, 2), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(4, 3));
    }
}

TEST(the_view_tells_what_a_slot_collects)
{
    RIG_FOR_EACH_MODE(.workers = 100, .first_tag = 3)
    {
        struct agg_slot_view view;

        sml_pool_view(rig.pool, 1, &view);
        CU_ASSERT(view.chunk == 5 && view.contributed == 0 && view.ranks[0] == 0);
        rig_data(2, 5, 1);
        rig_data(99, 5, 1);
        sml_pool_view(rig.pool, 1, &view);
        CU_ASSERT(view.chunk == 5 && view.contributed == 2);
        CU_ASSERT(view.ranks[0] == 4 && view.ranks[1] == UINT64_C(1) << 35 && view.ranks[2] == 0);
        for (uint16_t r = 0; r < 100; r++)
            rig_data(r, 5, 1);
        sml_pool_view(rig.pool, 1, &view);
        CU_ASSERT(view.chunk == 9 && view.contributed == 0 && view.ranks[0] == 0 && view.ranks[1] == 0);
    }
}

TEST(a_configuration_out_of_range_has_no_footprint)
{
    const struct sml_pool_config good = {.workers = 1024, .slots = 16384, .chunk_bytes = 8960};
    struct sml_pool_config c[13];

    for (unsigned i = 0; i < 13; i++)
        c[i] = good;
    c[0].workers = 0;
    c[1].workers = 1025;
    c[2].slots = 0;
    c[3].slots = 3;
    c[4].slots = 32768;
    c[5].chunk_bytes = 60;
    c[6].chunk_bytes = 66;
    c[7].chunk_bytes = 8964;
    c[8].format = XFER_FORMATS;
    c[9].mode = 2;
    c[10].slots = 16383;
    c[11].chunk_bytes = 0;
    c[12].format = -1;
    for (unsigned i = 0; i < 13; i++)
        CU_ASSERT_EQUAL(sml_pool_footprint(&c[i]), 0);
    CU_ASSERT(sml_pool_footprint(&good) >= (size_t)16384 * 2 * 8960);
    c[0] = good;
    c[0].mode = XFER_ORDERED; /* 150 GB: must not overflow on the way */
    CU_ASSERT(sml_pool_footprint(&c[0]) >= (size_t)16384 * 1025 * 8960);
}
