/* Properties of streams and pool together: n real streams and a real pool exchange packets through a bag,
 * from which they are drawn in any order, never, or several times, after any delay. Whatever happens, every
 * rank ends with the exact sums. In small runs the switch is killed at every step, and joined anew; or
 * another goes on in its place, to which ranks come one by one while the first still sums for the others. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "kernels_chosen.h"
#include "look_up.h"
#include "parted.h"
#include "placed.h"
#include "random.h"
#include "reference.h"
#include "scattered.h"
#include "tags.h"
#include "toy_keys.h"
#include "unit.h"

enum {
    RANKS_MAX = 5,
    CALLS_MAX = 5,
    TENSOR_MAX = 5200, /* bytes */
    CHUNK_BYTES = 64,
    LOOK_UP_CHUNK_BYTES = 192, /* of jobs that have a table */
    PAYLOAD_MAX = SML_HEADER_BYTES + LOOK_UP_CHUNK_BYTES + XFER_TRAILER_MAX,
    STEPS_MAX = 200000,
};

/* What is known of a call: what ranks contribute, and what comes of all of them. Both are made when they are
 * first asked for. */
struct known {
    bool has[RANKS_MAX], has_sum;
    _Alignas(8) uint8_t contribution[RANKS_MAX][TENSOR_MAX], sum[TENSOR_MAX];
};

/* What a call of a rank's works on. */
struct tensors {
    uint8_t in[TENSOR_MAX], out[TENSOR_MAX];
    struct scattered scattered;          /* the call's segments in them */
    struct xfer_segment part[RANKS_MAX]; /* ... of calls in parts */
};

struct rank {
    struct sml_stream *stream;
    unsigned call, begun; /* the oldest in progress; the next to begin */
    unsigned at_once;     /* in progress */
    bool buffers;
    bool joined, resumed; /* since the switch restarted */
    struct tensors of[CALLS_MAX];
};

struct world {
    uint64_t seed, random;
    unsigned loss, duplication; /* percent */
    struct sml_pool_config cfg;
    struct keys_secret shared; /* by the ranks of the job, and its switch */
    unsigned calls_count;
    struct xfer_call calls[CALLS_MAX];
    bool in_parts; /* some calls are: parted.h */
    bool in_place[CALLS_MAX];
    uint64_t digest[CALLS_MAX]; /* of the first rank's result; 0: no rank has one yet */
    struct known known[CALLS_MAX];
    struct rank ranks[RANKS_MAX];
    struct sml_pool *pool; /* NULL: the switch is down, or the job not joined anew yet */
    bool moves;            /* ... nor down, but left, at the steps at which it would die */
    struct sml_pool *left; /* of that switch; NULL: there was none */
    uint8_t left_job;
    uint64_t now;
    unsigned steps, restart_at, again_at; /* the switch dies at these steps; 0: never */
    struct bag bag;
    bool failed;
};

static uint64_t draw(struct world *w, uint64_t below)
{
    return rng_below(&w->random, below);
}

static bool chance(struct world *w, unsigned percent)
{
    return draw(w, 100) < percent;
}

static void fail(struct world *w, const char *what)
{
    if (!w->failed)
        printf("\n      seed %" PRIu64 ", restart at steps %u, %u: %s (step %u)\n", w->seed, w->restart_at,
               w->again_at, what, w->steps);
    w->failed = true;
}

static void fill(const struct world *w, unsigned rank, unsigned call, void *tensor)
{
    uint64_t state = w->seed * 31 + rank * 7919 + call * 104729;
    const struct xfer_call *c = &w->calls[call];
    const uint8_t code = agg_code(c->type, c->op);

    if (!sml_looks_up(code))
        reference_fill(code, &state, true, tensor, c->count);
    for (size_t i = 0; sml_looks_up(code) && i < c->count * sml_element_of(code).in; i++)
        ((uint8_t *)tensor)[i] = (uint8_t)rng_next(&state);
}

/* What a rank contributes: numbers of which the result is the same in any order. */
static const uint8_t *contribution(struct world *w, unsigned rank, unsigned call)
{
    struct known *k = &w->known[call];

    if (!k->has[rank])
        fill(w, rank, call, k->contribution[rank]);
    k->has[rank] = true;
    return k->contribution[rank];
}

/* A single rank gets its own back. */
static const uint8_t *sum_of(struct world *w, unsigned call)
{
    const struct xfer_call *c = &w->calls[call];
    struct known *k = &w->known[call];
    const void *in[RANKS_MAX];

    for (unsigned rank = 0; rank < w->cfg.workers; rank++)
        in[rank] = contribution(w, rank, call);
    if (w->cfg.workers == 1)
        return in[0];
    if (!k->has_sum)
        reference_reduce(agg_code(c->type, c->op), k->sum, in, w->cfg.workers, c->count);
    k->has_sum = true;
    return k->sum;
}

static bool has_scale(const struct world *w, const struct xfer_call *call)
{
    return xfer_has_exponents(w->cfg.format) && call->type != AGG_I32;
}

/* What a rank contributes where blocks have a scale: of sizes that change from block to block, and rarely a
 * NaN. */
static float scaled_element(const struct world *w, unsigned rank, unsigned call, unsigned i)
{
    const float x =
        (float)((int64_t)((w->seed * 31 + rank * 7919 + call * 104729 + i * 613) % 2001) - 1000) / 3;

    if ((w->seed + call + rank + i) % 997 == 0)
        return NAN;
    return ldexpf(x, (int)((w->seed + i / 5 + rank * 3) % 40) - 20);
}

/* Of all ranks' contributions to the element's block; false: one is no number. */
static bool block_exponent(const struct world *w, unsigned call, unsigned i, int *exponent)
{
    const unsigned block = CHUNK_BYTES / (w->cfg.format == XFER_FORMAT_INT32 ? 4 : 2),
                   first = i / block * block;

    *exponent = NUM_EXPONENT_LEAST;
    for (unsigned r = 0; r < w->cfg.workers; r++)
        for (unsigned at = first; at < first + block && at < w->calls[call].count; at++) {
            const float x = scaled_element(w, r, call, at);
            int e;
            if (isnan(x))
                return false;
            frexpf(x, &e);
            *exponent = x != 0 && e > *exponent ? e : *exponent;
        }
    return true;
}

/* Within what the theorems promise, and the float's own rounding. */
static bool scaled_sum_is_right(const struct world *w, unsigned call, unsigned i, float got)
{
    const double n = w->cfg.workers;
    double sum = 0;
    int exponent;

    if (!block_exponent(w, call, i, &exponent))
        return isnan(got);
    for (unsigned r = 0; r < w->cfg.workers; r++)
        sum += (double)scaled_element(w, r, call, i);
    const double parts = w->calls[call].op == AGG_AVG ? n : 1;
    const double int32 = n * n * ldexp(1, exponent) / INT32_MAX, fp16 = n * ldexp(1, exponent - 10);
    return fabs((double)got * parts - sum) <=
           (w->cfg.format == XFER_FORMAT_INT32 ? int32 : fp16) + fabs(sum) * 0x1p-24;
}

/* Every rank gets the same bits. */
static void check_scaled(struct world *w, unsigned call, const uint8_t *got)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    float x;

    for (unsigned i = 0; i < w->calls[call].count; i++) {
        memcpy(&x, got + sizeof x * i, sizeof x);
        if (!scaled_sum_is_right(w, call, i, x))
            fail(w, "a wrong sum of scaled numbers");
        for (unsigned b = 0; b < sizeof x; b++)
            digest = (digest ^ got[sizeof x * i + b]) * UINT64_C(0x100000001b3);
    }
    if (w->digest[call] != 0 && w->digest[call] != (digest | 1))
        fail(w, "not what another rank has");
    w->digest[call] = digest | 1;
}

static bool wants(const struct xfer_call *call, unsigned rank)
{
    return xfer_gives(call->collective, call->root, rank);
}

static struct parted parts_of(const struct world *w, unsigned call)
{
    return parted_of(&w->calls[call], w->cfg.workers, w->seed + call);
}

/* A call is a promise of its sum, and a reduce that is buffered one of no more than a turn of the slots. */
static void check_ahead(struct world *w, unsigned r)
{
    const struct rank *k = &w->ranks[r];
    bool may_be_ahead = k->buffers && !wants(&w->calls[k->call], r);
    uint64_t left = sml_stream_left(k->stream);

    for (unsigned later = k->call + 1; later < k->begun; later++) {
        const uint64_t packets = sml_stream_packets(k->stream, &w->calls[later]);
        left -= packets < left ? packets : left;
    }
    if (left > (may_be_ahead ? w->cfg.slots : 0))
        fail(w, "too far ahead");
    for (unsigned p = 0; !may_be_ahead && p < w->cfg.workers; p++)
        if (w->ranks[p].begun <= k->call)
            fail(w, "a sum without a rank");
}

static void begin(struct world *w, unsigned r)
{
    struct rank *k = &w->ranks[r];
    const unsigned c = k->begun++;
    const struct xfer_call *call = &w->calls[c];
    struct tensors *t = &k->of[c];
    _Alignas(8) uint8_t tensor[TENSOR_MAX];
    uint8_t *out = w->in_place[c] ? t->in : t->out;

    if (has_scale(w, call))
        for (unsigned i = 0; i < call->count; i++)
            ((float *)tensor)[i] = scaled_element(w, r, c, i);
    else
        memcpy(tensor, contribution(w, r, c), sizeof(tensor));
    memset(t->out, 0xee, sizeof(t->out));
    if (parted_is(call) || call->collective == XFER_BARRIER) {
        const struct parted p = parts_of(w, c);
        memcpy(t->in, tensor, TENSOR_MAX);
        parted_cut(&p, call, r, t->in, out, t->part);
        const size_t n = call->collective == XFER_BARRIER ? 0 : p.blocks;
        if (sml_stream_begin_segments(k->stream, call, t->part, n, w->now) != 0)
            fail(w, "begin in parts");
        return;
    }
    const struct sml_element element = sml_element_of(agg_code(call->type, call->op));
    t->scattered =
        scattered_cut(t->in, out, call->count, element.in, element.in == element.out ? draw(w, 1 << 11) : 0);
    scattered_put(&t->scattered, tensor);
    if (sml_stream_begin_segments(k->stream, call, t->scattered.segment, t->scattered.n, w->now) != 0)
        fail(w, "begin");
}

/* The sums that a call with the job's table must have come to. */
static bool looked_up(struct world *w, unsigned call, const uint8_t *got)
{
    static uint8_t expected[TENSOR_MAX];
    const uint64_t count = w->calls[call].count;

    memset(expected, 0, sizeof expected);
    for (unsigned r = 0; r < w->cfg.workers; r++)
        look_up_add(&w->cfg.table, expected, contribution(w, r, call), count);
    return memcmp(got, expected, count * sml_element_of(w->cfg.table.code).out) == 0;
}

static void check_parts(struct world *w, unsigned r)
{
    const struct rank *k = &w->ranks[r];
    const struct xfer_call *call = &w->calls[k->call];
    const struct parted p = parts_of(w, k->call);
    uint8_t *out = w->in_place[k->call] ? (uint8_t *)k->of[k->call].in : (uint8_t *)k->of[k->call].out;
    const uint8_t *all[RANKS_MAX];

    for (unsigned rank = 0; rank < w->cfg.workers; rank++)
        all[rank] = contribution(w, rank, k->call);
    parted_add_own(&p, call, w->cfg.workers, w->cfg.empties ? CHUNK_BYTES : 0, r, all[r], out);
    if (!parted_is_right(&p, call, r, all, sum_of(w, k->call), out))
        fail(w, "a wrong part");
}

static void finish(struct world *w, unsigned r)
{
    struct rank *k = &w->ranks[r];
    const struct xfer_call *call = &w->calls[k->call];
    struct tensors *t = &k->of[k->call];
    static uint8_t got[TENSOR_MAX];

    check_ahead(w, r);
    if (parted_is(call)) {
        check_parts(w, r);
    } else if (call->collective == XFER_BARRIER) {
    } else if (sml_looks_up(agg_code(call->type, call->op))) {
        if (!looked_up(w, k->call, t->out))
            fail(w, "a wrong sum of table values");
    } else if (wants(call, r) && has_scale(w, call)) {
        scattered_get(&t->scattered, got);
        check_scaled(w, k->call, got);
    } else if (wants(call, r)) {
        scattered_get(&t->scattered, got);
        if (!reference_equal(agg_code(call->type, call->op), got, sum_of(w, k->call), call->count))
            fail(w, "a wrong sum");
    }
    memset(t->in, 0xdd, sizeof(t->in)); /* the caller's again */
    memset(t->out, 0xdd, sizeof(t->out));
    k->call++;
}

/* From telling its oldest tag to being told where to resume, a rank stays off the network. */
static bool off_network(const struct rank *k)
{
    return k->joined && !k->resumed;
}

static void reject(struct world *w, unsigned rank, struct sml_packet p)
{
    uint8_t payload[SML_REJECT_BYTES];

    bag_send(&w->bag, &w->random, rank, payload, sml_build_reject(payload, &p, 0));
}

static void at_switch(struct world *w, const struct bag_packet *in)
{
    struct sml_packet p;
    struct agg_verdict v;

    if (sml_parse(&p, in->payload, in->bytes) != SML_OK) {
        fail(w, "a malformed packet");
        return;
    }
    struct sml_pool *pool = p.job == w->cfg.job ? w->pool : p.job == w->left_job ? w->left : NULL;
    if (pool == NULL) {
        if (!w->moves && chance(w, 50))
            reject(w, in->rank, p);
        return;
    }
    struct sml_slot *slot = sml_pool_locate(pool, &p, 0);
    sml_pool_apply(pool, slot, in->rank, &p, NULL, 0, &v);
    switch (v.reason) {
    case SML_SEND_ALL:
    case SML_RESTORED:
    case SML_SEND_ONE:
    case SML_SEND_ANSWER:
        bag_carry(&w->bag, &w->random, &v, w->cfg.workers, in->rank);
        break;
    case SML_HELD:
    case SML_DROP_DUPLICATE:
    case SML_DROP_STALE:
        break;
    case SML_DROP_AHEAD:
        if (w->restart_at == 0)
            fail(w, "a chunk ahead of its time");
        break;
    default:
        fail(w, sml_reasons[v.reason].name);
    }
}

static void deliver(struct world *w, const struct bag_packet *p)
{
    if (p->to_switch) {
        at_switch(w, p);
        return;
    }
    if (off_network(&w->ranks[p->rank]))
        return;
    enum xfer_receive worth = sml_stream_receive(w->ranks[p->rank].stream, p->payload, p->bytes, w->now);
    if ((worth == XFER_RX_BAD || worth == XFER_RX_DAMAGED) && w->restart_at == 0)
        fail(w, "a bad packet");
}

static void open_pool(struct world *w)
{
    free(w->pool);
    w->pool = pool_of(&w->cfg);
}

static void kill_switch(struct world *w)
{
    free(w->moves ? w->left : w->pool);
    w->left = w->moves ? w->pool : NULL;
    w->left_job = w->cfg.job;
    w->pool = NULL;
    for (unsigned r = 0; r < w->cfg.workers; r++)
        w->ranks[r].joined = w->ranks[r].resumed = false;
    w->cfg.resumed = true;
    w->cfg.first_tag = 0;
    w->shared.secret[0]++;
    w->cfg.job++; /* a number that it did not have before: what is on its way still counts for nothing */
}

/* One more rank notices the restart, or one more learns that all are there again. */
static void rejoin(struct world *w)
{
    struct rank *k = &w->ranks[draw(w, w->cfg.workers)];
    bool all_joined = true, any_joined = false;

    if (w->pool != NULL) {
        if (!k->resumed &&
            sml_stream_resume(k->stream, w->cfg.job, w->cfg.first_tag, &w->shared, w->now) != 0)
            fail(w, "resume");
        k->resumed = true;
        return;
    }
    for (unsigned r = 0; r < w->cfg.workers; r++)
        any_joined |= w->ranks[r].joined;
    uint32_t oldest = sml_stream_oldest(k->stream);
    if (!k->joined && (!any_joined || tag_before(oldest, w->cfg.first_tag)))
        w->cfg.first_tag = oldest;
    k->joined = true;
    for (unsigned r = 0; r < w->cfg.workers; r++)
        all_joined &= w->ranks[r].joined;
    if (all_joined)
        open_pool(w);
}

static void step(struct world *w)
{
    w->steps++;
    if (w->steps == w->restart_at || w->steps == w->again_at)
        kill_switch(w);
    if (w->cfg.resumed && chance(w, 5))
        rejoin(w);

    if (w->bag.n > 0 && !chance(w, 5)) {
        const unsigned i = bag_draw(&w->bag, &w->random);
        const struct bag_packet p = w->bag.packet[i];
        if (!chance(w, w->duplication))
            bag_remove(&w->bag, i);
        w->now += draw(w, 50000);
        if (!chance(w, w->loss))
            deliver(w, &p);
    } else {
        uint64_t next = w->now + 1000000;
        for (unsigned r = 0; r < w->cfg.workers; r++) {
            uint64_t timer = sml_stream_timer(w->ranks[r].stream);
            next = timer < next ? timer : next;
        }
        w->now = next > w->now ? next : w->now;
    }
    for (unsigned r = 0; r < w->cfg.workers; r++) {
        struct rank *k = &w->ranks[r];
        while (k->call != sml_stream_ended(k->stream) && !w->failed)
            finish(w, r);
        while (k->begun - k->call < k->at_once && k->begun < w->calls_count && chance(w, 20))
            begin(w, r);
        if (!off_network(k))
            bag_poll(&w->bag, &w->random, k->stream, r, w->now);
    }
}

static bool quiet(const struct world *w)
{
    if (w->steps < w->restart_at || w->steps < w->again_at)
        return false;
    for (unsigned r = 0; r < w->cfg.workers; r++) {
        const struct rank *k = &w->ranks[r];
        if (k->call < w->calls_count || sml_stream_timer(k->stream) != UINT64_MAX ||
            (w->cfg.resumed && !k->resumed))
            return false;
    }
    return true;
}

/* What there is in formats with exponents. */
static unsigned scaled_code(struct world *w)
{
    if (w->cfg.format == XFER_FORMAT_INT32 && chance(w, 25))
        return agg_code(AGG_I32, AGG_SUM);
    return agg_code(AGG_F32, chance(w, 33) ? AGG_AVG : AGG_SUM);
}

static void choose_calls(struct world *w, unsigned chunks_max)
{
    w->calls_count = 1 + (unsigned)draw(w, CALLS_MAX);
    for (unsigned c = 0; c < w->calls_count; c++) {
        const bool compressed = w->cfg.table.code != 0 && chance(w, 60);
        const unsigned code = xfer_has_exponents(w->cfg.format) ? scaled_code(w)
                              : compressed                      ? w->cfg.table.code
                                                                : reference_any(&w->random);
        const bool reduce = !compressed && chance(w, 40);
        w->calls[c] = (struct xfer_call){
            .collective = reduce ? XFER_REDUCE : XFER_ALLREDUCE,
            .type = (uint8_t)agg_code_type(code),
            .op = (uint8_t)agg_code_op(code),
            .root = reduce ? (uint32_t)draw(w, w->cfg.workers) : 0,
            .count = draw(w, chunks_max * CHUNK_BYTES / sml_element_of((uint8_t)code).out),
        };
        w->in_place[c] = !compressed && chance(w, 50);
        if (!w->in_parts || chance(w, 20))
            continue;
        w->calls[c] =
            parted_draw(&w->random, w->cfg.workers, (uint8_t)code, draw(w, chunks_max * CHUNK_BYTES));
        w->in_place[c] &= w->calls[c].collective != XFER_REDUCE_SCATTER;
        if (!w->cfg.empties && xfer_copies(w->calls[c].collective))
            w->calls[c].collective = XFER_BARRIER;
        if (w->calls[c].collective == XFER_BARRIER)
            w->calls[c].count = w->calls[c].root = 0;
    }
}

/* What a job's packets carry. */
enum what { TYPED, COMPRESSED, INT32, FP16, PARTED };

/* How a job loses its switch. */
enum way { DIES, IS_LEFT };

/* Plays the run that the seed decides; returns the steps it took, 0 on failure. */
static unsigned play_by(enum way way, enum what what, uint64_t seed, unsigned chunks_max, unsigned loss,
                        unsigned restart_at, unsigned again_at)
{
    const enum xfer_format format = what == INT32  ? XFER_FORMAT_INT32
                                    : what == FP16 ? XFER_FORMAT_FP16
                                                   : XFER_FORMAT_TYPED;
    const bool compressed = what == COMPRESSED;
    struct world *w = calloc(1, sizeof(*w));

    w->seed = w->random = seed;
    w->shared.library = &toy_library;
    w->moves = way == IS_LEFT;
    w->loss = loss;
    w->restart_at = restart_at;
    w->again_at = again_at;
    w->duplication = (unsigned)draw(w, 40);
    w->cfg = (struct sml_pool_config){
        .workers = (uint16_t)(1 + draw(w, RANKS_MAX)),
        .slots = (uint16_t)(1 << draw(w, 4)),
        .chunk_bytes = compressed ? LOOK_UP_CHUNK_BYTES : CHUNK_BYTES,
        .job = (uint8_t)draw(w, 256),
        .format = format,
        .checksum = seed % 2 ? XFER_CHECKSUM_KEYED : XFER_CHECKSUM_NONE,
        .shared = &w->shared,
        .mode = chance(w, 50) ? XFER_ON_ARRIVAL : XFER_ORDERED,
        .first_tag = (uint32_t)(0 - draw(w, 20)),
        .kernels = agg_kernels_get("scalar"),
    };
    w->in_parts = what == PARTED;
    w->cfg.empties = what == PARTED && chance(w, 80);
    if (compressed)
        w->cfg.table =
            look_up_table(&w->random, (uint8_t)(draw(w, 2) * SML_WIDE_SUMS + 1 + draw(w, 4)), w->cfg.workers);
    choose_calls(w, chunks_max);
    for (unsigned r = 0; r < w->cfg.workers; r++) {
        w->ranks[r].buffers = chance(w, 40) && !xfer_has_exponents(format);
        w->ranks[r].at_once = 1u << draw(w, 3);
        struct sml_stream_config cfg = stream_config_of(&w->cfg, r);
        cfg.interleaved = w->cfg.empties && seed % 4 != 0;
        cfg.buffer_reduces = w->ranks[r].buffers;
        cfg.calls = (uint16_t)w->ranks[r].at_once;
        cfg.window_max = (uint16_t)draw(w, w->cfg.slots + 1u);
        w->ranks[r].stream = stream_of(&cfg);
    }
    open_pool(w);

    while (!w->failed && !quiet(w)) {
        step(w);
        if (w->steps >= STEPS_MAX)
            fail(w, "no end");
    }
    unsigned steps = w->failed ? 0 : w->steps;
    for (unsigned r = 0; r < w->cfg.workers; r++)
        free(w->ranks[r].stream);
    free(w->pool);
    free(w->left);
    free(w);
    return steps;
}

static unsigned play(enum what what, uint64_t seed, unsigned chunks_max, unsigned loss, unsigned restart_at,
                     unsigned again_at)
{
    return play_by(DIES, what, seed, chunks_max, loss, restart_at, again_at);
}

enum { LONG_SLOTS = 256, LONG_WINDOW = 16, LONG_COUNT = 16 * 1000 };

/* Two streams and a pool, every packet in its order. Returns how many chunks rank 0 has copied at the end. */
static uint64_t long_call(bool older_switch)
{
    static int32_t in[LONG_COUNT], out[2][LONG_COUNT];
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = LONG_COUNT};
    struct sml_pool_config pc = {.workers = 2,
                                 .slots = LONG_SLOTS,
                                 .chunk_bytes = CHUNK_BYTES,
                                 .format = XFER_FORMAT_TYPED,
                                 .kernels = kernels_or_exit()};
    struct sml_pool *pool = pool_of(&pc);
    struct sml_stream *stream[2];
    uint64_t now = 0;

    for (uint16_t r = 0; r < 2; r++) {
        struct sml_stream_config cfg = stream_config_of(&pc, r);
        cfg.window_max = LONG_WINDOW;
        stream[r] = stream_of(&cfg);
        CU_ASSERT_EQUAL_FATAL(sml_stream_begin(stream[r], &call, in, out[r], now), 0);
    }
    while (sml_stream_status(stream[0]) == XFER_RUNNING) {
        for (uint16_t r = 0; r < 2; r++) {
            struct xfer_send send;
            while (sml_stream_poll(stream[r], now, &send)) {
                uint8_t payload[PAYLOAD_MAX], result[PAYLOAD_MAX];
                struct sml_packet p;
                struct agg_verdict v;
                sml_parse(&p, payload, xfer_send_copy(&send, payload));
                sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), r, &p, NULL, 0, &v);
                for (unsigned to = 0; v.reason == SML_SEND_ALL && to < 2; to++) {
                    memcpy(result, v.payload, v.bytes);
                    result[9] = older_switch ? 0 : result[9];
                    sml_stream_receive(stream[to], result, v.bytes, now);
                }
            }
        }
        now += 1000;
    }
    struct xfer_stats stats;
    sml_stream_stats(stream[0], &stats);
    for (unsigned r = 0; r < 2; r++)
        free(stream[r]);
    free(pool);
    return stats.kept;
}

enum { COVER_COUNT = 3000, COVER_PLACES = 3 };

/* A rank alone gets back from a place what it has sent there. */
static void sum_alone(const struct xfer_call *call, uint8_t place, uint32_t from, uint32_t to, int32_t out[])
{
    static int32_t in[COVER_COUNT];
    struct sml_pool_config pc = {.workers = 1,
                                 .slots = 8,
                                 .chunk_bytes = CHUNK_BYTES,
                                 .format = XFER_FORMAT_TYPED,
                                 .kernels = kernels_or_exit()};
    struct sml_stream_config cfg = stream_config_of(&pc, 0);
    struct sml_pool *pool = pool_of(&pc);
    struct sml_stream *stream;
    struct xfer_send send;

    cfg.place = place;
    cfg.places = COVER_PLACES;
    stream = stream_of(&cfg);
    sml_stream_share(stream, from, to);
    CU_ASSERT_EQUAL_FATAL(sml_stream_begin(stream, call, in, out, 0), 0);
    while (sml_stream_poll(stream, 0, &send)) {
        uint8_t payload[PAYLOAD_MAX];
        struct sml_packet p;
        struct agg_verdict v;
        sml_parse(&p, payload, xfer_send_copy(&send, payload));
        sml_pool_apply(pool, sml_pool_locate(pool, &p, 0), 0, &p, NULL, 0, &v);
        sml_stream_receive(stream, v.payload, v.bytes, 0);
    }
    CU_ASSERT_EQUAL(sml_stream_status(stream), XFER_DONE);
    free(stream);
    free(pool);
}

/* Each element is summed at one place, by one thread, whatever fractions the places have. */
TEST(places_cover_a_call_by_their_fractions)
{
    for (uint64_t i = 0, random = 1; i < unit_cases(60); i++) {
        static int32_t out[COVER_COUNT];
        static unsigned times[COVER_COUNT];
        const uint32_t first = (uint32_t)rng_below(&random, SML_SHARE_WHOLE),
                       second = first + (uint32_t)rng_below(&random, SML_SHARE_WHOLE - first);
        const uint32_t at[COVER_PLACES + 1] = {0, first, second, SML_SHARE_WHOLE};
        struct xfer_call call = {.collective = XFER_ALLREDUCE,
                                 .type = AGG_I32,
                                 .op = AGG_SUM,
                                 .count = rng_below(&random, COVER_COUNT + 1),
                                 .shares = (uint8_t)(1 + rng_below(&random, 4))};

        memset(times, 0, sizeof times);
        for (call.share = 0; call.share < call.shares; call.share++)
            for (uint8_t place = 0; place < COVER_PLACES; place++) {
                memset(out, 0xff, sizeof out);
                sum_alone(&call, place, at[place], at[place + 1], out);
                for (unsigned e = 0; e < COVER_COUNT; e++)
                    times[e] += out[e] == 0;
            }
        for (unsigned e = 0; e < COVER_COUNT; e++)
            CU_ASSERT_EQUAL_FATAL(times[e], e < call.count);
    }
}

TEST(only_what_a_peer_may_lack_is_copied)
{
    CU_ASSERT(long_call(false) <= LONG_WINDOW + LONG_SLOTS / XFER_HELD_STEPS);
    CU_ASSERT_EQUAL(long_call(true), LONG_SLOTS); /* which does not tell what the ranks hold */
}

TEST(sums_are_exact_whatever_the_network_does)
{
    for (uint64_t seed = 1; seed <= unit_cases(400); seed++)
        CU_ASSERT_FATAL(play(TYPED, seed, 30, seed % 4 * 10, 0, 0) > 0);
}

static void let_die_at_any_step(enum what what, unsigned seeds)
{
    for (uint64_t seed = 1; seed <= unit_cases(seeds); seed++) {
        unsigned steps = play(what, seed, 6, 10, 0, 0);
        CU_ASSERT_FATAL(steps > 0);
        for (unsigned at = 1; at < steps; at++)
            CU_ASSERT_FATAL(play(what, seed, 6, 10, at, 0) > 0);
    }
}

static void let_die_again(enum what what, unsigned seeds)
{
    for (uint64_t seed = 1; seed <= unit_cases(seeds); seed++)
        for (unsigned gap = 1; gap < 400; gap += 7)
            CU_ASSERT_FATAL(play(what, seed, 6, 10, 20 + gap % 97, 20 + gap % 97 + gap) > 0);
}

TEST(a_switch_may_die_at_any_step)
{
    let_die_at_any_step(TYPED, 15);
}

TEST(a_switch_may_die_again_before_all_is_restored)
{
    let_die_again(TYPED, 25);
}

/* Its sums still reach ranks that have not left it yet, when others have. */
TEST(another_switch_may_go_on_from_any_step)
{
    for (uint64_t seed = 1; seed <= unit_cases(4); seed++) {
        unsigned steps = play(TYPED, seed, 6, 10, 0, 0);
        CU_ASSERT_FATAL(steps > 0);
        for (unsigned at = 1; at < steps; at++)
            CU_ASSERT_FATAL(play_by(IS_LEFT, TYPED, seed, 6, 10, at, 0) > 0);
        for (unsigned gap = 1; gap < 400; gap += 7)
            CU_ASSERT_FATAL(play_by(IS_LEFT, INT32, seed, 6, 10, 20 + gap % 97, 20 + gap % 97 + gap) > 0);
    }
}

TEST(scaled_sums_are_right_and_alike_whatever_the_network_does)
{
    for (uint64_t seed = 1; seed <= unit_cases(400); seed++)
        CU_ASSERT_FATAL(play(seed % 3 ? INT32 : FP16, seed, 30, seed % 4 * 10, 0, 0) > 0);
}

TEST(scaled_sums_outlive_their_switch)
{
    let_die_at_any_step(INT32, 5);
    let_die_at_any_step(FP16, 2);
    let_die_again(INT32, 5);
    let_die_again(FP16, 2);
}

TEST(sums_of_table_values_are_exact_whatever_the_network_does)
{
    for (uint64_t seed = 1; seed <= unit_cases(400); seed++)
        CU_ASSERT_FATAL(play(COMPRESSED, seed, 30, seed % 4 * 10, 0, 0) > 0);
}

TEST(sums_of_table_values_outlive_their_switch)
{
    let_die_at_any_step(COMPRESSED, 5);
    let_die_again(COMPRESSED, 8);
}

TEST(parts_get_where_they_belong_whatever_the_network_does)
{
    for (uint64_t seed = 1; seed <= unit_cases(400); seed++)
        CU_ASSERT_FATAL(play(PARTED, seed, 30, seed % 4 * 10, 0, 0) > 0);
}

TEST(parts_outlive_their_switch)
{
    let_die_at_any_step(PARTED, 15);
    let_die_again(PARTED, 15);
}

/* Of so many chunks that their order is another than the tensor's. A switch that dies late finds ranks at
 * different stretches. */
TEST(interleaved_parts_get_where_they_belong)
{
    for (uint64_t seed = 1; seed <= unit_cases(50); seed++) {
        CU_ASSERT_FATAL(play(PARTED, seed, 80, seed % 4 * 10, 0, 0) > 0);
        CU_ASSERT_FATAL(play(PARTED, seed, 80, 10, 60 + (unsigned)seed * 3, 0) > 0);
    }
}
