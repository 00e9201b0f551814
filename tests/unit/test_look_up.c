/* Calls whose contributions are indices into the job's table, in a pool: sums, what is refused, results that
 * are asked for again or handed back, and sums of sums in a tree. */
#include "kernels_chosen.h"
#include "look_up.h"
#include "pool_rig.h"
#include "relay/slots.h"

enum { CHUNK = 1460, RANKS = 5 };

static uint64_t rng;

static const uint8_t codes[] = {1, 2, 3, 4, 9, 10, 11, 12};
#define FOR_EACH_CODE(code) for (const uint8_t *code = codes; code < codes + sizeof codes; code++)

static struct sml_pool_config config(uint8_t code, enum xfer_mode mode)
{
    return (struct sml_pool_config){.workers = RANKS,
                                    .chunk_bytes = CHUNK,
                                    .format = XFER_FORMAT_TYPED,
                                    .mode = mode,
                                    .table = look_up_table(&rng, code, RANKS)};
}

/* As many elements as a chunk has room for the sums of. */
static size_t elements_of(uint8_t code)
{
    return CHUNK / sml_element_of(code).out;
}

/* A contribution to chunk `tag`, at random. */
static struct sml_packet contribution(uint8_t code, uint32_t tag, uint8_t *body)
{
    struct sml_packet p = rig_packet(SML_DATA, tag);

    p.body = body;
    p.e0 = code;
    p.body_bytes = elements_of(code) * sml_element_of(code).in;
    for (size_t i = 0; i < p.body_bytes; i++)
        body[i] = (uint8_t)rng_next(&rng);
    return p;
}

static bool result_is(uint8_t code, uint32_t tag, const uint8_t *sums)
{
    struct sml_packet p;

    return sml_parse(&p, rig.v.payload, rig.v.bytes) == SML_OK && p.kind == SML_DATA && p.tag == tag &&
           p.e0 == code && p.body_bytes == elements_of(code) * sml_element_of(code).out &&
           memcmp(p.body, sums, p.body_bytes) == 0;
}

/* All ranks contribute to a chunk, in any order; false: what came of it is not their sum. */
static bool sum_one(uint8_t code, uint32_t tag)
{
    uint8_t body[RANKS][CHUNK], sums[CHUNK] = {0};
    const unsigned first = (unsigned)rng_below(&rng, RANKS);

    for (unsigned i = 0; i < RANKS; i++) {
        const struct sml_packet p = contribution(code, tag, body[i]);

        look_up_add(&rig.cfg.table, sums, body[i], elements_of(code));
        if (rig_apply((uint16_t)((first + i) % RANKS), &p) != (i + 1 < RANKS ? SML_HELD : SML_SEND_ALL))
            return false;
    }
    return result_is(code, tag, sums);
}

TEST(sums_are_those_of_the_table_values)
{
    FOR_EACH_CODE(code)
    {
        for (enum xfer_mode mode = XFER_ON_ARRIVAL; mode <= XFER_ORDERED; mode++) {
            rig_start(config(*code, mode));
            for (uint32_t tag = 0; tag < 20; tag++)
                CU_ASSERT(sum_one(*code, tag));
        }
    }
}

/* That of docs/protocol.md. */
TEST(known_bytes)
{
    static const uint8_t head[SML_HEADER_BYTES] = {0x14, 0x2a, 9, 0, 0, 0, 0, 1, 4, 1},
                         sums[16] = {0x00, 0x06, 0x0a, 0x0e, 0x12, 0x16, 0x1a, 0x1c,
                                     0x1e, 0x22, 0x26, 0x2a, 0x2e, 0x32, 0x36, 0x3c};
    uint8_t packet[SML_HEADER_BYTES + 32];
    struct sml_packet p;

    memcpy(packet, head, sizeof head);
    for (unsigned i = 0; i < 32; i++)
        packet[SML_HEADER_BYTES + i] = (uint8_t)(i % 16 * 0x11);
    rig_start(
        (struct sml_pool_config){.chunk_bytes = 128,
                                 .format = XFER_FORMAT_TYPED,
                                 .first_tag = 9,
                                 .table = {4, {0, 3, 5, 7, 9, 11, 13, 14, 15, 17, 19, 21, 23, 25, 27, 30}}});
    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, packet, sizeof packet), SML_OK);
    CU_ASSERT_EQUAL(rig_apply(1, &p), SML_HELD);
    CU_ASSERT_EQUAL_FATAL(rig_apply(0, &p), SML_SEND_ALL);
    CU_ASSERT_EQUAL_FATAL(rig.v.bytes, SML_HEADER_BYTES + 64);
    CU_ASSERT(memcmp(rig.v.payload, head, SML_HEADER_BYTES - 1) == 0 && rig.v.payload[9] == 0);
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT(memcmp(rig.v.payload + SML_HEADER_BYTES + 16 * i, sums, sizeof sums) == 0);
}

/* The greatest values of all ranks fill the sum up, and do not flow over. */
TEST(the_greatest_sum_fits)
{
    FOR_EACH_CODE(code)
    {
        uint8_t body[CHUNK];
        struct sml_packet p, result;

        rig_start(config(*code, XFER_ORDERED));
        for (uint16_t rank = 0; rank < RANKS; rank++) {
            p = contribution(*code, 0, body);
            memset(body, 0xff, sizeof body);
            rig_apply(rank, &p);
        }
        CU_ASSERT_EQUAL_FATAL(sml_parse(&result, rig.v.payload, rig.v.bytes), SML_OK);
        const unsigned sum = RANKS * sml_table_greatest(&rig.cfg.table);
        CU_ASSERT_EQUAL(result.body[0], sum & 0xff);
        CU_ASSERT(sml_sum_bits(*code) == 8 || result.body[1] == sum >> 8);
    }
}

/* Not those of this job. */
TEST(foreign_codes_and_lengths_are_dropped)
{
    uint8_t body[SML_MAX_CHUNK_BYTES];
    struct sml_packet p;

    rig_start(config(4, XFER_ORDERED));
    for (unsigned code = 0; code < 16; code++) {
        p = contribution(4, 0, body);
        p.e0 = (uint8_t)code;
        if (code != 4)
            CU_ASSERT_EQUAL(rig_apply(0, &p), SML_DROP_BAD_TYPE);
    }
    p = contribution(4, 0, body);
    p.body_bytes++;
    CU_ASSERT_EQUAL(rig_apply(0, &p), SML_DROP_BAD_LENGTH);
    p.body_bytes += 31; /* fits a packet, but its sums would not */
    CU_ASSERT(p.body_bytes < CHUNK);
    CU_ASSERT_EQUAL(rig_apply(0, &p), SML_DROP_BAD_LENGTH);
    p.body_bytes = 0;
    CU_ASSERT_EQUAL(rig_apply(0, &p), SML_DROP_BAD_LENGTH);

    rig_start((struct sml_pool_config){.chunk_bytes = CHUNK, .format = XFER_FORMAT_TYPED});
    p = contribution(4, 0, body);
    CU_ASSERT_EQUAL(rig_apply(0, &p), SML_DROP_BAD_TYPE); /* there is no table */
}

TEST(tables_that_cannot_be_are_refused)
{
    struct sml_pool_config cfg = config(4, XFER_ORDERED);

    cfg.slots = 4;
    CU_ASSERT(sml_pool_footprint(&cfg) > 0);
    cfg.workers = RANKS + 1; /* one more and the greatest sum does not fit */
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg = config(4, XFER_ORDERED);
    cfg.slots = 4;
    cfg.chunk_bytes = SML_LOOK_UP_CHUNK_MIN - 4;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg.chunk_bytes = SML_LOOK_UP_CHUNK_MIN;
    CU_ASSERT(sml_pool_footprint(&cfg) > 0);
    cfg.table.values[3] = cfg.table.values[2];
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg.table = look_up_table(&rng, 2, RANKS);
    cfg.table.values[4] = 99; /* beyond its indices */
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg.table = look_up_table(&rng, 4, RANKS);
    cfg.table.code = 5;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
    cfg.table = look_up_table(&rng, 4, RANKS);
    cfg.format = XFER_FORMAT_INT32;
    CU_ASSERT_EQUAL(sml_pool_footprint(&cfg), 0);
}

TEST(a_rank_that_differs_is_told)
{
    uint8_t body[CHUNK];
    struct sml_packet p;

    rig_start(config(4, XFER_ORDERED));
    p = contribution(4, 0, body);
    CU_ASSERT_EQUAL(rig_apply(0, &p), SML_HELD);
    p.body_bytes -= 32;
    CU_ASSERT_EQUAL(rig_apply(1, &p), SML_SEND_MISMATCH);
    CU_ASSERT_EQUAL(rig_data(2, 0, 1), SML_SEND_MISMATCH);
}

TEST(results_are_sent_again_and_probes_answered)
{
    uint8_t body[CHUNK], sums[CHUNK] = {0};
    struct sml_packet p;

    rig_start(config(12, XFER_ON_ARRIVAL));
    for (uint16_t rank = 0; rank < RANKS; rank++) {
        p = contribution(12, 0, body);
        look_up_add(&rig.cfg.table, sums, body, elements_of(12));
        rig_apply(rank, &p);
    }
    CU_ASSERT_EQUAL(rig_apply(2, &p), SML_SEND_ONE); /* it has not heard of the result */
    CU_ASSERT(result_is(12, 0, sums));
    CU_ASSERT_EQUAL(rig_probe(3, 0), SML_SEND_ONE);
    CU_ASSERT(result_is(12, 0, sums));
}

/* A rank that holds the sums of before the restart hands them back; the contributions that have come for the
 * chunk are forgotten. */
TEST(sums_are_handed_back)
{
    FOR_EACH_CODE(code)
    {
        const struct sml_element e = sml_element_of(*code);
        struct sml_pool_config cfg = config(*code, XFER_ORDERED);
        uint8_t body[CHUNK], sums[CHUNK];
        struct sml_packet p;

        cfg.resumed = true;
        rig_start(cfg);
        p = contribution(*code, 0, body);
        CU_ASSERT_EQUAL(rig_apply(1, &p), SML_HELD);
        p.kind = SML_RESTORE;
        p.e1 = 0;
        p.body = sums;
        p.body_bytes = elements_of(*code) * e.out;
        for (size_t i = 0; i < p.body_bytes; i++)
            sums[i] = (uint8_t)rng_next(&rng);
        CU_ASSERT_EQUAL(rig_apply(0, &p), SML_RESTORED);
        CU_ASSERT(result_is(*code, 0, sums));
        CU_ASSERT(sum_one(*code, rig.cfg.slots)); /* the slot's next chunk */
    }
}

/* A switch of a tree. Its contributors are the ranks, or switches, that `contributor` says. */
static struct sml_pool *in_a_tree(struct sml_pool_config cfg, const uint16_t *contributor,
                                  uint16_t contributors, bool has_parent, uint8_t job)
{
    const struct agg_node tree = {
        .ranks = RANKS, .contributor = contributor, .has_parent = has_parent, .parent_job = job};

    cfg.slots = 4;
    cfg.workers = contributors;
    cfg.job = job;
    cfg.kernels = kernels_or_exit();
    return relay_slots_of(&cfg, &tree);
}

static enum sml_reason apply(struct sml_pool *pool, uint16_t from, const struct sml_packet *p)
{
    sml_pool_apply(pool, sml_pool_locate(pool, p, 0), from, p, NULL, 0, &rig.v);
    return rig.v.reason;
}

/* Ranks 0 to 2 at a leaf, 3 and 4 at the root. */
TEST(a_leaf_sends_its_sums_up)
{
    static const uint16_t at_leaf[RANKS] = {0, 1, 2, AGG_NOBODY, AGG_NOBODY},
                          at_root[RANKS] = {0, 0, 0, 1, 2};

    FOR_EACH_CODE(code)
    {
        const struct sml_pool_config cfg = config(*code, XFER_ORDERED);
        struct sml_pool *leaf = in_a_tree(cfg, at_leaf, 3, true, RIG_JOB),
                        *root = in_a_tree(cfg, at_root, 3, false, RIG_JOB);
        uint8_t body[CHUNK], sums[CHUNK] = {0}, up[CHUNK + SML_HEADER_BYTES], down[CHUNK + SML_HEADER_BYTES];
        struct sml_packet p;

        rig.cfg.slots = 4;
        for (uint16_t rank = 0; rank < 3; rank++) {
            p = contribution(*code, 0, body);
            look_up_add(&cfg.table, sums, body, elements_of(*code));
            CU_ASSERT_EQUAL(apply(leaf, rank, &p), rank < 2 ? SML_HELD : SML_SEND_PARENT);
        }
        CU_ASSERT_EQUAL(rig.v.bytes, SML_HEADER_BYTES + elements_of(*code) * sml_element_of(*code).out);
        memcpy(up, rig.v.payload, rig.v.bytes);
        const size_t up_bytes = rig.v.bytes;

        p = contribution(*code, 0, body);
        look_up_add(&cfg.table, sums, body, elements_of(*code));
        CU_ASSERT_EQUAL(apply(root, 2, &p), SML_HELD);
        CU_ASSERT_EQUAL(sml_parse(&p, up, up_bytes), SML_OK);
        CU_ASSERT_EQUAL(apply(root, 0, &p), SML_HELD);
        p = contribution(*code, 0, body);
        look_up_add(&cfg.table, sums, body, elements_of(*code));
        CU_ASSERT_EQUAL(apply(root, 1, &p), SML_SEND_ALL);
        CU_ASSERT(result_is(*code, 0, sums));

        memcpy(down, rig.v.payload, rig.v.bytes);
        CU_ASSERT_EQUAL(sml_parse(&p, down, rig.v.bytes), SML_OK);
        CU_ASSERT_EQUAL(apply(leaf, AGG_PARENT, &p), SML_PARENT_RESULT);
        CU_ASSERT(result_is(*code, 0, sums));
        free(leaf);
        free(root);
    }
}

/* After a restart: rank 1 at the leaf lacks a sum that rank 0 there hands back, full or of one element, by
 * way of the root. */
TEST(a_leaf_takes_a_sum_that_was_handed_back)
{
    static const uint16_t at_leaf[RANKS] = {0, 1, AGG_NOBODY, AGG_NOBODY, AGG_NOBODY},
                          at_root[RANKS] = {0, 0, 1, 2, 3};

    FOR_EACH_CODE(code)
    for (unsigned full = 0; full < 2; full++) {
        const struct sml_element e = sml_element_of(*code);
        struct sml_pool_config cfg = config(*code, XFER_ORDERED);
        uint8_t body[CHUNK], sums[CHUNK], up[CHUNK + SML_HEADER_BYTES], down[CHUNK + SML_HEADER_BYTES];
        struct sml_packet p;

        cfg.resumed = true;
        rig.cfg.slots = 4;
        struct sml_pool *leaf = in_a_tree(cfg, at_leaf, 2, true, RIG_JOB),
                        *root = in_a_tree(cfg, at_root, 4, false, RIG_JOB);
        p = contribution(*code, 0, body);
        if (!full)
            p.body_bytes = e.in;
        CU_ASSERT_EQUAL(apply(leaf, 1, &p), SML_HELD);
        p.kind = SML_RESTORE;
        p.e1 = 0;
        p.body = sums;
        p.body_bytes = full ? elements_of(*code) * e.out : e.out;
        for (size_t i = 0; i < p.body_bytes; i++)
            sums[i] = (uint8_t)rng_next(&rng);
        apply(leaf, 0, &p);
        CU_ASSERT_FATAL(rig.v.bytes > 0 && rig.v.bytes <= sizeof(up));
        memcpy(up, rig.v.payload, rig.v.bytes);
        CU_ASSERT_EQUAL(sml_parse(&p, up, rig.v.bytes), SML_OK);
        CU_ASSERT_EQUAL(apply(root, 0, &p), SML_RESTORED);
        memcpy(down, rig.v.payload, rig.v.bytes);
        CU_ASSERT_EQUAL(sml_parse(&p, down, rig.v.bytes), SML_OK);
        CU_ASSERT_EQUAL(apply(leaf, AGG_PARENT, &p), SML_PARENT_RESULT);
        CU_ASSERT(!full || result_is(*code, 0, sums));
        free(leaf);
        free(root);
    }
}

int main(void)
{
    rng = rng_seed(20241122);
    return unit_main();
}
