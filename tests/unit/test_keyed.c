/* Keyed jobs at the switch and at the rank: what is proven counts, what is not changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "placed.h"
#include "toy_keys.h"
#include "unit.h"

enum { RANKS = 2, SLOTS = 2, CHUNK = 64, COUNT = CHUNK / 4, FIRST = -3, JOB = 9, PAYLOAD_MAX = 256 };

static struct keys_secret shared = {.library = &toy_library};

static struct {
    struct sml_pool *pool;
    struct sml_stream *stream[RANKS];
    int32_t in[RANKS][4 * COUNT], out[RANKS][4 * COUNT];
    struct agg_verdict v; /* the last */
    uint64_t now;
} rig;

struct packet {
    uint8_t payload[PAYLOAD_MAX];
    size_t bytes;
};

static struct sml_pool_config job(uint32_t first_tag, bool resumed)
{
    return (struct sml_pool_config){.workers = RANKS,
                                    .slots = SLOTS,
                                    .chunk_bytes = CHUNK,
                                    .job = JOB,
                                    .checksum = XFER_CHECKSUM_KEYED,
                                    .shared = &shared,
                                    .first_tag = first_tag,
                                    .resumed = resumed,
                                    .kernels = kernels_or_exit()};
}

static struct sml_pool *open_pool(uint32_t first_tag, bool resumed)
{
    const struct sml_pool_config cfg = job(first_tag, resumed);

    return pool_of(&cfg);
}

static void open_rig(void)
{
    const struct sml_pool_config pool = job((uint32_t)FIRST, false);

    memset(&rig, 0, sizeof rig);
    rig.pool = pool_of(&pool);
    rig.now = 1;
    for (uint16_t r = 0; r < RANKS; r++) {
        const struct sml_stream_config cfg = stream_config_of(&pool, r);
        rig.stream[r] = stream_of(&cfg);
        for (unsigned i = 0; i < 4 * COUNT; i++)
            rig.in[r][i] = (int32_t)(100 * r + i);
    }
}

static void close_rig(void)
{
    for (unsigned r = 0; r < RANKS; r++)
        free(rig.stream[r]);
    free(rig.pool);
}

EACH_TEST(open_rig, close_rig)

/* A call of this many elements on all ranks. */
static void begin(uint64_t count)
{
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = count};

    for (unsigned r = 0; r < RANKS; r++)
        CU_ASSERT_EQUAL_FATAL(sml_stream_begin(rig.stream[r], &call, rig.in[r], rig.out[r], rig.now), 0);
}

/* What rank sends next. */
static struct packet next(unsigned rank)
{
    struct xfer_send send;
    struct packet p;

    CU_ASSERT_FATAL(sml_stream_poll(rig.stream[rank], rig.now, &send));
    p.bytes = xfer_send_copy(&send, p.payload);
    return p;
}

/* The pool's reason for a packet that seems to be this rank's. */
static enum sml_reason at_switch(uint16_t rank, const struct packet *p)
{
    struct sml_packet parsed;
    struct packet copy = *p;

    CU_ASSERT_EQUAL_FATAL(sml_parse(&parsed, copy.payload, copy.bytes), SML_OK);
    sml_pool_apply(rig.pool, sml_pool_locate(rig.pool, &parsed, 0), rank, &parsed, NULL, 0, &rig.v);
    return rig.v.reason;
}

static enum xfer_receive at_rank(unsigned rank, const uint8_t *payload, size_t bytes)
{
    return sml_stream_receive(rig.stream[rank], payload, bytes, rig.now);
}

static void result_to_all(void)
{
    for (unsigned r = 0; r < RANKS; r++)
        CU_ASSERT_EQUAL(at_rank(r, rig.v.payload, rig.v.bytes), XFER_RX_RESULT);
}

static void expect_sums(unsigned count)
{
    for (unsigned r = 0; r < RANKS; r++)
        for (unsigned i = 0; i < count; i++)
            CU_ASSERT_EQUAL(rig.out[r][i], rig.in[0][i] + rig.in[1][i]);
}

TEST(calls_over_the_end_of_the_tags)
{
    for (unsigned call = 0; call < 8; call++) { /* of a chunk each */
        struct packet first, second;

        begin(4);
        first = next(0);
        second = next(1);
        CU_ASSERT_EQUAL(at_switch(0, &first), SML_HELD);
        CU_ASSERT_EQUAL(at_switch(1, &second), SML_SEND_ALL);
        result_to_all();
        expect_sums(4);
    }
}

TEST(only_its_rank_sends_a_contribution)
{
    struct packet p, changed, plain;

    begin(4);
    p = changed = plain = next(0);
    CU_ASSERT_EQUAL(at_switch(1, &p), SML_DROP_UNPROVEN);
    changed.payload[SML_HEADER_BYTES + XFER_CALL_BYTES] ^= 1; /* an element */
    CU_ASSERT_EQUAL(at_switch(0, &changed), SML_DROP_UNPROVEN);
    changed = p;
    changed.payload[SML_HEADER_BYTES] ^= 1; /* the call */
    CU_ASSERT_EQUAL(at_switch(0, &changed), SML_DROP_UNPROVEN);
    plain.payload[0] = SML_OPEN << 4 | SML_SIZE_AGREED; /* as in a job without keys */
    plain.bytes -= XFER_AUTH_BYTES;
    CU_ASSERT_EQUAL(at_switch(0, &plain), SML_DROP_UNPROVEN);
    CU_ASSERT_EQUAL(at_switch(0, &p), SML_HELD);
    CU_ASSERT_EQUAL(at_switch(0, &p), SML_DROP_DUPLICATE); /* a copy is what it was */
}

/* The same tag comes again after 2^32 chunks; this run begins three before the end of the tags. */
TEST(a_tag_that_has_wrapped_is_another_chunk)
{
    struct packet p[8];

    for (unsigned call = 0; call < 8; call++) {
        struct packet other;

        begin(4);
        p[call] = next(0);
        other = next(1);
        at_switch(0, &p[call]);
        CU_ASSERT_EQUAL(at_switch(1, &other), SML_SEND_ALL);
        result_to_all();
    }
    /* A pool that begins where the tags do, and so has not wrapped, collects chunk 0 of the same secret. */
    free(rig.pool);
    rig.pool = open_pool(0, false);
    CU_ASSERT_EQUAL(at_switch(0, &p[-FIRST]), SML_DROP_UNPROVEN);
}

TEST(an_earlier_life_proves_nothing)
{
    struct packet p;

    begin(4);
    p = next(0);
    shared.secret[0]++;
    free(rig.pool);
    rig.pool = open_pool((uint32_t)FIRST, true);
    CU_ASSERT_EQUAL(at_switch(0, &p), SML_DROP_UNPROVEN);
    for (unsigned r = 0; r < RANKS; r++)
        CU_ASSERT_EQUAL(sml_stream_resume(rig.stream[r], JOB, (uint32_t)FIRST, &shared, rig.now), 0);
    p = next(0);
    CU_ASSERT_EQUAL(at_switch(0, &p), SML_HELD);
    p = next(1);
    CU_ASSERT_EQUAL(at_switch(1, &p), SML_SEND_ALL);
    result_to_all();
    expect_sums(4);
}

/* A probe of this rank's oldest chunk, when it is due. */
static struct packet probe(unsigned rank)
{
    struct packet p;

    rig.now = sml_stream_timer(rig.stream[rank]);
    p = next(rank);
    CU_ASSERT_EQUAL(p.payload[0] >> 4, SML_PROBE);
    return p;
}

TEST(answers_are_for_one_rank)
{
    struct packet p[RANKS], question;

    begin(4);
    for (unsigned r = 0; r < RANKS; r++)
        p[r] = next(r);
    at_switch(0, &p[0]);
    question = probe(0);
    CU_ASSERT_EQUAL(at_switch(1, &question), SML_DROP_UNPROVEN);
    CU_ASSERT_EQUAL(at_switch(0, &question), SML_SEND_ANSWER); /* WAIT */
    CU_ASSERT_EQUAL(at_rank(1, rig.v.payload, rig.v.bytes), XFER_RX_DAMAGED);
    CU_ASSERT_EQUAL(at_rank(0, rig.v.payload, rig.v.bytes), XFER_RX_NEWS);
    question = probe(1);
    CU_ASSERT_EQUAL(at_switch(1, &question), SML_SEND_ANSWER); /* NACK */
    CU_ASSERT_EQUAL(at_rank(0, rig.v.payload, rig.v.bytes), XFER_RX_DAMAGED);
    CU_ASSERT_EQUAL(at_rank(1, rig.v.payload, rig.v.bytes), XFER_RX_NEWS);
}

TEST(only_the_switch_sends_a_result)
{
    struct packet p[RANKS];
    struct xfer_stats stats;
    uint8_t forged[PAYLOAD_MAX];

    begin(4);
    for (uint16_t r = 0; r < RANKS; r++) {
        p[r] = next(r);
        at_switch(r, &p[r]);
    }
    CU_ASSERT_EQUAL(at_rank(0, p[0].payload, p[0].bytes), XFER_RX_DAMAGED); /* its own, back */
    CU_ASSERT_EQUAL(at_rank(0, p[1].payload, p[1].bytes), XFER_RX_DAMAGED);
    memcpy(forged, rig.v.payload, rig.v.bytes);
    for (size_t i = 2; i < rig.v.bytes; i++) { /* after the job's number */
        forged[i] ^= 0x10;
        CU_ASSERT(at_rank(0, forged, rig.v.bytes) == XFER_RX_DAMAGED || i == 6); /* 6: a bit that must be 0 */
        forged[i] ^= 0x10;
    }
    forged[0] = SML_OPEN << 4 | SML_SIZE_AGREED;
    CU_ASSERT_EQUAL(at_rank(0, forged, rig.v.bytes - XFER_AUTH_BYTES), XFER_RX_DAMAGED);
    sml_stream_stats(rig.stream[0], &stats);
    CU_ASSERT(stats.damaged > 0 && stats.results == 0);
    result_to_all();
    expect_sums(4);
}

/* A rank goes on, and is told to ask the switch. */
TEST(a_reject_is_doubted)
{
    struct packet p;
    struct sml_packet parsed;
    uint8_t reject[SML_REJECT_BYTES];
    size_t bytes;

    begin(4 * COUNT);
    p = next(0);
    sml_parse(&parsed, p.payload, p.bytes);
    bytes = sml_build_reject(reject, &parsed, 1);
    CU_ASSERT_EQUAL(at_rank(0, reject, bytes), XFER_RX_DOUBT);
    CU_ASSERT_EQUAL(sml_stream_status(rig.stream[0]), XFER_RUNNING);
    next(0); /* which it would not, if it believed that */
    reject[2] += 100;
    CU_ASSERT_NOT_EQUAL(at_rank(0, reject, bytes), XFER_RX_DOUBT); /* about no chunk of its */
}
