/* libswagg over real sockets against the loop switch: sums of SwitchML's numbers, int32 with a scale for each
 * packet. Every sum is compared with one that the test computes itself, within the bound that the paper
 * proves, and the ranks' results with one another, bit by bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "kernels/half.h"
#include "random.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

/* One call of a crew, all of whose ranks see what the others have. */
struct sum {
    size_t count;
    int root;  /* < 0: allreduce */
    bool half; /* tensors of float16; else of float32 */
    enum swagg_numbers numbers;
    size_t nan_at; /* rank 1's element there is a NaN; count or more: there is none */
    float *result[CREW_MAX];
    int calls;
};

/* Of sizes that differ between ranks, and from block to block. */
static float element_of(const struct sum *s, int rank, size_t i)
{
    uint64_t rng = seed + (uint64_t)rank * 1000003 + i * 7919;
    const float part = (float)((int64_t)rng_below(&rng, 2000001) - 1000000) / 3;

    if (rank == 1 && i == s->nan_at)
        return NAN;
    if (s->half) /* the sums of all ranks fit */
        return agg_half_to_float(agg_float_to_half(ldexpf(part, (int)(i / 200 % 12) - 18 - rank)));
    return ldexpf(part, (int)(i / 200 % 60) - 30 - 3 * rank);
}

static void put_element(const struct sum *s, void *tensor, size_t i, float x)
{
    if (s->half)
        ((uint16_t *)tensor)[i] = agg_float_to_half(x);
    else
        ((float *)tensor)[i] = x;
}

/* In place, from the last one on. */
static void widen(const struct sum *s, float *tensor)
{
    for (size_t i = s->count; s->half && i-- > 0;) {
        uint16_t half;

        memcpy(&half, (const char *)tensor + i * sizeof half, sizeof half);
        tensor[i] = agg_half_to_float(half);
    }
}

static int call_all(struct crew_member *m)
{
    struct sum *s = m->crew->arg;
    const enum swagg_type type = s->half ? SWAGG_F16 : SWAGG_F32;
    float *in = malloc((s->count + 1) * sizeof *in), *out = s->result[m->rank];
    int rc = 0;

    for (int call = 0; call < s->calls && rc == 0; call++) {
        for (size_t i = 0; i < s->count; i++)
            put_element(s, in, i, element_of(s, m->rank, i));
        rc = s->root < 0 ? swagg_allreduce(m->job, in, out, s->count, type, SWAGG_SUM)
                         : swagg_reduce(m->job, in, out, s->count, type, SWAGG_SUM, s->root);
    }
    widen(s, out);
    free(in);
    return rc;
}

/* The blocks are packets' worth: 1460 bytes where the MTU is 1500. */
static size_t block_of(const struct sum *s)
{
    return s->numbers == SWAGG_NUMBERS_INT32 ? 365 : 730;
}

static double bound_of(const struct sum *s, int ranks, size_t i)
{
    const size_t block = block_of(s), first = i / block * block;
    int exponent = -126;

    for (int r = 0; r < ranks; r++)
        for (size_t at = first; at < first + block && at < s->count; at++) {
            int e;
            const float x = element_of(s, r, at);
            if (x != 0 && frexpf(x, &e) != 0 && e > exponent)
                exponent = e;
        }
    if (s->numbers == SWAGG_NUMBERS_NATIVE)
        return ranks * ranks * ldexp(1, exponent - 24);
    const double int32 = (double)ranks * ranks * ldexp(1, exponent) / INT32_MAX;
    return s->numbers == SWAGG_NUMBERS_INT32 ? int32 : 2 * ranks * ldexp(1, exponent - 11);
}

/* Natively it stays where it is. */
static bool nan_is_in_block(const struct sum *s, size_t i)
{
    if (s->numbers == SWAGG_NUMBERS_NATIVE)
        return i == s->nan_at;
    return s->nan_at < s->count && s->nan_at / block_of(s) == i / block_of(s);
}

static size_t wrong_elements(const struct sum *s, int ranks, const float *got)
{
    double bound = 0;
    size_t wrong = 0;

    for (size_t i = 0; i < s->count; i++) {
        if (nan_is_in_block(s, i)) {
            wrong += !isnan(got[i]);
            continue;
        }
        if (i % block_of(s) == 0)
            bound = bound_of(s, ranks, i);
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += (double)element_of(s, r, i);
        const double rounded = s->half ? fmax(fabs(sum) * 0x1p-11, 0x1p-25) : fabs(sum) * 0x1p-24;
        wrong += !(fabs((double)got[i] - sum) <= bound + rounded);
    }
    return wrong;
}

static void expect_sums(const struct crew *crew, const struct sum *s)
{
    const float *first = s->result[s->root < 0 ? 0 : s->root];

    CU_ASSERT_EQUAL(wrong_elements(s, crew->size, first), 0);
    for (int r = 0; r < crew->size; r++)
        if (s->root < 0 || s->root == r)
            CU_ASSERT_EQUAL(memcmp(s->result[r], first, s->count * sizeof *first), 0);
}

static void begin(struct sum *s, struct crew *crew)
{
    for (int r = 0; r < crew->size; r++)
        s->result[r] = calloc(s->count + 1, sizeof(float));
    crew->options.numbers = s->numbers;
    crew_start(crew);
}

static void end(struct sum *s, struct crew *crew)
{
    crew_end_well(crew);
    expect_sums(crew, s);
    for (int r = 0; r < crew->size; r++)
        free(s->result[r]);
}

static void play(struct sum *s, struct crew *crew)
{
    begin(s, crew);
    end(s, crew);
}

static void sum_all_sizes(enum swagg_numbers numbers, enum swagg_mode mode)
{
    static const size_t counts[] = {0, 1, 364, 365, 366, 10007, 400009};
    unsigned nth = 0;

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int root = -1; root < 2; root++) {
            if (!unit_tries(nth++))
                continue;
            struct sum s = {.count = counts[c], .root = root, .numbers = numbers, .nan_at = 370, .calls = 2};
            struct crew crew = crew_of(3, the_switch, "numbers", call_all, &s);
            crew.options.mode = mode;
            play(&s, &crew);
        }
}

TEST(floats_are_summed_as_integers)
{
    sum_all_sizes(SWAGG_NUMBERS_INT32, SWAGG_ORDERED);
}

TEST(floats_are_summed_in_half_the_bytes)
{
    sum_all_sizes(SWAGG_NUMBERS_FP16, SWAGG_ORDERED);
    sum_all_sizes(SWAGG_NUMBERS_FP16, SWAGG_ON_ARRIVAL);
}

TEST(halves_are_summed_whatever_travels)
{
    static const enum swagg_numbers numbers[] = {SWAGG_NUMBERS_NATIVE, SWAGG_NUMBERS_INT32,
                                                 SWAGG_NUMBERS_FP16};
    static const size_t counts[] = {1, 365, 731, 20011};

    for (size_t k = 0; k < 3; k++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct sum s = {.count = counts[c],
                            .root = -1,
                            .half = true,
                            .numbers = numbers[k],
                            .nan_at = 370,
                            .calls = 2};
            struct crew crew = crew_of(3, the_switch, "halves", call_all, &s);
            play(&s, &crew);
        }
}

TEST(losses_do_not_spoil_them)
{
    const struct impair_config bad = {
        .rate = {[IMPAIR_DROP] = {.probability = 0.02}, [IMPAIR_DUPLICATE] = {.probability = 0.02}}};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = bad, .out = bad});
    struct sum s = {
        .count = 50021, .root = -1, .numbers = SWAGG_NUMBERS_INT32, .nan_at = SIZE_MAX, .calls = 3};
    struct crew crew = crew_of(4, ls, "lossy", call_all, &s);

    play(&s, &crew);
    loop_switch_stop(ls);
}

TEST(a_restart_of_the_switch_is_not_noticed)
{
    struct sum s = {
        .count = 500009, .root = -1, .numbers = SWAGG_NUMBERS_INT32, .nan_at = SIZE_MAX, .calls = 3};
    struct crew crew = crew_of(3, the_switch, "restart", call_all, &s);

    loop_switch_take(the_switch, 1200); /* while only exponents are on their way, and when results are */
    begin(&s, &crew);
    loop_switch_restart_there(the_switch, 0, 5000);
    loop_switch_restart_there(the_switch, 0, 0);
    end(&s, &crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.resumed, 2);
}

static int sum_integers(struct crew_member *m)
{
    int32_t x[1000];

    for (int i = 0; i < 1000; i++)
        x[i] = (m->rank + 1) * (i * 1000003 - 500000000);
    int rc = swagg_allreduce(m->job, x, x, 1000, SWAGG_I32, SWAGG_SUM);
    for (int i = 0; i < 1000 && rc == 0; i++)
        rc = x[i] == (int32_t)(3u * (uint32_t)(i * 1000003 - 500000000)) ? 0 : WRONG_SUM;
    return rc;
}

TEST(integers_are_exact)
{
    struct crew crew = crew_of(2, the_switch, "integers", sum_integers, NULL);

    crew.options.numbers = SWAGG_NUMBERS_INT32;
    crew_succeed(&crew);
}

static int call_what_is_not_there(struct crew_member *m)
{
    double x = 1;

    return swagg_allreduce(m->job, &x, &x, 1, SWAGG_F64, SWAGG_SUM);
}

TEST(other_calls_are_refused_in_words)
{
    struct crew crew = crew_of(1, the_switch, "float64", call_what_is_not_there, NULL);

    crew.options.numbers = SWAGG_NUMBERS_INT32;
    crew_run(&crew);
    CU_ASSERT_EQUAL(crew.member[0].status, SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(crew.member[0].error, "SWAGG_NUMBERS_INT32 has no sum of float64"));
    CU_ASSERT_PTR_NOT_NULL(strstr(crew.member[0].error, "SWAGG_NUMBERS_NATIVE"));
    CU_ASSERT_EQUAL(swagg_numbers_carry(SWAGG_NUMBERS_INT32, SWAGG_F64, SWAGG_SUM), 0);
    CU_ASSERT_EQUAL(swagg_numbers_carry(SWAGG_NUMBERS_INT32, SWAGG_F32, SWAGG_SUM), 1);
    CU_ASSERT_EQUAL(swagg_numbers_carry(SWAGG_NUMBERS_NATIVE, SWAGG_F64, SWAGG_SUM), 1);
    CU_ASSERT_EQUAL(swagg_numbers_carry(SWAGG_NUMBERS_NATIVE, 0, SWAGG_SUM), 0);
}

TEST(options_that_exclude_each_other)
{
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    struct swagg_job *job;

    o.switch_ip = "127.0.0.1";
    o.job = "options";
    o.size = 1;
    o.numbers = SWAGG_NUMBERS_INT32;
    o.checksum = SWAGG_CHECKSUM_CRC32C;
    CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), "options.checksum and options.numbers exclude"));
    o.checksum = SWAGG_CHECKSUM_NONE;
    o.reduce = SWAGG_REDUCE_BUFFERED;
    CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), "SWAGG_REDUCE_BUFFERED and options.numbers exclude"));
    o.numbers = (enum swagg_numbers)3;
    CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), "options.numbers is 3"));
}
