/* What ranks of a SwitchML job wish for, and what the job is granted. */
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "switchml/worker.h"

#include <string.h>

#include "kernels_chosen.h"
#include "terms_of.h"
#include "toy_keys.h"
#include "unit.h"

enum { RANKS = 4 };

static struct agg_refusal why; /* of what was refused last */

static const struct sml_terms usual = {
    .format = XFER_FORMAT_TYPED, .mode = XFER_ORDERED, .slots = 512, .chunk_bytes = 1024};

/* The usual terms, but for one. */
#define DEFINE_USUAL_BUT(field, type)                                                                        \
    static struct sml_terms usual_but_##field(type value)                                                    \
    {                                                                                                        \
        struct sml_terms t = usual;                                                                          \
                                                                                                             \
        t.field = value;                                                                                     \
        return t;                                                                                            \
    }

DEFINE_USUAL_BUT(checksum, enum xfer_checksum)
DEFINE_USUAL_BUT(chunk_bytes, uint16_t)
DEFINE_USUAL_BUT(format, enum xfer_format)
DEFINE_USUAL_BUT(mode, enum xfer_mode)
DEFINE_USUAL_BUT(plain, bool)
DEFINE_USUAL_BUT(resumed, bool)
DEFINE_USUAL_BUT(slots, uint16_t)
DEFINE_USUAL_BUT(tag_bits, uint8_t)

/* The published format has code 0 there; but terms of zeros are typed, as libswagg's are by default. */
TEST(formats_have_codes_of_their_own_on_the_wire)
{
    static const uint8_t codes[XFER_FORMATS] = {
        [XFER_FORMAT_INT32] = 0, [XFER_FORMAT_TYPED] = 1, [XFER_FORMAT_FP16] = 2};
    const struct sml_terms zeros = {.slots = 0};

    for (enum xfer_format f = 0; f < XFER_FORMATS; f++) {
        const struct agg_terms terms = terms_of(usual_but_format(f));
        struct sml_terms back;

        CU_ASSERT_EQUAL(terms.data[0], codes[f]);
        CU_ASSERT(sml_terms_parse(&back, &terms) && back.format == f);
    }
    CU_ASSERT_EQUAL(zeros.format, XFER_FORMAT_TYPED);
}

TEST(terms_survive_the_wire)
{
    const struct sml_terms t = {.format = XFER_FORMAT_TYPED,
                                .mode = XFER_ORDERED,
                                .checksum = XFER_CHECKSUM_CRC32C,
                                .slots = 0x1234,
                                .chunk_bytes = 0x1f40,
                                .resumed = true,
                                .first_tag = 0x89abcdef,
                                .tag_bits = 20,
                                .plain = true,
                                .keyed = true,
                                .table = {.code = 10, .values = {0, 7, 9, 12}},
                                .compression = 0x01234567,
                                .quorum = 0x0304,
                                .wait_ms = 500,
                                .empties = true,
                                .place = 1,
                                .places = 3,
                                .list = 0x89abcdef,
                                .local = 3,
                                .lanes = 5,
                                .rated = true};
    static const uint8_t
        bytes[SML_TERMS_BYTES] = {1,    1,    1,    1,    0x12, 0x34, 0x1f, 0x40, 0x89,
                                  0xab, 0xcd, 0xef, 20,   1,    0,    0,    1, /* up to keyed */
                                  10,   0,    7,    9,    12,   0,    0,    0,    0,
                                  0,    0,    0,    0,    0,    0,    0,    0, /* table */
                                  0x01, 0x23, 0x45, 0x67, 0x03, 0x04, 0x01, 0xf4, 1,
                                  1,    3,    0x89, 0xab, 0xcd, 0xef, 3,    5,    2};
    struct agg_terms terms = terms_of(t);
    struct sml_terms back;

    CU_ASSERT(terms.protocol == AGG_PROTOCOL_SWITCHML && terms.version == SML_TERMS_VERSION);
    CU_ASSERT(terms.bytes == SML_TERMS_BYTES && memcmp(terms.data, bytes, sizeof bytes) == 0);
    CU_ASSERT_FATAL(sml_terms_parse(&back, &terms));
    CU_ASSERT(back.format == t.format && back.mode == t.mode && back.checksum == t.checksum);
    CU_ASSERT(back.slots == t.slots && back.chunk_bytes == t.chunk_bytes && back.resumed);
    CU_ASSERT(back.first_tag == t.first_tag && back.tag_bits == t.tag_bits && back.plain && back.keyed);
    CU_ASSERT(back.table.code == 10 && back.compression == t.compression);
    CU_ASSERT(memcmp(&back.table, &t.table, sizeof t.table) == 0);
    CU_ASSERT(back.quorum == t.quorum && back.wait_ms == t.wait_ms && back.empties && !back.interleaved);
    CU_ASSERT(back.place == 1 && back.places == 3 && back.list == t.list && back.local == 3);
    CU_ASSERT(back.lanes == 5 && back.rated);

    terms.bytes++; /* a later version may append */
    CU_ASSERT(sml_terms_parse(&back, &terms));
    terms.data[SML_TERMS_BYTES - 1] = 1; /* measured in another way */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.lanes == 5 && !back.rated);
    terms.bytes = SML_TERMS_BYTES - 1; /* those of before links were measured */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.lanes == 5 && !back.rated);
    terms.bytes = SML_TERMS_BYTES - 2; /* of before threads shared calls */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.local == 3 && back.lanes == 0);
    terms.bytes = SML_TERMS_BYTES - 3; /* of before ranks said whether they share memory */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.places == 3 && back.local == 0);
    terms.bytes = SML_TERMS_BYTES - 9; /* of before switches shared calls */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.empties && back.places == 0 && back.list == 0);
    terms.bytes = SML_TERMS_BYTES - 10; /* of before contributions might be empty */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.quorum == t.quorum && !back.empties);
    terms.bytes = SML_TERMS_BYTES - 11; /* of before there were quorums */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.table.code == 10 && back.quorum == 0);
    terms.bytes = SML_TERMS_BYTES - 15; /* of before there were tables */
    CU_ASSERT(sml_terms_parse(&back, &terms) && back.keyed && back.table.code == 0 && back.compression == 0);
    terms.bytes = SML_TERMS_BYTES_LEAST; /* and of before there were keyed packets */
    CU_ASSERT(sml_terms_parse(&back, &terms) && !back.keyed);
    terms.bytes = SML_TERMS_BYTES_LEAST - 1;
    CU_ASSERT(!sml_terms_parse(&back, &terms));
    terms.bytes = AGG_TERMS_MAX + 1;
    CU_ASSERT(!sml_terms_parse(&back, &terms));
    terms = terms_of(t);
    terms.protocol++;
    CU_ASSERT(!sml_terms_parse(&back, &terms));
    terms = terms_of(t);
    terms.version++;
    CU_ASSERT(!sml_terms_parse(&back, &terms));
}

/* Whether the wish is refused, with these words in the reason. */
static bool is_refused(struct sml_terms wish, const char *words)
{
    const struct agg_terms terms = terms_of(wish);
    char text[AGG_TEXT_MAX] = "";

    return !sml_protocol.check(&terms, wish.resumed, text) && strstr(text, words) != NULL;
}

/* The usual terms, but for one field. */
TEST(wishes_out_of_range_are_refused_in_words)
{
    struct sml_terms t = usual;
    struct agg_terms terms = terms_of(usual);
    char text[AGG_TEXT_MAX];

    CU_ASSERT(sml_protocol.check(&terms, false, text));
    terms.data[0] = 3;
    CU_ASSERT(!sml_protocol.check(&terms, false, text) && strstr(text, "packet format 3") != NULL);
    CU_ASSERT(is_refused(usual_but_mode(2), "mode 2"));
    CU_ASSERT(is_refused(usual_but_checksum(2), "checksum 2"));
    CU_ASSERT(is_refused(usual_but_slots(1), "2 to 16384 slots, not 1"));
    CU_ASSERT(is_refused(usual_but_slots(16385), "not 16385"));
    CU_ASSERT(is_refused(usual_but_chunk_bytes(60), "64 to 8960 bytes, a multiple of 4, not 60"));
    CU_ASSERT(is_refused(usual_but_chunk_bytes(66), "not 66"));
    CU_ASSERT(is_refused(usual_but_chunk_bytes(8964), "not 8964"));
    CU_ASSERT(is_refused(usual_but_tag_bits(12), "replayed"));
    t.format = XFER_FORMAT_INT32;
    t.checksum = XFER_CHECKSUM_CRC32C;
    CU_ASSERT(is_refused(t, "int32 elements with exponents have no checksum"));
    t.format = XFER_FORMAT_FP16;
    CU_ASSERT(is_refused(t, "fp16 elements with exponents have no checksum"));
    t = usual;
    t.plain = true;
    CU_ASSERT(is_refused(t, "typed elements are not the published ones"));
    t.format = XFER_FORMAT_INT32;
    t.chunk_bytes = 124;
    CU_ASSERT(is_refused(t, "chunks of 128 bytes at least, not 124"));
    t = usual;
    t.resumed = true;
    t.slots = 500;
    CU_ASSERT(is_refused(t, "500 slots, not a power of two"));
    t.slots = 512;
    terms = terms_of(t);
    CU_ASSERT(sml_protocol.check(&terms, true, text));
    CU_ASSERT(!sml_protocol.check(&terms, false, text) && strstr(text, "the rank is new") != NULL);
    terms = terms_of(usual);
    terms.version = 9;
    CU_ASSERT(!sml_protocol.check(&terms, false, text) && strstr(text, "version 9") != NULL);
}

static bool differ(struct sml_terms a, struct sml_terms b, const char *first, const char *second)
{
    const struct agg_terms wish = terms_of(a), other = terms_of(b);
    struct agg_difference d = {0};

    return sml_protocol.differ(&wish, &other, &d) && strcmp(d.first, first) == 0 &&
           strcmp(d.second, second) == 0;
}

TEST(wishes_that_cannot_both_be_granted)
{
    const struct agg_terms wish = terms_of(usual), other = terms_of(usual_but_slots(2));
    struct agg_difference d;

    CU_ASSERT(differ(usual_but_format(XFER_FORMAT_INT32), usual, "int32 elements with exponents",
                     "typed elements"));
    CU_ASSERT(differ(usual, usual_but_mode(XFER_ON_ARRIVAL), "ordered sums", "sums on arrival"));
    CU_ASSERT(differ(usual_but_checksum(XFER_CHECKSUM_CRC32C), usual, "packets with a CRC32C",
                     "packets without a checksum"));
    CU_ASSERT(differ(usual_but_format(XFER_FORMAT_FP16), usual_but_format(XFER_FORMAT_INT32),
                     "fp16 elements with exponents", "int32 elements with exponents"));
    CU_ASSERT(differ(usual_but_plain(true), usual, "published packets only", "packets of all kinds"));
    CU_ASSERT(!sml_protocol.differ(&wish, &other, &d)); /* the least of both will do */
}

static struct sml_terms behind(uint8_t place, uint8_t places, uint32_t list)
{
    struct sml_terms t = usual;

    t.place = place;
    t.places = places;
    t.list = list;
    return t;
}

TEST(links_have_an_order)
{
    CU_ASSERT(differ(behind(1, 3, 0), behind(0, 3, 0), "this switch behind its second link",
                     "this switch behind its first link"));
    CU_ASSERT(differ(behind(0, 2, 0), behind(0, 3, 0), "one number of switches that share calls", "another"));
    CU_ASSERT(differ(behind(0, 2, 0), usual, "one number of switches that share calls", "another"));
}

static bool grant_by(const struct agg_limits *limits, const struct sml_terms wishes[RANKS],
                     struct sml_terms *granted)
{
    struct agg_terms wish[RANKS], terms;

    for (unsigned r = 0; r < RANKS; r++)
        wish[r] = terms_of(wishes[r]);
    return sml_protocol.grant(wish, RANKS, limits, &terms, &why) && sml_terms_parse(granted, &terms);
}

static bool grant(const struct sml_terms wishes[RANKS], uint16_t payload_bytes, struct sml_terms *granted)
{
    const struct agg_limits limits = {.payload_bytes = payload_bytes, .random = UINT64_C(0x1111111122222222)};

    return grant_by(&limits, wishes, granted);
}

TEST(a_new_job_gets_the_least_of_all_wishes)
{
    struct sml_terms wishes[RANKS] = {usual, usual_but_slots(300), usual_but_chunk_bytes(512), usual}, t;

    CU_ASSERT_FATAL(grant(wishes, 0, &t));
    CU_ASSERT(t.format == usual.format && t.mode == usual.mode && t.checksum == usual.checksum);
    CU_ASSERT(t.slots == 256 && t.chunk_bytes == 512 && !t.resumed && t.first_tag == 0x22222222);

    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r].chunk_bytes = 8960;
        wishes[r].checksum = XFER_CHECKSUM_CRC32C;
    }
    CU_ASSERT_FATAL(grant(wishes, 1472, &t));
    CU_ASSERT_EQUAL(t.chunk_bytes, (1472 - SML_HEADER_BYTES - XFER_TRAILER_BYTES) / 4 * 4);
    CU_ASSERT_FATAL(grant(wishes, 9172, &t));
    CU_ASSERT_EQUAL(t.chunk_bytes, 8960);
}

static bool grant_keyed(const struct sml_terms wishes[RANKS], uint16_t payload_bytes,
                        struct sml_terms *granted)
{
    const struct agg_limits limits = {.payload_bytes = payload_bytes, .keyed = true};

    return grant_by(&limits, wishes, granted);
}

/* Every rank's path carries what it wished for, with the checksum that it wished for. */
TEST(keyed_packets_fit_where_others_fitted)
{
    struct sml_terms wishes[RANKS], t;

    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r] = usual_but_chunk_bytes(1460);
        wishes[r].keyed = true;
    }
    CU_ASSERT(grant(wishes, 0, &t) && !t.keyed && t.chunk_bytes == 1460);
    CU_ASSERT(grant_keyed(wishes, 0, &t) && t.keyed && t.chunk_bytes == 1452);
    CU_ASSERT_EQUAL(sml_terms_checksum(&t), XFER_CHECKSUM_KEYED);
    CU_ASSERT(grant_keyed(wishes, 1000, &t) && t.chunk_bytes == (1000 - 18) / 4 * 4);
    for (unsigned r = 0; r < RANKS; r++)
        wishes[r].checksum = XFER_CHECKSUM_CRC32C;
    CU_ASSERT(grant_keyed(wishes, 0, &t) && t.chunk_bytes == 1456);
    wishes[1].chunk_bytes = 1000;
    CU_ASSERT(grant_keyed(wishes, 0, &t) && t.chunk_bytes == 996);
}

static const struct sml_table four_bits = {4, {0, 3, 5, 7, 9, 11, 13, 14, 15, 17, 19, 21, 23, 25, 27, 30}};

DEFINE_USUAL_BUT(table, struct sml_table)
DEFINE_USUAL_BUT(compression, uint32_t)

TEST(tables_are_checked_and_must_be_the_same)
{
    struct sml_table other = four_bits;
    struct sml_terms t;

    CU_ASSERT(!is_refused(usual_but_table(four_bits), ""));
    other.values[15] = 27;
    CU_ASSERT(is_refused(usual_but_table(other), "the table of code 0x04 is none of 1 to 4 bits"));
    other.values[15] = 31;
    CU_ASSERT(
        differ(usual_but_table(four_bits), usual, "compression to 4 bits, sums of 8", "no compression"));
    CU_ASSERT(differ(usual_but_table(four_bits), usual_but_table(other),
                     "one granularity, fraction and block of compression", "others"));
    CU_ASSERT(differ(usual_but_compression(1), usual_but_compression(2),
                     "one granularity, fraction and block of compression", "others"));
    t = usual_but_table(four_bits);
    t.format = XFER_FORMAT_INT32;
    CU_ASSERT(is_refused(t, "int32 elements with exponents cannot be compressed"));
    t = usual_but_table(four_bits);
    t.chunk_bytes = SML_LOOK_UP_CHUNK_MIN - 4;
    CU_ASSERT(is_refused(t, "chunks of 128 bytes at least, not 124"));
}

/* As lines say it: "compression to 4 bits, sums of 8". */
TEST(a_table_is_listed_in_words)
{
    struct agg_term list[AGG_LISTED_TERMS];
    const struct agg_terms terms = terms_of(usual_but_table(four_bits));
    const unsigned n = sml_terms_list(&terms, list);
    unsigned found = 0;

    for (unsigned i = 0; i < n; i++)
        if (strcmp(list[i].name, "compression") == 0 && ++found)
            CU_ASSERT_STRING_EQUAL(list[i].word, "to 4 bits, sums of 8");
    CU_ASSERT_EQUAL(found, 1);
}

/* 30 * 8 = 240 is the last that fits 8 bits; of 16 bits they always do. */
TEST(sums_that_might_not_fit_are_refused)
{
    enum { MANY = 9 };
    const struct agg_limits limits = {.random = 1};
    struct sml_terms t = usual_but_table(four_bits);
    struct agg_terms wish[MANY], granted;

    for (unsigned r = 0; r < MANY; r++)
        wish[r] = terms_of(t);
    CU_ASSERT(sml_protocol.grant(wish, MANY - 1, &limits, &granted, &why));
    CU_ASSERT_FATAL(sml_terms_parse(&t, &granted) && memcmp(&t.table, &four_bits, sizeof four_bits) == 0);
    CU_ASSERT(!sml_protocol.grant(wish, MANY, &limits, &granted, &why));
    CU_ASSERT_STRING_EQUAL(why.text,
                           "a granularity of 30 times 9 ranks does not fit sums of 8 bits: compress with a "
                           "granularity of 28 at most, or sums of 16 bits");
    t.table.code |= SML_WIDE_SUMS;
    for (unsigned r = 0; r < MANY; r++)
        wish[r] = terms_of(t);
    CU_ASSERT(sml_protocol.grant(wish, MANY, &limits, &granted, &why));
}

/* Whether a rank that wished for this takes a job of these terms. */
static bool accepts(struct sml_terms wish, struct sml_terms job)
{
    const struct agg_terms wished = terms_of(wish), granted = terms_of(job);
    uint32_t progress;

    return sml_worker.accept(&wished, &granted, &progress);
}

/* A switch that is too old grants none. */
TEST(a_rank_takes_its_own_table_or_none)
{
    CU_ASSERT(accepts(usual_but_table(four_bits), usual_but_table(four_bits)));
    CU_ASSERT(accepts(usual_but_table(four_bits), usual));
    CU_ASSERT(!accepts(usual, usual_but_table(four_bits)));
}

TEST(what_cannot_be_keyed_is_refused_and_says_what_lifts_it)
{
    struct sml_terms wishes[RANKS] = {usual, usual, usual, usual}, t;

    for (unsigned r = 0; r < RANKS; r++)
        wishes[r].keyed = r != 2; /* whose libswagg does not know of it */
    CU_ASSERT(!grant_keyed(wishes, 0, &t));
    CU_ASSERT(why.rank == 2 && strstr(why.text, "set the tenant's data_keys to false") != NULL);
    wishes[2].keyed = true;
    CU_ASSERT(grant_keyed(wishes, 0, &t));
    CU_ASSERT(!grant_keyed(wishes, 80, &t));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "64 bytes at least, there is room for 60"));
    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r].plain = true;
        wishes[r].format = XFER_FORMAT_INT32;
    }
    CU_ASSERT(!grant_keyed(wishes, 0, &t));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "data_keys: false"));
}

/* Whatever the tenant's data_keys are by now. */
TEST(a_resumed_job_stays_keyed_or_not)
{
    struct sml_terms wishes[RANKS] = {usual_but_resumed(true), usual, usual_but_resumed(true), usual}, t;

    wishes[1].keyed = true; /* it can */
    CU_ASSERT(grant_keyed(wishes, 0, &t) && !t.keyed);
    wishes[0].keyed = wishes[2].keyed = true;
    CU_ASSERT(grant(wishes, 0, &t) && t.keyed);
    wishes[2].keyed = false;
    CU_ASSERT(!grant(wishes, 0, &t));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "rank 0 were keyed, those of rank 2 were not keyed"));
}

TEST(a_rank_without_a_key_takes_no_keyed_terms)
{
    struct sml_terms wish = usual, job = usual;
    struct agg_terms granted;

    job.keyed = true;
    CU_ASSERT(!accepts(wish, job));
    wish.keyed = true;
    CU_ASSERT(accepts(wish, job));
    granted = terms_of(job);
    granted = sml_worker.resume(&granted, 7);
    CU_ASSERT(sml_terms_parse(&job, &granted) && job.keyed && job.resumed && job.first_tag == 7);
}

TEST(a_keyed_pool_needs_the_secret)
{
    static const struct keys_secret shared = {.library = &toy_library};
    struct sml_terms t = usual;
    struct agg_pool_config cfg = {.workers = RANKS, .kernels = kernels_or_exit()};
    struct agg_footprint f, without;

    cfg.terms = terms_of(t);
    CU_ASSERT(sml_protocol.footprint(&cfg, &without));
    t.keyed = true;
    cfg.terms = terms_of(t);
    CU_ASSERT(!sml_protocol.footprint(&cfg, &f));
    cfg.shared = &shared;
    CU_ASSERT_FATAL(sml_protocol.footprint(&cfg, &f));
    CU_ASSERT(f.payload_bytes == SML_HEADER_BYTES + 1024 + XFER_AUTH_BYTES && !f.checked);
    CU_ASSERT(f.bytes > without.bytes + 1024);
}

TEST(published_packets_have_published_lengths)
{
    static const struct {
        uint16_t wish, get;
    } lengths[] = {{1460, 1024}, {1024, 1024}, {1020, 512}, {128, 128}};
    struct sml_terms wishes[RANKS], t;

    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (unsigned r = 0; r < RANKS; r++) {
            wishes[r] = usual_but_chunk_bytes(lengths[i].wish);
            wishes[r].format = XFER_FORMAT_INT32;
            wishes[r].plain = true;
        }
        CU_ASSERT_FATAL(grant(wishes, 0, &t));
        CU_ASSERT(t.plain && t.chunk_bytes == lengths[i].get && sml_terms_published(&t));
    }
    CU_ASSERT(!grant(wishes, 100, &t));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "128 bytes at least, there is room for 88"));
}

/* A switch may know nothing else, though nobody wished so. */
TEST(a_rank_goes_by_published_packets_if_the_switch_says_so)
{
    const struct sml_terms wish = usual_but_format(XFER_FORMAT_INT32);
    struct sml_terms published = wish, odd;

    published.plain = true;
    CU_ASSERT(accepts(wish, published));
    odd = published;
    odd.chunk_bytes = 1020;
    CU_ASSERT(!accepts(wish, odd));
    CU_ASSERT(accepts(published, published)); /* and who wished so is not given others */
    CU_ASSERT(!accepts(published, wish));
}

/* Ranks 1 and 3 resume, from these chunks; the others begin. */
static void wish_to_resume(struct sml_terms wishes[RANKS], uint32_t tag1, uint32_t tag3)
{
    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r] = usual_but_slots(8192);
        if (r % 2 == 0)
            continue;
        wishes[r].slots = 64;
        wishes[r].resumed = true;
        wishes[r].first_tag = r == 1 ? tag1 : tag3;
    }
}

TEST(a_resumed_job_goes_on_where_the_last_rank_is)
{
    struct sml_terms wishes[RANKS], t;

    wish_to_resume(wishes, 30, UINT32_MAX - 10);
    CU_ASSERT_FATAL(grant(wishes, 1472, &t));
    CU_ASSERT(t.resumed && t.slots == 64 && t.chunk_bytes == 1024 && t.first_tag == UINT32_MAX - 10);

    wish_to_resume(wishes, 100, 165);
    CU_ASSERT(!grant(wishes, 1472, &t));
    CU_ASSERT(why.rank == UINT16_MAX && strstr(why.text, "65 chunks apart") != NULL);
    wish_to_resume(wishes, 100, 164);
    CU_ASSERT(grant(wishes, 1472, &t));

    wishes[3].chunk_bytes = 512;
    CU_ASSERT(!grant(wishes, 1472, &t));
    CU_ASSERT(why.rank == 3 && strstr(why.text, "rank 1 had 64 slots and 1024 bytes") != NULL);
}

/* All ranks resume a job of 64 slots with a quorum of 3. */
static bool resume_with_a_quorum(const uint32_t tags[RANKS], struct sml_terms *t)
{
    struct sml_terms wishes[RANKS];

    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r] = usual_but_slots(64);
        wishes[r].resumed = true;
        wishes[r].quorum = 3;
        wishes[r].first_tag = tags[r];
    }
    return grant(wishes, 1472, t);
}

/* Chunks are closed by a quorum, whose ranks are all near the last one: else one rank that lies would have
 * all others do without what they have yet to sum. */
TEST(a_quorum_is_near_the_rank_that_is_furthest)
{
    struct sml_terms t;

    CU_ASSERT_FATAL(resume_with_a_quorum((const uint32_t[]){100, 1060, 1010, 996}, &t));
    CU_ASSERT_EQUAL(t.first_tag, 1060 - 64);
    CU_ASSERT(!resume_with_a_quorum((const uint32_t[]){100, 1060, 1010, 995}, &t));
    CU_ASSERT(why.rank == 1 && strstr(why.text, "960 chunks ahead") && strstr(why.text, "only 2"));

    CU_ASSERT(!resume_with_a_quorum((const uint32_t[]){1 << 30, 100, 101, 100}, &t));
    CU_ASSERT(why.rank == 0 && strstr(why.text, "rank 0 says") && strstr(why.text, "only 1"));
}

/* Rank 2 never was READY; a quorum may have made sums without it, and be in the midst of any call. */
TEST(a_rank_that_a_quorum_may_have_left_behind_cannot_begin)
{
    struct sml_terms wishes[RANKS], t;

    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r] = usual_but_slots(64);
        wishes[r].resumed = r != 2;
        wishes[r].first_tag = 100;
        wishes[r].quorum = 3;
    }
    CU_ASSERT_FATAL(!grant(wishes, 1472, &t));
    CU_ASSERT(why.rank == 2 && strstr(why.text, "rank 2 had not begun") && strstr(why.text, "3 others"));

    wishes[1].resumed = false; /* those that were READY were too few for any sum */
    CU_ASSERT(grant(wishes, 1472, &t) && t.first_tag == 100);
    for (unsigned r = 0; r < RANKS; r++)
        wishes[r].quorum = RANKS;
    wishes[1].resumed = true;
    CU_ASSERT(grant(wishes, 1472, &t) && t.first_tag == 100);
}

/* New to the switch, though its ranks are in the midst of it; and after that as any other. */
TEST(a_job_may_come_from_another_switch)
{
    struct sml_terms mine = usual_but_resumed(true), t;
    struct agg_terms from_there, granted;
    struct agg_difference d;
    char text[AGG_TEXT_MAX];

    mine.slots = 64;
    const struct agg_terms there = terms_of(mine), newcomer = terms_of(usual);
    from_there = sml_worker.move(&there, 77);
    CU_ASSERT(sml_protocol.check(&from_there, false, text));
    CU_ASSERT(!sml_protocol.check(&from_there, true, text));
    CU_ASSERT(sml_protocol.differ(&newcomer, &from_there, &d));
    const struct agg_terms wishes[] = {sml_worker.move(&there, 80), from_there};
    CU_ASSERT(sml_protocol.grant(wishes, 2, &(struct agg_limits){0}, &granted, &why));
    CU_ASSERT(sml_terms_parse(&t, &granted) && t.resumed && !t.moved && t.first_tag == 77 && t.slots == 64);
    from_there = sml_worker.resume(&granted, 90);
    CU_ASSERT(sml_protocol.check(&from_there, true, text));
}

/* Through a switch below it. */
TEST(what_is_passed_on_still_comes_from_another_switch)
{
    const struct agg_limits up = {.passed_on = true};
    struct sml_terms mine = usual_but_resumed(true), t;
    struct agg_terms granted;

    mine.slots = 64;
    const struct agg_terms there = terms_of(mine), wish = sml_worker.move(&there, 77);
    CU_ASSERT(sml_protocol.grant(&wish, 1, &up, &granted, &why));
    CU_ASSERT(sml_terms_parse(&t, &granted) && t.resumed && t.moved && t.first_tag == 77);
}

TEST(terms_are_lowered_by_halves_but_not_of_a_resumed_job)
{
    struct agg_terms terms = terms_of(usual_but_slots(8));
    struct sml_terms t;

    CU_ASSERT(sml_protocol.lower(&terms) && sml_terms_parse(&t, &terms));
    CU_ASSERT_EQUAL(t.slots, 4);
    CU_ASSERT(sml_protocol.lower(&terms) && sml_terms_parse(&t, &terms));
    CU_ASSERT_EQUAL(t.slots, 2);
    CU_ASSERT(!sml_protocol.lower(&terms));
    terms = terms_of(usual_but_resumed(true));
    CU_ASSERT(!sml_protocol.lower(&terms));
}

TEST(terms_can_be_listed)
{
    const struct agg_terms terms = terms_of(usual);
    struct agg_term list[AGG_LISTED_TERMS];
    const unsigned n = sml_protocol.list(&terms, list);

    CU_ASSERT_EQUAL_FATAL(n, 6);
    CU_ASSERT(strcmp(list[1].name, "mode") == 0 && strcmp(list[1].word, "ordered") == 0);
    CU_ASSERT(strcmp(list[3].name, "slots") == 0 && list[3].word == NULL && list[3].number == 512);
}

TEST(what_a_pool_takes_follows_from_the_terms)
{
    struct agg_pool_config cfg = {.workers = RANKS,
                                  .terms = terms_of(usual_but_checksum(XFER_CHECKSUM_CRC32C)),
                                  .kernels = kernels_or_exit()};
    struct agg_footprint f;

    CU_ASSERT_FATAL(sml_protocol.footprint(&cfg, &f));
    CU_ASSERT(f.slots == 512 && f.buffers == 1024 && f.checked);
    CU_ASSERT_EQUAL(f.payload_bytes, SML_HEADER_BYTES + 1024 + XFER_TRAILER_BYTES);
    CU_ASSERT(f.bytes > 512 * (2 + RANKS - 1) * 1024);
    cfg.terms = terms_of(usual_but_slots(500));
    CU_ASSERT(!sml_protocol.footprint(&cfg, &f));
    cfg.terms.protocol = 0;
    CU_ASSERT(!sml_protocol.footprint(&cfg, &f));
}

/* Older switches leave what they do not know out of what they grant. */
TEST(contributions_may_be_empty_where_all_ranks_wish_so)
{
    const struct agg_limits limits = {.random = 7};
    struct sml_terms wishes[RANKS], granted;

    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r] = usual;
        wishes[r].empties = true;
    }
    CU_ASSERT(grant_by(&limits, wishes, &granted) && granted.empties);
    wishes[2].empties = false;
    CU_ASSERT(grant_by(&limits, wishes, &granted) && !granted.empties);
    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r].empties = true;
        wishes[r].quorum = 2;
    }
    CU_ASSERT(grant_by(&limits, wishes, &granted) && granted.quorum == 2 && !granted.empties);
    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r].quorum = 0;
        wishes[r].format = XFER_FORMAT_FP16;
    }
    CU_ASSERT(grant_by(&limits, wishes, &granted) && !granted.empties);
}

/* An older switch grants contributions that may be empty, and no more. */
TEST(blocks_are_interleaved_where_all_ranks_and_the_switch_know_it)
{
    const struct agg_limits limits = {.random = 7};
    struct sml_terms wishes[RANKS], granted;
    struct agg_terms wire;

    for (unsigned r = 0; r < RANKS; r++) {
        wishes[r] = usual;
        wishes[r].empties = wishes[r].interleaved = true;
    }
    wire = terms_of(wishes[0]);
    CU_ASSERT_EQUAL(wire.data[42], 2);
    CU_ASSERT(grant_by(&limits, wishes, &granted) && granted.empties && granted.interleaved);
    wishes[2].interleaved = false;
    wire = terms_of(wishes[2]);
    CU_ASSERT_EQUAL(wire.data[42], 1);
    CU_ASSERT(grant_by(&limits, wishes, &granted) && granted.empties && !granted.interleaved);
}

/* Ranks that go on must not lay out a call in another way than those that begin. */
TEST(a_rank_accepts_interleaved_blocks_as_it_wished)
{
    struct sml_terms mine = usual, job = usual;

    mine.empties = job.empties = job.interleaved = true;
    CU_ASSERT(!accepts(mine, job));
    mine.interleaved = true;
    CU_ASSERT(accepts(mine, job));
    job.interleaved = false;
    CU_ASSERT(accepts(mine, job));
    mine.resumed = true;
    CU_ASSERT(!accepts(mine, job));
}

/* A rank does not take what it has not wished for, nor goes on without what its calls may need. */
TEST(a_rank_accepts_empty_contributions_as_it_wished)
{
    struct sml_terms mine = usual, job = usual;

    CU_ASSERT(accepts(mine, job));
    job.empties = true;
    CU_ASSERT(!accepts(mine, job));
    mine.empties = true;
    CU_ASSERT(accepts(mine, job));
    CU_ASSERT(accepts(mine, usual)); /* an older switch: the job has no such calls */
    mine.resumed = true;
    CU_ASSERT(!accepts(mine, usual));
}

DEFINE_USUAL_BUT(lanes, uint8_t)
DEFINE_USUAL_BUT(local, uint8_t)

/* What three ranks are granted. */
static struct sml_terms granted_of(struct sml_terms (*wish_of)(uint8_t), const uint8_t values[3])
{
    const struct agg_terms wishes[] = {terms_of(wish_of(values[0])), terms_of(wish_of(values[1])),
                                       terms_of(wish_of(values[2]))};
    const struct agg_limits limits = {.payload_bytes = 1472};
    struct agg_terms granted;
    struct sml_terms t;

    CU_ASSERT_FATAL(sml_terms_grant(wishes, 3, &limits, &granted, &why));
    CU_ASSERT_FATAL(sml_terms_parse(&t, &granted));
    return t;
}

/* Ranks of older versions, which say nothing of threads, share calls among none. */
TEST(the_least_count_of_threads_holds)
{
    static const struct {
        uint8_t wish[3], granted;
    } cases[] = {{{4, 2, 8}, 2}, {{1, 8, 8}, 1}, {{8, 8, 0}, 0}, {{0, 0, 0}, 0}, {{3, 3, 3}, 3}};

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(granted_of(usual_but_lanes, cases[i].wish).lanes, cases[i].granted);
}

/* Ranks that compare the addresses of their switches, as older ones do, are told theirs; others have none. */
TEST(ranks_may_name_other_leaves)
{
    static const struct {
        uint32_t list[3];
        bool granted;
    } cases[] = {{{0, 0, 0}, true}, {{7, 7, 7}, true},  {{0, 7, 0}, true},
                 {{7, 0, 7}, true}, {{7, 0, 9}, false}, {{0, 7, 9}, false}};
    struct agg_difference d;
    uint32_t progress;

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct agg_terms wish[3], granted;
        for (unsigned r = 0; r < 3; r++)
            wish[r] = terms_of(behind(1, 2, cases[i].list[r]));
        CU_ASSERT_EQUAL(sml_protocol.grant(wish, 3, &(struct agg_limits){0}, &granted, &why),
                        cases[i].granted);
        for (unsigned r = 0; r < 3 && cases[i].granted; r++) {
            struct sml_terms t;
            CU_ASSERT(sml_worker.accept(&wish[r], &granted, &progress));
            CU_ASSERT(sml_terms_parse(&t, &granted) && (cases[i].list[r] == 0 || t.list == cases[i].list[r]));
        }
        CU_ASSERT(cases[i].granted || (why.rank == 2 && strstr(why.text, "rank 2 wants one list")));
    }
    const struct agg_terms none = terms_of(behind(1, 2, 0)), seven = terms_of(behind(1, 2, 7));
    CU_ASSERT(!sml_protocol.differ(&none, &seven, &d) && !sml_protocol.differ(&seven, &none, &d));
    CU_ASSERT(differ(behind(1, 2, 9), behind(1, 2, 7), "one list of switches that share calls", "another"));
}

/* All that ranks say of it must be of one version; one that has found another tells it for all. */
TEST(places_have_fractions_if_all_ranks_know_how)
{
    struct sml_terms mine = usual, other = usual, t;
    struct agg_terms granted;
    uint32_t progress;

    mine.rated = other.rated = true;
    struct agg_terms wishes[] = {terms_of(mine), terms_of(other)};
    CU_ASSERT(sml_protocol.grant(wishes, 2, &(struct agg_limits){0}, &granted, &why));
    CU_ASSERT(sml_terms_parse(&t, &granted) && t.rated);
    CU_ASSERT(sml_worker.accept(&wishes[0], &granted, &progress));
    other.rated = false;
    wishes[1] = terms_of(other);
    CU_ASSERT(!sml_worker.accept(&wishes[1], &granted, &progress));
    CU_ASSERT(sml_protocol.grant(wishes, 2, &(struct agg_limits){0}, &granted, &why));
    CU_ASSERT(sml_terms_parse(&t, &granted) && !t.rated);
}

TEST(ranks_sum_in_shared_memory_if_all_know_it)
{
    static const struct {
        uint8_t wish[3], granted;
    } cases[] = {{{2, 2, 2}, 2}, {{2, 3, 2}, 3}, {{3, 3, 3}, 3}, {{2, 0, 3}, 0},
                 {{0, 3, 3}, 0}, {{2, 4, 2}, 0}, {{0, 0, 0}, 0}, {{3, 5, 3}, 0}};

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(granted_of(usual_but_local, cases[i].wish).local, cases[i].granted);
}
