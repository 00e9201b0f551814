/* Contributions without elements, of which broadcasts, all-gathers and reduce-scatters are made: who brings
 * nothing is there all the same, and changes no result. Random ones are in test_pool_random.c, those in trees
 * in test_relay_slots.c. */
#include "pool_rig.h"

enum { COPY = AGG_BOR << 4 | AGG_U8 };

static const struct xfer_call broadcast = {
    .seq = 3, .collective = XFER_BROADCAST, .type = AGG_U8, .op = AGG_BOR, .root = 1, .count = 5};

#define FOR_EACH_MODE(n) RIG_FOR_EACH_MODE(.workers = n, .slots = 4, .empties = true)

/* As it travels. */
static enum sml_reason take(uint16_t rank, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;

    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, payload, bytes), SML_OK);
    return rig_apply(rank, &p);
}

static bool result_is(const uint8_t *payload, size_t bytes)
{
    return rig.v.bytes == bytes && memcmp(rig.v.payload, payload, bytes) == 0;
}

static enum sml_reason empty(uint16_t rank, uint32_t tag, uint8_t code)
{
    struct sml_packet p = rig_packet(SML_DATA, tag);

    p.e0 = code;
    return rig_apply(rank, &p);
}

/* docs/protocol.md, "Contributions without elements": the bytes there. */
TEST(a_broadcast_byte_by_byte)
{
    static const uint8_t open_root[] = {0x24, 0x2a, 8, 0, 0, 0, 0, 0, 0x97, 0, /* header */
                                        0,    0,    0, 3, 4, 7, 9, 0,          /* call */
                                        0,    0,    0, 1, 0, 0, 0, 0, 0,    0, 0, 5, 'h', 'e', 'l', 'l', 'o'};
    static const uint8_t open_other[] = {0x24, 0x2a, 8, 0, 0, 0, 0, 0, 0x97, 1, 0, 0, 0, 3, 4,
                                         7,    9,    0, 0, 0, 0, 1, 0, 0,    0, 0, 0, 0, 0, 5};
    static const uint8_t data_root[] = {0x14, 0x2a, 9, 0, 0, 0, 0, 1, 0x97, 0, 0xca, 0xfe};
    static const uint8_t data_other[] = {0x14, 0x2a, 9, 0, 0, 0, 0, 1, 0x97, 1};

    FOR_EACH_MODE(3)
    {
        struct sml_pool_config cfg = rig.cfg;
        cfg.first_tag = 8;
        rig_start(cfg);
        CU_ASSERT_EQUAL(take(2, open_other, sizeof open_other), SML_HELD);
        CU_ASSERT_EQUAL(take(1, open_root, sizeof open_root), SML_HELD);
        CU_ASSERT_EQUAL(take(0, open_other, sizeof open_other), SML_SEND_ALL);
        CU_ASSERT(result_is(open_root, sizeof open_root));
        CU_ASSERT(agg_wants(&rig.v, 0) && !agg_wants(&rig.v, 1) && agg_wants(&rig.v, 2));
        CU_ASSERT(rig.v.brief_bytes == SML_HEADER_BYTES && memcmp(rig.v.brief, open_root, 10) == 0);

        CU_ASSERT_EQUAL(take(0, data_other, sizeof data_other), SML_HELD);
        CU_ASSERT_EQUAL(take(2, data_other, sizeof data_other), SML_HELD);
        CU_ASSERT_EQUAL(take(0, data_other, sizeof data_other), SML_DROP_DUPLICATE);
        CU_ASSERT_EQUAL(take(1, data_root, sizeof data_root), SML_SEND_ALL);
        CU_ASSERT(result_is(data_root, sizeof data_root));
        CU_ASSERT_EQUAL(take(2, data_other, sizeof data_other), SML_SEND_ONE); /* its result was lost */
        CU_ASSERT(result_is(data_root, sizeof data_root));
    }
}

/* A barrier. */
TEST(a_call_of_which_nobody_has_elements_completes)
{
    const struct xfer_call barrier = {.collective = XFER_BARRIER, .type = AGG_U8, .op = AGG_BOR};

    FOR_EACH_MODE(3)
    {
        struct sml_packet p = rig_packet(SML_OPEN, 0);

        p.e0 = COPY;
        p.e1 = 0;
        xfer_build_call(rig.body, &barrier);
        p.body_bytes = XFER_CALL_BYTES;
        CU_ASSERT_EQUAL(rig_apply(2, &p), SML_HELD);
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_HELD);
        CU_ASSERT_EQUAL(rig_apply(1, &p), SML_SEND_ALL);
        CU_ASSERT_EQUAL(rig.v.bytes, SML_HEADER_BYTES + XFER_CALL_BYTES);
        for (uint16_t rank = 0; rank < 3; rank++)
            CU_ASSERT(!agg_wants(&rig.v, rank));
    }
}

/* The sum of the others is all that an owner lacks, whenever they come; in ordered mode, too. */
TEST(elements_are_added_around_those_who_bring_none)
{
    static const uint16_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};

    FOR_EACH_MODE(4)
    for (unsigned set = 0; set < 16; set++)
        for (unsigned order = 0; order < 4; order++) {
            const uint32_t tag = set * 4 + order;
            int64_t sum = 0;

            for (unsigned i = 0; i < 4; i++) {
                const uint16_t rank = orders[order][i];
                const bool brings = set >> rank & 1;
                const enum sml_reason reason =
                    brings ? rig_data(rank, tag, 1 + 10 * rank) : empty(rank, tag, RIG_CODE);

                sum += brings ? 1 + 10 * rank : 0;
                CU_ASSERT_EQUAL_FATAL(reason, i < 3 ? SML_HELD : SML_SEND_ALL);
            }
            if (set == 0)
                CU_ASSERT(rig.v.bytes == SML_HEADER_BYTES)
            else
                CU_ASSERT(rig_result_is(tag, sum));
        }
}

TEST(those_who_bring_something_agree_on_how_much)
{
    FOR_EACH_MODE(3)
    {
        struct sml_packet p = rig_packet(SML_DATA, 0);

        CU_ASSERT_EQUAL(empty(0, 0, RIG_CODE), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(1, 0, 5), SML_HELD);
        rig_elements(&p, 0, 7, 7);
        CU_ASSERT_EQUAL(rig_apply(2, &p), SML_SEND_MISMATCH);
        CU_ASSERT_EQUAL(empty(2, 0, COPY), SML_SEND_MISMATCH); /* of another call */
        CU_ASSERT_EQUAL(empty(2, 0, RIG_CODE), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(0, 5));
    }
}

TEST(an_opening_packet_without_elements_has_the_same_call)
{
    struct xfer_call other = broadcast;
    struct xfer_mismatch m;
    struct sml_packet answer;

    other.root = 2;
    FOR_EACH_MODE(3)
    {
        struct sml_packet p = rig_packet(SML_OPEN, 0);

        p.e0 = COPY;
        p.body_bytes = XFER_CALL_BYTES;
        xfer_build_call(rig.body, &broadcast);
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_HELD);
        xfer_build_call(rig.body, &other);
        p.body_bytes = XFER_CALL_BYTES + 5;
        CU_ASSERT_EQUAL(rig_apply(2, &p), SML_SEND_MISMATCH);
        CU_ASSERT_EQUAL_FATAL(sml_parse(&answer, rig.v.payload, rig.v.bytes), SML_OK);
        CU_ASSERT_FATAL(xfer_parse_mismatch(&m, answer.body, answer.body_bytes));
        CU_ASSERT(m.peer_rank == 0 && m.peers.root == 1 && m.yours.root == 2);
        CU_ASSERT_EQUAL(m.peers.collective, XFER_BROADCAST);
    }
}

/* What divides or rounds once needs all contributions; and who has not agreed on empty ones sends none. */
TEST(where_contributions_must_have_elements)
{
    static const uint8_t codes[] = {AGG_AVG << 4 | AGG_I64, AGG_AVG << 4 | AGG_F32, AGG_SUM << 4 | AGG_F16,
                                    AGG_MAX << 4 | AGG_BF16};

    FOR_EACH_MODE(2)
    for (unsigned i = 0; i < sizeof codes; i++)
        if (rig.cfg.kernels->operations[codes[i]].finish != NULL) {
            struct sml_packet p = rig_packet(SML_DATA, i);

            CU_ASSERT_EQUAL(empty(0, i, codes[i]), SML_DROP_BAD_LENGTH);
            p.e0 = codes[i];
            rig_elements(&p, 0, 1, 8);
            CU_ASSERT_EQUAL(rig_apply(0, &p), SML_HELD);
            CU_ASSERT_EQUAL(empty(1, i, codes[i]), SML_DROP_BAD_LENGTH);
        }
    RIG_FOR_EACH_MODE(.workers = 2)
    {
        struct sml_packet p = rig_packet(SML_OPEN, 1);

        CU_ASSERT_EQUAL(empty(0, 0, COPY), SML_DROP_BAD_LENGTH);
        CU_ASSERT_EQUAL(rig_open(0, 1, &broadcast, 1), SML_HELD);
        p.body_bytes = XFER_CALL_BYTES;
        CU_ASSERT_EQUAL(rig_apply(1, &p), SML_SEND_MISMATCH);
    }
}

/* Who has the result hands it back; what others have not brought does not count. */
TEST(a_result_that_is_handed_back_takes_the_place_of_empty_contributions)
{
    FOR_EACH_MODE(3)
    {
        struct sml_pool_config cfg = rig.cfg;
        struct sml_packet p;

        cfg.resumed = true;
        rig_start(cfg);
        CU_ASSERT_EQUAL(empty(0, 0, RIG_CODE), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(1, 0, 3), SML_HELD);
        p = rig_packet(SML_RESTORE, 0);
        CU_ASSERT_EQUAL(rig_apply(2, &p), SML_DROP_BAD_LENGTH); /* a result has elements */
        rig_elements(&p, 0, 9, 8);
        p.e1 = 0;
        CU_ASSERT_EQUAL(rig_apply(2, &p), SML_RESTORED);
        CU_ASSERT(rig_result_is(0, 9));
        CU_ASSERT_EQUAL(rig_data(2, 4, 1), SML_HELD); /* and of the next chunk nobody has been empty */
        CU_ASSERT_EQUAL(rig_data(1, 4, 1), SML_HELD);
        CU_ASSERT_EQUAL(rig_data(0, 4, 1), SML_SEND_ALL);
        CU_ASSERT(rig_result_is(4, 3));
    }
}

TEST(pools_that_take_no_empty_contributions)
{
    struct sml_pool_config cfg = {.workers = 2,
                                  .slots = 4,
                                  .chunk_bytes = 64,
                                  .format = XFER_FORMAT_TYPED,
                                  .empties = true,
                                  .kernels = kernels_or_exit()};

    CU_ASSERT(sml_pool_footprint(&cfg) > 0);
    cfg.quorum = 1;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg.quorum = 0;
    cfg.format = XFER_FORMAT_INT32;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
}
