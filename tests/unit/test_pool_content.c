/* What packets say: malformed ones, mismatches, who wants the sum, the published format, results handed back.
 */
#include "pool_rig.h"

static const struct xfer_call call = {
    .seq = 3, .collective = XFER_REDUCE, .type = AGG_I64, .op = AGG_SUM, .root = 1, .count = 50};

static unsigned contributed(uint32_t tag)
{
    struct agg_slot_view view;

    sml_pool_view(rig.pool, sml_tag_slot(tag, rig.cfg.slots), &view);
    return view.contributed;
}

/* A well-formed typed packet but for its body's length. */
static enum sml_reason of_length(enum sml_kind kind, uint8_t code, size_t bytes)
{
    struct sml_packet p = rig_packet(kind, 0);

    p.e0 = code;
    p.body_bytes = bytes;
    return rig_apply(0, &p);
}

TEST(bad_length)
{
    RIG_FOR_EACH_MODE(.chunk_bytes = 68, .workers = 2)
    {
        CU_ASSERT_EQUAL(of_length(SML_DATA, RIG_CODE, 0), SML_DROP_BAD_LENGTH);
        for (size_t bytes = 1; bytes < 8; bytes++)
            CU_ASSERT_EQUAL(of_length(SML_DATA, RIG_CODE, bytes), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_DATA, RIG_CODE, 68), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_DATA, RIG_CODE, 72), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_DATA, AGG_SUM << 4 | AGG_F32, 72), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_DATA, AGG_SUM << 4 | AGG_F32, SML_MAX_CHUNK_BYTES),
                        SML_DROP_BAD_LENGTH);
        for (size_t bytes = 0; bytes < XFER_CALL_BYTES; bytes++)
            CU_ASSERT_EQUAL(of_length(SML_OPEN, RIG_CODE, bytes), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_OPEN, RIG_CODE, XFER_CALL_BYTES + 4), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_OPEN, RIG_CODE, XFER_CALL_BYTES + 56), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(contributed(0), 0);
        CU_ASSERT_EQUAL(of_length(SML_OPEN, RIG_CODE, XFER_CALL_BYTES + 48), SML_HELD);
    }
}

TEST(bad_type)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        for (unsigned code = 0; code < 256; code++) {
            if (agg_code_bytes(code) == 0)
                CU_ASSERT_EQUAL(of_length(SML_DATA, (uint8_t)code, 64), SML_DROP_BAD_TYPE);
        }
        CU_ASSERT_EQUAL(contributed(0), 0);
    }
}

TEST(bad_kind)
{
    static const enum sml_kind foreign[] = {0,          SML_NACK,    SML_WAIT, SML_MISMATCH,
                                            SML_REJECT, SML_RESTORE, 9,        15};

    RIG_FOR_EACH_MODE(.workers = 1)
    {
        for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
            CU_ASSERT_EQUAL(of_length(foreign[i], RIG_CODE, 64), SML_DROP_BAD_KIND);
    }
    rig_start((struct sml_pool_config){.format = XFER_FORMAT_INT32});
    CU_ASSERT_EQUAL(of_length(SML_OPEN, 0, 64), SML_DROP_BAD_KIND);
}

/* The last verdict is a mismatch between this rank and a peer about this chunk. */
static struct xfer_mismatch mismatch(uint16_t rank, uint16_t peer, uint32_t tag)
{
    struct sml_packet p;
    struct xfer_mismatch m = {0};

    CU_ASSERT_EQUAL_FATAL(rig.v.reason, SML_SEND_MISMATCH);
    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, rig.v.payload, rig.v.bytes), SML_OK);
    CU_ASSERT_EQUAL(p.kind, SML_MISMATCH);
    CU_ASSERT(p.tag == tag && p.job == RIG_JOB && p.slot == sml_tag_slot(tag, rig.cfg.slots));
    CU_ASSERT_FATAL(xfer_parse_mismatch(&m, p.body, p.body_bytes));
    CU_ASSERT(m.your_rank == rank && m.peer_rank == peer && m.your_tag == tag && m.peer_tag == tag);
    return m;
}

TEST(a_mismatch_of_type_names_both_sides_and_leaves_the_sum)
{
    RIG_FOR_EACH_MODE(.workers = 3)
    {
        struct sml_packet p = rig_packet(SML_DATA, 2);

        CU_ASSERT_EQUAL(rig_data(1, 2, 10), SML_HELD);
        p.e0 = AGG_SUM << 4 | AGG_F64;
        p.body_bytes = 64;
        for (unsigned again = 0; again < 3; again++) {
            rig_apply(2, &p);
            struct xfer_mismatch m = mismatch(2, 1, 2);
            CU_ASSERT(m.your_e0 == (AGG_SUM << 4 | AGG_F64) && m.peer_e0 == RIG_CODE && !m.opening);
            CU_ASSERT(m.your_bytes == 64 && m.peer_bytes == 64);
        }
        CU_ASSERT_EQUAL(contributed(2), 1);
        CU_ASSERT_EQUAL(rig_data(0, 2, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(2, 2, 100), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(2, 111));
    }
}

TEST(a_mismatch_of_length_names_both_sides_and_leaves_the_sum)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        struct sml_packet p = rig_packet(SML_DATA, 0);

        CU_ASSERT_EQUAL(rig_data(1, 0, 10), SML_HELD);
        p.body_bytes = 56;
        rig_apply(0, &p);
        struct xfer_mismatch m = mismatch(0, 1, 0);
        CU_ASSERT(m.your_bytes == 56 && m.peer_bytes == 64 && m.your_e0 == m.peer_e0 && !m.opening);
        CU_ASSERT_EQUAL(rig_data(0, 0, 1), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(0, 11));
    }
}

TEST(a_mismatch_of_any_field_of_the_call_names_both_calls)
{
    struct xfer_call other[6] = {call, call, call, call, call, call};

    other[0].seq++;
    other[1].collective = XFER_ALLREDUCE;
    other[2].type = AGG_F64;
    other[3].op = 2;
    other[4].root = 0;
    other[5].count--;
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        CU_ASSERT_EQUAL(rig_open(0, 1, &call, 3), SML_HELD);
        for (unsigned i = 0; i < 6; i++) {
            rig_open(1, 1, &other[i], 3);
            struct xfer_mismatch m = mismatch(1, 0, 1);
            CU_ASSERT(m.opening && xfer_call_equal(&m.yours, &other[i]) && xfer_call_equal(&m.peers, &call));
        }
        CU_ASSERT_EQUAL(rig_open(1, 1, &call, 4), SML_SEND_ALL);
    }
}

/* One rank is in the middle of a collective, the other begins the next: both orders of arrival. */
TEST(an_opening_packet_against_a_plain_one_is_a_mismatch)
{
    RIG_FOR_EACH_MODE(.workers = 2, .chunk_bytes = 128)
    {
        CU_ASSERT_EQUAL(rig_data(0, 0, 1), SML_HELD);
        rig_open(1, 0, &call, 1);
        struct xfer_mismatch m = mismatch(1, 0, 0);
        CU_ASSERT(m.opening && xfer_call_equal(&m.yours, &call) && m.peers.collective == 0);

        CU_ASSERT_EQUAL(rig_open(0, 1, &call, 1), SML_HELD);
        rig_data(1, 1, 1);
        m = mismatch(1, 0, 1);
        CU_ASSERT(m.opening && m.yours.collective == 0 && xfer_call_equal(&m.peers, &call));

        struct sml_packet p = rig_packet(SML_OPEN, 2); /* alike in all but the kind */
        p.e0 = AGG_SUM << 4 | AGG_I32;
        p.body_bytes = XFER_CALL_BYTES + 44;
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_HELD);
        p.kind = SML_DATA;
        rig_apply(1, &p);
        m = mismatch(1, 0, 2);
        CU_ASSERT(m.opening && m.your_bytes == m.peer_bytes && m.your_e0 == m.peer_e0);
    }
}

TEST(the_result_of_an_opening_chunk_is_the_call_and_the_elements)
{
    RIG_FOR_EACH_MODE(.workers = 3)
    {
        struct sml_packet p;
        struct xfer_call echoed;
        int64_t x[5];

        CU_ASSERT_EQUAL(rig_open(2, 1, &call, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_open(0, 1, &call, 10), SML_HELD);
        CU_ASSERT_EQUAL(rig_open(1, 1, &call, 100), SML_SEND_ALL);
        for (unsigned again = 0; again < 2; again++) {
            CU_ASSERT_EQUAL_FATAL(sml_parse(&p, rig.v.payload, rig.v.bytes), SML_OK);
            CU_ASSERT_EQUAL(p.kind, SML_OPEN);
            CU_ASSERT(p.e0 == RIG_CODE && p.e1 == 0);
            CU_ASSERT_FATAL(xfer_parse_call(&echoed, p.body, p.body_bytes));
            CU_ASSERT(xfer_call_equal(&echoed, &call));
            CU_ASSERT_EQUAL_FATAL(p.body_bytes, XFER_CALL_BYTES + sizeof x);
            memcpy(x, p.body + XFER_CALL_BYTES, sizeof x);
            CU_ASSERT(x[0] == 111 && x[4] == 555);
            CU_ASSERT_EQUAL(rig_open(2, 1, &call, 1), SML_SEND_ONE);
        }
    }
}

TEST(an_empty_tensor_is_an_opening_chunk_without_elements)
{
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        struct sml_packet p = rig_packet(SML_OPEN, 0);
        struct xfer_call none = call;

        none.count = 0;
        xfer_build_call(rig.body, &none);
        p.body_bytes = XFER_CALL_BYTES;
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_HELD);
        CU_ASSERT_EQUAL(rig_apply(1, &p), SML_SEND_ALL);
        CU_ASSERT_EQUAL(rig.v.bytes, SML_HEADER_BYTES + XFER_CALL_BYTES);
    }
}

static enum sml_reason with_flags(uint16_t rank, enum sml_kind kind, uint32_t tag, uint8_t flags)
{
    struct sml_packet p = rig_packet(kind, tag);

    if (kind == SML_DATA)
        rig_elements(&p, 0, 1, 8);
    p.e1 = flags;
    return rig_apply(rank, &p);
}

TEST(only_ranks_that_ask_for_the_sum_get_it)
{
    RIG_FOR_EACH_MODE(.workers = 66)
    {
        for (uint32_t tag = 0; tag < 12; tag += 4) { /* no wish may be left over from an earlier chunk */
            for (uint16_t r = 0; r < 65; r++)
                CU_ASSERT_EQUAL(with_flags(r, SML_DATA, tag, (r + tag / 4) % 3 == 0 ? SML_FLAG_WANT : 0),
                                SML_HELD);
            CU_ASSERT_EQUAL(with_flags(65, SML_DATA, tag, SML_FLAG_WANT), SML_SEND_ALL);
            CU_ASSERT(rig_result_is(tag, 66));
            for (uint16_t r = 0; r < 65; r++)
                CU_ASSERT_EQUAL(agg_wants(&rig.v, r), (r + tag / 4) % 3 == 0);
            CU_ASSERT(agg_wants(&rig.v, 65));
        }
    }
}

TEST(a_result_sent_again_is_as_long_as_the_packet_asks_for)
{
    static const enum sml_kind kinds[] = {SML_DATA, SML_PROBE};

    RIG_FOR_EACH_MODE(.workers = 2)
    {
        rig_complete(0, 0, 1);
        for (unsigned i = 0; i < 2; i++) {
            CU_ASSERT_EQUAL(with_flags(1, kinds[i], 0, 0), SML_SEND_ONE);
            CU_ASSERT_EQUAL(rig.v.bytes, SML_HEADER_BYTES);
            CU_ASSERT_EQUAL(with_flags(1, kinds[i], 0, SML_FLAG_WANT), SML_SEND_ONE);
            CU_ASSERT(rig_result_is(0, 3));
        }
    }
}

/* Floats of very different size, so that the order of additions shows in the last bits. */
static void float_chunk(float out[16], uint16_t rank)
{
    for (unsigned i = 0; i < 16; i++)
        out[i] = (rank % 2 ? -1.0f : 1.0f) * (float)(1 << 5 * rank) / (float)(3 + i);
}

static enum sml_reason send_floats(uint16_t rank, uint32_t tag)
{
    struct sml_packet p = rig_packet(SML_DATA, tag);
    float x[16];

    float_chunk(x, rank);
    p.e0 = AGG_SUM << 4 | AGG_F32;
    p.body = (const uint8_t *)x;
    p.body_bytes = sizeof x;
    return rig_apply(rank, &p);
}

/* Sends the chunks of five ranks in every one of the 120 orders, a tag each; count tells how many results
 * differ in any bit from the sum in rank order. */
static unsigned float_results_that_differ(enum xfer_mode mode)
{
    uint16_t order[5];
    float want[16];
    unsigned differ = 0;
    uint32_t tag = 0;

    float_chunk(want, 0);
    for (uint16_t r = 1; r < 5; r++) {
        float x[16];
        float_chunk(x, r);
        for (unsigned i = 0; i < 16; i++)
            want[i] += x[i];
    }
    rig_start((struct sml_pool_config){.workers = 5, .slots = 1, .format = XFER_FORMAT_TYPED, .mode = mode});
    for (unsigned code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
        unsigned seen = 0;
        for (unsigned i = 0, rest = code; i < 5; i++, rest /= 5)
            seen |= 1u << (order[i] = rest % 5);
        if (seen != 0x1f)
            continue;
        for (unsigned i = 0; i < 5; i++)
            send_floats(order[i], tag);
        CU_ASSERT_EQUAL_FATAL(rig.v.reason, SML_SEND_ALL);
        differ += memcmp(rig.v.payload + SML_HEADER_BYTES, want, sizeof want) != 0;
        tag++;
    }
    CU_ASSERT_EQUAL(tag, 120);
    return differ;
}

TEST(in_rank_order_float_sums_have_the_same_bits_for_any_order_of_arrival)
{
    CU_ASSERT_EQUAL(float_results_that_differ(XFER_ORDERED), 0);
    CU_ASSERT(float_results_that_differ(XFER_ON_ARRIVAL) > 0); /* or the test would prove nothing */
}

/* The published format */

static enum sml_reason published(uint16_t rank, uint8_t size_code, int8_t e0, int8_t e1, size_t elements)
{
    struct sml_packet p = rig_packet(SML_DATA, 0);

    p.size_code = size_code;
    p.e0 = (uint8_t)e0;
    p.e1 = (uint8_t)e1;
    for (size_t i = 0; i < 4 * elements; i++)
        rig.body[i] = i % 4 == 3 ? (uint8_t)(rank + 1) : 0; /* big endian */
    p.body_bytes = 4 * elements;
    return rig_apply(rank, &p);
}

static void start_published(uint16_t chunk_bytes)
{
    rig_start(
        (struct sml_pool_config){.format = XFER_FORMAT_INT32, .workers = 3, .chunk_bytes = chunk_bytes});
}

TEST(the_published_format_returns_signed_maxima_of_both_exponents)
{
    struct sml_packet p;

    start_published(1024);
    CU_ASSERT_EQUAL(published(1, SML_SIZE_256, -128, -3, 256), SML_HELD);
    CU_ASSERT_EQUAL(published(0, SML_SIZE_256, -5, -7, 256), SML_HELD);
    CU_ASSERT_EQUAL(published(2, SML_SIZE_256, -100, 127, 256), SML_SEND_ALL);
    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, rig.v.payload, rig.v.bytes), SML_OK);
    CU_ASSERT_EQUAL((int8_t)p.e0, -5);
    CU_ASSERT_EQUAL((int8_t)p.e1, 127);
    CU_ASSERT_EQUAL(p.size_code, SML_SIZE_256);
    CU_ASSERT_EQUAL(p.kind, SML_DATA);
    CU_ASSERT_EQUAL_FATAL(p.body_bytes, 1024);
    for (size_t i = 0; i < 1024; i++)
        CU_ASSERT_EQUAL(p.body[i], i % 4 == 3 ? 6 : 0);
    for (uint16_t r = 0; r < 3; r++) /* byte 9 carries no flags here */
        CU_ASSERT(agg_wants(&rig.v, r));
    CU_ASSERT_EQUAL(published(1, SML_SIZE_256, 0, 0, 256), SML_SEND_ONE);
    CU_ASSERT_EQUAL(rig.v.bytes, SML_HEADER_BYTES + 1024);
    CU_ASSERT_EQUAL((int8_t)rig.v.payload[8], -5);
}

TEST(a_published_size_code_must_be_the_agreed_one)
{
    static const uint16_t chunk_bytes[] = {128, 256, 512, 1024, 1460};

    for (unsigned k = 0; k < 5; k++) {
        for (uint8_t code = SML_SIZE_32; code <= SML_SIZE_256; code++) {
            start_published(chunk_bytes[k]);
            CU_ASSERT_EQUAL(published(0, code, 0, 0, 32u << code),
                            code == k ? SML_HELD : SML_DROP_BAD_LENGTH);
        }
    }
}

TEST(size_codes_of_a_chunk_must_agree_since_the_result_has_but_one)
{
    start_published(1024);
    CU_ASSERT_EQUAL(published(0, SML_SIZE_256, 0, 0, 256), SML_HELD);
    CU_ASSERT_EQUAL(published(1, SML_SIZE_AGREED, 0, 0, 256), SML_SEND_MISMATCH);
    CU_ASSERT_EQUAL(published(1, SML_SIZE_256, 0, 0, 256), SML_HELD);
}

TEST(the_published_format_takes_agreed_lengths_and_exponents_alone)
{
    start_published(1460);
    CU_ASSERT_EQUAL(published(0, SML_SIZE_AGREED, 1, 2, 0), SML_HELD);
    CU_ASSERT_EQUAL(published(1, SML_SIZE_AGREED, 3, 1, 0), SML_HELD);
    CU_ASSERT_EQUAL(published(2, SML_SIZE_AGREED, 0, 0, 365), SML_SEND_MISMATCH);
    CU_ASSERT_EQUAL(published(2, SML_SIZE_AGREED, 0, 0, 0), SML_SEND_ALL);
    CU_ASSERT_EQUAL(rig.v.bytes, SML_HEADER_BYTES);
    CU_ASSERT(rig.v.payload[8] == 3 && rig.v.payload[9] == 2);
    start_published(1460);
    CU_ASSERT_EQUAL(published(0, SML_SIZE_AGREED, 1, 2, 366), SML_DROP_BAD_LENGTH);
    for (uint16_t r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(published(r, SML_SIZE_AGREED, 0, 0, 365), r < 2 ? SML_HELD : SML_SEND_ALL);
}

/* Results handed back */

static enum sml_reason hand_back(uint16_t rank, uint32_t tag, int64_t sum)
{
    struct sml_packet p = rig_packet(SML_RESTORE, tag);

    p.e1 = 0;
    rig_elements(&p, 0, sum, 8);
    return rig_apply(rank, &p);
}

TEST(a_result_handed_back_is_adopted_once_and_answers_contributions)
{
    RIG_FOR_EACH_MODE(.workers = 3, .resumed = true, .first_tag = 10)
    {
        CU_ASSERT_EQUAL(hand_back(0, 12, 55), SML_RESTORED);
        CU_ASSERT(rig_result_is(12, 55));
        for (uint16_t r = 0; r < 3; r++)
            CU_ASSERT(!agg_wants(&rig.v, r));
        CU_ASSERT_EQUAL(hand_back(0, 12, 66), SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(hand_back(1, 12, 66), SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(rig_data(2, 12, 7), SML_SEND_ONE);
        CU_ASSERT(rig_result_is(12, 55));
        CU_ASSERT_EQUAL(rig_probe(0, 12), SML_SEND_ONE);
        rig_complete(0, 16, 1);
        CU_ASSERT_EQUAL(hand_back(1, 12, 66), SML_DROP_STALE);
    }
}

/* Those who wait for it already are told who wants the sum; what they contributed is forgotten, since the sum
 * has it. */
TEST(a_result_handed_back_into_a_chunk_that_is_being_collected)
{
    RIG_FOR_EACH_MODE(.workers = 3, .resumed = true)
    {
        CU_ASSERT_EQUAL(with_flags(0, SML_DATA, 1, SML_FLAG_WANT), SML_HELD);
        CU_ASSERT_EQUAL(with_flags(1, SML_DATA, 1, 0), SML_HELD);
        CU_ASSERT_EQUAL(hand_back(2, 1, 9), SML_RESTORED);
        CU_ASSERT(rig_result_is(1, 9));
        CU_ASSERT(agg_wants(&rig.v, 0));
        CU_ASSERT(!agg_wants(&rig.v, 1));
        CU_ASSERT(!agg_wants(&rig.v, 2));
        rig_complete(0, 5, 1); /* nobody counts as having contributed */
        rig_complete(0, 9, 2);
    }
}

TEST(only_chunks_of_the_first_turn_can_be_handed_back)
{
    RIG_FOR_EACH_MODE(.workers = 2, .resumed = true, .first_tag = 10)
    {
        CU_ASSERT_EQUAL(hand_back(0, 9, 1), SML_DROP_STALE);
        CU_ASSERT_EQUAL(hand_back(0, 14, 1), SML_DROP_AHEAD);
        rig_complete(0, 10, 1);
        CU_ASSERT_EQUAL(hand_back(0, 14, 1), SML_DROP_AHEAD);
        CU_ASSERT_EQUAL(hand_back(0, 10, 1), SML_DROP_DUPLICATE);
        rig_complete(0, 14, 1);
        CU_ASSERT_EQUAL(hand_back(0, 13, 1), SML_RESTORED); /* its slot is still in its first turn */
    }
}

TEST(an_opening_result_handed_back_begins_with_its_call)
{
    RIG_FOR_EACH_MODE(.workers = 2, .resumed = true)
    {
        struct sml_packet p = rig_packet(SML_RESTORE, 2), r;
        struct xfer_call echoed;

        p.e1 = SML_FLAG_OPENING;
        xfer_build_call(rig.body, &call);
        rig_elements(&p, XFER_CALL_BYTES, 4, 5);
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_RESTORED);
        CU_ASSERT_EQUAL_FATAL(sml_parse(&r, rig.v.payload, rig.v.bytes), SML_OK);
        CU_ASSERT(r.kind == SML_OPEN && r.e0 == RIG_CODE && r.e1 == 0 && r.body_bytes == p.body_bytes);
        CU_ASSERT(xfer_parse_call(&echoed, r.body, r.body_bytes) && xfer_call_equal(&echoed, &call));
        CU_ASSERT_EQUAL(memcmp(r.body, p.body, p.body_bytes), 0);
    }
}

TEST(a_malformed_result_handed_back_is_dropped)
{
    RIG_FOR_EACH_MODE(.workers = 2, .resumed = true)
    {
        CU_ASSERT_EQUAL(of_length(SML_RESTORE, RIG_CODE, 0), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_RESTORE, RIG_CODE, 63), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_RESTORE, RIG_CODE, 72), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(of_length(SML_RESTORE, 0, 64), SML_DROP_BAD_TYPE);
        rig_complete(0, 0, 1);
    }
}

TEST(a_published_result_handed_back_keeps_its_exponents)
{
    rig_start((struct sml_pool_config){.format = XFER_FORMAT_INT32, .workers = 2, .resumed = true});
    struct sml_packet p = rig_packet(SML_RESTORE, 0);
    p.e0 = (uint8_t)-7;
    p.e1 = 0x7f; /* neither flags nor results held in this format */
    p.body_bytes = 64;
    CU_ASSERT_EQUAL(rig_apply(0, &p), SML_RESTORED);
    CU_ASSERT_EQUAL(rig.v.bytes, SML_HEADER_BYTES + 64);
    CU_ASSERT(rig.v.payload[0] >> 4 == SML_DATA && rig.v.payload[8] == (uint8_t)-7 &&
              rig.v.payload[9] == 0x7f);
}
