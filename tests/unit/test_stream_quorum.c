/* A stream in a job with a quorum, packet by packet: what it does without, and what it asks about first. */
#include <stdlib.h>

#include "kernels_chosen.h"
#include "placed.h"
#include "transfer/chunks.h"
#include "unit.h"
#include "wire/bytes.h"

enum { SLOTS = 4, CHUNK_BYTES = 64, RANK = 1, WORKERS = 3, CHUNKS = 12, COUNT = 11 + (CHUNKS - 1) * 16 };

static struct sml_stream *stream;
static struct xfer_roll roll[CHUNKS];
static int32_t in[COUNT], out[COUNT];

/* An allreduce of so many chunks is in progress, and as many are sent as there are slots. */
static void start(void)
{
    const struct sml_stream_config cfg = {.rank = RANK,
                                          .workers = WORKERS,
                                          .slots = SLOTS,
                                          .chunk_bytes = CHUNK_BYTES,
                                          .format = XFER_FORMAT_TYPED,
                                          .quorum = true,
                                          .window_max = SLOTS,
                                          .kernels = kernels_or_exit()};
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = COUNT};
    struct xfer_send send;

    stream = stream_of(&cfg);
    for (unsigned i = 0; i < COUNT; i++)
        in[i] = out[i] = 1;
    sml_stream_call_roll(stream, roll);
    CU_ASSERT_EQUAL_FATAL(sml_stream_packets(stream, &call), CHUNKS);
    CU_ASSERT_EQUAL_FATAL(sml_stream_begin(stream, &call, in, out, 0), 0);
    for (unsigned i = 0; i < SLOTS; i++)
        CU_ASSERT(sml_stream_poll(stream, 1, &send));
    CU_ASSERT(!sml_stream_poll(stream, 1, &send));
}

static enum xfer_receive late(uint32_t tag, uint32_t expected, bool is_in)
{
    uint8_t payload[SML_HEADER_BYTES + SML_LATE_BYTES];
    struct sml_packet p = sum_packet(SML_LATE, tag, SLOTS);

    p.e1 = is_in ? SML_FLAG_IN : 0;
    sml_build_header(payload, &p);
    put_be32(payload + SML_HEADER_BYTES, expected);
    return sml_stream_receive(stream, payload, sizeof payload, 2);
}

/* Of a chunk that is not the call's first: 2 everywhere, of ranks 0 and 2. */
static enum xfer_receive result(uint32_t tag)
{
    uint8_t payload[SML_HEADER_BYTES + CHUNK_BYTES + 1] = {0};
    const struct sml_packet p = sum_packet(SML_DATA, tag, SLOTS);

    sml_build_header(payload, &p);
    for (unsigned i = 0; i < CHUNK_BYTES; i += 4)
        put_be32(payload + SML_HEADER_BYTES + i, 2);
    payload[SML_HEADER_BYTES + CHUNK_BYTES] = 5;
    return sml_stream_receive(stream, payload, sizeof payload, 2);
}

/* The next packet is of this kind, about this chunk. */
static bool sends(enum sml_kind kind, uint32_t tag)
{
    struct xfer_send send;
    struct sml_packet p;
    uint8_t payload[SML_HEADER_BYTES + CHUNK_BYTES + 1];

    return sml_stream_poll(stream, 2, &send) &&
           sml_parse(&p, payload, xfer_send_copy(&send, payload)) == SML_OK && p.kind == kind && p.tag == tag;
}

static bool roll_is(unsigned chunk, unsigned ranks, bool mine)
{
    return roll[chunk].ranks == ranks && roll[chunk].mine == mine;
}

/* Chunks 0 to 3 are on their way when the others are at 16 and more: all up to 4 are gone. */
TEST(what_was_sent_is_asked_about_before_it_is_given_up)
{
    struct xfer_send send;

    start();
    CU_ASSERT_EQUAL(late(0, 16, true), XFER_RX_NEWS);
    CU_ASSERT(roll_is(0, 0, true) && roll_is(4, 0, false));
    for (uint32_t tag = 1; tag < SLOTS; tag++)
        CU_ASSERT(sends(SML_PROBE, tag));
    CU_ASSERT(!sml_stream_poll(stream, 2, &send));
    CU_ASSERT_EQUAL(late(2, 14, false), XFER_RX_NEWS);
    CU_ASSERT_EQUAL(late(1, 13, true), XFER_RX_NEWS);
    CU_ASSERT(roll_is(1, 0, true) && roll_is(2, 0, false));
    CU_ASSERT_EQUAL(result(3), XFER_RX_RESULT); /* it had been on its way */
    CU_ASSERT(roll_is(3, 2, false));
    CU_ASSERT(out[10] == 0 && out[11 + 2 * 16 - 1] == 0 && out[11 + 2 * 16] == 2 && out[11 + 3 * 16] == 0);
    CU_ASSERT(sends(SML_DATA, 5)); /* and on from there */
    CU_ASSERT_EQUAL(sml_stream_turnout(stream, 0)->missed, 11 + 3 * 16);
    free(stream);
}

/* They are so far ahead that all of the call is gone, and the rank has sent only the first window of it. */
TEST(what_was_not_sent_is_given_up_at_once)
{
    start();
    CU_ASSERT_EQUAL(late(0, 40, false), XFER_RX_NEWS);
    for (uint32_t tag = 1; tag < SLOTS; tag++) {
        CU_ASSERT(sends(SML_PROBE, tag));
        CU_ASSERT_EQUAL(sml_stream_status(stream), XFER_RUNNING);
    }
    for (uint32_t tag = 1; tag < SLOTS; tag++)
        CU_ASSERT_EQUAL(late(tag, 40 + tag, tag == 2), XFER_RX_NEWS);
    CU_ASSERT_EQUAL(sml_stream_status(stream), XFER_DONE);
    for (unsigned i = 0; i < CHUNKS; i++)
        CU_ASSERT(roll_is(i, 0, i == 2));
    free(stream);
}

/* What ranks 0 and 2 have called: of chunk `tag`, so many bytes of elements; theirs: NULL, it does not begin
 * a call. */
static enum xfer_receive result_of(uint32_t tag, const struct xfer_call *theirs, uint8_t e0, size_t elements)
{
    uint8_t payload[SML_HEADER_BYTES + XFER_CALL_BYTES + 2 * CHUNK_BYTES + 1] = {0}, *end;
    struct sml_packet p = sum_packet(theirs != NULL ? SML_OPEN : SML_DATA, tag, SLOTS);

    p.e0 = e0;
    sml_build_header(payload, &p);
    if (theirs != NULL)
        xfer_build_call(payload + SML_HEADER_BYTES, theirs);
    end = payload + SML_HEADER_BYTES + (theirs != NULL ? XFER_CALL_BYTES : 0) + elements;
    *end++ = 5;
    return sml_stream_receive(stream, payload, (size_t)(end - payload), 2);
}

TEST(calls_that_differ_are_told_by_any_result_that_shows_it)
{
    const uint8_t ours = agg_code(AGG_I32, AGG_SUM), maxima = agg_code(AGG_I32, AGG_MAX);
    const struct xfer_call other = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = 9, .seq = 1};
    const struct xfer_call same = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = COUNT};
    const struct {
        uint32_t tag;
        const struct xfer_call *theirs;
        uint8_t e0;
        size_t elements;
    } wrong[] = {
        {0, &other, ours, 36},           /* another call begins where this rank's does, */
        {2, &other, ours, 36},           /* or in its midst; */
        {0, NULL, ours, CHUNK_BYTES},    /* or one began before */
        {1, NULL, maxima, CHUNK_BYTES},  /* another operation, */
        {1, NULL, ours, CHUNK_BYTES - 4} /* or length */
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        start();
        CU_ASSERT_EQUAL(result_of(wrong[i].tag, wrong[i].theirs, wrong[i].e0, wrong[i].elements),
                        XFER_RX_NEWS);
        CU_ASSERT_EQUAL(sml_stream_status(stream), XFER_MISMATCH);
        const struct xfer_mismatch *m = sml_stream_mismatch(stream);
        CU_ASSERT(m->your_rank == RANK && m->peer_rank == 0 && m->yours.count == COUNT);
        CU_ASSERT_EQUAL(m->peers.count, wrong[i].theirs != NULL ? 9 : 0);
        CU_ASSERT_EQUAL(m->peer_bytes, wrong[i].elements);
        free(stream);
    }
    start();
    CU_ASSERT_EQUAL(result_of(0, &same, ours, 44), XFER_RX_RESULT);
    CU_ASSERT_EQUAL(result_of(1, NULL, ours, CHUNK_BYTES), XFER_RX_RESULT);
    CU_ASSERT_EQUAL(sml_stream_status(stream), XFER_RUNNING);
    free(stream);
}
