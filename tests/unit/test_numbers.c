/* Floats as integers with a common scale: both theorems of the SwitchML paper (appendix E) as properties,
 * what is defined for values that have no scale, and the vector loops against the scalar ones bit for bit. */
#include "numbers/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/half.h"
#include "kernels_chosen.h"
#include "random.h"
#include "unit.h"

static const char *const implementations[] = {"scalar", "avx2", "avx512", "neon"};
enum { IMPLEMENTATIONS = sizeof implementations / sizeof *implementations };

enum { BLOCK = 61, RANKS = 1024 };

static const struct num_loops *loops_of(const char *name)
{
    const struct agg_kernels *k = agg_kernels_get(name);

    return k == NULL ? NULL : num_loops_for(k);
}

static int exponent_of(float x)
{
    return loops_of("scalar")->exponent[NUM_F32](&x, 1);
}

TEST(exponent_is_that_of_the_largest_magnitude)
{
    const float several[] = {0.0f, -0.75f, 0.1f, -3.0f, 2.5f};

    CU_ASSERT_EQUAL(exponent_of(1.0f), 1); /* the biased exponent, 127, less 126 */
    CU_ASSERT_EQUAL(exponent_of(0.5f), 0);
    CU_ASSERT_EQUAL(exponent_of(nextafterf(0.5f, 0)), -1);
    CU_ASSERT_EQUAL(loops_of("scalar")->exponent[NUM_F32](several, 5), 2);
    CU_ASSERT_EQUAL(loops_of("scalar")->exponent[NUM_F32](several, 0), NUM_EXPONENT_LEAST);
}

TEST(zeros_and_denormals_have_the_least_exponent)
{
    CU_ASSERT_EQUAL(exponent_of(0.0f), NUM_EXPONENT_LEAST);
    CU_ASSERT_EQUAL(exponent_of(-0.0f), NUM_EXPONENT_LEAST);
    CU_ASSERT_EQUAL(exponent_of(0x1p-149f), NUM_EXPONENT_LEAST);
    CU_ASSERT_EQUAL(exponent_of(0x1p-126f), NUM_EXPONENT_LEAST + 1);
}

TEST(what_has_no_scale_has_the_largest_exponent)
{
    CU_ASSERT_EQUAL(exponent_of(nextafterf(0x1p126f, 0)), NUM_EXPONENT_MOST);
    CU_ASSERT_EQUAL(exponent_of(0x1p126f), NUM_NOT_FINITE);
    CU_ASSERT_EQUAL(exponent_of(-3.4e38f), NUM_NOT_FINITE);
    CU_ASSERT_EQUAL(exponent_of(INFINITY), NUM_NOT_FINITE);
    CU_ASSERT_EQUAL(exponent_of(-INFINITY), NUM_NOT_FINITE);
    CU_ASSERT_EQUAL(exponent_of(NAN), NUM_NOT_FINITE);
}

TEST(exponents_of_halves_are_those_of_the_same_floats)
{
    const struct num_loops *l = loops_of("scalar");
    unsigned failures = 0;

    for (uint32_t half = 0; half <= UINT16_MAX; half++) {
        const uint16_t h = (uint16_t)half;
        const float x = agg_half_to_float(h);
        failures += l->exponent[NUM_F16](&h, 1) != l->exponent[NUM_F32](&x, 1);
    }
    CU_ASSERT_EQUAL(failures, 0);
}

static int32_t int32_at(const uint8_t *wire)
{
    return (int32_t)((uint32_t)wire[0] << 24 | (uint32_t)wire[1] << 16 | (uint32_t)wire[2] << 8 | wire[3]);
}

static int32_t scaled(float x, double factor)
{
    uint8_t wire[4];

    loops_of("scalar")->out[NUM_INT32][NUM_F32](wire, &x, 1, factor);
    return int32_at(wire);
}

TEST(int32_is_big_endian_rounded_to_nearest)
{
    const float one = 1.0f;
    uint8_t wire[4];

    loops_of("scalar")->out[NUM_INT32][NUM_F32](wire, &one, 1, 0x01020304);
    CU_ASSERT_EQUAL(memcmp(wire, "\1\2\3\4", 4), 0);
    CU_ASSERT_EQUAL(scaled(1.0f, 2.5), 2); /* ties to even */
    CU_ASSERT_EQUAL(scaled(1.0f, 3.5), 4);
    CU_ASSERT_EQUAL(scaled(-1.0f, 2.5), -2);
    CU_ASSERT_EQUAL(scaled(-1.0f, 2.51), -3);
    CU_ASSERT_EQUAL(scaled(-0.0f, 1e9), 0);
}

TEST(scale_is_the_published_one)
{
    for (unsigned n = 1; n <= NUM_RANKS_AS_PUBLISHED; n++)
        for (int e = NUM_EXPONENT_LEAST; e <= NUM_EXPONENT_MOST; e += 7) {
            const struct num_scale s = num_scale(NUM_INT32, n, (int8_t)e);
            CU_ASSERT_DOUBLE_EQUAL(s.out * n * ldexp(1, e) / INT32_MAX, 1, 1e-15);
            CU_ASSERT_DOUBLE_EQUAL(s.out * s.back, 1, 1e-15);
        }
}

/* The published one would overflow: of 1,024 numbers just below 2^e half of a unit is rounded up in each. */
TEST(scale_of_more_ranks_is_that_of_theorem_2)
{
    for (unsigned n = NUM_RANKS_AS_PUBLISHED + 1; n <= RANKS; n++) {
        const struct num_scale s = num_scale(NUM_INT32, n, 3);
        CU_ASSERT_DOUBLE_EQUAL(s.out * n * 8 / (0x1p31 - n), 1, 1e-15);
        CU_ASSERT_DOUBLE_EQUAL(s.out * s.back, 1, 1e-15);
    }
}

/* An exponent comes from the network: whatever it is, and whatever lies in the tensor, the integer is
 * defined. */
TEST(what_is_out_of_range_stops_at_the_ends)
{
    CU_ASSERT_EQUAL(scaled(3.0f, num_scale(NUM_INT32, 1, 0).out), INT32_MAX);
    CU_ASSERT_EQUAL(scaled(-3.0f, num_scale(NUM_INT32, 1, NUM_NO_BLOCK).out), -INT32_MAX);
    CU_ASSERT_EQUAL(scaled(INFINITY, 1), INT32_MAX);
    CU_ASSERT_EQUAL(scaled(-INFINITY, 1), -INT32_MAX);
    CU_ASSERT_EQUAL(scaled(NAN, 1), INT32_MAX);
}

/* The tensors of n ranks, of which rank r's block begins at r * BLOCK, and what becomes of them. */
struct sums {
    unsigned n;
    enum num_wire wire;
    enum num_type type;
    int8_t exponent;
    struct num_scale scale;
    uint8_t tensors[RANKS * BLOCK * 4], packets[RANKS * BLOCK * 4], result[BLOCK * 4];
    bool overflowed;
    double back[BLOCK]; /* the sum, before it is rounded to the tensor's type */
};

static double element(const struct sums *s, const uint8_t *tensor, unsigned i)
{
    uint16_t half;
    float x;

    if (s->type == NUM_F32) {
        memcpy(&x, tensor + sizeof x * i, sizeof x);
        return (double)x;
    }
    memcpy(&half, tensor + sizeof half * i, sizeof half);
    return (double)agg_half_to_float(half);
}

static uint8_t *tensor_of(struct sums *s, unsigned rank)
{
    return s->tensors + rank * BLOCK * num_type_bytes(s->type);
}

static void put(struct sums *s, unsigned rank, unsigned i, float x)
{
    const uint16_t half = agg_float_to_half(x);

    if (s->type == NUM_F32)
        memcpy(tensor_of(s, rank) + sizeof x * i, &x, sizeof x);
    else
        memcpy(tensor_of(s, rank) + sizeof half * i, &half, sizeof half);
}

/* All ranks' exponents, then their numbers. */
static void send_all(struct sums *s, const struct num_loops *l)
{
    const size_t bytes = BLOCK * num_wire_bytes(s->wire);

    s->exponent = NUM_NO_BLOCK;
    for (unsigned r = 0; r < s->n; r++) {
        const int8_t e = l->exponent[s->type](tensor_of(s, r), BLOCK);
        s->exponent = e > s->exponent ? e : s->exponent;
    }
    s->scale = num_scale(s->wire, s->n, s->exponent);
    for (unsigned r = 0; r < s->n; r++)
        l->out[s->wire][s->type](s->packets + r * bytes, tensor_of(s, r), BLOCK, s->scale.out);
}

static void sum_int32(struct sums *s, const struct num_loops *l)
{
    uint8_t sum[BLOCK * 4];

    s->overflowed = false;
    for (unsigned i = 0; i < BLOCK; i++) {
        int64_t q = 0;
        for (unsigned r = 0; r < s->n; r++)
            q += int32_at(s->packets + 4 * (r * BLOCK + i));
        s->overflowed |= q > INT32_MAX || q < INT32_MIN;
        s->back[i] = (double)q * s->scale.back;
        for (unsigned b = 0; b < 4; b++)
            sum[4 * i + b] = (uint8_t)((uint32_t)q >> (24 - 8 * b));
    }
    l->back[s->wire][s->type](s->result, sum, BLOCK, s->scale.back);
}

/* As the switch does, by its own kernels: in rank order; or on arrival, here the last rank first. */
static void sum_fp16(struct sums *s, const struct num_loops *l, bool ordered)
{
    const struct agg_operation *op = &kernels_or_exit()->operations[agg_code(AGG_F16, AGG_SUM)];
    uint8_t sum[BLOCK * sizeof(uint16_t)], wide[BLOCK * sizeof(float)];
    const void *in[RANKS];
    uint16_t half;

    for (unsigned r = 0; r < s->n; r++)
        in[r] = s->packets + r * sizeof sum;
    if (ordered) {
        op->reduce(sum, in, s->n, sizeof sum);
    } else {
        op->start(wide, in[s->n - 1], sizeof sum);
        for (unsigned r = s->n - 1; r-- > 0;)
            op->fold(wide, in[r], sizeof sum);
        op->finish(sum, wide, s->n, sizeof sum);
    }
    for (unsigned i = 0; i < BLOCK; i++) {
        memcpy(&half, sum + i * sizeof half, sizeof half);
        s->back[i] = (double)agg_half_to_float(half) * s->scale.back;
    }
    l->back[s->wire][s->type](s->result, sum, BLOCK, s->scale.back);
}

/* Blocks of one size, of very different sizes, of powers of two just below the next exponent, of one sign. */
static void fill(struct sums *s, uint64_t *rng)
{
    const int most = s->type == NUM_F32 ? NUM_EXPONENT_MOST : 15, least = s->type == NUM_F32 ? -140 : -14;
    const int size = least + (int)rng_below(rng, (uint32_t)(most - least + 1));
    const unsigned kind = rng_below(rng, 4);

    for (unsigned r = 0; r < s->n; r++)
        for (unsigned i = 0; i < BLOCK; i++) {
            const double part = ldexp((double)(rng_next(rng) >> 11), -53); /* [0, 1) */
            double x = part;
            if (kind == 1)
                x = ldexp(part, -(int)rng_below(rng, 40));
            else if (kind >= 2)
                x = 1 - ldexp(1, s->type == NUM_F32 ? -24 : -11);
            if (kind != 3 && rng_below(rng, 2))
                x = -x;
            put(s, r, i, (float)ldexp(x, size));
        }
}

static double exact(struct sums *s, unsigned i)
{
    long double sum = 0;

    for (unsigned r = 0; r < s->n; r++)
        sum += (long double)element(s, tensor_of(s, r), i);
    return (double)sum;
}

/* Half of what lies between x and its neighbours in the tensor's type: the result's own rounding. */
static double rounding(const struct sums *s, double x)
{
    if (s->type == NUM_F32)
        return fmax(fabs(x) * 0x1p-24, 0x1p-150);
    return fmax(fabs(x) * 0x1p-11, 0x1p-25) * (1 + 0x1p-10); /* through float */
}

static bool within(struct sums *s, double bound)
{
    const double most = s->type == NUM_F32 ? 3.4028234e38 : 65504;
    bool good = true;

    for (unsigned i = 0; i < BLOCK; i++) {
        const double should = exact(s, i), is = element(s, s->result, i);
        good &= fabs(s->back[i] - should) <= bound * (1 + 1e-12) + fabs(should) * 1e-15;
        if (fabs(s->back[i]) < most)
            good &= fabs(is - s->back[i]) <= rounding(s, s->back[i]);
        else
            good &= fabs(is) >= most && signbit(is) == signbit(s->back[i]);
    }
    return good;
}

TEST(int32_sums_do_not_overflow_and_err_by_at_most_n_by_f)
{
    static struct sums s;
    uint64_t rng = rng_seed(46);
    unsigned overflows = 0, errors = 0;

    for (unsigned turn = 0; turn < unit_cases(600); turn++) {
        s.n = turn % 3 == 0 ? 1 + rng_below(&rng, 8) : 1 + rng_below(&rng, RANKS);
        s.type = turn % 2 == 0 ? NUM_F32 : NUM_F16;
        s.wire = NUM_INT32;
        fill(&s, &rng);
        send_all(&s, loops_of("scalar"));
        sum_int32(&s, loops_of("scalar"));
        overflows += s.overflowed;
        errors += !within(&s, s.n / s.scale.out);
    }
    CU_ASSERT_EQUAL(overflows, 0);
    CU_ASSERT_EQUAL(errors, 0);
}

TEST(the_largest_blocks_of_most_ranks_do_not_overflow)
{
    static struct sums s = {.type = NUM_F32, .wire = NUM_INT32};

    for (s.n = 1; s.n <= RANKS; s.n += s.n < NUM_RANKS_AS_PUBLISHED ? 1 : 24)
        for (int sign = -1; sign <= 1; sign += 2) {
            for (unsigned r = 0; r < s.n; r++)
                for (unsigned i = 0; i < BLOCK; i++)
                    put(&s, r, i, (float)sign * nextafterf(0x1p5f, 0));
            send_all(&s, loops_of("scalar"));
            sum_int32(&s, loops_of("scalar"));
            CU_ASSERT_EQUAL(s.exponent, 5);
            CU_ASSERT(!s.overflowed);
            CU_ASSERT(within(&s, s.n / s.scale.out));
        }
}

TEST(fp16_sums_err_by_what_halves_round)
{
    static struct sums s;
    uint64_t rng = rng_seed(16);
    unsigned errors = 0;

    for (unsigned turn = 0; turn < unit_cases(300); turn++) {
        s.n = 1 + rng_below(&rng, RANKS);
        s.type = turn % 2 == 0 ? NUM_F32 : NUM_F16;
        s.wire = NUM_FP16;
        fill(&s, &rng);
        send_all(&s, loops_of("scalar"));
        sum_fp16(&s, loops_of("scalar"), turn % 4 < 2);
        /* The ranks' rounding, and the switch's: once to a half, of a sum less than n * 2^e, and n times to a
         * float. */
        const double block = ldexp(1, s.exponent), by_ranks = s.n * block * 0x1p-12;
        errors += !within(&s, by_ranks + s.n * block * (0x1p-11 + s.n * 0x1p-24));
    }
    CU_ASSERT_EQUAL(errors, 0);
}

TEST(one_rank_without_a_scale_makes_the_block_nan_for_all)
{
    static const float strange[] = {NAN, INFINITY, -INFINITY};
    static struct sums s = {.n = 3};

    for (s.wire = NUM_INT32; s.wire < NUM_WIRES; s.wire++)
        for (s.type = NUM_F32; s.type < NUM_TYPES; s.type++)
            for (unsigned which = 0; which < 3; which++) {
                for (unsigned r = 0; r < s.n; r++)
                    for (unsigned i = 0; i < BLOCK; i++)
                        put(&s, r, i, 1.0f);
                put(&s, 1, 17, strange[which]);
                send_all(&s, loops_of("scalar"));
                if (s.wire == NUM_INT32)
                    sum_int32(&s, loops_of("scalar"));
                else
                    sum_fp16(&s, loops_of("scalar"), true);
                CU_ASSERT_EQUAL(s.exponent, NUM_NOT_FINITE);
                for (unsigned i = 0; i < BLOCK; i++)
                    CU_ASSERT(isnan(element(&s, s.result, i)));
            }
}

TEST(zeros_stay_zeros_and_denormals_are_summed)
{
    static struct sums s = {.n = 4, .type = NUM_F32, .wire = NUM_INT32};

    for (unsigned r = 0; r < s.n; r++)
        for (unsigned i = 0; i < BLOCK; i++)
            put(&s, r, i, i % 2 == 0 ? -0.0f : 0x1p-149f);
    send_all(&s, loops_of("scalar"));
    sum_int32(&s, loops_of("scalar"));
    for (unsigned i = 0; i < BLOCK; i++) {
        CU_ASSERT_EQUAL(element(&s, s.result, i), i % 2 == 0 ? 0 : 0x1p-147);
        CU_ASSERT(!signbit(element(&s, s.result, i)));
    }
}

TEST(sums_of_halves_have_no_negative_zero)
{
    const uint16_t minus_zero = 0x8000;
    uint16_t back = 1;

    loops_of("scalar")->back[NUM_FP16][NUM_F16](&back, &minus_zero, 1, 1);
    CU_ASSERT_EQUAL(back, 0);
}

/* Whatever integers around 2^k the sum was: what is handed back becomes the same float. Returns for how many
 * rank counts the nearest integer alone would not do. */
static unsigned hand_back(const struct num_loops *l, enum num_type type, bool average)
{
    unsigned needed = 0;

    for (unsigned n = 1; n <= RANKS; n++) {
        struct num_scale f = num_scale(NUM_INT32, n, 0), sums;
        bool missed = false;

        if (average)
            f.back /= n;
        sums = f;
        if (average)
            sums.out *= n;
        for (int k = -34; k < 12 && ldexp(1, k) * sums.out < 0x1p31; k++)
            for (int d = -3; d <= 4; d++) {
                const double at = floor(ldexp(1, k) * sums.out) + d;
                uint32_t element = 0, again = 0, sum, nearest;

                if (at <= 0 || at > INT32_MAX)
                    continue;
                const uint32_t q = __builtin_bswap32((uint32_t)(int32_t)(k % 2 ? at : -at));
                l->back[NUM_INT32][type](&element, &q, 1, f.back);
                num_out_sums(l, NUM_INT32, type, &sum, &element, 1, &sums);
                l->back[NUM_INT32][type](&again, &sum, 1, f.back);
                CU_ASSERT_EQUAL_FATAL(again, element);
                l->out[NUM_INT32][type](&nearest, &element, 1, sums.out);
                missed |= nearest != sum;
            }
        needed += missed;
    }
    return needed;
}

/* How many of all sums in halves become other floats on their way back; -0 is not +0. */
static unsigned halves_that_change(const struct num_loops *l, enum num_type type, unsigned n, int8_t exponent,
                                   bool average)
{
    struct num_scale f = num_scale(NUM_FP16, n, exponent), sums;
    unsigned changed = 0;

    if (average)
        f.back /= n;
    sums = f;
    if (average)
        sums.out *= n;
    for (uint32_t half = 0; half <= UINT16_MAX; half++) {
        const uint16_t h = (uint16_t)half;
        uint32_t element = 0, again = 0;
        uint16_t sum;

        if (!(fabsf(agg_half_to_float(h)) <= (float)n))
            continue;
        l->back[NUM_FP16][type](&element, &h, 1, f.back);
        num_out_sums(l, NUM_FP16, type, &sum, &element, 1, &sums);
        l->back[NUM_FP16][type](&again, &sum, 1, f.back);
        changed += again != element;
    }
    return changed;
}

TEST(halves_that_are_handed_back_become_the_same_floats)
{
    static const int8_t exponents[] = {NUM_EXPONENT_LEAST, -14, 0, 16, NUM_EXPONENT_MOST};

    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct num_loops *l = loops_of(implementations[i]);

        for (unsigned n = 1; l != NULL && n <= RANKS; n = 3 * n + 1)
            for (unsigned e = 0; e < sizeof exponents; e++)
                for (unsigned type = NUM_F32; type < NUM_TYPES; type++) {
                    CU_ASSERT_EQUAL(halves_that_change(l, type, n, exponents[e], false), 0);
                    CU_ASSERT_EQUAL(halves_that_change(l, type, n, exponents[e], true), 0);
                }
    }
}

TEST(sums_that_are_handed_back_become_the_same_floats)
{
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct num_loops *l = loops_of(implementations[i]);

        if (l == NULL)
            continue;
        CU_ASSERT_EQUAL(hand_back(l, NUM_F32, false), 66);
        CU_ASSERT_EQUAL(hand_back(l, NUM_F32, true), 3);
        CU_ASSERT(hand_back(l, NUM_F16, false) > 0);
        hand_back(l, NUM_F16, true);
    }
}

static void halves_are_converted_by_the_book(void)
{
    uint64_t rng = rng_seed(11);
    unsigned failures = 0;

    for (uint32_t half = 0; half <= UINT16_MAX; half++) {
        const uint32_t magnitude = half & 0x7fff;
        const float x = agg_half_to_float((uint16_t)half);
        const double should = magnitude >> 10 == 0
                                  ? ldexp(magnitude, -24)
                                  : ldexp(1024 + (magnitude & 1023), (int)(magnitude >> 10) - 25);
        if (magnitude > 0x7c00)
            failures += !isnan(x) || !isnan(agg_half_to_float(agg_float_to_half(x)));
        else
            failures += agg_float_to_half(x) != half || !signbit(x) != !(half >> 15) ||
                        fabs((double)x) != (magnitude == 0x7c00 ? (double)INFINITY : should);
    }
    for (unsigned i = 0; i < unit_cases(100000);
         i++) { /* the nearest of three neighbours, the even one of two */
        const float x = ldexpf((float)(rng_next(&rng) >> 40), -24 - (int)rng_below(&rng, 30) + 12);
        const uint16_t h = agg_float_to_half(x);
        const float off = fabsf(agg_half_to_float(h) - x);
        for (int step = -1; step <= 1; step += 2) {
            const uint16_t other = (uint16_t)(h + step);
            const float far = other > 0x7bff ? INFINITY : fabsf(agg_half_to_float(other) - x);
            failures += far < off || (far == off && h % 2 != 0);
        }
    }
    CU_ASSERT_EQUAL(agg_float_to_half(65519.9f), 0x7bff);
    CU_ASSERT_EQUAL(agg_float_to_half(65520.0f), 0x7c00);
    CU_ASSERT_EQUAL(failures, 0);
}

/* Any bits at all, so that NaN, infinities and denormals are among them, and lengths and alignments of all
 * kinds. */

enum { MOST = 150, SLACK = 64 };

struct trial {
    const struct num_loops *scalar, *vector;
    uint8_t from[4 * MOST + SLACK], a[4 * MOST + 2 * SLACK], b[4 * MOST + 2 * SLACK];
    size_t n, from_skew, to_skew;
    double factor;
};

static void random_bytes(uint64_t *rng, uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)rng_next(rng);
}

static void blank(struct trial *t)
{
    memset(t->a, 0x5a, sizeof t->a);
    memset(t->b, 0x5a, sizeof t->b);
}

static bool one_trial(struct trial *t)
{
    const uint8_t *from = t->from + t->from_skew;
    bool same = true;

    for (unsigned type = 0; type < NUM_TYPES; type++) {
        same &= t->vector->exponent[type](from, t->n) == t->scalar->exponent[type](from, t->n);
        for (unsigned wire = 0; wire < NUM_WIRES; wire++) {
            blank(t);
            t->vector->out[wire][type](t->a + t->to_skew, from, t->n, t->factor);
            t->scalar->out[wire][type](t->b + t->to_skew, from, t->n, t->factor);
            same &= memcmp(t->a, t->b, sizeof t->a) == 0;
            blank(t);
            t->vector->back[wire][type](t->a + t->to_skew, from, t->n, t->factor);
            t->scalar->back[wire][type](t->b + t->to_skew, from, t->n, t->factor);
            same &= memcmp(t->a, t->b, sizeof t->a) == 0;
        }
    }
    return same;
}

TEST(halves_are_converted_by_the_book)
{
    halves_are_converted_by_the_book();
}

/* As a program may have it that was linked with -ffast-math. */
TEST(halves_are_converted_where_denormal_floats_count_as_zeros)
{
#ifdef __x86_64__
    const unsigned before = __builtin_ia32_stmxcsr();

    __builtin_ia32_ldmxcsr(before | 0x8040); /* flush to zero, denormals are zeros */
    halves_are_converted_by_the_book();
    __builtin_ia32_ldmxcsr(before);
#endif
}

TEST(vector_loops_have_the_bits_of_the_scalar_ones)
{
    static struct trial t;
    uint64_t rng = rng_seed(512);
    unsigned failures = 0;

    t.scalar = loops_of("scalar");
    for (unsigned i = 1; i < IMPLEMENTATIONS; i++) {
        t.vector = loops_of(implementations[i]);
        if (t.vector == NULL)
            continue;
        CU_ASSERT_STRING_EQUAL(t.vector->name, implementations[i]);
        for (t.n = 0; t.n <= MOST; t.n++)
            for (unsigned turn = 0; turn < 8; turn++) {
                const struct num_scale s =
                    num_scale(rng_below(&rng, NUM_WIRES), 1 + rng_below(&rng, RANKS), (int8_t)rng_next(&rng));
                random_bytes(&rng, t.from, sizeof t.from);
                t.from_skew = rng_below(&rng, SLACK);
                t.to_skew = rng_below(&rng, SLACK);
                t.factor = turn % 2 == 0 ? s.out : s.back;
                failures += !one_trial(&t);
            }
    }
    CU_ASSERT_EQUAL(failures, 0);
}
