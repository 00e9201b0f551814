/* The terms of ATP's jobs and of its switches. */
#include <string.h>

#include "atp/protocol.h"
#include "atp/terms.h"
#include "atp/worker.h"
#include "kernels_chosen.h"
#include "keys/keys.h"
#include "protocols.h"
#include "unit.h"

static const struct atp_terms usual = {.mapping = ATP_MAP_REMAP,
                                       .window = 256,
                                       .chunk_bytes = 1432,
                                       .per_rack = 64,
                                       .near = ATP_NOT_NEAR,
                                       .servers = 1};

static const struct agg_limits limits = {
    .payload_bytes = 1472, .random = UINT64_C(0x1234567890abcdef), .group = 0x010100e0};

static struct agg_terms built(const struct atp_terms *t)
{
    struct agg_terms out;

    atp_terms_build(&out, t);
    return out;
}

static bool checks(const struct atp_terms *t)
{
    const struct agg_terms terms = built(t);
    char why[AGG_TEXT_MAX] = "";
    const bool ok = atp_protocol.check(&terms, false, why);

    CU_ASSERT(ok == (why[0] == 0));
    return ok;
}

static bool same(const struct atp_terms *a, const struct atp_terms *b)
{
    return a->mode == b->mode && a->format == b->format && a->mapping == b->mapping &&
           a->window == b->window && a->chunk_bytes == b->chunk_bytes && a->per_rack == b->per_rack &&
           a->near == b->near && a->server == b->server && a->servers == b->servers &&
           a->priority == b->priority && a->checksum == b->checksum && a->keyed == b->keyed &&
           a->list == b->list && a->resumed == b->resumed && a->life == b->life &&
           a->first_sequence == b->first_sequence && a->group == b->group && a->group_port == b->group_port;
}

TEST(bytes)
{
    const struct atp_terms t = {.mode = XFER_ORDERED,
                                .format = XFER_FORMAT_FP16,
                                .mapping = ATP_MAP_HASH,
                                .window = 0x0102,
                                .chunk_bytes = 0x0304,
                                .per_rack = 5,
                                .near = 6,
                                .server = 7,
                                .servers = 8,
                                .priority = 9,
                                .checksum = XFER_CHECKSUM_CRC32C,
                                .keyed = true,
                                .list = 0x18191a1b,
                                .resumed = true,
                                .life = 0x0a0b0c0d,
                                .first_sequence = 0x0e0f1011,
                                .group = 0x12131415,
                                .group_port = 0x1617,
                                .local = 3};
    struct agg_terms terms = built(&t);
    struct atp_terms parsed;

    CU_ASSERT(atp_terms_parse(&parsed, &terms));
    CU_ASSERT(same(&parsed, &t) && parsed.local == 3);
    CU_ASSERT(terms.data[4] == 1 && terms.data[5] == 2 && terms.data[12] == 0x0a);
    terms.bytes--; /* of an older version: they say nothing of what ranks share */
    CU_ASSERT(atp_terms_parse(&parsed, &terms) && parsed.resumed && parsed.local == 0);
    terms.bytes--; /* of one before that: nothing of checksums and keys, either */
    CU_ASSERT(atp_terms_parse(&parsed, &terms));
    CU_ASSERT(parsed.group_port == 0x1617 && parsed.checksum == XFER_CHECKSUM_NONE && !parsed.keyed);
    terms.bytes = ATP_TERMS_BYTES_LEAST - 1;
    CU_ASSERT(!atp_terms_parse(&parsed, &terms));
    terms.bytes = ATP_TERMS_BYTES, terms.version++;
    CU_ASSERT(!atp_terms_parse(&parsed, &terms));
}

TEST(check)
{
    struct atp_terms t = usual;
    struct agg_terms terms = built(&t);
    char why[AGG_TEXT_MAX];

    CU_ASSERT(checks(&t));
    CU_ASSERT(!atp_protocol.check(&terms, true, why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "of a rank that is new"));
    t.resumed = true;
    CU_ASSERT(!checks(&t));
    terms = built(&t);
    CU_ASSERT(atp_protocol.check(&terms, true, why));
    t.window = 200;
    terms = built(&t);
    CU_ASSERT(!atp_protocol.check(&terms, true, why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "not a power of two"));
    t = usual, t.window = ATP_MIN_WINDOW - 1;
    CU_ASSERT(!checks(&t));
    t = usual, t.chunk_bytes = 66;
    CU_ASSERT(!checks(&t));
    t = usual, t.per_rack = 65;
    CU_ASSERT(!checks(&t));
    t = usual, t.server = 1;
    CU_ASSERT(!checks(&t));
    t = usual, t.mapping = ATP_MAPPINGS;
    CU_ASSERT(!checks(&t));
    t = usual, t.checksum = XFER_CHECKSUM_KEYED; /* which nobody wishes for */
    CU_ASSERT(!checks(&t));
}

TEST(differ)
{
    struct agg_terms a = built(&usual), b;
    struct agg_difference d;

    for (unsigned what = 0; what < 10; what++) {
        struct atp_terms t = usual;
        t.window = 16; /* which may differ */
        t.mode = what == 1 ? XFER_ORDERED : t.mode;
        t.format = what == 2 ? XFER_FORMAT_INT32 : t.format;
        t.mapping = what == 3 ? ATP_MAP_HASH : t.mapping;
        t.per_rack = what == 4 ? 8 : t.per_rack;
        t.near = what == 5 ? 0 : t.near;
        t.servers = what == 6 ? 2 : t.servers;
        t.priority = what == 7 ? 1 : t.priority;
        t.checksum = what == 8 ? XFER_CHECKSUM_CRC32C : t.checksum;
        t.list = what == 9 ? 1 : t.list;
        b = built(&t);
        CU_ASSERT_EQUAL(atp_protocol.differ(&a, &b, &d), what != 0);
    }
}

TEST(grant)
{
    struct atp_terms t = usual, got;
    struct agg_terms wish[3], granted;
    struct agg_refusal why;
    uint32_t progress;

    for (unsigned r = 0; r < 3; r++) {
        t.window = (uint16_t)(100 + 100 * r);
        wish[r] = built(&t);
    }
    CU_ASSERT(atp_protocol.grant(wish, 3, &limits, &granted, &why));
    CU_ASSERT(atp_terms_parse(&got, &granted));
    CU_ASSERT(got.window == 64 && got.chunk_bytes == 1432 && got.life == 0x12345678);
    CU_ASSERT(got.first_sequence == 0x90abcdef && got.group == 0x010100e0 &&
              got.group_port == ATP_GROUP_PORT);
    CU_ASSERT(atp_worker.accept(&wish[2], &granted, &progress));
    CU_ASSERT_EQUAL(progress, 0x90abcdef);
    CU_ASSERT(atp_protocol.lower(&granted) && atp_protocol.lower(&granted));
    CU_ASSERT(!atp_protocol.lower(&granted)); /* 16 */
    got.window = 512;
    granted = built(&got);
    CU_ASSERT(!atp_worker.accept(&wish[2], &granted, &progress));

    t = usual, t.per_rack = 1;
    wish[0] = built(&t);
    CU_ASSERT(atp_protocol.grant(wish, 1, &limits, &granted, &why));
    const struct agg_limits keyed = {.keyed = true};
    CU_ASSERT(!atp_protocol.grant(wish, 1, &keyed, &granted, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "data_keys"));
    CU_ASSERT_EQUAL(why.rank, 0);
    const struct agg_limits narrow = {.payload_bytes = 100};
    CU_ASSERT(!atp_protocol.grant(wish, 1, &narrow, &granted, &why));
}

/* What packets end with takes room from their elements, no more than the longest payload has. */
TEST(trailers)
{
    static const struct agg_limits keyed = {.payload_bytes = 1472, .keyed = true};
    struct atp_terms t = usual, got;
    struct agg_terms wish, granted, plain = built(&usual);
    struct agg_pool_config cfg = {.workers = 1, .kernels = kernels_or_exit()};
    struct agg_footprint f;
    struct agg_refusal why;
    uint32_t progress;

    t.checksum = XFER_CHECKSUM_CRC32C;
    t.keyed = true;
    wish = built(&t);
    CU_ASSERT(atp_protocol.grant(&wish, 1, &limits, &granted, &why));
    CU_ASSERT(atp_terms_parse(&got, &granted));
    CU_ASSERT(got.checksum == XFER_CHECKSUM_CRC32C && !got.keyed && got.chunk_bytes == 1428);
    CU_ASSERT(atp_worker.accept(&wish, &granted, &progress));
    CU_ASSERT(!atp_worker.accept(&plain, &granted, &progress));
    cfg.terms = granted;
    CU_ASSERT(atp_protocol.footprint(&cfg, &f) && f.checked && !f.keyed && f.payload_bytes == 1472);

    CU_ASSERT(atp_protocol.grant(&wish, 1, &keyed, &granted, &why));
    CU_ASSERT(atp_terms_parse(&got, &granted));
    CU_ASSERT(got.keyed && got.chunk_bytes == 1424);
    CU_ASSERT(atp_worker.accept(&wish, &granted, &progress));
    t.keyed = false;
    wish = built(&t);
    CU_ASSERT(!atp_worker.accept(&wish, &granted, &progress));
    cfg.terms = granted;
    CU_ASSERT(!atp_protocol.footprint(&cfg, &f)); /* without the secret */
    cfg.shared = &(struct keys_secret){.library = NULL};
    CU_ASSERT(atp_protocol.footprint(&cfg, &f) && f.keyed && !f.checked && f.payload_bytes == 1472);
}

/* A job goes on at the oldest chunk that a rank lacks, in a life of its own; so do ranks that were not in
 * yet. */
TEST(resume)
{
    static const uint32_t lacks[] = {0xfffffffe, 5, 0xfffffff8, 60};
    struct atp_terms t = usual, got;
    struct agg_terms wish[4], granted;
    struct agg_refusal why;
    uint32_t progress;

    t.life = 1;
    t.window = 64;
    t.first_sequence = 9;
    const struct agg_terms had = built(&t);
    for (unsigned r = 0; r < 3; r++)
        wish[r] = atp_worker.resume(&had, lacks[r]);
    wish[3] = built(&usual);
    CU_ASSERT(atp_protocol.grant(wish, 4, &limits, &granted, &why));
    CU_ASSERT(atp_terms_parse(&got, &granted));
    CU_ASSERT(got.resumed && got.life == 0x12345678 && got.first_sequence == 0xfffffff8 && got.window == 64);
    CU_ASSERT_EQUAL(got.group, 0x010100e0);
    CU_ASSERT(!atp_protocol.lower(&granted));
    for (unsigned r = 0; r < 4; r++) {
        CU_ASSERT(atp_worker.accept(&wish[r], &granted, &progress));
        CU_ASSERT_EQUAL(progress, 0xfffffff8);
    }
    t.chunk_bytes -= 4;
    granted = built(&t);
    CU_ASSERT(!atp_worker.accept(&wish[0], &granted, &progress));
    CU_ASSERT(atp_worker.accept(&wish[3], &granted, &progress));

    wish[3] = atp_worker.resume(&had, lacks[3]);
    CU_ASSERT(!atp_protocol.grant(wish, 4, &limits, &granted, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "68 chunks apart"));
    wish[2] = built(&t), wish[2] = atp_worker.resume(&wish[2], 5);
    CU_ASSERT(!atp_protocol.grant(wish, 3, &limits, &granted, &why));
    CU_ASSERT_EQUAL(why.rank, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "not the same job"));
}

TEST(switch_terms)
{
    const struct atp_switch_terms t = {.aggregators = 4096,
                                       .chunk_bytes = 1432,
                                       .max_age_ns = 5000000000,
                                       .preempt = true,
                                       .parts = 2,
                                       .forward_ppm = 300000,
                                       .seed = UINT64_MAX - 1};
    struct agg_pool_config cfg = {.shards = 2, .kernels = kernels_or_exit()};
    struct atp_switch_terms parsed;
    struct agg_footprint f;
    struct agg_term list[AGG_LISTED_TERMS];
    char why[AGG_TEXT_MAX];

    atp_switch_terms_build(&cfg.terms, &t);
    CU_ASSERT(atp_switch_terms_parse(&parsed, &cfg.terms));
    CU_ASSERT(parsed.aggregators == 4096 && parsed.max_age_ns == 5000000000 && parsed.preempt);
    CU_ASSERT(parsed.parts == 2 && parsed.forward_ppm == 300000 && parsed.seed == UINT64_MAX - 1);
    CU_ASSERT(atp_switch_protocol.footprint(&cfg, &f));
    CU_ASSERT(f.slots == 4096 && f.payload_bytes == ATP_HEADER_BYTES + 1432 + XFER_TRAILER_BYTES &&
              f.bytes > 4096 * 1432);
    CU_ASSERT_EQUAL(atp_switch_protocol.list(&cfg.terms, list), 6);
    CU_ASSERT(!atp_switch_protocol.check(&cfg.terms, false, why)); /* nobody joins a switch */
    cfg.terms = built(&usual);
    CU_ASSERT(!atp_switch_protocol.footprint(&cfg, &f));
    CU_ASSERT_EQUAL(atp_protocol.list(&cfg.terms, list), 10);
    CU_ASSERT(agg_protocol_find(AGG_PROTOCOL_ATP) == &atp_protocol);
    CU_ASSERT(agg_protocol_find(AGG_PROTOCOL_ATP_SWITCH) == &atp_switch_protocol);
}
