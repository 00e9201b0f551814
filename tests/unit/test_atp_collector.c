/* The parameter server's side of ATP: parts of a sum, and what becomes of them. */
#include <string.h>

#include "atp/collector.h"
#include "atp/index.h"
#include "atp/protocol.h"
#include "atp/reasons.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "protocol/ranks.h"
#include "random.h"
#include "unit.h"
#include "wire/atp.h"
#include "wire/bytes.h"

enum { BODY = 64, WORDS = BODY / 4, WINDOW = 16, FIRST = 100, LIFE = 77 };

static const uint8_t i32_sum = AGG_SUM << 4 | AGG_I32;

static struct atp_collector *collector;
static struct atp_collector_config cfg;
static struct agg_verdict v;

static void close_collector(void)
{
    free(collector);
    collector = NULL;
}

EACH_TEST(NULL, close_collector)

/* Instead of the one before. */
static void open_collector(uint16_t workers, enum xfer_mode mode)
{
    cfg =
        (struct atp_collector_config){.topology = {.workers = workers, .per_rack = 64, .near = ATP_NOT_NEAR},
                                      .window = WINDOW,
                                      .chunk_bytes = BODY,
                                      .job = 9,
                                      .mode = mode,
                                      .life = LIFE,
                                      .first_sequence = FIRST,
                                      .kernels = kernels_or_exit()};
    close_collector();
    collector = atp_collector_init(room_of(atp_collector_footprint(&cfg)), &cfg);
}

static struct atp_packet gradient(uint32_t sequence, uint64_t ranks)
{
    return (struct atp_packet){.kind = ATP_GRADIENT,
                               .job = 9,
                               .life = LIFE,
                               .sequence = sequence,
                               .root = ATP_ALL,
                               .code = i32_sum,
                               .fan_in0 = 64,
                               .bitmap0 = ranks};
}

static enum atp_reason apply_from(uint16_t rank, const struct atp_packet *p, const uint8_t *body,
                                  size_t bytes)
{
    struct atp_lane *lane = atp_collector_locate(collector, p);
    uint8_t *payload = memory_of(ATP_HEADER_BYTES + bytes + XFER_TRAILER_MAX);

    CU_ASSERT_PTR_NOT_NULL_FATAL(lane);
    atp_build_header(payload, p);
    if (bytes > 0)
        memcpy(payload + ATP_HEADER_BYTES, body, bytes);
    bytes = p->seal == XFER_CHECKSUM_CRC32C ? atp_seal_append(payload, ATP_HEADER_BYTES + bytes, NULL, NULL)
                                            : ATP_HEADER_BYTES + bytes;
    v = (struct agg_verdict){0};
    atp_collector_apply(collector, lane, rank, p, payload, bytes, &v);
    free(payload);
    return v.reason;
}

static enum atp_reason apply_body(const struct atp_packet *p, const uint8_t *body, size_t bytes)
{
    return apply_from((uint16_t)__builtin_ctzll(p->bitmap0), p, body, bytes);
}

/* Rank r contributes 3^r to each element. */
static uint32_t sum_of(uint64_t ranks)
{
    uint32_t sum = 0, power = 1;

    for (unsigned r = 0; r < 64; r++, power *= 3)
        sum += ranks >> r & 1 ? power : 0;
    return sum;
}

static enum atp_reason apply(const struct atp_packet *p)
{
    uint8_t body[BODY];

    for (unsigned i = 0; i < WORDS; i++)
        put_be32(body + 4 * i, sum_of(p->bitmap0) + i);
    return apply_body(p, body, sizeof body);
}

/* As what sends such ranks' sum, perhaps with further flags. */
static enum atp_reason part(uint32_t sequence, uint64_t ranks, uint8_t flags)
{
    struct atp_packet p = gradient(sequence, ranks);
    uint8_t body[BODY];

    p.flags = flags;
    for (unsigned i = 0; i < WORDS; i++)
        put_be32(body + 4 * i, sum_of(ranks) + i * (uint32_t)__builtin_popcountll(ranks));
    return apply_body(&p, body, sizeof body);
}

static void check_result(uint64_t ranks)
{
    const uint32_t n = (uint32_t)__builtin_popcountll(ranks);
    struct atp_packet p;

    CU_ASSERT_EQUAL_FATAL(v.bytes, ATP_HEADER_BYTES + BODY);
    CU_ASSERT_EQUAL(atp_parse(&p, v.payload, v.bytes), ATP_OK);
    CU_ASSERT(p.kind == ATP_PARAMETER && p.job == 9 && p.life == LIFE);
    for (unsigned i = 0; i < WORDS; i++)
        CU_ASSERT_EQUAL(get_be32(v.payload + ATP_HEADER_BYTES + 4 * i), sum_of(ranks) + i * n);
}

TEST(singles)
{
    open_collector(3, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST, 2, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST, 2, 0), ATP_DROP_DUPLICATE);
    CU_ASSERT_EQUAL(part(FIRST, 1, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST, 4, 0), ATP_SEND_ALL);
    check_result(7);
    CU_ASSERT(agg_wants(&v, 0) && agg_wants(&v, 2));
    /* To who asks again; a late copy is no question. */
    CU_ASSERT_EQUAL(part(FIRST, 1, 0), ATP_DROP_DUPLICATE);
    CU_ASSERT_EQUAL(part(FIRST, 1, ATP_RESEND), ATP_SEND_ONE);
    check_result(7);
    /* The sum is there until the next one of its lane is complete. */
    CU_ASSERT_EQUAL(part(FIRST + WINDOW, 1, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST, 4, ATP_RESEND), ATP_SEND_ONE);
    check_result(7);
    CU_ASSERT_EQUAL(part(FIRST + WINDOW, 6, 0), ATP_SEND_ALL);
    CU_ASSERT_EQUAL(part(FIRST, 4, ATP_RESEND), ATP_DROP_STALE);
}

TEST(out_of_the_window)
{
    struct atp_packet p = gradient(FIRST, 1);

    open_collector(2, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST - WINDOW, 1, 0), ATP_DROP_STALE);
    CU_ASSERT_EQUAL(part(FIRST - WINDOW, 1, ATP_RESEND), ATP_DROP_STALE);
    CU_ASSERT_EQUAL(part(FIRST + WINDOW, 1, 0), ATP_DROP_AHEAD);
    p.life++;
    CU_ASSERT_PTR_NULL(atp_collector_locate(collector, &p));
    p = gradient(FIRST, 1), p.kind = ATP_PARAMETER;
    CU_ASSERT_EQUAL(apply(&p), ATP_DROP_BAD_KIND);
}

/* The paper: a packet of all ranks replaces what is there. */
TEST(replaced)
{
    open_collector(4, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST, 1, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST, 0xf, 0), ATP_SEND_ALL);
    check_result(0xf);
    /* So does one of more ranks. */
    CU_ASSERT_EQUAL(part(FIRST + 1, 1, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST + 1, 7, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST + 1, 8, 0), ATP_SEND_ALL);
    check_result(0xf);
}

/* The published prototype's trap: a sum that overlaps with what is in is dropped, and with it the rank that
 * only it brings. Here that rank is asked for at once, by name, and the sum is used if it can be. */
TEST(overlap_loses_nobody)
{
    struct atp_packet p;

    open_collector(4, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST, 3, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST, 6, ATP_RESEND), ATP_SEND_ASK);
    CU_ASSERT(!agg_wants(&v, 0) && !agg_wants(&v, 1) && agg_wants(&v, 2) && !agg_wants(&v, 3));
    CU_ASSERT_EQUAL(v.brief_bytes, 0);
    CU_ASSERT_EQUAL(atp_parse(&p, v.payload, v.bytes), ATP_OK);
    CU_ASSERT_EQUAL(p.kind, ATP_WAITING);
    CU_ASSERT_EQUAL(v.payload[ATP_HEADER_BYTES], 3);
    CU_ASSERT_EQUAL(part(FIRST, 4, ATP_RESEND | ATP_DIRECT), ATP_SEND_ASK); /* it does as asked */
    CU_ASSERT(!agg_wants(&v, 0) && !agg_wants(&v, 1) && agg_wants(&v, 2) && agg_wants(&v, 3));
    CU_ASSERT_EQUAL(v.payload[ATP_HEADER_BYTES], 7);
    CU_ASSERT_EQUAL(part(FIRST, 8, 0), ATP_SEND_ALL);
    check_result(0xf);

    /* The sum aside makes all ranks, together with what comes next. */
    CU_ASSERT_EQUAL(part(FIRST + 1, 3, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST + 1, 0xe, 0), ATP_SEND_ASK);
    CU_ASSERT_EQUAL(part(FIRST + 1, 1, ATP_RESEND), ATP_SEND_ALL);
    check_result(0xf);

    /* What is aside is of no use any more once all of it is in. */
    CU_ASSERT_EQUAL(part(FIRST + 2, 3, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST + 2, 6, 0), ATP_SEND_ASK);
    CU_ASSERT_EQUAL(part(FIRST + 2, 4, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST + 2, 9, 0), ATP_SEND_ASK);
    CU_ASSERT(agg_wants(&v, 3) && !agg_wants(&v, 0));
    CU_ASSERT_EQUAL(part(FIRST + 2, 8, 0), ATP_SEND_ALL);
    check_result(0xf);
}

/* Whatever parts come, in whatever order: once every rank has come alone, there is a sum, and it is right. */
TEST(any_parts)
{
    uint64_t rng = 20;

    for (unsigned round = 0; round < unit_cases(3000); round++) {
        const unsigned n = 1 + (unsigned)rng_below(&rng, 8);
        const uint64_t all = (1u << n) - 1;
        uint64_t alone = 0;
        bool done = false;
        open_collector((uint16_t)n, XFER_ON_ARRIVAL);
        while (!done) {
            const bool single = rng_below(&rng, 2);
            uint64_t ranks = single ? UINT64_C(1) << rng_below(&rng, n) : 1 + rng_below(&rng, all);
            alone |= single ? ranks : 0;
            done = part(FIRST, ranks, single ? ATP_RESEND : 0) == ATP_SEND_ALL;
            CU_ASSERT_FATAL(done || alone != all);
        }
        check_result(all);
    }
}

TEST(waiting_names_who)
{
    open_collector(11, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST, 0x301, 0), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST, 0x100, ATP_RESEND), ATP_SEND_ASK); /* who is missing is told once */
    for (unsigned r = 0; r < 11; r++)
        CU_ASSERT_EQUAL(agg_wants(&v, r), r != 0 && r != 9);
    CU_ASSERT_EQUAL(part(FIRST, 0x200, ATP_RESEND), ATP_SEND_WAITING);
    CU_ASSERT_EQUAL(v.bytes, ATP_HEADER_BYTES + 2);
    CU_ASSERT(v.payload[ATP_HEADER_BYTES] == 1 && v.payload[ATP_HEADER_BYTES + 1] == 3);
}

static enum atp_reason ask(uint32_t sequence, uint16_t rank)
{
    struct atp_packet p = gradient(sequence, UINT64_C(1) << rank);

    p.kind = ATP_ASK;
    p.code = 0;
    return apply_from(rank, &p, NULL, 0);
}

/* Who asks is told who is there, and who is not is asked, once for all that ask; and once more when one of
 * them asks again, for it may not have heard. Of the last chunk who asks gets the result. */
TEST(questions)
{
    open_collector(3, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(ask(FIRST + WINDOW, 0), ATP_DROP_AHEAD);
    CU_ASSERT_EQUAL(part(FIRST, 3, ATP_RESEND), ATP_SEND_ASK);
    CU_ASSERT(agg_wants(&v, 2) && !agg_wants(&v, 1));
    CU_ASSERT_EQUAL(ask(FIRST, 1), ATP_SEND_WAITING);
    CU_ASSERT_EQUAL(v.payload[ATP_HEADER_BYTES], 3);
    CU_ASSERT_EQUAL(ask(FIRST, 2), ATP_SEND_WAITING);
    CU_ASSERT(agg_wants(&v, 2) && !agg_wants(&v, 1));
    CU_ASSERT_EQUAL(ask(FIRST, 1), ATP_SEND_ASK);
    CU_ASSERT(agg_wants(&v, 2) && agg_wants(&v, 1));
    CU_ASSERT_EQUAL(ask(FIRST, 0), ATP_SEND_WAITING);
    CU_ASSERT(!agg_wants(&v, 2));
    CU_ASSERT_EQUAL(part(FIRST, 4, ATP_RESEND | ATP_DIRECT), ATP_SEND_ALL);
    check_result(7);
    CU_ASSERT_EQUAL(ask(FIRST, 1), ATP_SEND_ONE);
    check_result(7);
}

static void open_collector_with_group(uint16_t workers)
{
    open_collector(workers, XFER_ON_ARRIVAL);
    close_collector();
    cfg.has_group = true;
    collector = atp_collector_init(room_of(atp_collector_footprint(&cfg)), &cfg);
}

static void hears_group(uint16_t rank)
{
    struct atp_packet p = gradient(FIRST, UINT64_C(1) << rank);

    p.kind = ATP_GROUP;
    p.flags = ATP_HEARS;
    p.code = 0;
    CU_ASSERT_EQUAL(apply_from(rank, &p, NULL, 0), ATP_HEARS_GROUP);
}

/* The first rank that lacks a result has it alone. Once a second one lacks it, it goes to the group, and that
 * answers whoever else has asked meanwhile; nobody's second question is left unanswered. */
TEST(asked_by_several)
{
    open_collector_with_group(5);
    for (uint16_t r = 0; r < 4; r++)
        hears_group(r);
    CU_ASSERT_EQUAL(part(FIRST, 31, 0), ATP_SEND_ALL);
    CU_ASSERT_EQUAL(ask(FIRST, 0), ATP_SEND_ONE);
    CU_ASSERT_EQUAL(ask(FIRST, 0), ATP_SEND_ONE);
    CU_ASSERT_EQUAL(ask(FIRST, 4), ATP_SEND_ONE); /* it does not hear the group */
    CU_ASSERT_EQUAL_FATAL(ask(FIRST, 1), ATP_SEND_ALL_AGAIN);
    check_result(31);
    for (unsigned r = 0; r < 4; r++)
        CU_ASSERT(agg_grouped(&v, r));
    CU_ASSERT(!agg_wants(&v, 4) && v.brief_bytes == 0);
    CU_ASSERT_EQUAL(ask(FIRST, 2), ATP_DROP_ANSWERED);
    CU_ASSERT_EQUAL(ask(FIRST, 2), ATP_SEND_ONE);
    CU_ASSERT_EQUAL(ask(FIRST, 1), ATP_SEND_ONE);
    CU_ASSERT_EQUAL(ask(FIRST, 0), ATP_SEND_ONE);
    CU_ASSERT_EQUAL(ask(FIRST, 4), ATP_SEND_ONE);
    CU_ASSERT_EQUAL(part(FIRST + WINDOW, 31, 0), ATP_SEND_ALL);
    CU_ASSERT_EQUAL(ask(FIRST + WINDOW, 3), ATP_SEND_ONE); /* of another chunk */
}

/* Of a chunk that ranks have called differently for nobody's contribution counts: all send again, to hear it.
 */
TEST(questions_of_what_differs)
{
    struct atp_packet p = gradient(FIRST, 2);

    open_collector(3, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST, 1, 0), ATP_HELD);
    p.root = 1;
    CU_ASSERT_EQUAL(apply(&p), ATP_SEND_MISMATCH);
    CU_ASSERT_NOT_EQUAL(ask(FIRST, 0), ATP_HELD);
    CU_ASSERT(agg_wants(&v, 0));
    CU_ASSERT_EQUAL(v.payload[ATP_HEADER_BYTES], 0);
}

TEST(foreign_ranks)
{
    struct atp_packet p = gradient(FIRST, 1);

    open_collector(3, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST, 9, 0), ATP_DROP_BAD_RANKS); /* rank 3 of three */
    p.rack = 1;
    CU_ASSERT_EQUAL(apply(&p), ATP_DROP_BAD_RANKS);
    p = gradient(FIRST, 1), p.bitmap1 = 2, p.fan_in1 = 2;
    CU_ASSERT_EQUAL(apply(&p), ATP_DROP_BAD_RANKS);
    p.bitmap1 = 1; /* rack 0, of which rank 0 is named once more */
    CU_ASSERT_EQUAL(apply(&p), ATP_DROP_BAD_RANKS);
    /* A sum is sent by one of its ranks. */
    p = gradient(FIRST, 6);
    CU_ASSERT_EQUAL(apply_from(0, &p, (uint8_t[BODY]){0}, BODY), ATP_DROP_BAD_RANKS);
    CU_ASSERT_EQUAL(part(FIRST, 7, 0), ATP_SEND_ALL);
    check_result(7);
}

/* In ordered mode the bits of a float sum do not depend on who comes first. */
TEST(ordered)
{
    static const float values[] = {1e8f, 1.0f, -1e8f, 0.25f};
    const float expected = ((values[0] + values[1]) + values[2]) + values[3];
    uint64_t rng = 4;

    for (unsigned round = 0; round < 50; round++) {
        uint64_t in = 0;
        open_collector(4, XFER_ORDERED);
        while (in != 0xf) {
            const unsigned rank = (unsigned)rng_below(&rng, 4);
            struct atp_packet p = gradient(FIRST, UINT64_C(1) << rank);
            uint8_t body[BODY];
            p.code = agg_code(AGG_F32, AGG_SUM);
            for (unsigned i = 0; i < WORDS; i++)
                memcpy(body + 4 * i, &values[rank], 4);
            apply_body(&p, body, sizeof body);
            in |= p.bitmap0;
        }
        CU_ASSERT_EQUAL(v.reason, ATP_SEND_ALL);
        for (unsigned i = 0; i < WORDS; i++)
            CU_ASSERT_EQUAL(memcmp(v.payload + ATP_HEADER_BYTES + 4 * i, &expected, 4), 0);
        CU_ASSERT_EQUAL(part(FIRST + 1, 3, 0), ATP_DROP_SUMMED);
    }
}

/* Half precision is added in float32, by the server alone. */
TEST(wide)
{
    struct atp_packet p = gradient(FIRST, 1);
    uint8_t body[BODY];

    for (unsigned i = 0; i < BODY; i += 2)
        put_be16(body + i, 0x003c); /* 1.0, little endian */
    p.code = agg_code(AGG_F16, AGG_AVG);
    open_collector(3, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_HELD);
    p.bitmap0 = 2;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_HELD);
    p.bitmap0 = 7;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_DROP_SUMMED);
    p.bitmap0 = 4;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_SEND_ALL);
    CU_ASSERT_EQUAL(memcmp(v.payload + ATP_HEADER_BYTES, body, BODY), 0);
}

TEST(average)
{
    struct atp_packet p = gradient(FIRST, 1);
    uint8_t body[BODY];

    open_collector(2, XFER_ON_ARRIVAL);
    p.code = agg_code(AGG_I32, AGG_AVG);
    for (unsigned i = 0; i < WORDS; i++)
        put_be32(body + 4 * i, 2 * i);
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_HELD);
    p.bitmap0 = 2;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_SEND_ALL);
    CU_ASSERT_EQUAL(get_be32(v.payload + ATP_HEADER_BYTES + 12), 6);
}

/* A reduce: the root gets the sum, the others are told that there is one. */
TEST(root)
{
    struct atp_packet p = gradient(FIRST, 1);
    const uint8_t body[BODY] = {0};

    open_collector(2, XFER_ON_ARRIVAL);
    p.root = 1;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_HELD);
    p.bitmap0 = 2;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_SEND_ALL);
    CU_ASSERT(!agg_wants(&v, 0) && agg_wants(&v, 1));
    CU_ASSERT(v.bytes == ATP_HEADER_BYTES + BODY && v.brief_bytes == ATP_HEADER_BYTES);
    p.flags = ATP_RESEND, p.bitmap0 = 1;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_SEND_ONE);
    CU_ASSERT_EQUAL(v.bytes, ATP_HEADER_BYTES);
}

/* Ranks that call different things get an error that names both, and never a sum. */
TEST(mismatch)
{
    const struct xfer_call call = {
        .seq = 4, .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = 11};
    struct xfer_call other = call;
    struct atp_packet p = gradient(FIRST, 1);
    struct xfer_mismatch m;
    uint8_t body[BODY] = {0};

    open_collector(3, XFER_ON_ARRIVAL);
    p.flags = ATP_OPENING;
    xfer_build_call(body, &call);
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_HELD);
    other.count = 12;
    xfer_build_call(body, &other);
    p.bitmap0 = 2;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_SEND_MISMATCH);
    CU_ASSERT(xfer_parse_mismatch(&m, v.payload + ATP_HEADER_BYTES, v.bytes - ATP_HEADER_BYTES));
    CU_ASSERT(m.your_rank == 1 && m.peer_rank == 0 && m.yours.count == 12 && m.peers.count == 11 &&
              m.opening);
    /* Whoever asks after that hears it, too. */
    xfer_build_call(body, &call);
    p.bitmap0 = 4, p.flags |= ATP_RESEND;
    CU_ASSERT_EQUAL(apply_body(&p, body, sizeof body), ATP_SEND_MISMATCH);
    CU_ASSERT(xfer_parse_mismatch(&m, v.payload + ATP_HEADER_BYTES, v.bytes - ATP_HEADER_BYTES));
    CU_ASSERT(m.your_rank == 2 && m.peer_rank == 1 && m.yours.count == 11 && m.peers.count == 12);
}

/* The first packet of one call against a later one of another; other lengths, types, roots. */
TEST(mismatches)
{
    const uint8_t body[BODY] = {0};

    for (unsigned what = 0; what < 5; what++) {
        struct atp_packet p = gradient(FIRST, 1);
        size_t bytes = BODY;
        open_collector(2, XFER_ON_ARRIVAL);
        CU_ASSERT_EQUAL(apply_body(&p, body, bytes), ATP_HELD);
        p.bitmap0 = 2;
        p.flags = what == 0 ? ATP_OPENING : 0;
        p.code = what == 1 ? agg_code(AGG_F32, AGG_SUM) : p.code;
        p.root = what == 2 ? 1 : ATP_ALL;
        bytes = what == 3 ? BODY - 4 : BODY;
        CU_ASSERT_EQUAL(apply_body(&p, body, bytes), what == 4 ? ATP_SEND_ALL : ATP_SEND_MISMATCH);
    }
}

static uint16_t next_of(void)
{
    struct atp_packet p;

    CU_ASSERT_EQUAL(atp_parse(&p, v.payload, v.bytes), ATP_OK);
    return p.next;
}

/* A place of the window keeps its aggregator, until another is in it. */
TEST(remapping)
{
    open_collector(2, XFER_ON_ARRIVAL);
    CU_ASSERT_EQUAL(part(FIRST, 3, 0), ATP_SEND_ALL);
    CU_ASSERT_EQUAL(next_of(), atp_index_first(ATP_MAP_REMAP, LIFE, FIRST));
    CU_ASSERT_EQUAL(part(FIRST + WINDOW, 1, ATP_COLLISION | ATP_ECN), ATP_HELD);
    CU_ASSERT_EQUAL(part(FIRST + WINDOW, 2, 0), ATP_SEND_ALL);
    CU_ASSERT_NOT_EQUAL(next_of(), (uint16_t)(LIFE + FIRST));
    CU_ASSERT_EQUAL(v.payload[1], ATP_COLLISION | ATP_ECN);
}

/* What every rank alone says of itself stands for it alone; what its switches make of it, for all. */
TEST(topologies)
{
    uint64_t rng = 9;

    for (unsigned round = 0; round < unit_cases(300); round++) {
        struct atp_topology t = {.workers = (uint16_t)(1 + rng_below(&rng, 200)),
                                 .per_rack = (uint8_t)(1 + rng_below(&rng, 64)),
                                 .near = ATP_NOT_NEAR};
        uint64_t ranks[ATP_RANK_WORDS], children = 0;
        struct atp_packet p, all = {0};
        if (rng_below(&rng, 2))
            t.near = (uint8_t)rng_below(&rng, (t.workers + t.per_rack - 1u) / t.per_rack);
        if (!atp_topology_fits(&t))
            continue;
        for (uint16_t r = 0; r < t.workers; r++) {
            p = (struct atp_packet){0};
            atp_topology_fill(&t, r, &p);
            CU_ASSERT(atp_topology_ranks(&t, &p, ranks));
            CU_ASSERT(ranks_has(ranks, r) && ranks_count(ranks, ATP_RANK_WORDS) == 1);
            children |= UINT64_C(1) << p.child;
            CU_ASSERT((p.bitmap0 == 0) == ((p.flags & ATP_EDGE) != 0));
        }
        CU_ASSERT_EQUAL((unsigned)__builtin_popcountll(children), p.fan_in1);
        all.bitmap1 = children;
        CU_ASSERT(atp_topology_ranks(&t, &all, ranks));
        CU_ASSERT_EQUAL(ranks_count(ranks, ATP_RANK_WORDS), t.workers);
    }
}

TEST(out_of_range)
{
    struct atp_collector_config bad;

    open_collector(2, XFER_ON_ARRIVAL);
    CU_ASSERT_NOT_EQUAL(atp_collector_footprint(&cfg), 0);
    bad = cfg, bad.window = 17;
    CU_ASSERT_EQUAL(atp_collector_footprint(&bad), 0);
    bad = cfg, bad.window = 8;
    CU_ASSERT_EQUAL(atp_collector_footprint(&bad), 0);
    bad = cfg, bad.topology.per_rack = 0;
    CU_ASSERT_EQUAL(atp_collector_footprint(&bad), 0);
    bad = cfg, bad.topology.near = 1;
    CU_ASSERT_EQUAL(atp_collector_footprint(&bad), 0);
    bad = cfg, bad.topology.workers = 65, bad.topology.per_rack = 1;
    CU_ASSERT_EQUAL(atp_collector_footprint(&bad), 0);
}
