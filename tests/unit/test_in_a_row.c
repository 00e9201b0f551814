/* Collectives called one after the other are one stream: two real streams and a real pool over links that
 * carry one packet a tick, with a delay. What the caller does not wait for leaves at once, and nothing else
 * travels between the calls. */
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "placed.h"
#include "unit.h"

enum {
    RANKS = 2,
    SLOTS = 64,
    CHUNK_BYTES = 64,
    PER_CHUNK = CHUNK_BYTES / 4,
    FIRST_CHUNK = PER_CHUNK - XFER_CALL_BYTES / 4, /* an opening packet has a descriptor, too */
    DELAY = 6,                                     /* ticks, one way */
    TICK_NS = 10000,
    CALLS_MAX = 40,
    COUNT_MAX = 2000,
    TICKS_MAX = 100000,
    QUEUE = 256,
    PAYLOAD_MAX = SML_HEADER_BYTES + CHUNK_BYTES,
};

struct cable {
    struct {
        unsigned arrives;
        size_t bytes;
        uint8_t payload[PAYLOAD_MAX];
    } packet[QUEUE];
    unsigned first, end;
};

struct rank {
    struct sml_stream *stream;
    struct cable up, down;
    unsigned begun, finished; /* calls */
    int32_t in[COUNT_MAX], out[CALLS_MAX][COUNT_MAX];
};

struct network {
    struct sml_pool *pool;
    struct rank rank[RANKS];
    unsigned tick, calls;
    enum xfer_collective collective; /* of all calls; a reduce is rank 1's */
    unsigned chunks;                 /* of each call */
    /* The first result of this chunk for rank 1 is lost; -1: none. */
    int lost;
    /* The calls that rank 1 had finished when the switch got rank 0's first chunk of each call. */
    unsigned peer_finished[CALLS_MAX];
    /* Earlier chunks that rank 0 lacked results of when that packet left. */
    uint32_t outstanding[CALLS_MAX];
};

static struct xfer_call call_of(const struct network *n)
{
    return (struct xfer_call){.collective = (uint8_t)n->collective,
                              .type = AGG_I32,
                              .op = AGG_SUM,
                              .root = n->collective == XFER_REDUCE,
                              .count = FIRST_CHUNK + (n->chunks - 1) * PER_CHUNK};
}

static void put(struct network *n, struct cable *c, const uint8_t *payload, size_t bytes)
{
    CU_ASSERT_FATAL(c->end - c->first < QUEUE);
    c->packet[c->end % QUEUE].arrives = n->tick + DELAY;
    c->packet[c->end % QUEUE].bytes = bytes;
    memcpy(c->packet[c->end++ % QUEUE].payload, payload, bytes);
}

static const uint8_t *take(const struct network *n, struct cable *c, size_t *bytes)
{
    if (c->first == c->end || c->packet[c->first % QUEUE].arrives > n->tick)
        return NULL;
    *bytes = c->packet[c->first % QUEUE].bytes;
    return c->packet[c->first++ % QUEUE].payload;
}

static void at_switch(struct network *n, uint16_t rank, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;
    struct agg_verdict v;

    CU_ASSERT_FATAL(sml_parse(&p, payload, bytes) == SML_OK);
    if (rank == 0 && p.kind == SML_OPEN)
        n->peer_finished[p.tag / n->chunks] = n->rank[1].finished;
    sml_pool_apply(n->pool, sml_pool_locate(n->pool, &p, 0), rank, &p, NULL, 0, &v);
    for (unsigned r = 0; r < RANKS; r++) {
        const bool all = v.reason == SML_SEND_ALL,
                   one = v.reason == SML_SEND_ONE || v.reason == SML_SEND_ANSWER;
        if (!all && !(one && r == rank))
            continue;
        if (all && r == 1 && (int)p.tag == n->lost)
            continue;
        if (one || agg_wants(&v, r)) /* whom an answer is for, it does not say */
            put(n, &n->rank[r].down, v.payload, v.bytes);
        else
            put(n, &n->rank[r].down, v.brief, v.brief_bytes);
    }
}

/* What a caller does that calls as soon as it may. */
static void call_again(struct network *n, struct rank *k, uint64_t now)
{
    if (sml_stream_status(k->stream) != XFER_DONE)
        return;
    k->finished = k->begun;
    if (k->begun == n->calls)
        return;
    const struct xfer_call call = call_of(n);
    const bool wants = call.collective == XFER_ALLREDUCE || k == &n->rank[1];
    CU_ASSERT_EQUAL_FATAL(sml_stream_begin(k->stream, &call, k->in, wants ? k->out[k->begun] : NULL, now), 0);
    k->begun++;
}

static void note_sent(struct network *n, uint16_t rank, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;

    if (rank == 0 && sml_parse(&p, payload, bytes) == SML_OK && p.kind == SML_OPEN)
        n->outstanding[p.tag / n->chunks] = p.tag - sml_stream_oldest(n->rank[0].stream);
}

static void tick(struct network *n)
{
    const uint64_t now = (uint64_t)++n->tick * TICK_NS;

    for (uint16_t r = 0; r < RANKS; r++) {
        struct rank *k = &n->rank[r];
        struct xfer_send send;
        const uint8_t *payload;
        uint8_t copy[PAYLOAD_MAX];
        size_t bytes;

        if ((payload = take(n, &k->down, &bytes)) != NULL)
            sml_stream_receive(k->stream, payload, bytes, now);
        call_again(n, k, now);
        if (sml_stream_poll(k->stream, now, &send)) {
            bytes = xfer_send_copy(&send, copy);
            note_sent(n, r, copy, bytes);
            put(n, &k->up, copy, bytes);
        }
    }
    for (uint16_t r = 0; r < RANKS; r++) {
        size_t bytes;
        const uint8_t *payload = take(n, &n->rank[r].up, &bytes);
        if (payload != NULL)
            at_switch(n, r, payload, bytes);
    }
}

static void open_network(struct network *n)
{
    const struct sml_pool_config pool = {.workers = RANKS,
                                         .slots = SLOTS,
                                         .chunk_bytes = CHUNK_BYTES,
                                         .format = XFER_FORMAT_TYPED,
                                         .kernels = kernels_or_exit()};

    n->pool = pool_of(&pool);
    for (uint16_t r = 0; r < RANKS; r++) {
        struct sml_stream_config cfg = stream_config_of(&pool, r);
        cfg.buffer_reduces = true;
        n->rank[r].stream = stream_of(&cfg);
        for (int32_t i = 0; i < COUNT_MAX; i++)
            n->rank[r].in[i] = i * (r + 1);
    }
}

/* Plays all calls, checks the sums, and that each rank sent each chunk once and nothing else but so many
 * probes. */
static void play(struct network *n, unsigned probes)
{
    bool over = false;

    open_network(n);
    while (!over && n->tick < TICKS_MAX) {
        tick(n);
        over = true;
        for (unsigned r = 0; r < RANKS; r++)
            over &= n->rank[r].finished == n->calls && !sml_stream_buffered(n->rank[r].stream);
    }
    CU_ASSERT(over);
    for (unsigned r = 0; r < RANKS; r++) {
        struct xfer_stats s;
        sml_stream_stats(n->rank[r].stream, &s);
        CU_ASSERT_EQUAL(s.sent, (uint64_t)n->calls * n->chunks + probes);
        CU_ASSERT_EQUAL(s.probes, probes);
        for (unsigned c = 0; c < n->calls && (n->collective == XFER_ALLREDUCE || r == 1); c++)
            for (int32_t i = 0; i < (int32_t)call_of(n).count; i++)
                CU_ASSERT_EQUAL_FATAL(n->rank[r].out[c][i], 3 * i);
        free(n->rank[r].stream);
    }
    free(n->pool);
}

/* A caller that needs a sum before it goes on pays for the way to the switch and back, once a call. */
TEST(blocking_calls_cost_their_packets_and_one_round_trip)
{
    static const unsigned chunks[] = {1, 2, 7, 20, 100};

    for (unsigned i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        struct network *n = calloc(1, sizeof *n);
        *n = (struct network){
            .calls = CALLS_MAX, .collective = XFER_ALLREDUCE, .chunks = chunks[i], .lost = -1};
        play(n, 0);
        CU_ASSERT(n->tick <= n->calls * (n->chunks + 2 * DELAY));
        free(n);
    }
}

/* Rank 1 lacks the last result of the second call and asks for it again, while rank 0's third is on its way.
 */
TEST(a_call_begins_while_a_peer_still_lacks_results_of_the_last)
{
    struct network *n = calloc(1, sizeof *n);

    *n = (struct network){.calls = 4, .collective = XFER_ALLREDUCE, .chunks = 5, .lost = 9};
    play(n, 1);
    CU_ASSERT_EQUAL(n->peer_finished[1], 1);
    CU_ASSERT_EQUAL(n->peer_finished[2], 1);
    CU_ASSERT_EQUAL(n->peer_finished[3], 3);
    free(n);
}

/* Who gets no sum of a buffered reduce does not wait for it: its link is never idle between calls. */
TEST(buffered_calls_leave_while_results_of_earlier_ones_are_outstanding)
{
    struct network *n = calloc(1, sizeof *n);

    *n = (struct network){.calls = CALLS_MAX, .collective = XFER_REDUCE, .chunks = 5, .lost = -1};
    play(n, 0);
    for (unsigned c = 1; c < n->calls; c++)
        CU_ASSERT(n->outstanding[c] > 0);
    free(n);
}
