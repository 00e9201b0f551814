/* THC's floats: the transform, rounding that is right in the mean, packed indices, sums and their means; all
 * instruction sets bit for bit alike. */
#include "thc/codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "random/splitmix.h"
#include "unit.h"

static const char *const implementations[] = {"scalar", "avx2", "avx512", "neon"};
enum { IMPLEMENTATIONS = sizeof implementations / sizeof *implementations, BLOCK = 1024 };

static struct thc_codec codec_of(unsigned bits, unsigned granularity, double fraction, uint32_t block,
                                 const char *name)
{
    struct thc_table t = {.bits = (uint8_t)bits, .granularity = (uint8_t)granularity, .fraction = fraction};
    struct thc_codec c;

    thc_table_solve(&t);
    CU_ASSERT_FATAL(thc_codec_init(&c, &t, block, agg_kernels_get(name)));
    return c;
}

/* Independent standard normal floats, by the method of Box and Muller. */
static void fill_normal(float *x, unsigned n, uint64_t *rng)
{
    for (unsigned i = 0; i < n; i++) {
        const double u = (double)(rng_next(rng) >> 11) * 0x1p-53 + 0x1p-54,
                     v = (double)(rng_next(rng) >> 11) * 0x1p-53;

        x[i] = (float)(sqrt(-2 * log(u)) * cos(2 * acos(-1) * v));
    }
}

static double square_sum(const float *x, unsigned n)
{
    double sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

/* Row r of the Hadamard matrix has the sign of the parity of r & column. */
static double row_times(unsigned r, const float *x, unsigned n)
{
    double sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += __builtin_parity(r & i) ? -x[i] : x[i];
    return sum;
}

TEST(the_transform_is_hadamards_after_random_signs)
{
    uint64_t rng = rng_seed(1);

    for (unsigned n = THC_LEAST_BLOCK; n <= 256; n *= 2) {
        const struct thc_codec c = codec_of(4, 30, 1. / 32, n, "scalar");
        float x[256], y[256];
        unsigned flipped = 0;

        fill_normal(x, n, &rng);
        memcpy(y, x, sizeof y);
        CU_ASSERT_DOUBLE_EQUAL(thc_transform(&c, y, 5), sqrt(square_sum(x, n)), 1e-4);
        thc_loops_scalar.flip(x, n, 5);
        for (unsigned r = 0; r < n; r++) {
            CU_ASSERT_DOUBLE_EQUAL(y[r], row_times(r, x, n) / sqrt(n), 1e-5);
            flipped += x[r] < 0;
        }
        CU_ASSERT(flipped > n / 4 && flipped < n - n / 4);
    }
}

TEST(each_group_has_signs_of_its_own)
{
    float x[2 * THC_GROUP], y[2 * THC_GROUP];

    for (unsigned i = 0; i < 2 * THC_GROUP; i++)
        x[i] = y[i] = 1;
    thc_loops_scalar.flip(x, 2 * THC_GROUP, 5);
    thc_loops_scalar.flip(y, 2 * THC_GROUP, 6);
    CU_ASSERT_NOT_EQUAL(memcmp(x, x + THC_GROUP, sizeof x / 2), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(x, y, sizeof x / 2), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(x + THC_GROUP, y, sizeof x / 2), 0); /* nor does a round have the last one's */
}

TEST(the_way_back_leads_to_where_it_began)
{
    uint64_t rng = rng_seed(2);

    for (unsigned n = THC_LEAST_BLOCK; n <= BLOCK; n *= 2) {
        const struct thc_codec c = codec_of(4, 30, 1. / 32, n, "scalar");
        float x[BLOCK], y[BLOCK];

        fill_normal(x, n, &rng);
        memcpy(y, x, sizeof y);
        thc_transform(&c, y, n);
        CU_ASSERT_NOT_EQUAL(memcmp(x, y, n * sizeof *x), 0);
        thc_transform_back(&c, y, n);
        for (unsigned i = 0; i < n; i++)
            CU_ASSERT_DOUBLE_EQUAL(y[i], x[i], 4e-6);
    }
}

/* One float as all that a tensor has is spread over the whole block: what clamping is about. */
TEST(a_single_float_is_spread_evenly)
{
    const struct thc_codec c = codec_of(4, 30, 1. / 32, BLOCK, "scalar");
    float x[BLOCK] = {[77] = 3};

    CU_ASSERT_DOUBLE_EQUAL(thc_transform(&c, x, 9), 3, 1e-5);
    for (unsigned i = 0; i < BLOCK; i++)
        CU_ASSERT_DOUBLE_EQUAL(fabsf(x[i]), 3 / sqrt(BLOCK), 1e-6);
}

/* --- rounding --- */

/* The floats that the indices of a worker stand for. */
static void decoded(const struct thc_codec *c, float *x, const uint8_t *packed, float norm)
{
    uint8_t sums[BLOCK] = {0};

    thc_add8(c, sums, packed);
    thc_decode8(c, x, sums, 1, norm);
}

TEST(floats_are_right_in_the_mean_up_to_the_bound)
{
    enum { ROUNDS = 4000 };
    const struct thc_codec c = codec_of(4, 30, 1. / 32, 256, "scalar");
    const double norm = sqrt(256), widest = 3 * 2 * c.bound / 30; /* three values between neighbours */
    uint64_t rng = rng_seed(3);
    float x[256], y[256];
    double mean[256] = {0};

    fill_normal(x, 256, &rng);
    for (uint32_t key = 0; key < ROUNDS; key++) {
        uint8_t packed[256];

        thc_encode(&c, packed, x, (float)norm, key * 77773);
        decoded(&c, y, packed, (float)norm);
        for (unsigned i = 0; i < 256; i++)
            mean[i] += y[i] / (double)ROUNDS;
    }
    for (unsigned i = 0; i < 256; i++) {
        const double expected = x[i] > c.bound ? c.bound : x[i] < -c.bound ? -c.bound : x[i];

        CU_ASSERT_DOUBLE_EQUAL(mean[i], expected, 5 * widest / 2 / sqrt(ROUNDS));
    }
}

/* Of a standard normal float, beyond a bound: the mean square of by how much. */
static double clamped_square(double bound)
{
    const double density = exp(-bound * bound / 2) / sqrt(2 * acos(-1));

    return (1 + bound * bound) * erfc(bound / sqrt(2)) - 2 * bound * density;
}

TEST(the_error_is_the_tables_and_what_is_clamped)
{
    uint64_t rng = rng_seed(4);

    for (unsigned bits = 2; bits <= 4; bits++) {
        const struct thc_codec c = codec_of(bits, 30, 1. / 32, BLOCK, "scalar");
        double sum = 0, expected = thc_table_error(&c.table) + clamped_square(c.bound);

        for (unsigned round = 0; round < 200; round++) {
            float x[BLOCK];
            uint8_t packed[BLOCK];

            fill_normal(x, BLOCK, &rng);
            thc_encode(&c, packed, x, sqrtf(BLOCK), round * 131);
            thc_subtract(&c, x, packed, sqrtf(BLOCK));
            sum += square_sum(x, BLOCK) / BLOCK / 200;
        }
        CU_ASSERT_DOUBLE_EQUAL(sum / expected, 1, 0.05);
    }
}

TEST(what_was_not_sent_is_the_rest)
{
    const struct thc_codec c = codec_of(3, 14, 1. / 64, BLOCK, "scalar");
    uint64_t rng = rng_seed(5);
    float x[BLOCK], sent[BLOCK], rest[BLOCK];
    uint8_t packed[BLOCK];

    fill_normal(x, BLOCK, &rng);
    memcpy(rest, x, sizeof rest);
    thc_encode(&c, packed, x, 20, 3);
    thc_subtract(&c, rest, packed, 20);
    decoded(&c, sent, packed, 20);
    for (unsigned i = 0; i < BLOCK; i++)
        CU_ASSERT_DOUBLE_EQUAL(sent[i] + rest[i], x[i], 1e-6);
}

/* --- many workers --- */

/* The normalized mean squared error of the mean of so many workers' blocks. */
static double error_of(unsigned workers, uint64_t *rng)
{
    const struct thc_codec c = codec_of(4, 30, 1. / 32, BLOCK, "scalar");
    static float x[64][BLOCK], mean[BLOCK], got[BLOCK];
    uint16_t sums[BLOCK] = {0};
    float most = 0;

    memset(mean, 0, sizeof mean);
    for (unsigned w = 0; w < workers; w++) {
        fill_normal(x[w], BLOCK, rng);
        for (unsigned i = 0; i < BLOCK; i++)
            mean[i] += x[w][i] / (float)workers;
        most = fmaxf(most, thc_transform(&c, x[w], 8));
    }
    for (unsigned w = 0; w < workers; w++) {
        uint8_t packed[BLOCK];

        thc_encode(&c, packed, x[w], most, (uint32_t)rng_next(rng));
        thc_add16(&c, sums, packed);
    }
    thc_decode16(&c, got, sums, workers, most);
    thc_transform_back(&c, got, 8);
    for (unsigned i = 0; i < BLOCK; i++)
        got[i] -= mean[i];
    return square_sum(got, BLOCK) / square_sum(mean, BLOCK);
}

/* Of independent blocks the mean has 1 / n of their squares, and so has the mean of their errors. */
TEST(errors_of_workers_do_not_add_up)
{
    uint64_t rng = rng_seed(6);
    double one = 0, many = 0;

    for (unsigned i = 0; i < 20; i++) {
        one += error_of(1, &rng);
        many += error_of(64, &rng);
    }
    CU_ASSERT(many < one * 1.2);
}

TEST(sums_are_those_of_the_table_values)
{
    uint64_t rng = rng_seed(7);

    for (unsigned bits = 1; bits <= THC_MOST_BITS; bits++) {
        const struct thc_codec c = codec_of(bits, 31, 1. / 32, BLOCK, "scalar");
        float x[BLOCK], y[BLOCK];
        uint8_t packed[BLOCK], sums8[BLOCK] = {0};
        uint16_t sums16[BLOCK] = {0}, expected[BLOCK] = {0};

        for (unsigned w = 0; w < 8; w++) {
            fill_normal(x, BLOCK, &rng);
            thc_encode(&c, packed, x, sqrtf(BLOCK), w);
            decoded(&c, y, packed, sqrtf(BLOCK));
            for (unsigned i = 0; i < BLOCK; i++)
                expected[i] += (uint16_t)lrintf((y[i] / c.bound + 1) * 31 / 2);
            thc_add8(&c, sums8, packed);
            thc_add16(&c, sums16, packed);
        }
        CU_ASSERT_EQUAL(memcmp(sums16, expected, sizeof sums16), 0);
        for (unsigned i = 0; i < BLOCK; i++)
            CU_ASSERT_EQUAL(sums8[i], expected[i]);
    }
}

/* --- bytes --- */

/* Where the index of float i begins, by the words of codec.h; low bits of 3 are as indices of 2. */
static unsigned index_at(const uint8_t *packed, unsigned i, unsigned bits)
{
    switch (bits) {
    case 1:
        return packed[i % 8] >> i / 8 & 1;
    case 2:
        return packed[i % 16] >> i / 16 * 2 & 3;
    case 3:
        return index_at(packed, i, 2) | index_at(packed + 16, i, 1) << 2;
    default:
        return packed[i % 32] >> i / 32 * 4 & 15;
    }
}

/* Floats that are table values exactly need no rounding. */
TEST(indices_lie_where_they_should)
{
    uint64_t rng = rng_seed(8);

    for (unsigned bits = 1; bits <= THC_MOST_BITS; bits++) {
        const struct thc_codec c = codec_of(bits, 16, 1. / 32, BLOCK, "scalar");
        const float norm = sqrtf(BLOCK) / c.bound; /* values are multiples of 1/8 then */
        unsigned index[BLOCK];
        float x[BLOCK];
        uint8_t packed[BLOCK / 2];

        for (unsigned i = 0; i < BLOCK; i++) {
            index[i] = (unsigned)rng_below(&rng, 1u << bits);
            x[i] = (float)(c.table.value[index[i]] - 8) / 8;
        }
        CU_ASSERT_EQUAL(thc_packed_bytes(&c), BLOCK * bits / 8);
        thc_encode(&c, packed, x, norm * (1 - 1e-6f), 1); /* never less than a value because of a rounding */
        for (unsigned i = 0; i < BLOCK; i++)
            CU_ASSERT(abs((int)index_at(packed + i / 64 * 8 * bits, i % 64, bits) - (int)index[i]) == 0);
    }
}

/* --- instruction sets --- */

static void compare(const char *name, unsigned bits, uint64_t *rng)
{
    const struct thc_codec a = codec_of(bits, 40, 1. / 32, BLOCK, "scalar"),
                           b = codec_of(bits, 40, 1. / 32, BLOCK, name);
    struct {
        float x[BLOCK], back[BLOCK], mean8[BLOCK], mean16[BLOCK];
        uint8_t packed[BLOCK / 2], sums8[BLOCK];
        uint16_t sums16[BLOCK];
        float norm;
    } out[2] = {0};

    CU_ASSERT_STRING_EQUAL(b.loops->name, name);
    fill_normal(out[0].x, BLOCK, rng);
    memcpy(out[1].x, out[0].x, sizeof out[0].x);
    for (unsigned i = 0; i < 2; i++) {
        const struct thc_codec *c = i == 0 ? &a : &b;

        out[i].norm = thc_transform(c, out[i].x, 3);
        thc_encode(c, out[i].packed, out[i].x, out[i].norm, 4);
        thc_subtract(c, out[i].x, out[i].packed, out[i].norm);
        memcpy(out[i].back, out[i].x, sizeof out[i].x);
        thc_transform_back(c, out[i].back, 3);
        thc_add8(c, out[i].sums8, out[i].packed);
        thc_add16(c, out[i].sums16, out[i].packed);
        thc_decode8(c, out[i].mean8, out[i].sums8, 3, out[i].norm);
        thc_decode16(c, out[i].mean16, out[i].sums16, 3, out[i].norm);
    }
    CU_ASSERT_EQUAL(memcmp(&out[0], &out[1], sizeof out[0]), 0);
}

TEST(all_instruction_sets_have_the_same_bits)
{
    uint64_t rng = rng_seed(10);

    for (unsigned i = 1; i < IMPLEMENTATIONS; i++) {
        if (agg_kernels_get(implementations[i]) == NULL)
            continue;
        for (unsigned bits = 1; bits <= THC_MOST_BITS; bits++)
            for (unsigned round = 0; round < 20; round++)
                compare(implementations[i], bits, &rng);
    }
}

/* Floats that need no library to be the same everywhere: most between the bounds, some beyond, and some that
 * are no numbers. */
static void fill_odd(float *x, unsigned n, uint64_t *rng)
{
    static const float odd[] = {0, -0.f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN, 1e-42f};

    for (unsigned i = 0; i < n; i++)
        x[i] = i % 61 == 7 ? odd[rng_below(rng, sizeof odd / sizeof *odd)]
                           : (float)((int64_t)(rng_next(rng) >> 40) - (1 << 23)) * 0x1p-19f;
}

/* What travels for given floats, noted once: workers of all builds round alike. */
TEST(rounding_is_as_it_was)
{
    static const struct {
        uint8_t bits, granularity;
        uint64_t hash;
    } noted[] = {
        {1, 1, UINT64_C(0x4a0d4b3bd2016197)},   {1, 255, UINT64_C(0xb46b50f1c7ad075c)},
        {2, 3, UINT64_C(0xd3e6c08325e997a2)},   {2, 30, UINT64_C(0xf5da9ea311c01d32)},
        {3, 7, UINT64_C(0x7f3c1091b5552276)},   {3, 100, UINT64_C(0x9ba4653b99101a0f)},
        {4, 15, UINT64_C(0xc5aff6ca320e67df)},  {4, 30, UINT64_C(0x8bba0f77b4f199a8)},
        {4, 255, UINT64_C(0x8c3bbf1b55214525)},
    };

    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        uint64_t rng = rng_seed(11);
        if (agg_kernels_get(implementations[i]) == NULL)
            continue;
        for (unsigned n = 0; n < sizeof noted / sizeof *noted; n++) {
            const struct thc_codec c =
                codec_of(noted[n].bits, noted[n].granularity, 1. / 32, BLOCK, implementations[i]);
            float x[BLOCK];
            uint8_t packed[BLOCK / 2] = {0};

            fill_odd(x, BLOCK, &rng);
            thc_encode(&c, packed, x, sqrtf(BLOCK) * 4, 77 * n);
            CU_ASSERT_EQUAL(splitmix_bytes(thc_packed_bytes(&c), packed, thc_packed_bytes(&c)),
                            noted[n].hash);
        }
    }
}

/* --- the ends of the range --- */

TEST(zeros_stay_zeros)
{
    const struct thc_codec c = codec_of(4, 30, 1. / 32, BLOCK, "scalar");
    float x[BLOCK] = {0};
    uint8_t packed[BLOCK];

    CU_ASSERT_EQUAL(thc_transform(&c, x, 1), 0);
    thc_encode(&c, packed, x, 0, 1);
    decoded(&c, x, packed, 0);
    CU_ASSERT_EQUAL(square_sum(x, BLOCK), 0);
}

TEST(what_is_no_number_has_no_norm_and_no_sum)
{
    const struct thc_codec c = codec_of(4, 30, 1. / 32, BLOCK, "scalar");
    const float faults[] = {NAN, INFINITY, -INFINITY};

    for (unsigned f = 0; f < 3; f++) {
        float x[BLOCK] = {[9] = faults[f]}, norm;
        uint8_t packed[BLOCK];

        norm = thc_transform(&c, x, 1);
        CU_ASSERT(!isfinite(norm));
        thc_encode(&c, packed, x, norm, 1);
        decoded(&c, x, packed, norm);
        for (unsigned i = 0; i < BLOCK; i++)
            CU_ASSERT(!(isfinite(x[i]) && x[i] != 0));
    }
}

/* Sixteen floats whose squares are so large that a float that had summed them would not heed a 1 any more. */
TEST(the_norm_of_a_long_block)
{
    enum { LONG = 1 << 22 };
    const struct thc_codec c = codec_of(4, 30, 1. / 32, LONG, "scalar");
    float *x = malloc(LONG * sizeof(*x));

    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    for (size_t i = 0; i < LONG; i++)
        x[i] = i < 16 ? 4096 : 1;
    const double right = sqrt(16.0 * 4096 * 4096 + LONG - 16);
    CU_ASSERT_DOUBLE_EQUAL(thc_norm(&c, x), right, right / 5000);
    free(x);
}

TEST(blocks_are_powers_of_two)
{
    struct thc_table t = {.bits = 4, .granularity = 30, .fraction = 1. / 32}, wrong = t;
    struct thc_codec c;

    wrong.fraction = 1;
    thc_table_solve(&t);
    CU_ASSERT(thc_codec_init(&c, &t, THC_MOST_BLOCK, agg_kernels_get("scalar")));
    CU_ASSERT(!thc_codec_init(&c, &t, THC_LEAST_BLOCK / 2, agg_kernels_get("scalar")));
    CU_ASSERT(!thc_codec_init(&c, &t, 1000, agg_kernels_get("scalar")));
    CU_ASSERT(!thc_codec_init(&c, &t, UINT32_C(1) << 31, agg_kernels_get("scalar")));
    CU_ASSERT(!thc_codec_init(&c, &wrong, 1024, agg_kernels_get("scalar")));
}
