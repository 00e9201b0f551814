/* As many streams as a job can have ranks, and its pool: sums are exact while packets are lost, and the rank
 * that is late is the one that the pool names. */
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "placed.h"
#include "random.h"
#include "unit.h"

enum { N = AGG_MAX_WORKERS, SLOTS = 8, CHUNK_BYTES = 64, COUNT = 16 * 20, PAYLOAD_MAX = 256 };
enum { LATE = 777, LATE_ROUNDS = 2000, ROUND_NS = 100000, ROUNDS_MAX = 100000 };

static struct {
    struct sml_pool *pool;
    struct sml_stream *stream[N];
    int32_t in[N][COUNT], out[N][COUNT];
    uint64_t now, rng;
    unsigned loss; /* packets of 1,000 */
} w;

static void begin(unsigned loss)
{
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = COUNT};
    const struct sml_pool_config pc = {.workers = N,
                                       .slots = SLOTS,
                                       .chunk_bytes = CHUNK_BYTES,
                                       .format = XFER_FORMAT_TYPED,
                                       .mode = XFER_ORDERED,
                                       .arrivals = true,
                                       .kernels = kernels_or_exit()};

    memset(&w, 0, sizeof w);
    w.loss = loss;
    w.rng = rng_seed(1024);
    w.pool = pool_of(&pc);
    for (uint16_t r = 0; r < N; r++) {
        const struct sml_stream_config cfg = stream_config_of(&pc, r);
        for (int i = 0; i < COUNT; i++)
            w.in[r][i] = r + i;
        w.stream[r] = stream_of(&cfg);
        CU_ASSERT_EQUAL_FATAL(sml_stream_begin(w.stream[r], &call, w.in[r], w.out[r], w.now), 0);
    }
}

static void end(void)
{
    for (unsigned r = 0; r < N; r++)
        free(w.stream[r]);
    free(w.pool);
}

static void to_rank(unsigned r, const uint8_t *payload, size_t bytes)
{
    if (rng_below(&w.rng, 1000) >= w.loss)
        sml_stream_receive(w.stream[r], payload, bytes, w.now);
}

static void to_switch(uint16_t r, const struct xfer_send *send)
{
    uint8_t payload[PAYLOAD_MAX], answer[PAYLOAD_MAX];
    struct sml_packet p;
    struct agg_verdict v;

    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, payload, xfer_send_copy(send, payload)), SML_OK);
    if (rng_below(&w.rng, 1000) < w.loss)
        return;
    sml_pool_apply(w.pool, sml_pool_locate(w.pool, &p, 0), r, &p, NULL, w.now, &v);
    if (v.reason >= SML_HELD)
        return;
    CU_ASSERT_FATAL(v.bytes <= sizeof answer);
    memcpy(answer, v.payload, v.bytes);
    for (unsigned to = v.reason == SML_SEND_ALL ? 0 : r; to <= (v.reason == SML_SEND_ALL ? N - 1u : r); to++)
        to_rank(to, answer, v.bytes);
}

/* All ranks send what they have, the late one only now and then; returns how many are not done. */
static unsigned play_round(unsigned round)
{
    unsigned running = 0;

    for (uint16_t r = 0; r < N; r++) {
        struct xfer_send send;

        if (r != LATE || round % LATE_ROUNDS == LATE_ROUNDS - 1)
            while (sml_stream_poll(w.stream[r], w.now, &send))
                to_switch(r, &send);
        running += sml_stream_status(w.stream[r]) == XFER_RUNNING;
    }
    w.now += ROUND_NS;
    return running;
}

static void play(void)
{
    unsigned round = 0, wrong = 0;

    while (round < ROUNDS_MAX && play_round(round) > 0)
        round++;
    CU_ASSERT_FATAL(round < ROUNDS_MAX);
    for (unsigned r = 0; r < N; r++) {
        CU_ASSERT_EQUAL(sml_stream_status(w.stream[r]), XFER_DONE);
        for (int i = 0; i < COUNT; i++)
            wrong += w.out[r][i] != N * (N - 1) / 2 + N * i;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static uint64_t mean_delay(uint16_t rank)
{
    struct agg_rank_view v;

    CU_ASSERT(sml_pool_view_rank(w.pool, rank, &v));
    CU_ASSERT_FATAL(v.contributions > 0);
    return v.delay_sum_ns / v.contributions;
}

TEST(the_late_rank_is_named)
{
    begin(0);
    play();
    for (uint16_t r = 0; r < N; r++)
        CU_ASSERT(r == LATE || mean_delay(r) < mean_delay(LATE));
    end();
}

TEST(the_late_rank_is_named_though_packets_of_all_are_lost)
{
    begin(2);
    play();
    for (uint16_t r = 0; r < N; r++)
        CU_ASSERT(r == LATE || mean_delay(r) < mean_delay(LATE));
    end();
}
