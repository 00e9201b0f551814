/* libswagg over real sockets against the loop switch: compressed sums (options.compression). What they should
 * come to the test computes itself; how far they may be off is what theory says of the table, or what it
 * shows beside sums without error feedback. Every rank must get the same bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "ps_process.h"
#include "random.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

enum { LEAST = 1000, MOST_CALLS = 24 };

/* Some calls of a crew with the same tensor each time. */
struct plan {
    size_t count;
    int calls;
    enum swagg_op op;
    size_t nan_at;   /* rank 1's element there is a NaN in the first call; count or more: there is none */
    unsigned pieces; /* 0: in one */
    bool names;      /* a buffer of another address each time, and a name */
    double *total[CREW_MAX]; /* [count] of all results, by rank */
    float *last[CREW_MAX];   /* the last one */
};

/* About normal, of a size that differs between ranks. */
static float element_of(int rank, size_t i)
{
    uint64_t rng = seed + (uint64_t)rank * 1000003 + i * 7919;
    double sum = -6; /* of twelve numbers from 0 to 1, four a draw */

    for (int k = 0; k < 3; k++) {
        const uint64_t four = rng_next(&rng);
        sum += (double)((four & 0xffff) + (four >> 16 & 0xffff) + (four >> 32 & 0xffff) + (four >> 48)) /
               0x10000;
    }
    return (float)(sum * (1 + rank));
}

static double exact(const struct plan *p, int ranks, size_t i)
{
    double sum = 0;

    for (int r = 0; r < ranks; r++)
        sum += (double)element_of(r, i);
    return p->op == SWAGG_AVG ? sum / ranks : sum;
}

/* The square of the error of what came of `calls` calls, by that of what should have. */
static double error_of(const struct plan *p, int ranks, const double *got)
{
    double error = 0, whole = 0;

    for (size_t i = 0; i < p->count; i++) {
        const double right = exact(p, ranks, i) * p->calls;

        error += (got[i] - right) * (got[i] - right);
        whole += right * right;
    }
    return error / whole;
}

static int sum_pieces(struct swagg_job *job, const struct plan *p, const float *in, float *out)
{
    struct swagg_segment segments[8];
    size_t at = 0;

    for (unsigned i = 0; i < p->pieces; i++) {
        const size_t few = i + 1 == p->pieces ? p->count - at : p->count / p->pieces - i;
        segments[i] = (struct swagg_segment){in + at, out + at, few};
        at += few;
    }
    return swagg_allreducev(job, segments, p->pieces, SWAGG_F32, p->op);
}

static int call_all(struct crew_member *m)
{
    struct plan *p = m->crew->arg;
    float *in[2], *out = p->last[m->rank];
    int rc = 0;

    for (int b = 0; b < 2; b++) {
        in[b] = malloc((p->count + 1) * sizeof(float));
        for (size_t i = 0; i < p->count; i++)
            in[b][i] = element_of(m->rank, i);
    }
    for (int call = 0; call < p->calls && rc == 0; call++) {
        float *from = in[p->names ? call % 2 : 0];

        if (m->rank == 1 && p->nan_at < p->count)
            from[p->nan_at] = call == 0 ? NAN : element_of(1, p->nan_at);
        if (p->names)
            swagg_name_tensor(m->job, 7);
        rc = p->pieces > 0 ? sum_pieces(m->job, p, from, out)
                           : swagg_allreduce(m->job, from, out, p->count, SWAGG_F32, p->op);
        for (size_t i = 0; i < p->count; i++)
            p->total[m->rank][i] += (double)out[i];
    }
    free(in[0]);
    free(in[1]);
    return rc;
}

static void play(struct plan *p, struct crew *crew)
{
    crew->options.compression = SWAGG_COMPRESSION_THC;
    crew->options.compress_least = LEAST;
    p->op = p->op ? p->op : SWAGG_SUM;
    p->nan_at = p->nan_at ? p->nan_at : SIZE_MAX;
    for (int r = 0; r < crew->size; r++) {
        p->total[r] = calloc(p->count + 1, sizeof(double));
        p->last[r] = calloc(p->count + 1, sizeof(float));
    }
    crew_succeed(crew);
    for (int r = 1; r < crew->size; r++)
        CU_ASSERT_EQUAL(memcmp(p->last[0], p->last[r], p->count * sizeof(float)), 0);
}

static void forget(struct plan *p, const struct crew *crew)
{
    for (int r = 0; r < crew->size; r++) {
        free(p->total[r]);
        free(p->last[r]);
    }
}

/* One run of such a plan; its error. */
static double error_in(struct plan p, struct crew crew)
{
    crew.arg = &p;
    play(&p, &crew);
    const double error = error_of(&p, crew.size, p.total[0]);
    forget(&p, &crew);
    return error;
}

/* Each rank errs by the table's error times the square of the largest norm, 4, or less; and a tenth for what
 * is clamped. The sum's square is 1 + 4 + 9 + 16 = 30. */
TEST(sums_are_about_right)
{
    static const struct {
        int bits, sum_bits;
        double table; /* thc_table_error */
    } cases[] = {{4, 0, 0.0130626}, {4, 16, 0.0130626}, {3, 0, 0.0564732}, {2, 16, 0.3140711}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan p = {.count = 50021, .calls = 1, .op = i == 1 ? SWAGG_AVG : SWAGG_SUM};
        struct crew crew = crew_of(4, the_switch, "about", call_all, &p);

        crew.options.thc_bits = cases[i].bits;
        crew.options.thc_sum_bits = cases[i].sum_bits;
        play(&p, &crew);
        const double error = error_of(&p, 4, p.total[0]);
        CU_ASSERT(error > 0 && error < 1.1 * 4 * 16 / 30 * cases[i].table);

        double measured = 0; /* as libswagg says, from what each rank knows */
        for (int r = 0; r < 4; r++)
            measured += crew.member[r].stats.compression_error2 / crew.member[0].stats.compression_sum2;
        CU_ASSERT(measured > error / 2 && measured < 2 * error);
        CU_ASSERT_EQUAL(crew.member[0].stats.compressed_calls, 1);
        CU_ASSERT_EQUAL(crew.member[0].stats.compressed_elements, p.count);
        forget(&p, &crew);
    }
}

TEST(any_length_and_block)
{
    static const struct {
        size_t count;
        int block;
    } cases[] = {{LEAST, 0}, {1024, 0}, {1025, 64}, {5000, 1 << 20}, {65536 + 63, 4096}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct crew crew = crew_of(3, the_switch, "lengths", call_all, NULL);
        struct plan p = {.count = cases[i].count, .calls = 1};

        crew.arg = &p;
        crew.options.thc_block = cases[i].block;
        play(&p, &crew);
        CU_ASSERT(error_of(&p, 3, p.total[0]) < 0.05);
        forget(&p, &crew);
    }
}

/* What is left out of one call is added to the next, so the sum of many calls is off by what one leaves out.
 */
TEST(errors_are_fed_back)
{
    struct plan p = {.count = 4096, .calls = MOST_CALLS}, named = p, pieces = p;
    struct crew crew = crew_of(2, the_switch, "feedback", call_all, &p), off = crew, few = crew;

    off.options.feedback = SWAGG_FEEDBACK_OFF;
    few.options.feedback_bytes = 4096; /* too little for the tensor */
    named.names = true;
    pieces.pieces = 3;
    play(&p, &crew);
    const double fed_back = error_of(&p, 2, p.total[0]);
    CU_ASSERT(crew.member[0].stats.feedback_bytes >= p.count * sizeof(float));
    CU_ASSERT_EQUAL(crew.member[0].stats.feedback_forgotten, 0);
    forget(&p, &crew);
    play(&p, &off);
    const double lost = error_of(&p, 2, p.total[0]);
    CU_ASSERT_EQUAL(off.member[0].stats.feedback_bytes, 0);
    forget(&p, &off);
    CU_ASSERT(fed_back * 4 < lost);
    CU_ASSERT(error_in(named, crew) * 4 < lost);
    CU_ASSERT(error_in(pieces, crew) * 4 < lost);
    play(&p, &few);
    CU_ASSERT(error_of(&p, 2, p.total[0]) > fed_back * 4);
    CU_ASSERT_EQUAL(few.member[0].stats.feedback_forgotten, MOST_CALLS);
    forget(&p, &few);
}

enum { RELAY_FLOATS = 5000, RELAY_CALLS = 6 };

/* Calls whose feedback the program keeps, and which go on where those of another job have ended. */
struct relay {
    int from, to; /* of RELAY_CALLS */
    float *left_out[CREW_MAX], *last[CREW_MAX];
};

static int run_relay(struct crew_member *m)
{
    const struct relay *relay = m->crew->arg;
    struct swagg_post how = SWAGG_POST_DEFAULT;
    float in[RELAY_FLOATS];
    int rc = 0;

    how.left_out = relay->left_out[m->rank];
    for (int call = relay->from; call < relay->to && rc == 0; call++) {
        struct swagg_request *request;
        for (size_t i = 0; i < RELAY_FLOATS; i++)
            in[i] = element_of(m->rank, i + (size_t)call);
        how.round = (uint64_t)call + 1;
        rc = swagg_post_allreduce(m->job, in, relay->last[m->rank], RELAY_FLOATS, SWAGG_F32, SWAGG_SUM, &how,
                                  &request);
        rc = rc == 0 ? swagg_wait(&request) : rc;
    }
    return rc;
}

static void play_relay(struct relay *relay, struct loop_switch *ls, int from, int to)
{
    struct crew crew = crew_of(3, ls, "relay", run_relay, relay);

    relay->from = from;
    relay->to = to;
    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.compress_least = LEAST;
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.compressed_calls, to - from);
    CU_ASSERT_EQUAL(crew.member[0].stats.feedback_bytes, 0);
}

/* With the feedback of the calls before, and their count, another job's sums and feedback are, bit for bit,
 * those of a job that has made all the calls. */
TEST(feedback_goes_on_in_another_job)
{
    struct relay whole = {0}, halves = {0};
    const size_t bytes = RELAY_FLOATS * sizeof(float);

    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 2; k++) {
            struct relay *relay = k ? &whole : &halves;
            relay->left_out[r] = calloc(1, bytes);
            relay->last[r] = calloc(1, bytes);
        }
    play_relay(&whole, the_switch, 0, RELAY_CALLS);
    play_relay(&halves, the_switch, 0, RELAY_CALLS / 2);
    CU_ASSERT_NOT_EQUAL(memcmp(whole.last[0], halves.last[0], bytes), 0);
    play_relay(&halves, the_switch, RELAY_CALLS / 2, RELAY_CALLS);
    for (int r = 0; r < 3; r++) {
        CU_ASSERT_EQUAL(memcmp(whole.last[r], halves.last[r], bytes), 0);
        CU_ASSERT_EQUAL(memcmp(whole.left_out[r], halves.left_out[r], bytes), 0);
        CU_ASSERT(whole.left_out[r][0] != 0);
        free(whole.left_out[r]), free(whole.last[r]), free(halves.left_out[r]), free(halves.last[r]);
    }
}

/* Its block is no number on any rank, and the next call knows nothing of it. */
TEST(a_nan_spoils_its_block_only)
{
    struct plan p = {.count = 4096, .calls = 1, .nan_at = 1030};
    struct crew crew = crew_of(3, the_switch, "nan", call_all, &p);

    crew.options.thc_block = 1024;
    play(&p, &crew);
    for (size_t i = 0; i < p.count; i++)
        CU_ASSERT_EQUAL(!isnan(p.last[2][i]), i / 1024 != 1);
    forget(&p, &crew);
    p.calls = 2;
    play(&p, &crew);
    for (size_t i = 0; i < p.count; i++)
        CU_ASSERT(isfinite(p.last[2][i]));
    forget(&p, &crew);
}

static int sum_others(struct crew_member *m)
{
    static const struct tensor tensors[] = {{.type = SWAGG_F32, .count = LEAST - 1, .round = true},
                                            {.type = SWAGG_I32, .count = 5000},
                                            {.type = SWAGG_F64, .count = 5000, .round = true},
                                            {.type = SWAGG_F32, .op = SWAGG_MAX, .count = 5000}};
    int rc = 0;

    for (size_t i = 0; i < sizeof tensors / sizeof *tensors && rc == 0; i++)
        rc = crew_sum(m, &tensors[i], -1, i % 2);
    const struct tensor reduced = {.type = SWAGG_F32, .count = 5000, .round = true};
    return rc == 0 ? crew_sum(m, &reduced, 1, false) : rc;
}

TEST(other_calls_of_the_job_stay_exact)
{
    struct crew crew = crew_of(3, the_switch, "others", sum_others, NULL);

    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.compress_least = LEAST;
    crew_succeed(&crew);
    for (int r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(crew.member[r].stats.compressed_calls, 0);
}

/* The same bits as on a good network. */
TEST(losses_and_restarts_do_not_spoil_them)
{
    const struct impair_config bad = {
        .rate = {[IMPAIR_DROP] = {.probability = 0.02}, [IMPAIR_DUPLICATE] = {.probability = 0.02}}};
    struct loop_switch *lossy =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = bad, .out = bad});
    struct plan p = {.count = 60021, .calls = 3}, q = p, r = p;
    struct crew crew = crew_of(4, the_switch, "good", call_all, &p);
    struct crew other = crew_of(4, lossy, "lossy", call_all, &q);
    struct crew third = crew_of(4, the_switch, "restarted", call_all, &r);

    play(&p, &crew);
    play(&q, &other);
    CU_ASSERT_EQUAL(memcmp(p.last[0], q.last[0], p.count * sizeof(float)), 0);
    forget(&q, &other);
    loop_switch_stop(lossy);

    third.options.compression = SWAGG_COMPRESSION_THC;
    third.options.compress_least = LEAST;
    r.op = SWAGG_SUM;
    r.nan_at = SIZE_MAX;
    for (int k = 0; k < 4; k++) {
        r.total[k] = calloc(r.count, sizeof(double));
        r.last[k] = calloc(r.count, sizeof(float));
    }
    loop_switch_take(the_switch, 100);
    crew_start(&third);
    loop_switch_restart_there(the_switch, 0, 0);
    crew_end_well(&third);
    CU_ASSERT_EQUAL(memcmp(p.last[0], r.last[0], p.count * sizeof(float)), 0);
    CU_ASSERT_EQUAL(third.member[0].stats.resumed, 1);
    forget(&r, &third);
    forget(&p, &crew);
}

/* Calls of several lengths. Some are of the same tensor, so that one needs what the other leaves out; one is
 * so short that it is exact. */
static const size_t fleet_lengths[] = {50021, 1000, 80000, 50021, 5, 70000, 80000, 4096};
enum { FLEET = sizeof fleet_lengths / sizeof *fleet_lengths, FLEET_MOST = 80000, FLEET_RANKS = 3 };

struct fleet {
    bool one_by_one; /* each is waited for before the next is posted */
    float *in[FLEET_RANKS], *out[FLEET_RANKS][FLEET], *left_out[FLEET_RANKS];
};

static int post_fleet(struct crew_member *m)
{
    struct fleet *f = m->crew->arg;
    struct swagg_request *requests[FLEET] = {0};
    int rc = 0;

    for (int i = 0; i < FLEET && rc == 0; i++) {
        struct swagg_post how = SWAGG_POST_DEFAULT;
        how.left_out = i == 5 ? f->left_out[m->rank] : NULL;
        rc = swagg_post_allreduce(m->job, f->in[m->rank], f->out[m->rank][i], fleet_lengths[i], SWAGG_F32,
                                  i % 3 == 2 ? SWAGG_AVG : SWAGG_SUM, &how, &requests[i]);
        if (rc == 0 && f->one_by_one)
            rc = swagg_wait(&requests[i]);
    }
    return rc == 0 ? swagg_wait_all(requests, FLEET) : rc;
}

static void fleet_open(struct fleet *f)
{
    for (int r = 0; r < FLEET_RANKS; r++) {
        f->in[r] = malloc(FLEET_MOST * sizeof(float));
        for (size_t i = 0; i < FLEET_MOST; i++)
            f->in[r][i] = element_of(r, i);
        f->left_out[r] = calloc(FLEET_MOST, sizeof(float));
        for (int i = 0; i < FLEET; i++)
            f->out[r][i] = calloc(FLEET_MOST, sizeof(float));
    }
}

static void fleet_close(struct fleet *f)
{
    for (int r = 0; r < FLEET_RANKS; r++) {
        for (int i = 0; i < FLEET; i++)
            free(f->out[r][i]);
        free(f->left_out[r]);
        free(f->in[r]);
    }
}

/* That they are the same bits: sums, what they leave out, and what is measured. */
static void fleets_agree(const struct fleet *f, const struct crew *crew, const struct fleet *other,
                         const struct crew *theirs)
{
    for (int r = 0; r < FLEET_RANKS; r++) {
        const struct swagg_stats *a = &crew->member[r].stats, *b = &theirs->member[r].stats;
        for (int i = 0; i < FLEET; i++)
            CU_ASSERT_EQUAL(memcmp(f->out[r][i], other->out[0][i], fleet_lengths[i] * sizeof(float)), 0);
        CU_ASSERT_EQUAL(memcmp(f->left_out[r], other->left_out[r], FLEET_MOST * sizeof(float)), 0);
        CU_ASSERT(a->compression_error2 == b->compression_error2 &&
                  a->compression_sum2 == b->compression_sum2);
        CU_ASSERT_EQUAL(a->compressed_calls, FLEET - 1);
        CU_ASSERT_EQUAL(b->compressed_calls, FLEET - 1);
    }
}

static struct crew fleet_crew(struct loop_switch *ls, const char *job, struct fleet *f, bool thread)
{
    struct crew crew = crew_of(FLEET_RANKS, ls, job, post_fleet, f);

    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.compress_least = LEAST;
    crew.options.progress_thread = thread ? SWAGG_PROGRESS_THREAD_ON : SWAGG_PROGRESS_THREAD_OFF;
    return crew;
}

/* Calls that are in flight together give the bits of calls that go one by one: on a good network, a bad one,
 * and where the switch is killed meanwhile. */
TEST(those_in_flight_give_the_same_bits)
{
    const struct impair_config bad = {.rate = {[IMPAIR_DROP] = {.probability = 0.02},
                                               [IMPAIR_DUPLICATE] = {.probability = 0.02},
                                               [IMPAIR_REORDER] = {.probability = 0.02}},
                                      .hold_frames = 5};
    struct loop_switch *lossy =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = bad, .out = bad});
    struct fleet alone = {.one_by_one = true};
    struct crew right = fleet_crew(the_switch, "alone", &alone, false);

    fleet_open(&alone);
    crew_succeed(&right);
    for (int k = 0; k < 4; k++) {
        struct fleet f = {0};
        struct crew crew = fleet_crew(k == 1 || k == 2 ? lossy : the_switch, "together", &f, k == 2);
        fleet_open(&f);
        if (k == 3)
            loop_switch_take(the_switch, 300);
        crew_start(&crew);
        if (k == 3) {
            loop_switch_restart_there(the_switch, 0, 200);
            loop_switch_restart_there(the_switch, 0, 0);
        }
        crew_end_well(&crew);
        fleets_agree(&f, &crew, &alone, &right);
        CU_ASSERT_EQUAL(crew.member[0].stats.resumed > 0, k == 3);
        fleet_close(&f);
    }
    fleet_close(&alone);
    loop_switch_stop(lossy);
}

enum { PAIRS = 20 };

/* Packets that were sent once. */
static uint64_t first_packets(struct crew_member *m)
{
    struct swagg_stats stats = SWAGG_STATS_INIT;

    swagg_get_stats(m->job, &stats);
    return stats.packets_sent - stats.retransmitted - stats.probes;
}

/* Waits for its end. more: so many packets and one were sent before that. Rank 1 keeps the others waiting. */
static int await_first(struct crew_member *m, struct swagg_request **first, uint64_t packets, bool *more)
{
    int rc;

    do {
        const bool beyond = first_packets(m) > packets;
        if (m->rank == 1)
            sleep_ms(1);
        rc = swagg_test(first);
        *more |= beyond && rc == SWAGG_IN_PROGRESS;
    } while (rc == SWAGG_IN_PROGRESS);
    return rc;
}

static int post_pairs(struct crew_member *m)
{
    static float in[2][LEAST], out[2][2][LEAST];
    bool *seen = m->crew->arg;
    uint64_t of_one = UINT32_MAX;
    int rc = 0;

    for (int i = 0; i <= PAIRS && rc == 0; i++) {
        struct swagg_request *pair[2] = {0};
        const uint64_t before = first_packets(m);
        for (int k = 0; k < (i == 0 ? 1 : 2) && rc == 0; k++)
            rc = swagg_post_allreduce(m->job, in[m->rank], out[m->rank][k], LEAST, SWAGG_F32, SWAGG_SUM, NULL,
                                      &pair[k]);
        if (rc == 0)
            rc = await_first(m, &pair[0], before + of_one, &seen[m->rank]);
        of_one = i == 0 ? first_packets(m) - before : of_one;
        rc = rc == 0 ? swagg_wait_all(pair, 2) : rc;
    }
    return rc;
}

/* The second of two has sent its norms while the first still lacks sums. */
TEST(the_next_ones_norms_do_not_wait_for_sums)
{
    bool seen[2] = {false};
    struct crew crew = crew_of(2, the_switch, "pairs", post_pairs, seen);

    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.compress_least = LEAST;
    crew_succeed(&crew);
    CU_ASSERT(seen[0]);
}

enum { EPOCHS = 4, STEPS = 6, MODEL = 60021 };

/* Each rank steps by what it gets, and now and then all make their models the same. */
struct drift {
    float *model[CREW_MAX];
    uint64_t missed[CREW_MAX];
    atomic_int in_step[EPOCHS]; /* ranks whose model is rank 0's after the synchronisation */
};

static int drift_and_meet(struct crew_member *m)
{
    struct drift *d = m->crew->arg;
    float *model = d->model[m->rank], *in = malloc(MODEL * sizeof *in), *out = malloc(MODEL * sizeof *out);
    float *all = malloc((MODEL + EPOCHS * STEPS) * sizeof *all);
    int rc = 0;

    for (size_t i = 0; i < MODEL + EPOCHS * STEPS; i++)
        all[i] = element_of(m->rank, i);
    for (int step = 0; step < EPOCHS * STEPS && rc == 0; step++) {
        memcpy(in, all + step, MODEL * sizeof *in); /* feedback knows the tensor by its address */
        rc = swagg_allreduce(m->job, in, out, MODEL, SWAGG_F32, SWAGG_AVG);
        for (size_t i = 0; i < MODEL; i++)
            model[i] -= out[i];
        if (rc == 0 && step % STEPS == STEPS - 1)
            rc = swagg_synchronize(m->job, model, MODEL);
        if (rc == 0 && step % STEPS == STEPS - 1) {
            uint64_t hash = 1;
            for (size_t i = 0; i < MODEL; i++) {
                uint32_t bits;
                memcpy(&bits, &model[i], sizeof bits);
                hash = hash * 0x100000001b3 ^ bits;
            }
            uint64_t bounds[2] = {hash, ~hash};
            rc = swagg_allreduce(m->job, bounds, bounds, 2, SWAGG_U64, SWAGG_MAX);
            atomic_fetch_add(&d->in_step[step / STEPS], bounds[0] == ~bounds[1]);
        }
    }
    struct swagg_stats stats = SWAGG_STATS_INIT;
    swagg_get_stats(m->job, &stats);
    d->missed[m->rank] = stats.missed_elements;
    free(all);
    free(in);
    free(out);
    return rc;
}

/* Results that are lost do not hold a call up: they count as zeros, and models drift apart until they are
 * made the same. Nobody fails, and the exact calls in between are exact. */
TEST(who_will_not_wait_goes_on_with_zeros)
{
    const struct impair_config lossy = {.rate = {[IMPAIR_DROP] = {.probability = 0.05}}};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .out = lossy, .in = lossy});
    struct drift d = {0};
    struct crew crew = crew_of(4, ls, "drift", drift_and_meet, &d);
    uint64_t missed = 0;

    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.compress_least = LEAST;
    crew.options.best_effort_ms = 1;
    for (int r = 0; r < 4; r++)
        d.model[r] = calloc(MODEL, sizeof(float));
    crew_succeed(&crew);
    for (int r = 0; r < 4; r++) {
        missed += d.missed[r];
        CU_ASSERT_EQUAL(crew.member[r].stats.compressed_calls, EPOCHS * STEPS);
        CU_ASSERT_EQUAL(crew.member[r].stats.missed_calls > 0, d.missed[r] > 0);
        CU_ASSERT_EQUAL(memcmp(d.model[0], d.model[r], MODEL * sizeof(float)), 0);
    }
    CU_ASSERT(missed > 0);
    for (int e = 0; e < EPOCHS; e++)
        CU_ASSERT_EQUAL(atomic_load(&d.in_step[e]), 4);
    for (int r = 0; r < 4; r++)
        free(d.model[r]);
    loop_switch_stop(ls);
}

/* The same bits from a server on kernel sockets as from a switch, and all of the options with them. */
TEST(a_server_sums_them_alike)
{
    struct ps_process ps;
    ps_begin(&ps, "");

    for (int sum_bits = 8; sum_bits <= 16; sum_bits += 8) {
        struct plan p = {.count = 60021, .calls = 3}, q = p;
        struct crew crew = crew_of(4, the_switch, "switch", call_all, &p);
        struct crew other = crew_at(4, ps.ip, "server", call_all, &q);

        crew.options.thc_sum_bits = other.options.thc_sum_bits = sum_bits;
        play(&p, &crew);
        play(&q, &other);
        CU_ASSERT_EQUAL(memcmp(p.last[0], q.last[0], p.count * sizeof(float)), 0);
        CU_ASSERT_EQUAL(other.member[0].stats.compressed_calls, 3);
        forget(&q, &other);
        forget(&p, &crew);
    }
    CU_ASSERT_EQUAL(ps_stop(&ps), 0);
}

static int differ_in_count(struct crew_member *m)
{
    float tensor[LEAST + 2] = {0};
    /* As many blocks and elements, but not as many floats. */
    return swagg_allreduce(m->job, tensor, tensor, LEAST + (size_t)m->rank, SWAGG_F32, SWAGG_SUM);
}

/* What the switch adds is the same for both; what the ranks make of it is not. */
static int differ_in_op(struct crew_member *m)
{
    float tensor[LEAST] = {0};
    return swagg_allreduce(m->job, tensor, tensor, LEAST, SWAGG_F32, m->rank == 0 ? SWAGG_SUM : SWAGG_AVG);
}

static void expect_told(int (*calls)(struct crew_member *), const char *one, const char *other)
{
    struct crew crew = crew_of(2, the_switch, "differ", calls, NULL);

    crew.options.compression = SWAGG_COMPRESSION_THC;
    crew.options.compress_least = LEAST;
    crew_disagree(&crew, one, other);
}

TEST(ranks_that_differ_are_told)
{
    expect_told(differ_in_count, "a compressed allreduce of 1000 float32 (to 4 bits)",
                "a compressed allreduce of 1001 float32 (to 4 bits)");
    expect_told(differ_in_op, "a compressed allreduce of 1000 float32 (to 4 bits)",
                "a compressed allreduce of 1000 float32 (avg, to 4 bits)");
}

/* Opens with options that cannot be; the text names what lifts it. */
static void expect_refused(struct swagg_options o, const char *words)
{
    struct swagg_job *job;

    o.switch_ip = "127.0.0.1";
    o.job = "x";
    CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_ERR_ARGUMENT);
    if (strstr(swagg_last_error(), words) == NULL)
        printf("\n      %s\n", swagg_last_error());
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), words));
}

TEST(options_that_cannot_be)
{
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;

    o.size = 9;
    o.compression = SWAGG_COMPRESSION_THC;
    o.numbers = SWAGG_NUMBERS_INT32;
    expect_refused(o, "options.compression and options.numbers exclude each other");
    o.numbers = SWAGG_NUMBERS_NATIVE;
    o.protocol = SWAGG_PROTOCOL_AUTO;
    expect_refused(o, "options.compression and options.protocol exclude each other");
    o.protocol = SWAGG_PROTOCOL_SWITCHML;
    o.compression = SWAGG_COMPRESSION_NONE;
    o.best_effort_ms = 5;
    expect_refused(o, "options.best_effort_ms is for compressed calls: set options.compression");
    o.compression = SWAGG_COMPRESSION_THC;
    o.best_effort_ms = -1;
    expect_refused(o, "options.best_effort_ms is -1");
    o.best_effort_ms = 0;
    o.thc_bits = 5;
    expect_refused(o, "options.thc_bits is 5: it must be 1 to 4");
    o.thc_bits = 4;
    o.thc_granularity = 14;
    expect_refused(o, "options.thc_granularity is 14: it must be 15 to 255");
    o.thc_granularity = 30;
    o.thc_sum_bits = 8;
    expect_refused(o, "more than sums of 8 bits for 9 ranks, which fit a granularity of 28 at most: lower "
                      "thc_granularity or thc_bits, or set thc_sum_bits to 16");
    o.thc_sum_bits = 0;
    o.thc_block = 1000;
    expect_refused(o, "options.thc_block is 1000: it must be a power of two");
}
