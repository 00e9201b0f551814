/* Kernels: the scalar ones against arithmetic written out, the vector ones against the scalar ones bit for
 * bit. */
#include "kernels/kernels.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "by_the_book.h"
#include "random.h"
#include "unit.h"

static const char *const implementations[] = {"avx2", "avx512", "neon"};
enum { IMPLEMENTATIONS = sizeof implementations / sizeof *implementations };

enum { MOST = 700, SLACK = 64, ROOM = MOST + 3 * SLACK, INPUTS = 5 };

static uint32_t be32(uint32_t host)
{
    return __builtin_bswap32(host);
}

static void test_sizes_of_elements(void)
{
    CU_ASSERT_EQUAL(agg_element_size(AGG_I32, AGG_SUM), 4);
    CU_ASSERT_EQUAL(agg_element_size(AGG_F32, AGG_SUM), 4);
    CU_ASSERT_EQUAL(agg_element_size(AGG_I64, AGG_SUM), 8);
    CU_ASSERT_EQUAL(agg_element_size(AGG_F64, AGG_SUM), 8);
    CU_ASSERT_EQUAL(agg_element_size(0, AGG_SUM), 0);
    CU_ASSERT_EQUAL(agg_element_size(AGG_I32, 0), 0);
    CU_ASSERT_EQUAL(agg_element_size(AGG_F32, AGG_BAND), 0);
    CU_ASSERT_EQUAL(agg_element_size(AGG_TYPES, AGG_SUM), 0);
    CU_ASSERT_EQUAL(agg_element_size(AGG_I32, AGG_OPS), 0);
    CU_ASSERT_EQUAL(agg_element_size(UINT32_MAX, UINT32_MAX), 0);
}

static void test_tables_are_found_by_name_and_complete(void)
{
    const struct agg_kernels *best = agg_kernels_best();

    CU_ASSERT_PTR_NULL(agg_kernels_get("no such"));
    CU_ASSERT_PTR_NULL(agg_kernels_get(""));
    CU_ASSERT_PTR_NOT_NULL_FATAL(agg_kernels_get("scalar"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(best);
    CU_ASSERT_PTR_EQUAL(best, agg_kernels_get(best->name));
    for (unsigned type = AGG_I32; type < AGG_TYPES; type++)
        CU_ASSERT_PTR_NOT_NULL(best->convert[type]);
    for (unsigned code = 0; code < AGG_CODES; code++) {
        const bool is_pair = agg_element_size(code & 15, code >> 4) != 0;
        CU_ASSERT_EQUAL(best->operations[code].fold != NULL, is_pair);
        CU_ASSERT_EQUAL(best->operations[code].reduce != NULL, is_pair);
    }
    CU_ASSERT_PTR_NOT_NULL(best->ones_sum);
    printf("best is %s ", best->name);
}

static void test_i32_is_summed_in_big_endian_and_wraps(void)
{
    const struct agg_kernels *k = agg_kernels_get("scalar");
    uint32_t acc[] = {be32(1), be32(0x7fffffff), be32((uint32_t)-5)};
    const uint32_t in[] = {be32(255), be32(1), be32(3)};

    k->operations[AGG_SUM << 4 | AGG_I32].fold(acc, in, sizeof acc);
    CU_ASSERT_EQUAL(acc[0], be32(256));
    CU_ASSERT_EQUAL(acc[1], be32(0x80000000));
    CU_ASSERT_EQUAL(acc[2], be32((uint32_t)-2));
}

static void test_native_types_are_summed_as_they_are(void)
{
    const struct agg_kernels *k = agg_kernels_get("scalar");
    int64_t i[] = {INT64_C(1) << 40, INT64_MIN}, j[] = {1, -1};
    float f[] = {0.5f, INFINITY}, g[] = {0.25f, -INFINITY};
    double d[] = {1e300}, e[] = {1.0};

    k->operations[AGG_SUM << 4 | AGG_I64].fold(i, j, sizeof i);
    CU_ASSERT_EQUAL(i[0], (INT64_C(1) << 40) + 1);
    CU_ASSERT_EQUAL(i[1], INT64_MAX);
    k->operations[AGG_SUM << 4 | AGG_F32].fold(f, g, sizeof f);
    CU_ASSERT_EQUAL(f[0], 0.75f);
    CU_ASSERT(isnan(f[1]));
    k->operations[AGG_SUM << 4 | AGG_F64].fold(d, e, sizeof d);
    CU_ASSERT_EQUAL(d[0], 1e300 + 1.0);
}

static void test_a_sum_is_taken_in_the_order_of_its_inputs(void)
{
    static const float a[] = {1e8f}, b[] = {-1e8f}, c[] = {1.0f};
    const void *const abc[] = {a, b, c}, *const acb[] = {a, c, b};

    for (unsigned i = 0; i <= IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(i < IMPLEMENTATIONS ? implementations[i] : "scalar");
        float out;
        if (k == NULL)
            continue;
        k->operations[AGG_SUM << 4 | AGG_F32].reduce(&out, abc, 3, sizeof out);
        CU_ASSERT_EQUAL(out, 1.0f);
        k->operations[AGG_SUM << 4 | AGG_F32].reduce(&out, acb, 3, sizeof out);
        CU_ASSERT_EQUAL(out, 0.0f);
    }
}

static void test_convert_swaps_i32_only_and_undoes_itself(void)
{
    const struct agg_kernels *k = agg_kernels_get("scalar");
    static const uint32_t host[] = {1, 0x01020304, 0xffffffff};
    uint32_t wire[3];

    k->convert[AGG_I32](wire, host, sizeof wire);
    CU_ASSERT_EQUAL(wire[0], be32(1));
    CU_ASSERT_EQUAL(wire[1], 0x04030201);
    k->convert[AGG_I32](wire, wire, sizeof wire);
    CU_ASSERT_EQUAL(memcmp(wire, host, sizeof host), 0);
    k->convert[AGG_F32](wire, host, sizeof wire);
    CU_ASSERT_EQUAL(memcmp(wire, host, sizeof host), 0);
}

enum { MOST_SUMMED = 9216 };

static void compare_ones_sums(const uint8_t *bytes, size_t n)
{
    const uint16_t expected = htons((uint16_t)~checksum(sum_of(bytes, n)));

    for (unsigned i = 0; i <= IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(i < IMPLEMENTATIONS ? implementations[i] : "scalar");

        if (k != NULL && k->ones_sum(bytes, n) != expected)
            CU_FAIL("ones_sum");
    }
}

static void test_ones_sums_are_those_of_the_book_for_all_lengths_and_alignments(void)
{
    static uint8_t bytes[MOST_SUMMED + 8];
    uint64_t rng = 1071;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)rng_next(&rng);
    for (size_t n = 0; n <= 600; n++)
        for (size_t skew = 0; skew < 8; skew++)
            compare_ones_sums(bytes + skew, n);
    for (size_t n = 600; n <= MOST_SUMMED; n += 61)
        compare_ones_sums(bytes + n % 8, n);
}

/* All carries, and the two zeros: only nothing but zeros sums to 0. */
static void test_ones_sums_of_extremes(void)
{
    static uint8_t bytes[MOST_SUMMED];

    CU_ASSERT_EQUAL(agg_kernels_scalar.ones_sum(bytes, sizeof bytes), 0);
    for (size_t n = 0; n <= sizeof bytes; n += 31)
        compare_ones_sums(bytes, n);
    memset(bytes, 0xFF, sizeof bytes);
    CU_ASSERT_EQUAL(agg_kernels_scalar.ones_sum(bytes, sizeof bytes), 0xFFFF);
    for (size_t n = 0; n <= sizeof bytes; n += 31)
        compare_ones_sums(bytes, n);
}

/* Vector against scalar: any bits at all, so NaN, infinities and denormals are among the floats. */

static void fill(uint64_t *rng, uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)rng_next(rng);
}

/* Equal bits, or NaN on both sides. */
static bool same(unsigned code, const uint8_t *a, const uint8_t *b, size_t bytes)
{
    const unsigned type = code & 15;
    size_t size = agg_element_size(type, code >> 4);

    for (size_t at = 0; at < bytes; at += size) {
        if (memcmp(a + at, b + at, size) == 0)
            continue;
        float f[2];
        double d[2];
        memcpy(&f[0], a + at, sizeof *f);
        memcpy(&f[1], b + at, sizeof *f);
        if (type == AGG_F32 && isnan(f[0]) && isnan(f[1]))
            continue;
        if (type != AGG_F64)
            return false;
        memcpy(&d[0], a + at, sizeof *d);
        memcpy(&d[1], b + at, sizeof *d);
        if (!isnan(d[0]) || !isnan(d[1]))
            return false;
    }
    return true;
}

/* A scratch buffer whose bytes outside [skew, skew + bytes) must survive. */
struct scratch {
    uint8_t mem[ROOM], before[ROOM];
};

static uint8_t *scratch_start(struct scratch *s, uint64_t *rng, size_t skew, const uint8_t *content,
                              size_t bytes)
{
    fill(rng, s->mem, ROOM);
    memcpy(s->mem + skew, content, bytes);
    memcpy(s->before, s->mem, ROOM);
    return s->mem + skew;
}

static bool scratch_intact(const struct scratch *s, size_t skew, size_t bytes)
{
    size_t end = skew + bytes;

    return memcmp(s->mem, s->before, skew) == 0 && memcmp(s->mem + end, s->before + end, ROOM - end) == 0;
}

struct trial {
    const struct agg_kernels *scalar, *vector;
    unsigned code, n;
    size_t bytes, skew[INPUTS + 1];
    uint8_t content[INPUTS][MOST];
};

static bool trial_add(const struct trial *t, uint64_t *rng)
{
    static struct scratch a, b, in;
    uint8_t *acc = scratch_start(&a, rng, t->skew[0], t->content[0], t->bytes);
    uint8_t *ref = scratch_start(&b, rng, 0, t->content[0], t->bytes);
    uint8_t *add = scratch_start(&in, rng, t->skew[1], t->content[1], t->bytes);

    t->vector->operations[t->code].fold(acc, add, t->bytes);
    t->scalar->operations[t->code].fold(ref, add, t->bytes);
    if (!same(t->code, acc, ref, t->bytes) || !scratch_intact(&a, t->skew[0], t->bytes))
        return false;
    t->vector->operations[t->code].fold(acc, acc, t->bytes); /* acc may equal in */
    t->scalar->operations[t->code].fold(ref, ref, t->bytes);
    return same(t->code, acc, ref, t->bytes) && memcmp(in.mem, in.before, ROOM) == 0;
}

static bool trial_sum(const struct trial *t, uint64_t *rng)
{
    static struct scratch inputs[INPUTS], a, b;
    const void *in[INPUTS];
    uint8_t *out = scratch_start(&a, rng, t->skew[INPUTS], t->content[0], t->bytes);
    uint8_t *ref = scratch_start(&b, rng, 0, t->content[0], t->bytes);

    for (unsigned i = 0; i < t->n; i++)
        in[i] = scratch_start(&inputs[i], rng, t->skew[i], t->content[i], t->bytes);
    t->vector->operations[t->code].reduce(out, in, t->n, t->bytes);
    t->scalar->operations[t->code].reduce(ref, in, t->n, t->bytes);
    if (!same(t->code, out, ref, t->bytes) || !scratch_intact(&a, t->skew[INPUTS], t->bytes))
        return false;

    t->vector->operations[t->code].reduce(inputs[0].mem + t->skew[0], in, t->n,
                                          t->bytes); /* out may equal in[0] */
    return same(t->code, in[0], ref, t->bytes);
}

static bool trial_convert(const struct trial *t, uint64_t *rng)
{
    static struct scratch a, b;
    uint8_t *dst = scratch_start(&a, rng, t->skew[0], t->content[0], t->bytes);
    uint8_t *ref = scratch_start(&b, rng, 0, t->content[0], t->bytes);

    t->scalar->convert[t->code & 15](ref, t->content[0], t->bytes);
    t->vector->convert[t->code & 15](dst, t->content[0], t->bytes);
    if (memcmp(dst, ref, t->bytes) != 0 || !scratch_intact(&a, t->skew[0], t->bytes))
        return false;
    memcpy(dst, t->content[0], t->bytes);
    t->vector->convert[t->code & 15](dst, dst, t->bytes); /* dst may equal src */
    return memcmp(dst, ref, t->bytes) == 0;
}

static void compare_with_scalar(const char *name, bool (*attempt)(const struct trial *, uint64_t *))
{
    static struct trial t;
    uint64_t rng = rng_seed(7);
    unsigned failures = 0;

    t.scalar = agg_kernels_get("scalar");
    t.vector = agg_kernels_get(name);
    if (t.vector == NULL) {
        printf("(this CPU has no %s) ", name);
        return;
    }
    for (t.code = 0; t.code < AGG_CODES; t.code++) {
        const size_t element = agg_element_size(t.code & 15, t.code >> 4);
        for (t.bytes = 0; element != 0 && t.bytes <= MOST; t.bytes += element) {
            for (unsigned turn = 0; turn < 8; turn++) {
                for (unsigned i = 0; i <= INPUTS; i++)
                    t.skew[i] = turn == 0 ? 0 : rng_below(&rng, SLACK);
                t.n = 1 + rng_below(&rng, INPUTS);
                fill(&rng, t.content[0], sizeof t.content);
                failures += !attempt(&t, &rng);
            }
        }
    }
    CU_ASSERT_EQUAL(failures, 0);
}

static void test_vector_add_has_the_bits_of_scalar_add_for_all_lengths_and_alignments(void)
{
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++)
        compare_with_scalar(implementations[i], trial_add);
}

static void test_vector_sum_has_the_bits_of_scalar_sum_for_all_lengths_and_alignments(void)
{
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++)
        compare_with_scalar(implementations[i], trial_sum);
}

static void test_vector_convert_has_the_bits_of_scalar_convert_for_all_lengths_and_alignments(void)
{
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++)
        compare_with_scalar(implementations[i], trial_convert);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_sizes_of_elements),
        UNIT_TEST(test_tables_are_found_by_name_and_complete),
        UNIT_TEST(test_i32_is_summed_in_big_endian_and_wraps),
        UNIT_TEST(test_native_types_are_summed_as_they_are),
        UNIT_TEST(test_a_sum_is_taken_in_the_order_of_its_inputs),
        UNIT_TEST(test_convert_swaps_i32_only_and_undoes_itself),
        UNIT_TEST(test_ones_sums_are_those_of_the_book_for_all_lengths_and_alignments),
        UNIT_TEST(test_ones_sums_of_extremes),
        UNIT_TEST(test_vector_add_has_the_bits_of_scalar_add_for_all_lengths_and_alignments),
        UNIT_TEST(test_vector_sum_has_the_bits_of_scalar_sum_for_all_lengths_and_alignments),
        UNIT_TEST(test_vector_convert_has_the_bits_of_scalar_convert_for_all_lengths_and_alignments),
        CU_TEST_INFO_NULL,
    };

    return unit_main("kernels", tests);
}
