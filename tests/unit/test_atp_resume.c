/* Jobs of ATP that outlive their parameter server: it is killed again and again, at any step of a program of
 * collectives, while some ranks have the results of chunks that others lack. All ranks end with the same
 * bits, also of floats whose sum depends on the order of adding. */
#include <math.h>

#include "atp_rig.h"
#include "random.h"
#include "unit.h"

enum { RANKS = 5, CALLS = 6, MOST = 1500, STEPS = 500000 };

struct course {
    uint64_t rng;
    struct xfer_call call[CALLS];
    unsigned at[RANKS];    /* the oldest call that a rank has in progress, ... */
    unsigned begun[RANKS]; /* ... and the next to begin */
    struct xfer_segment segment[RANKS][CALLS];
    unsigned restarts;
};

static float in[RANKS][CALLS][MOST], out[RANKS][CALLS][MOST];

static void draw_calls(struct course *c, enum xfer_format format)
{
    const uint8_t types[] = {AGG_F32, AGG_F32, AGG_I32}, ops[] = {AGG_SUM, AGG_SUM, AGG_AVG};

    for (unsigned i = 0; i < CALLS; i++) {
        const bool reduce = rng_below(&c->rng, 3) == 0, plain = format == XFER_FORMAT_TYPED;
        c->call[i] = (struct xfer_call){.collective = reduce ? XFER_REDUCE : XFER_ALLREDUCE,
                                        .type = plain ? types[rng_below(&c->rng, 3)] : (uint8_t)AGG_F32,
                                        .op = ops[rng_below(&c->rng, 3)],
                                        .root = reduce ? (uint32_t)rng_below(&c->rng, rig.workers) : 0,
                                        .count = rng_magnitude(&c->rng, 1, MOST)};
    }
}

/* Floats of many sizes, or integers as their bits. */
static void fill(struct course *c, unsigned rank, unsigned i)
{
    for (unsigned e = 0; e < c->call[i].count; e++) {
        const int32_t number = (int32_t)rng_below(&c->rng, 20001) - 10000;
        if (c->call[i].type == AGG_I32)
            memcpy(&in[rank][i][e], &number, sizeof number);
        else
            in[rank][i][e] = (float)number / 7.0f;
    }
    memset(out[rank][i], 0xee, sizeof out[rank][i]);
}

static void draw(struct course *c, unsigned round)
{
    static const enum xfer_format formats[] = {XFER_FORMAT_TYPED, XFER_FORMAT_TYPED, XFER_FORMAT_INT32,
                                               XFER_FORMAT_FP16};
    static const uint32_t aggregators[] = {0, 3, 256};
    struct atp_terms terms = {.near = ATP_NOT_NEAR, .servers = 1, .life = 1000 * round};

    c->rng = 77 + round;
    terms.mode = rng_below(&c->rng, 5) == 0 ? XFER_ORDERED : XFER_ON_ARRIVAL;
    terms.format = formats[rng_below(&c->rng, 4)];
    terms.mapping = (enum atp_mapping)rng_below(&c->rng, ATP_MAPPINGS);
    terms.window = (uint16_t)(ATP_MIN_WINDOW << rng_below(&c->rng, 2));
    terms.chunk_bytes = (uint16_t)(64 + 4 * rng_below(&c->rng, 20));
    terms.per_rack = (uint8_t)rng_between(&c->rng, 2, 64);
    terms.keyed = rng_below(&c->rng, 4) == 0;
    terms.checksum = rng_below(&c->rng, 3) == 0 ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
    terms.group = rng_below(&c->rng, 3) == 0;
    terms.first_sequence = (uint32_t)-rng_below(&c->rng, 60);
    rig_init(1 + (unsigned)rng_below(&c->rng, RANKS), &terms, aggregators[round % 3]);
    draw_calls(c, terms.format);
    for (unsigned r = 0; r < rig.workers; r++)
        for (unsigned i = 0; i < CALLS; i++)
            fill(c, r, i);
}

static uint64_t loss_rng;

static bool loses_some(const struct rig_packet *p)
{
    (void)p;
    return rng_below(&loss_rng, 8) == 0;
}

/* A rank goes on as far as a packet. */
static void drive(struct course *c, unsigned rank)
{
    struct atp_stream *s = rig.stream[rank];
    uint8_t payload[RIG_PAYLOAD];
    struct xfer_send send;

    while (c->at[rank] != atp_stream_ended(s)) {
        /* The tensors are the caller's: he writes to them as he likes. */
        memset(in[rank][c->at[rank]], 0x55, sizeof in[rank][0]);
        c->at[rank]++;
    }
    while (c->begun[rank] - c->at[rank] < RIG_CALLS && c->begun[rank] < CALLS && rng_below(&c->rng, 4) == 0) {
        const unsigned i = c->begun[rank]++;
        c->segment[rank][i] =
            (struct xfer_segment){.in = in[rank][i], .out = out[rank][i], .count = c->call[i].count};
        CU_ASSERT_EQUAL(atp_stream_begin_segments(s, &c->call[i], &c->segment[rank][i], 1, rig.now), 0);
    }
    if (atp_stream_poll(s, rig.now, &send))
        rig_put(true, rank, payload, xfer_send_copy(&send, payload));
}

static bool is_over(const struct course *c)
{
    for (unsigned r = 0; r < rig.workers; r++)
        if (c->at[r] < CALLS || atp_stream_timer(rig.stream[r]) != UINT64_MAX)
            return false;
    return true;
}

static void play(struct course *c)
{
    rig.loses = loses_some;
    for (unsigned step = 0; step < STEPS && !is_over(c); step++) {
        drive(c, (unsigned)rng_below(&c->rng, rig.workers));
        for (uint64_t n = rng_below(&c->rng, 4); n > 0 && rig.queued > 0; n--)
            rig_deliver_one();
        rig.now += rig.queued > 0 ? 20000 : 300000;
        if (rng_below(&c->rng, 700) == 0 && c->restarts < 12)
            rig_restart((uint32_t)(rig.terms.life + ++c->restarts));
    }
    CU_ASSERT(is_over(c));
}

/* What rank r holds of element e of a call; sums are compared elsewhere, this is what they must be near to.
 */
static double expected(double contributions[RANKS])
{
    double sum = 0;

    for (unsigned r = 0; r < rig.workers; r++)
        sum += contributions[r];
    return sum;
}

/* kept[r]: what rank r gave, before it was overwritten. */
static void check_call(const struct course *c, unsigned i, float kept[RANKS][CALLS][MOST])
{
    const struct xfer_call *call = &c->call[i];
    const bool everywhere = call->collective == XFER_ALLREDUCE;
    const unsigned first = everywhere ? 0 : call->root;
    unsigned different = 0, wrong = 0;

    for (unsigned r = 0; everywhere && r < rig.workers; r++)
        different += memcmp(out[r][i], out[first][i], call->count * sizeof(float)) != 0;
    for (unsigned e = 0; e < call->count; e++) {
        double each[RANKS], got, size = 0;
        for (unsigned r = 0; r < rig.workers; r++) {
            int32_t number;
            memcpy(&number, &kept[r][i][e], sizeof number);
            each[r] = call->type == AGG_I32 ? number : (double)kept[r][i][e];
            size += fabs(each[r]);
        }
        int32_t number;
        memcpy(&number, &out[first][i][e], sizeof number);
        got = call->type == AGG_I32 ? number : (double)out[first][i][e];
        const double divided = call->op == AGG_AVG ? expected(each) / rig.workers : expected(each);
        const double allowed = call->type == AGG_I32                  ? 1.0
                               : rig.terms.format == XFER_FORMAT_FP16 ? 60.0
                                                                      : 0.5;
        wrong += fabs(got - divided) > allowed * (size > 0);
    }
    CU_ASSERT_EQUAL(different, 0);
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(any_step)
{
    static float kept[RANKS][CALLS][MOST];
    uint64_t restored = 0, restarts = 0;

    for (unsigned round = 0; round < 24 || round < unit_cases(90); round++) {
        struct course c = {.at = {0}};

        loss_rng = round;
        draw(&c, round);
        memcpy(kept, in, sizeof kept);
        play(&c);
        for (unsigned i = 0; i < CALLS; i++)
            check_call(&c, i, kept);
        restored += rig.reasons[ATP_SEND_RESTORED];
        restarts += c.restarts;
        CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_MISMATCH] + rig.reasons[ATP_DROP_RESTORE] +
                            rig.reasons[ATP_DROP_AHEAD] + rig.reasons[ATP_DROP_BAD_RANKS],
                        0);
    }
    CU_ASSERT(restored > 20 && restarts > 20);
}

static const struct atp_terms usual = {.window = 16,
                                       .chunk_bytes = 64,
                                       .per_rack = 64,
                                       .near = ATP_NOT_NEAR,
                                       .servers = 1,
                                       .life = 0x12345678,
                                       .first_sequence = 0xfffffff0};

static bool loses_results_of_rank_1(const struct rig_packet *p)
{
    return !p->to_server && p->rank == 1;
}

/* Rank 0 has returned from its call, and has overwritten its tensors; rank 1 has no result. */
TEST(between_calls)
{
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};
    int32_t mine[2][64], sum[2][64];
    struct xfer_stats stats;

    rig_init(2, &usual, 0);
    for (unsigned r = 0; r < 2; r++) {
        for (int i = 0; i < 64; i++)
            mine[r][i] = (int)r + i;
        rig_begin(r, &call, mine[r], sum[r], 64);
    }
    rig.loses = loses_results_of_rank_1;
    rig_run(3);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_DONE);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[1]), XFER_RUNNING);
    CU_ASSERT_EQUAL(atp_stream_left(rig.stream[1]), 5);
    atp_stream_stats(rig.stream[0], &stats);
    CU_ASSERT_EQUAL(stats.kept, 5);
    memset(mine[0], 0x11, sizeof mine[0]);
    memset(sum[0], 0x22, sizeof sum[0]);
    rig.loses = NULL;
    rig_restart(5);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_DONE);
    CU_ASSERT(atp_stream_timer(rig.stream[0]) <= rig.now); /* it has sums to hand back */
    rig_run(20);
    CU_ASSERT(atp_stream_timer(rig.stream[0]) == UINT64_MAX);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[1]), XFER_DONE);
    CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_RESTORED], 5);
    for (int i = 0; i < 64; i++)
        CU_ASSERT_EQUAL(sum[1][i], 2 * i + 1);
}

/* What all ranks share is kept by none: of a call of one packet just this one, since it may be lost to
 * others. */
TEST(few_chunks_are_kept)
{
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};
    static int32_t mine[2][16 * 64], sum[2][16 * 64];
    struct xfer_stats stats;

    rig_init(2, &usual, 64);
    for (unsigned i = 0; i < 10; i++) {
        for (unsigned r = 0; r < 2; r++) {
            rig_begin(r, &call, mine[r], sum[r], 8);
        }
        rig_run(3);
    }
    atp_stream_stats(rig.stream[0], &stats);
    CU_ASSERT_EQUAL(stats.kept, 10);
}

/* Only who was in the job before can hand something back, and only once. */
TEST(nobody_restores_in_a_new_job)
{
    uint8_t payload[ATP_HEADER_BYTES + 64] = {0};
    const struct atp_packet p = {.kind = ATP_RESTORE,
                                 .job = 3,
                                 .life = usual.life,
                                 .sequence = usual.first_sequence,
                                 .root = ATP_ALL,
                                 .code = agg_code(AGG_I32, AGG_SUM)};
    struct atp_packet later = p;

    rig_init(2, &usual, 0);
    atp_build_header(payload, &p);
    rig_put(true, 0, payload, sizeof payload);
    rig_deliver();
    CU_ASSERT_EQUAL(rig.reasons[ATP_DROP_RESTORE], 1);
    rig_restart(9);
    later.life = 9;
    for (unsigned i = 0; i < 2; i++) {
        atp_build_header(payload, &later);
        rig_put(true, 0, payload, sizeof payload);
        rig_deliver();
        later.sequence += usual.window;
    }
    CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_RESTORED], 1);
    CU_ASSERT_EQUAL(rig.reasons[ATP_DROP_RESTORE], 2);
}

/* Of a chunk that the server cannot have come to: rank 0 has sent it to the one before, but rank 1 lacks all
 * results. It would take the place of a chunk in the window. */
TEST(results_beyond_the_window)
{
    enum { COUNT = 40 * 16 };
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};
    static int32_t mine[2][COUNT], sum[2][COUNT];
    uint8_t payload[ATP_HEADER_BYTES + 64] = {0};
    struct atp_packet forged = {
        .kind = ATP_PARAMETER, .job = 3, .life = 9, .code = agg_code(AGG_I32, AGG_SUM), .next = 7};

    rig_init(2, &usual, 0);
    for (unsigned r = 0; r < 2; r++) {
        for (int i = 0; i < COUNT; i++)
            mine[r][i] = (int)r + i;
        rig_begin(r, &call, mine[r], sum[r], COUNT);
    }
    rig.loses = loses_results_of_rank_1;
    rig_run(3);
    rig.loses = NULL;
    rig_restart(forged.life);
    for (uint32_t i = 0; i < usual.window; i++) {
        forged.sequence = usual.first_sequence + usual.window + i;
        atp_build_header(payload, &forged);
        CU_ASSERT_EQUAL(atp_stream_receive(rig.stream[0], payload, sizeof payload, rig.now), XFER_RX_BAD);
    }
    rig_run(200);
    for (unsigned r = 0; r < 2; r++) {
        CU_ASSERT_EQUAL(atp_stream_status(rig.stream[r]), XFER_DONE);
        for (int i = 0; i < COUNT; i++)
            CU_ASSERT_EQUAL(sum[r][i], 2 * i + 1);
    }
}

static bool loses_what_rank_1_sends(const struct rig_packet *p)
{
    return p->to_server && p->rank == 1;
}

/* Rank 1, which lacks a whole window of sums, is back at the server, but does not contribute: rank 0 waits
 * for it there, and cannot ask about the chunk that it is at itself. */
TEST(missing)
{
    enum { COUNT = 40 * 16 };
    const struct xfer_call call = {
        .collective = XFER_REDUCE, .type = AGG_I32, .op = AGG_SUM, .root = 1, .count = COUNT};
    static int32_t mine[COUNT], sum[COUNT];
    uint16_t ranks[2];

    rig_init(2, &usual, 0);
    for (unsigned r = 0; r < 2; r++) {
        rig_begin(r, &call, mine, r == 1 ? sum : NULL, COUNT);
    }
    rig.loses = loses_results_of_rank_1;
    rig_run(3);
    CU_ASSERT_EQUAL(atp_stream_oldest(rig.stream[0]) - atp_stream_oldest(rig.stream[1]), usual.window);
    rig.loses = loses_what_rank_1_sends;
    rig_restart(9);
    CU_ASSERT_EQUAL(atp_stream_missing(rig.stream[0], ranks, 2), 0);
    rig_run(6);
    CU_ASSERT_EQUAL(atp_stream_missing(rig.stream[0], ranks, 2), 1);
    CU_ASSERT_EQUAL(ranks[0], 1);
}

/* A rank that is too far behind what others have kept cannot be helped. */
TEST(too_far)
{
    struct atp_terms terms = usual;

    rig_init(1, &usual, 0);
    terms.first_sequence--;
    CU_ASSERT(atp_stream_resume(rig.stream[0], 3, &terms, NULL, 1) < 0);
    terms.first_sequence += 2;
    CU_ASSERT(atp_stream_resume(rig.stream[0], 3, &terms, NULL, 1) < 0);
    terms = usual, terms.window *= 2;
    CU_ASSERT(atp_stream_resume(rig.stream[0], 3, &terms, NULL, 1) < 0);
}
