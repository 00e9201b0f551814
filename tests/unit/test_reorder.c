/* The allowance for reordering: by itself, and in a stream of one worker against a modelled switch, whose
 * shards each take a time of their own. */
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "placed.h"
#include "random.h"
#include "transfer/reorder.h"
#include "unit.h"

enum { SLOTS = 128, CHUNK_BYTES = 64, CHUNKS = 20000, COUNT = CHUNKS * CHUNK_BYTES / 4, EVENTS_MAX = 4096 };
static const uint64_t RTT = 100000;

/* A round of ten chunks, of which some had been asked for, some of these in vain. */
static void round_trip(struct xfer_reorder *r, uint64_t *position, unsigned asked, unsigned in_vain)
{
    uint64_t next = *position + 10;

    while (in_vain-- > 0)
        xfer_reorder_in_vain(r);
    for (unsigned i = 0; i < 10; i++, ++*position)
        xfer_reorder_result(r, *position, next, i < asked);
}

TEST(it_grows_with_questions_in_vain_up_to_a_bound)
{
    struct xfer_reorder r;
    uint64_t position = 0;

    xfer_reorder_init(&r);
    round_trip(&r, &position, 0, 0);
    CU_ASSERT_EQUAL(xfer_reorder_allowance(&r, 400), 100);
    round_trip(&r, &position, 3, 3);
    CU_ASSERT_EQUAL(xfer_reorder_allowance(&r, 400), 200);
    for (unsigned i = 0; i < 20; i++)
        round_trip(&r, &position, 3, 2);
    CU_ASSERT_EQUAL(xfer_reorder_allowance(&r, 400), 600);
}

TEST(it_does_not_grow_while_most_questions_are_needed)
{
    struct xfer_reorder r;
    uint64_t position = 0;

    xfer_reorder_init(&r);
    for (unsigned i = 0; i < 100; i++)
        round_trip(&r, &position, 4, 2);
    CU_ASSERT_EQUAL(xfer_reorder_allowance(&r, 400), 100);
}

TEST(it_shrinks_slowly)
{
    struct xfer_reorder r;
    uint64_t position = 0;
    unsigned rounds = 0;

    xfer_reorder_init(&r);
    for (unsigned i = 0; i < 4; i++)
        round_trip(&r, &position, 1, 1);
    while (xfer_reorder_allowance(&r, 400) > 400)
        round_trip(&r, &position, 0, 0), rounds++;
    CU_ASSERT(rounds >= 16);
    for (unsigned i = 0; i < 4 * rounds; i++)
        round_trip(&r, &position, 0, 0);
    CU_ASSERT_EQUAL(xfer_reorder_allowance(&r, 400), 100);
}

/* What is on its way back to the worker. */
struct event {
    uint64_t at;
    uint16_t bytes;
    uint8_t payload[SML_HEADER_BYTES + CHUNK_BYTES];
};

struct model {
    struct sml_stream *stream;
    uint64_t lag[2]; /* of the shards, beyond the round trip */
    unsigned loss;   /* in a thousand packets, each way */
    uint64_t random;
    uint64_t now;
    struct event events[EVENTS_MAX];
    unsigned events_count;
    struct event sum[SLOTS]; /* of the chunk that the slot has seen last: the worker's own contribution */
    uint32_t *in, *out;
};

static bool is_lost(struct model *m)
{
    return rng_below(&m->random, 1000) < m->loss;
}

/* A packet reaches its shard and is answered. All take the same way, so a question does not overtake. */
static void answer(struct model *m, const struct xfer_send *send)
{
    struct event e;
    struct sml_packet p;

    e.bytes = (uint16_t)xfer_send_copy(send, e.payload);
    CU_ASSERT_FATAL(sml_parse(&p, e.payload, e.bytes) == SML_OK);
    if (is_lost(m))
        return;
    struct sml_packet seen = {0};
    struct event *sum = &m->sum[p.slot];
    if (p.kind != SML_PROBE)
        *sum = e;
    else if (sml_parse(&seen, sum->payload, sum->bytes) == SML_OK && seen.tag == p.tag)
        e = *sum;
    else
        e.payload[0] = (uint8_t)(SML_NACK << 4 | (e.payload[0] & 0x0f));
    e.at = m->now + RTT + m->lag[p.slot % 2];
    CU_ASSERT_FATAL(m->events_count < EVENTS_MAX);
    if (!is_lost(m))
        m->events[m->events_count++] = e;
}

static unsigned first_event(const struct model *m)
{
    unsigned first = 0;

    for (unsigned i = 1; i < m->events_count; i++)
        if (m->events[i].at < m->events[first].at)
            first = i;
    return first;
}

static void run_step(struct model *m)
{
    struct xfer_send send;

    while (sml_stream_poll(m->stream, m->now, &send)) {
        answer(m, &send);
        m->now += RTT / 100;
    }
    uint64_t timer = sml_stream_timer(m->stream);
    unsigned i = first_event(m);
    if (m->events_count == 0 || m->events[i].at > timer) {
        m->now = timer > m->now ? timer : m->now;
        return;
    }
    struct event e = m->events[i];
    m->events[i] = m->events[--m->events_count];
    m->now = e.at > m->now ? e.at : m->now;
    sml_stream_receive(m->stream, e.payload, e.bytes, m->now);
}

/* A collective; fills in what the stream has counted. */
static struct xfer_stats collective(struct model *m)
{
    struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = COUNT};
    struct xfer_stats before, after;
    unsigned steps = 0;

    for (unsigned i = 0; i < COUNT; i++)
        m->in[i] = i * 2654435761u;
    memset(m->out, 0, COUNT * sizeof(*m->out));
    sml_stream_stats(m->stream, &before);
    CU_ASSERT_FATAL(sml_stream_begin(m->stream, &call, m->in, m->out, m->now) == 0);
    while (sml_stream_status(m->stream) == XFER_RUNNING && steps++ < 100 * CHUNKS)
        run_step(m);
    CU_ASSERT(sml_stream_status(m->stream) == XFER_DONE);
    CU_ASSERT(memcmp(m->in, m->out, COUNT * sizeof(*m->out)) == 0);
    sml_stream_stats(m->stream, &after);
    after.probes -= before.probes;
    after.retransmitted -= before.retransmitted;
    after.duplicates -= before.duplicates;
    return after;
}

static struct model *model_new(uint64_t lag, unsigned loss, uint64_t seed)
{
    struct sml_stream_config cfg = {.workers = 1,
                                    .slots = SLOTS,
                                    .format = XFER_FORMAT_TYPED,
                                    .chunk_bytes = CHUNK_BYTES,
                                    .job = 1,
                                    .kernels = kernels_or_exit()};
    struct model *m = calloc(1, sizeof(*m));

    m->stream = stream_of(&cfg);
    m->lag[1] = lag;
    m->loss = loss;
    m->random = seed;
    m->in = malloc(COUNT * sizeof(*m->in));
    m->out = malloc(COUNT * sizeof(*m->out));
    return m;
}

static void model_free(struct model *m)
{
    free(m->stream);
    free(m->in);
    free(m->out);
    free(m);
}

TEST(in_order_nothing_is_asked_for)
{
    struct model *m = model_new(0, 0, 1);

    CU_ASSERT_EQUAL(collective(m).probes, 0);
    model_free(m);
}

/* Every second result is late by so many tenths of a round trip. An allowance that does not learn asks for
 * each of them, from a third of a round trip on. */
TEST(reordering_is_learned)
{
    for (unsigned tenths = 1; tenths <= 11; tenths++) {
        struct model *m = model_new(tenths * RTT / 10, 0, 1);
        collective(m);
        struct xfer_stats learned = collective(m);

        CU_ASSERT(learned.probes < CHUNKS / 20);
        CU_ASSERT_EQUAL(learned.retransmitted, 0);
        model_free(m);
    }
}

/* A queue has grown while nothing was under way: round trips are much longer at once, and all chunks would be
 * asked for in vain, so that none is left whose round trip is known for certain. */
TEST(longer_round_trips_are_learned)
{
    for (unsigned times = 2; times <= 50; times *= 5) {
        struct model *m = model_new(RTT / 10, 0, 1);
        collective(m);
        m->lag[0] = times * RTT;
        m->lag[1] = times * (RTT + RTT / 4);
        collective(m);
        struct xfer_stats learned = collective(m);

        CU_ASSERT(learned.probes < CHUNKS / 20);
        model_free(m);
    }
}

TEST(losses_are_mended_beside_reordering)
{
    uint64_t seed = rng_seed(1);

    for (unsigned tenths = 0; tenths <= 11; tenths++) {
        struct model *m = model_new(tenths * RTT / 10, 10, seed);
        collective(m);
        struct xfer_stats learned = collective(m);

        CU_ASSERT(learned.probes < CHUNKS / 10);
        CU_ASSERT(learned.retransmitted < CHUNKS / 50);
        CU_ASSERT_EQUAL(learned.timeouts, 0);
        model_free(m);
    }
}
