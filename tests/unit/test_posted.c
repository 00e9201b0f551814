/* Streams that have several collectives in progress (test_streams.c has them do so at random). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "placed.h"
#include "transfer/queue.h"
#include "unit.h"

enum { CHUNK_BYTES = 64, SLOTS = 16, CALLS = 8, RANKS = 2, COUNT = 640 };
enum { PAYLOAD_MAX = SML_HEADER_BYTES + CHUNK_BYTES };

static struct sml_pool_config job(void)
{
    return (struct sml_pool_config){.workers = RANKS,
                                    .slots = SLOTS,
                                    .chunk_bytes = CHUNK_BYTES,
                                    .format = XFER_FORMAT_TYPED,
                                    .kernels = kernels_or_exit()};
}

static struct sml_stream *open_stream(unsigned rank, unsigned calls)
{
    const struct sml_pool_config pool = job();
    struct sml_stream_config cfg = stream_config_of(&pool, rank);

    cfg.calls = (uint16_t)calls;
    cfg.window_max = SLOTS;
    return stream_of(&cfg);
}

static struct xfer_call sum_of(uint64_t count)
{
    return (struct xfer_call){.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = count};
}

/* The sum of a call of one chunk. */
static enum xfer_receive result(struct sml_stream *s, uint32_t tag, struct xfer_call call)
{
    uint8_t payload[PAYLOAD_MAX] = {0};
    const struct sml_packet p = sum_packet(SML_OPEN, tag, SLOTS);

    call.seq = tag;
    sml_build_header(payload, &p);
    xfer_build_call(payload + SML_HEADER_BYTES, &call);
    return sml_stream_receive(s, payload, SML_HEADER_BYTES + XFER_CALL_BYTES + call.count * 4, 1);
}

/* One behind the other, without waiting; and they end in their order, whichever sum comes first. */
TEST(calls_leave_together_and_end_in_order)
{
    struct sml_stream *s = open_stream(0, 4);
    const struct xfer_call call = sum_of(3);
    int32_t x[4][3];
    struct xfer_send send;

    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(sml_stream_begin(s, &call, x[i], x[i], 0), 0);
    CU_ASSERT_EQUAL(sml_stream_begin(s, &call, x[0], x[0], 0), -EBUSY);
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT(sml_stream_poll(s, 0, &send) && send.head[0] >> 4 == SML_OPEN);
    CU_ASSERT(!sml_stream_poll(s, 0, &send));
    CU_ASSERT_EQUAL(sml_stream_left(s), 4);
    CU_ASSERT_EQUAL(result(s, 1, call), XFER_RX_RESULT);
    CU_ASSERT_EQUAL(sml_stream_ended(s), 0);
    CU_ASSERT_EQUAL(result(s, 0, call), XFER_RX_RESULT);
    CU_ASSERT_EQUAL(sml_stream_ended(s), 2);
    CU_ASSERT_EQUAL(sml_stream_status(s), XFER_RUNNING);
    CU_ASSERT_EQUAL(sml_stream_oldest_call(s)->seq, 2);
    CU_ASSERT_EQUAL(sml_stream_begin(s, &call, x[0], x[0], 2), 0);
    for (uint32_t tag = 2; tag < 5; tag++) {
        sml_stream_poll(s, 2, &send);
        CU_ASSERT_EQUAL(result(s, tag, call), XFER_RX_RESULT);
    }
    CU_ASSERT_EQUAL(sml_stream_ended(s), 5);
    CU_ASSERT_EQUAL(sml_stream_status(s), XFER_DONE);
    free(s);
}

/* Also where it is not the oldest one, and the packet does not say which it is. */
TEST(a_mismatch_is_of_the_call_that_its_chunk_belongs_to)
{
    struct sml_stream *s = open_stream(1, 4);
    const struct xfer_call first = sum_of(3), second = sum_of(40), peers = sum_of(7);
    struct xfer_mismatch m = {.your_rank = 1, .your_tag = 2, .peer_tag = 2, .opening = true, .peers = peers};
    static int32_t x[40], y[40];
    uint8_t payload[SML_HEADER_BYTES + XFER_MISMATCH_BYTES];
    const struct sml_packet p = sum_packet(SML_MISMATCH, 2, SLOTS);
    struct xfer_send send;

    CU_ASSERT_EQUAL(sml_stream_begin(s, &first, x, x, 0), 0);
    CU_ASSERT_EQUAL(sml_stream_begin(s, &second, y, y, 0), 0);
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT(sml_stream_poll(s, 0, &send));
    sml_build_header(payload, &p);
    xfer_build_mismatch(payload + SML_HEADER_BYTES, &m);
    CU_ASSERT_EQUAL(sml_stream_receive(s, payload, sizeof payload, 1), XFER_RX_NEWS);
    CU_ASSERT_EQUAL(sml_stream_status(s), XFER_MISMATCH);
    CU_ASSERT(sml_stream_mismatch(s)->yours.seq == 1 && sml_stream_mismatch(s)->yours.count == 40);
    CU_ASSERT_EQUAL(sml_stream_mismatch(s)->peers.count, 7);
    free(s);
}

/* All that both streams want to send reaches the switch, and its answers them, once a round. */
static unsigned rounds(struct sml_stream *stream[RANKS], struct sml_pool *pool)
{
    unsigned n = 0;

    for (; sml_stream_status(stream[0]) == XFER_RUNNING && n < 1000; n++)
        for (uint16_t r = 0; r < RANKS; r++) {
            struct xfer_send send;
            while (sml_stream_poll(stream[r], n, &send)) {
                uint8_t payload[PAYLOAD_MAX], answer[PAYLOAD_MAX];
                struct sml_packet p;
                struct agg_verdict v;
                sml_parse(&p, payload, xfer_send_copy(&send, payload));
                sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), r, &p, NULL, 0, &v);
                if (v.reason != SML_SEND_ALL)
                    continue;
                memcpy(answer, v.payload, v.bytes);
                for (unsigned to = 0; to < RANKS; to++)
                    sml_stream_receive(stream[to], answer, v.bytes, n);
            }
        }
    return n;
}

/* How many rounds it takes to sum COUNT elements in so many calls. */
static unsigned rounds_of(unsigned calls)
{
    static int32_t in[RANKS][COUNT], out[RANKS][COUNT];
    const struct sml_pool_config cfg = job();
    struct sml_pool *pool = pool_of(&cfg);
    struct sml_stream *stream[RANKS];
    const struct xfer_call call = sum_of(COUNT / calls);

    for (unsigned r = 0; r < RANKS; r++) {
        stream[r] = open_stream(r, CALLS);
        for (unsigned i = 0; i < COUNT; i++)
            in[r][i] = (int32_t)(i << r);
        for (unsigned c = 0; c < calls; c++)
            CU_ASSERT_EQUAL(
                sml_stream_begin(stream[r], &call, in[r] + c * call.count, out[r] + c * call.count, 0), 0);
    }
    const unsigned n = rounds(stream, pool);
    for (unsigned r = 0; r < RANKS; r++) {
        CU_ASSERT_EQUAL(sml_stream_ended(stream[r]), calls);
        for (unsigned i = 0; i < COUNT; i++)
            CU_ASSERT_EQUAL(out[r][i], (int32_t)(3 * i));
        free(stream[r]);
    }
    free(pool);
    return n;
}

/* But for the descriptors, which take room in packets. */
TEST(eight_calls_take_as_long_as_one)
{
    const unsigned one = rounds_of(1), eight = rounds_of(CALLS);

    CU_ASSERT(one > 1 && eight <= one + 1);
}

TEST(a_position_is_of_the_last_call_that_begins_there)
{
    uint64_t base[8];
    struct xfer_queue q = {.base = base, .room = 8, .first = UINT32_MAX - 1, .next = UINT32_MAX - 1};
    static const uint64_t begins[] = {10, 10, 13, 13, 20};

    for (unsigned i = 0; i < 5; i++)
        xfer_queue_begin(&q, begins[i]);
    CU_ASSERT_EQUAL(xfer_queue_find(&q, 10), UINT32_MAX);
    CU_ASSERT_EQUAL(xfer_queue_find(&q, 12), UINT32_MAX);
    CU_ASSERT_EQUAL(xfer_queue_find(&q, 13), 1);
    CU_ASSERT_EQUAL(xfer_queue_find(&q, 19), 1);
    CU_ASSERT_EQUAL(xfer_queue_find(&q, 1000), 2);
    CU_ASSERT_EQUAL(xfer_queue_oldest_end(&q, 30), 10);
    q.first = UINT32_MAX;
    CU_ASSERT_EQUAL(xfer_queue_oldest_end(&q, 30), 13);
    q.first = 2;
    CU_ASSERT_EQUAL(xfer_queue_oldest_end(&q, 30), 30);
    CU_ASSERT(xfer_queue_room(0) == 1 && xfer_queue_room(64) == 64 && xfer_queue_room(3) == 0 &&
              xfer_queue_room(2 * XFER_CALLS_MAX) == 0);
}
