/* Properties of a job with a quorum: n real streams and a real pool exchange packets through a bag, from
 * which they are drawn in any order, never, or several times, while some ranks stand still for a time, or for
 * ever, some leave calls of which they lack sums (best effort), and the switch may be killed. What each rank
 * contributes is chosen so that a sum tells who is in it: then
 *
 *   - a sum has whom its names say, at least a quorum, and no part of a rank's contribution, nor any twice;
 *   - all ranks that have a chunk's sum have the same bits;
 *   - what a rank could not get is 0, and is counted; what it has left behind is not, but reaches the others;
 *   - every rank that goes on comes to the end of its calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "placed.h"
#include "random.h"
#include "switchml/terms.h"
#include "terms_of.h"
#include "toy_keys.h"
#include "transfer/chunks.h"
#include "unit.h"

enum {
    RANKS_MAX = 7, /* a byte each in a sum */
    CALLS_MAX = 6,
    COUNT_MAX = 300, /* elements */
    CHUNK_BYTES = 128,
    ROLL_MAX = COUNT_MAX,
    STEPS_MAX = 200000,
    WEIGHTS = 7,
};

/* What a call of a rank's works on. */
struct tensors {
    uint8_t in[8 * COUNT_MAX], out[64 * COUNT_MAX];
    struct xfer_roll roll[ROLL_MAX];
    bool left[64 * COUNT_MAX]; /* bytes of the sums that it has left behind */
};

struct rank {
    struct sml_stream *stream; /* NULL: it does not know yet that the job runs */
    unsigned call, begun;      /* the oldest in progress; the next to begin */
    unsigned at_once;          /* in progress */
    bool dead, may_leave;
    unsigned wakes; /* stands still until this step */
    bool joined, resumed;
    struct tensors of[CALLS_MAX];
};

struct world {
    uint64_t seed, random;
    unsigned loss, duplication, straggling; /* percent */
    struct sml_pool_config cfg;
    struct keys_secret shared;
    unsigned calls_count;
    struct xfer_call calls[CALLS_MAX];
    bool in_place[CALLS_MAX];
    uint64_t known[CALLS_MAX][COUNT_MAX]; /* the sums that some rank has; 0: none has */
    struct rank ranks[RANKS_MAX];
    struct sml_pool *pool; /* NULL: the switch is down, or the job not joined anew yet */
    uint64_t now;
    unsigned steps, restart_at;
    uint64_t closed_partly, late, straggled, missed, left;
    struct bag bag;
    bool failed, refused;
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
        printf("\n      seed %" PRIu64 ", restart at %u: %s (step %u)\n", w->seed, w->restart_at, what,
               w->steps);
    w->failed = true;
}

/* What every rank has at place i, in its own byte. */
static uint64_t weight(unsigned i)
{
    return 1 + i % WEIGHTS;
}

static bool looks_up(const struct xfer_call *c)
{
    return c->op == SML_LOOK_UP;
}

static bool wants(const struct xfer_call *c, unsigned rank)
{
    return c->collective == XFER_ALLREDUCE || c->root == rank;
}

static void begin(struct world *w, unsigned r)
{
    struct rank *k = &w->ranks[r];
    const struct xfer_call *c = &w->calls[k->begun];
    const bool in_place = w->in_place[k->begun];
    struct tensors *t = &k->of[k->begun++];

    for (unsigned i = 0; i < COUNT_MAX && !looks_up(c); i++) {
        const uint64_t x = weight(i) << 8 * r;
        memcpy(t->in + 8 * i, &x, sizeof x);
    }
    if (looks_up(c))
        memset(t->in, 0xff, sizeof(t->in)); /* index 1 everywhere */
    memset(t->out, 0xa5, sizeof(t->out));
    memset(t->roll, 0xff, sizeof(t->roll));
    memset(t->left, 0, sizeof(t->left));
    sml_stream_call_roll(k->stream, t->roll);
    if (sml_stream_begin(k->stream, c, t->in, in_place ? t->in : t->out, w->now) != 0)
        fail(w, "a call cannot begin");
}

/* The ranks whose bytes are in a sum at place i; -1: it is not made of whole contributions. */
static int ranks_in(const struct world *w, uint64_t sum, unsigned i)
{
    int ranks = 0;

    for (unsigned r = 0; r < w->cfg.workers; r++) {
        const uint64_t part = sum >> 8 * r & 0xff;
        if (part != 0 && part != weight(i))
            return -1;
        ranks |= (part != 0) << r;
    }
    return sum >> 8 * w->cfg.workers == 0 ? ranks : -1;
}

/* What the sums themselves say of who is in them. */
static struct xfer_turnout count_sums(struct world *w, unsigned r, const uint64_t sum[])
{
    const unsigned call = w->ranks[r].call;
    struct xfer_turnout t;

    xfer_turnout_begin(&t);
    for (unsigned i = 0; i < w->calls[call].count; i++) {
        if (w->ranks[r].of[call].left[8 * i])
            continue;
        const int in = ranks_in(w, sum[i], i);
        const uint8_t names = (uint8_t)in;
        if (in < 0)
            fail(w, "a sum is not one of whole contributions");
        if (in > 0 && __builtin_popcount((unsigned)in) < w->cfg.quorum)
            fail(w, "a sum of less than a quorum");
        if (in > 0 && w->known[call][i] != 0 && w->known[call][i] != sum[i])
            fail(w, "two ranks have different sums");
        if (in > 0)
            w->known[call][i] = sum[i];
        xfer_turnout_add(&t, in > 0 ? &names : NULL, w->cfg.workers, (uint16_t)r, 1);
    }
    return t;
}

static bool same(const struct xfer_turnout *a, const struct xfer_turnout *b)
{
    return a->elements == b->elements && a->partial == b->partial && a->left_out == b->left_out &&
           a->missed == b->missed &&
           (a->elements == 0 || (a->least == b->least && a->most == b->most &&
                                 a->in_all[0] % 128 == b->in_all[0] % 128 && a->in_some[0] == b->in_some[0]));
}

/* Every number looked up is 1, so the sums count the ranks. The roll says how many, chunk by chunk. */
static void check_counts(struct world *w, unsigned r)
{
    struct rank *k = &w->ranks[r];
    const struct tensors *t = &k->of[k->call];
    const struct xfer_call *c = &w->calls[k->call];
    const uint64_t bytes = c->count * SML_GROUP;

    for (uint64_t i = 0; i < sml_stream_packets(k->stream, c); i++) {
        uint64_t offset;
        size_t length;
        xfer_chunk_span(w->cfg.chunk_bytes, SML_GROUP, bytes, i, &offset, &length);
        for (size_t j = 0; j < length; j++)
            if (!t->left[offset + j] && t->out[offset + j] != t->roll[i].ranks)
                fail(w, "a sum is not of as many ranks as the roll says");
    }
}

static void finish(struct world *w, unsigned r)
{
    struct rank *k = &w->ranks[r];
    const struct xfer_call *c = &w->calls[k->call];
    struct tensors *t = &k->of[k->call];
    uint64_t sum[COUNT_MAX];

    if (looks_up(c)) {
        check_counts(w, r);
    } else if (wants(c, r)) {
        memcpy(sum, w->in_place[k->call] ? t->in : t->out, sizeof sum);
        const struct xfer_turnout counted = count_sums(w, r, sum);
        if (!same(&counted, sml_stream_turnout(k->stream, k->call)))
            fail(w, "the turnout is not that of the sums");
        w->missed += counted.missed;
    }
    memset(t->in, 0xdd, sizeof(t->in));
    memset(t->out, 0xdd, sizeof(t->out));
    k->call++;
}

static bool off_network(const struct rank *k)
{
    return k->stream == NULL || k->dead || (k->joined && !k->resumed);
}

static void carry(struct world *w, const struct agg_verdict *v, unsigned rank)
{
    w->closed_partly += v->reason == SML_SEND_QUORUM;
    w->late += v->reason == SML_SEND_LATE;
    w->straggled += v->reason == SML_SEND_STRAGGLES;
    bag_carry(&w->bag, &w->random, v, w->cfg.workers, rank);
    if (v->kept || v->released != NULL)
        fail(w, "a buffer is kept");
}

static void at_switch(struct world *w, const struct bag_packet *in)
{
    struct sml_packet p;
    struct agg_verdict v;

    if (sml_parse(&p, in->payload, in->bytes) != SML_OK) {
        fail(w, "a malformed packet");
        return;
    }
    if (w->pool == NULL || p.job != w->cfg.job)
        return;
    sml_pool_apply(w->pool, sml_pool_locate(w->pool, &p, 0), in->rank, &p, NULL, w->now, &v);
    switch (v.reason) {
    case SML_SEND_ALL:
    case SML_SEND_QUORUM:
    case SML_RESTORED:
    case SML_SEND_ONE:
    case SML_SEND_LATE:
    case SML_SEND_STRAGGLES:
    case SML_SEND_ANSWER:
        carry(w, &v, in->rank);
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

static void tick(struct world *w)
{
    struct agg_verdict v;

    for (unsigned shard = 0; w->pool != NULL && shard < w->cfg.shards; shard++)
        while (sml_pool_tick(w->pool, shard, w->now, &v))
            carry(w, &v, 0);
}

static void deliver(struct world *w, const struct bag_packet *p)
{
    if (p->to_switch) {
        at_switch(w, p);
        return;
    }
    if (off_network(&w->ranks[p->rank]))
        return;
    const enum xfer_receive worth =
        sml_stream_receive(w->ranks[p->rank].stream, p->payload, p->bytes, w->now);
    if ((worth == XFER_RX_BAD || worth == XFER_RX_DAMAGED) && w->restart_at == 0)
        fail(w, "a bad packet");
}

static void kill_switch(struct world *w)
{
    free(w->pool);
    w->pool = NULL;
    for (unsigned r = 0; r < w->cfg.workers; r++)
        w->ranks[r].joined = w->ranks[r].resumed = false;
    w->cfg.resumed = true;
    w->shared.secret[0]++;
    w->cfg.job++;
}

static void open_stream(struct world *w, unsigned r)
{
    struct sml_stream_config cfg = stream_config_of(&w->cfg, r);
    struct rank *k = &w->ranks[r];

    k->may_leave = chance(w, 20);
    k->at_once = 1u << draw(w, 3);
    cfg.buffer_reduces = chance(w, 30);
    cfg.may_leave = k->may_leave;
    cfg.calls = (uint16_t)k->at_once;
    cfg.window_max = (uint16_t)draw(w, w->cfg.slots + 1u);
    k->stream = stream_of(&cfg);
}

/* What the switch grants to ranks that come back, each with its oldest chunk. */
static void reopen(struct world *w)
{
    struct agg_terms wish[RANKS_MAX], granted;
    struct agg_refusal why;
    const struct agg_limits limits = {0};

    for (unsigned r = 0; r < w->cfg.workers; r++) {
        const struct sml_stream *s = w->ranks[r].stream;
        wish[r] = terms_of((struct sml_terms){.format = XFER_FORMAT_TYPED,
                                              .mode = w->cfg.mode,
                                              .resumed = s != NULL,
                                              .slots = w->cfg.slots,
                                              .chunk_bytes = w->cfg.chunk_bytes,
                                              .first_tag = s != NULL ? sml_stream_oldest(s) : 0,
                                              .quorum = w->cfg.quorum});
    }
    w->refused = !sml_terms_grant(wish, w->cfg.workers, &limits, &granted, &why);
    if (w->refused)
        return;
    w->cfg.first_tag = terms_in(&granted).first_tag;
    w->pool = pool_of(&w->cfg);
}

/* One more rank notices the restart, or one more learns that all are there again. */
static void rejoin(struct world *w)
{
    const unsigned rank = (unsigned)draw(w, w->cfg.workers);
    struct rank *k = &w->ranks[rank];
    bool all_joined = true;

    if (w->pool != NULL) {
        if (k->stream == NULL)
            open_stream(w, rank);
        else if (!k->resumed &&
                 sml_stream_resume(k->stream, w->cfg.job, w->cfg.first_tag, &w->shared, w->now) != 0)
            fail(w, "resume");
        k->resumed = true;
        return;
    }
    k->joined = true;
    for (unsigned r = 0; r < w->cfg.workers; r++)
        all_joined &= w->ranks[r].joined;
    if (all_joined)
        reopen(w);
}

static void pass_time(struct world *w)
{
    uint64_t next = w->now + 1000000;

    for (unsigned r = 0; r < w->cfg.workers; r++) {
        const struct rank *k = &w->ranks[r];
        const uint64_t timer = k->stream == NULL || k->dead ? UINT64_MAX : sml_stream_timer(k->stream);
        next = timer < next ? timer : next;
    }
    w->now = next > w->now ? next : w->now;
}

static void move_packets(struct world *w)
{
    if (w->bag.n == 0 || chance(w, 5)) {
        pass_time(w);
        return;
    }
    const unsigned i = bag_draw(&w->bag, &w->random);
    const struct bag_packet p = w->bag.packet[i];
    if (!p.to_switch && w->ranks[p.rank].wakes > w->steps && !chance(w, 5))
        return; /* it waits in the socket */
    if (!chance(w, w->duplication))
        bag_remove(&w->bag, i);
    w->now += draw(w, 50000);
    if (!chance(w, w->loss))
        deliver(w, &p);
}

/* Goes on without what has not come yet of its oldest call, if that is little enough. */
static void leave(struct world *w, struct rank *k)
{
    bool *left = k->of[k->call].left;
    uint64_t from = 0, offset;
    size_t bytes;

    while (sml_stream_lacks(k->stream, &from, &offset, &bytes))
        memset(left + offset, true, bytes);
    if (!sml_stream_leave(k->stream)) {
        memset(left, false, sizeof(k->of[0].left));
        return;
    }
    w->left++;
    if (sml_stream_ended(k->stream) == k->call)
        fail(w, "it has left the call and is in it");
}

static void turn(struct world *w, unsigned r)
{
    struct rank *k = &w->ranks[r];

    if (k->stream == NULL || k->dead || k->wakes > w->steps)
        return;
    if (k->call != k->begun && k->call == sml_stream_ended(k->stream) && k->may_leave && !off_network(k) &&
        chance(w, 2))
        leave(w, k);
    while (k->call != sml_stream_ended(k->stream) && !w->failed)
        finish(w, r);
    if (k->begun - k->call < k->at_once && k->begun < w->calls_count && chance(w, 20)) {
        if (chance(w, w->straggling))
            k->wakes = w->steps + (unsigned)draw(w, 2000);
        begin(w, r);
    }
    if (!off_network(k))
        bag_poll(&w->bag, &w->random, k->stream, r, w->now);
}

static void step(struct world *w)
{
    w->steps++;
    if (w->steps == w->restart_at)
        kill_switch(w);
    if (w->cfg.resumed && chance(w, 5))
        rejoin(w);
    move_packets(w);
    if (chance(w, 20))
        tick(w);
    for (unsigned r = 0; r < w->cfg.workers; r++)
        turn(w, r);
}

static bool over(const struct world *w)
{
    if (w->refused)
        return true;
    if (w->steps < w->restart_at)
        return false;
    for (unsigned r = 0; r < w->cfg.workers; r++)
        if (!w->ranks[r].dead &&
            (w->ranks[r].call < w->calls_count || (w->cfg.resumed && !w->ranks[r].resumed)))
            return false;
    return true;
}

static void choose_calls(struct world *w)
{
    w->calls_count = 1 + (unsigned)draw(w, CALLS_MAX);
    for (unsigned c = 0; c < w->calls_count; c++) {
        const bool reduce = chance(w, 30), look_up = !reduce && chance(w, 25);
        const uint64_t count = draw(w, COUNT_MAX);
        w->calls[c] = look_up ? (struct xfer_call){.collective = XFER_ALLREDUCE,
                                                   .type = w->cfg.table.code,
                                                   .op = SML_LOOK_UP,
                                                   .count = count / 8}
                              : (struct xfer_call){.collective = reduce ? XFER_REDUCE : XFER_ALLREDUCE,
                                                   .type = AGG_I64,
                                                   .op = AGG_SUM,
                                                   .root = reduce ? (uint32_t)draw(w, w->cfg.workers) : 0,
                                                   .count = count};
        w->in_place[c] = !look_up && chance(w, 50);
    }
}

struct totals {
    uint64_t closed_partly, late, straggled, missed, left, refused;
};

/* Plays the run that the seed decides; returns the steps it took. unready: the last rank never hears that the
 * job runs before the switch restarts. */
static unsigned play(uint64_t seed, unsigned deaths, unsigned restart_at, bool unready, struct totals *t)
{
    struct world *w = calloc(1, sizeof(*w));

    w->seed = w->random = seed;
    w->shared.library = &toy_library;
    w->loss = (unsigned)draw(w, 3) * 10;
    w->duplication = (unsigned)draw(w, 30);
    w->straggling = (unsigned)draw(w, 40);
    w->restart_at = restart_at;
    const unsigned workers = 1 + (unsigned)draw(w, RANKS_MAX);
    w->cfg = (struct sml_pool_config){
        .workers = (uint16_t)workers,
        .slots = (uint16_t)(1 << draw(w, 5)),
        .chunk_bytes = CHUNK_BYTES,
        .job = (uint8_t)draw(w, 200),
        .format = XFER_FORMAT_TYPED,
        .checksum = seed % 2 ? XFER_CHECKSUM_KEYED : XFER_CHECKSUM_NONE,
        .shared = &w->shared,
        .mode = chance(w, 50) ? XFER_ON_ARRIVAL : XFER_ORDERED,
        .arrivals = chance(w, 50),
        .shards = (uint16_t)(1 + draw(w, 3)),
        .first_tag = (uint32_t)(0 - draw(w, 20)),
        .table = {.code = 1, .values = {0, 1}},
        .quorum = (uint16_t)(1 + draw(w, workers)),
        .wait_ns = draw(w, 4) * 700000,
        .kernels = agg_kernels_get("scalar"),
    };
    choose_calls(w);
    for (unsigned r = 0; r < workers - unready; r++)
        open_stream(w, r);
    for (unsigned i = 0; i < deaths && i + w->cfg.quorum < workers; i++)
        w->ranks[draw(w, workers)].dead = true;
    w->pool = pool_of(&w->cfg);
    while (!over(w) && !w->failed && w->steps < STEPS_MAX)
        step(w);
    if (!over(w))
        fail(w, "it does not come to its end");
    if (w->refused && !unready)
        fail(w, "the job cannot resume");
    const unsigned steps = w->failed ? 0 : w->steps;
    *t = (struct totals){t->closed_partly + w->closed_partly,
                         t->late + w->late,
                         t->straggled + w->straggled,
                         t->missed + w->missed,
                         t->left + w->left,
                         t->refused + w->refused};
    for (unsigned r = 0; r < workers; r++)
        free(w->ranks[r].stream);
    free(w->pool);
    free(w);
    return steps;
}

/* Plays so many: in which ranks die, or the switch does. */
static struct totals play_many(uint64_t first, unsigned n, bool deaths, bool restarts, bool unready)
{
    const uint64_t seed = rng_seed(first);
    struct totals t = {0};

    for (unsigned i = 0; i < n; i++)
        CU_ASSERT_FATAL(play(seed + i, deaths ? i % 3 : 0, restarts ? 1 + (i * 37) % 900 : 0, unready, &t) >
                        0);
    return t;
}

TEST(sums_have_whom_they_name)
{
    const unsigned n = unit_cases(1500);
    const struct totals t = play_many(1, n, true, false, false);

    printf("(%" PRIu64 " chunks closed by quorum, %" PRIu64 " late, %" PRIu64 " straggled, %" PRIu64
           " elements missed, %" PRIu64 " calls left) ",
           t.closed_partly, t.late, t.straggled, t.missed, t.left);
    CU_ASSERT(t.closed_partly > 0 && t.late > 0 &&
              (n < 100 || (t.straggled > 0 && t.missed > 0 && t.left > 0)));
}

/* No result that a rank has is made a second time. */
TEST(so_they_do_when_the_switch_restarts)
{
    CU_ASSERT(play_many(70000, unit_cases(1500), false, true, false).closed_partly > 0);
}

/* The others may have closed chunks without it, so a job that goes on must not take its first call for
 * theirs. */
TEST(so_they_do_when_a_rank_had_not_begun)
{
    const unsigned n = unit_cases(500);
    const uint64_t refused = play_many(140000, n, false, true, true).refused;

    CU_ASSERT(refused > 0 && refused < n);
}
