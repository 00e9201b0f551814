/* All operations on all types: the scalar kernels against a reference apart from them, the vector ones
 * against the scalar ones bit for bit; and what the numbers' corners give, one by one. */
#include <math.h>

#include "fence.h"
#include "kernels/kernels.h"
#include "random.h"
#include "reference.h"
#include "scratch.h"
#include "unit.h"

static const char *const implementations[] = {"scalar", "avx2", "avx512", "neon"};
enum { IMPLEMENTATIONS = sizeof implementations / sizeof *implementations };
enum { INPUTS = 5, COUNT = 43, ELEMENT_MOST = 16 };

static const struct agg_operation *operation(const struct agg_kernels *k, unsigned code)
{
    return &k->operations[code];
}

/* Which there are */

static void expect_pairs(unsigned op, const char *sizes)
{
    for (unsigned type = 0; type < AGG_TYPES; type++) {
        const size_t expected = sizes[type] == 'g' ? 16 : (size_t)(sizes[type] - '0');
        if (agg_element_size(type, op) != expected)
            CU_FAIL("agg_element_size");
    }
}

TEST(sizes_of_elements)
{
    /* types:             -i32 i64 f32 f64 i8 i16 u8 u16 u32 u64 bool f16 bf16 c64 c128; g: 16 */
    expect_pairs(0, "0000000000000000");
    expect_pairs(AGG_SUM, "048481212480228g");
    expect_pairs(AGG_PROD, "048481212480228g");
    expect_pairs(AGG_AVG, "048481212480228g");
    expect_pairs(AGG_MIN, "0484812124802200");
    expect_pairs(AGG_MAX, "0484812124802200");
    for (unsigned op = AGG_LAND; op <= AGG_BXOR; op++)
        expect_pairs(op, "0480012124810000");
    for (unsigned op = AGG_MINLOC; op <= AGG_MAXLOC; op++)
        expect_pairs(op, "08g8g08000000000");
    for (unsigned op = AGG_MINPAIR; op <= AGG_MAXPAIR; op++)
        expect_pairs(op, "08g8g00000000000");
    CU_ASSERT_EQUAL(agg_element_size(AGG_TYPES, AGG_SUM), 0);
    CU_ASSERT_EQUAL(agg_element_size(AGG_I32, AGG_OPS), 0);
    CU_ASSERT_EQUAL(agg_element_size(UINT32_MAX, UINT32_MAX), 0);
}

TEST(every_table_has_all_that_there_are_and_no_more)
{
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(implementations[i]);

        for (unsigned code = 0; k != NULL && code < AGG_CODES; code++) {
            const struct agg_operation *op = operation(k, code);
            const bool is_pair = agg_code_bytes(code) != 0;
            CU_ASSERT_EQUAL(op->fold != NULL, is_pair);
            CU_ASSERT_EQUAL(op->reduce != NULL, is_pair);
            CU_ASSERT(op->start == NULL || op->finish != NULL);
        }
    }
}

/* Scalar against the reference */

/* COUNT elements of each contribution: in the host's order, and in the wire's. */
struct inputs {
    char host[INPUTS][COUNT * ELEMENT_MOST], wire[INPUTS][COUNT * ELEMENT_MOST];
    const void *hosts[INPUTS], *wires[INPUTS];
};

static void draw_inputs(struct inputs *in, unsigned code, uint64_t *rng)
{
    for (unsigned i = 0; i < INPUTS; i++) {
        reference_fill(code, rng, false, in->host[i], COUNT);
        agg_kernels_scalar.convert[agg_code_type(code)](in->wire[i], in->host[i],
                                                        COUNT * agg_code_bytes(code));
        in->hosts[i] = in->host[i];
        in->wires[i] = in->wire[i];
    }
}

/* As a pool does it when all have come. */
static void reduce_at_once(const struct agg_operation *op, void *out, const void *const in[], unsigned n,
                           size_t bytes)
{
    op->reduce(out, in, n, bytes);
    if (op->finish != NULL && !agg_is_wide(op))
        op->finish(out, out, n, bytes);
}

/* As a pool does it when they come one by one. */
static void fold_one_by_one(const struct agg_operation *op, void *out, const void *const in[], unsigned n,
                            size_t bytes)
{
    char wide[2 * COUNT * ELEMENT_MOST], *acc = agg_is_wide(op) ? wide : out;

    if (agg_is_wide(op))
        op->start(acc, in[0], bytes);
    else
        memcpy(acc, in[0], bytes);
    for (unsigned i = 1; i < n; i++)
        op->fold(acc, in[i], bytes);
    if (op->finish != NULL)
        op->finish(out, acc, n, bytes);
}

TEST(scalar_kernels_do_as_the_reference_does)
{
    static struct inputs in;
    uint64_t rng = rng_seed(13);
    char out[COUNT * ELEMENT_MOST], expected[COUNT * ELEMENT_MOST];

    for (unsigned code = 0; (code = reference_next(code)) != 0;) {
        const size_t bytes = COUNT * agg_code_bytes(code);
        const struct agg_operation *op = operation(&agg_kernels_scalar, code);
        unsigned wrong = 0;

        for (unsigned turn = 0; turn < unit_cases(60); turn++) {
            const unsigned n = 1 + turn % INPUTS;
            draw_inputs(&in, code, &rng);
            reference_reduce(code, expected, in.hosts, n, COUNT);
            reduce_at_once(op, out, in.wires, n, bytes);
            agg_kernels_scalar.convert[agg_code_type(code)](out, out, bytes);
            wrong += !reference_same(code, out, expected, COUNT);
            if (n == 1) /* nothing is folded: padding stays */
                continue;
            fold_one_by_one(op, out, in.wires, n, bytes);
            agg_kernels_scalar.convert[agg_code_type(code)](out, out, bytes);
            wrong += !reference_same(code, out, expected, COUNT);
        }
        if (wrong != 0)
            printf("operation %u of type %u: %u wrong\n", agg_code_op(code), agg_code_type(code), wrong);
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

/* Vector against scalar */

struct trial {
    const struct agg_operation *scalar, *vector;
    unsigned code, n;
    size_t bytes, skew[INPUTS + 1];
    uint8_t content[INPUTS][SCRATCH_MOST];
};

static bool same(const struct trial *t, const void *a, const void *b)
{
    return reference_same(t->code, a, b, t->bytes / agg_code_bytes(t->code));
}

static bool same_floats(const void *a, const void *b, size_t bytes)
{
    return reference_same(agg_code(AGG_F32, AGG_SUM), a, b, bytes / sizeof(float));
}

static bool trial_fold(const struct trial *t, uint64_t *rng)
{
    static struct scratch a, b, in;
    uint8_t *acc = scratch_start(&a, rng, t->skew[0], t->content[0], t->bytes);
    uint8_t *ref = scratch_start(&b, rng, 0, t->content[0], t->bytes);
    uint8_t *add = scratch_start(&in, rng, t->skew[1], t->content[1], t->bytes);

    t->vector->fold(acc, add, t->bytes);
    t->scalar->fold(ref, add, t->bytes);
    if (!same(t, acc, ref) || !scratch_intact(&a, t->skew[0], t->bytes))
        return false;
    t->vector->fold(acc, acc, t->bytes); /* acc may equal in */
    t->scalar->fold(ref, ref, t->bytes);
    return same(t, acc, ref) && memcmp(in.mem, in.before, SCRATCH_ROOM) == 0;
}

/* The accumulator is twice as long as the chunk. */
static bool trial_wide(const struct trial *t, uint64_t *rng)
{
    static struct scratch a, b, in, out;
    const size_t bytes = t->bytes / 2 & ~(size_t)1;
    uint8_t *acc = scratch_start(&a, rng, t->skew[0], t->content[0], 2 * bytes);
    uint8_t *ref = scratch_start(&b, rng, 0, t->content[0], 2 * bytes);
    uint8_t *add = scratch_start(&in, rng, t->skew[1], t->content[1], bytes);
    uint8_t *end = scratch_start(&out, rng, t->skew[2], t->content[2], bytes), last[SCRATCH_MOST];

    t->vector->start(acc, add, bytes);
    t->scalar->start(ref, add, bytes);
    if (!same_floats(acc, ref, 2 * bytes) || !scratch_intact(&a, t->skew[0], 2 * bytes))
        return false;
    for (unsigned i = 1; i < t->n; i++) {
        t->vector->fold(acc, t->content[i], bytes);
        t->scalar->fold(ref, t->content[i], bytes);
    }
    if (!same_floats(acc, ref, 2 * bytes) || !scratch_intact(&a, t->skew[0], 2 * bytes))
        return false;
    t->vector->finish(end, acc, t->n, bytes);
    t->scalar->finish(last, ref, t->n, bytes);
    return reference_same(t->code, end, last, bytes / agg_code_bytes(t->code)) &&
           scratch_intact(&out, t->skew[2], bytes);
}

static bool trial_reduce(const struct trial *t, uint64_t *rng)
{
    static struct scratch inputs[INPUTS], a, b;
    const void *in[INPUTS];
    uint8_t *out = scratch_start(&a, rng, t->skew[INPUTS], t->content[0], t->bytes);
    uint8_t *ref = scratch_start(&b, rng, 0, t->content[0], t->bytes);

    for (unsigned i = 0; i < t->n; i++)
        in[i] = scratch_start(&inputs[i], rng, t->skew[i], t->content[i], t->bytes);
    t->vector->reduce(out, in, t->n, t->bytes);
    t->scalar->reduce(ref, in, t->n, t->bytes);
    if (!same(t, out, ref) || !scratch_intact(&a, t->skew[INPUTS], t->bytes))
        return false;

    t->vector->reduce(inputs[0].mem + t->skew[0], in, t->n, t->bytes); /* out may equal in[0] */
    return same(t, in[0], ref);
}

static unsigned failures_at(struct trial *t, uint64_t *rng)
{
    const size_t count = SCRATCH_MOST / agg_code_bytes(t->code);

    for (unsigned i = 0; i < INPUTS; i++)
        reference_fill(t->code, rng, false, t->content[i], count);
    for (unsigned i = 0; i <= INPUTS; i++)
        t->skew[i] = rng_below(rng, 4) == 0 ? 0 : rng_below(rng, SCRATCH_SLACK);
    t->n = 1 + rng_below(rng, INPUTS);
    return !trial_reduce(t, rng) + !(agg_is_wide(t->scalar) ? trial_wide : trial_fold)(t, rng);
}

/* Every length once and a bit more, beginning and ending anywhere in a line. */
static void compare_with_scalar(const struct agg_kernels *k)
{
    static struct trial t;
    uint64_t rng = rng_seed(7);

    for (t.code = 0; (t.code = reference_next(t.code)) != 0;) {
        unsigned failures = 0;
        t.scalar = operation(&agg_kernels_scalar, t.code);
        t.vector = operation(k, t.code);
        for (t.bytes = 0; t.bytes <= SCRATCH_MOST; t.bytes += agg_code_bytes(t.code))
            failures += failures_at(&t, &rng);
        if (failures != 0)
            printf("%s, operation %u of type %u: %u wrong\n", k->name, agg_code_op(t.code),
                   agg_code_type(t.code), failures);
        CU_ASSERT_EQUAL(failures, 0);
    }
}

TEST(vector_kernels_have_the_bits_of_the_scalar_ones_for_all_lengths_and_alignments)
{
    for (unsigned i = 1; i < IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(implementations[i]);

        if (k != NULL)
            compare_with_scalar(k);
        else
            printf("(this CPU has no %s) ", implementations[i]);
    }
}

/* Beyond a chunk nothing is read: neither behind it, nor, where vectors overlap, before it. */

struct fences {
    struct fence in[INPUTS], out, wide;
};

static void stay_between(const struct fences *f, const struct agg_operation *op, size_t bytes, bool end)
{
    uint8_t *out = fence_at(&f->out, bytes, end), *wide = fence_at(&f->wide, 2 * bytes, end);
    const void *in[INPUTS];

    for (unsigned i = 0; i < INPUTS; i++)
        in[i] = fence_at(&f->in[i], bytes, end);
    for (unsigned n = 1; n <= INPUTS; n++)
        op->reduce(out, in, n, bytes);
    if (agg_is_wide(op))
        op->start(wide, in[0], bytes);
    op->fold(agg_is_wide(op) ? wide : out, in[1], bytes);
    if (op->finish != NULL)
        op->finish(out, agg_is_wide(op) ? wide : out, INPUTS, bytes);
}

TEST(kernels_touch_nothing_beyond_a_chunk)
{
    struct fences f = {.out = fence_make(), .wide = fence_make()};

    for (unsigned i = 0; i < INPUTS; i++)
        f.in[i] = fence_make();
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(implementations[i]);

        for (unsigned code = 0; k != NULL && (code = reference_next(code)) != 0;)
            for (size_t bytes = 0; bytes <= SCRATCH_MOST; bytes += agg_code_bytes(code)) {
                stay_between(&f, operation(k, code), bytes, true);
                stay_between(&f, operation(k, code), bytes, false);
            }
    }
    for (unsigned i = 0; i < INPUTS; i++)
        fence_free(&f.in[i]);
    fence_free(&f.out);
    fence_free(&f.wide);
}

/* What docs/protocol.md promises of the corners, in so many words. Each is tried alone and among as many
 * equal elements as vectors take. */

static void expect_all(unsigned code, const void *a, const void *b, const void *result, const char *what)
{
    enum { MANY = 70 };
    const size_t bytes = agg_code_bytes(code);
    char first[MANY * ELEMENT_MOST], second[MANY * ELEMENT_MOST], out[MANY * ELEMENT_MOST];
    const void *const in[] = {first, second};

    for (unsigned i = 0; i < MANY; i++) {
        agg_kernels_scalar.convert[agg_code_type(code)](first + i * bytes, a, bytes);
        agg_kernels_scalar.convert[agg_code_type(code)](second + i * bytes, b, bytes);
    }
    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(implementations[i]);
        for (size_t n = k == NULL ? MANY + 1 : 1; n <= MANY; n += MANY - 1) {
            reduce_at_once(operation(k, code), out, in, 2, n * bytes);
            k->convert[agg_code_type(code)](out, out, n * bytes);
            for (size_t e = 0; e < n; e++)
                if (!reference_same(code, out + e * bytes, result, 1)) {
                    printf("%s: %s\n", k->name, what);
                    CU_FAIL("a corner");
                    break;
                }
        }
    }
}

#define EXPECT(type, op, c_type, a, b, result)                                                               \
    expect_all(agg_code(AGG_##type, AGG_##op), &(c_type){a}, &(c_type){b}, &(c_type){result},                \
               #op " of " #a " and " #b)

TEST(integers_wrap)
{
    EXPECT(I32, SUM, int32_t, INT32_MAX, 1, INT32_MIN);
    EXPECT(I64, SUM, int64_t, INT64_MIN, -1, INT64_MAX);
    EXPECT(U8, SUM, uint8_t, 255, 2, 1);
    EXPECT(I8, PROD, int8_t, 16, 16, 0);
    EXPECT(U16, PROD, uint16_t, 65535, 65535, 1);
    EXPECT(I32, PROD, int32_t, INT32_MIN, -1, INT32_MIN);
    EXPECT(U32, PROD, uint32_t, 0x10001, 0x10001, 0x20001);
}

TEST(averages_of_integers_are_cut_off_towards_zero)
{
    EXPECT(I32, AVG, int32_t, -3, -4, -3);
    EXPECT(I8, AVG, int8_t, 3, 4, 3);
    EXPECT(I8, AVG, int8_t, 127, 1, -64); /* the sum wraps first */
    EXPECT(U8, AVG, uint8_t, 255, 255, 127);
    EXPECT(I64, AVG, int64_t, INT64_MIN, 0, INT64_MIN / 2);
    EXPECT(F32, AVG, float, 1.0f, 2.0f, 1.5f);
}

TEST(integers_are_compared_with_their_sign)
{
    EXPECT(I32, MIN, int32_t, 1, INT32_MIN, INT32_MIN);
    EXPECT(U32, MIN, uint32_t, 1, 0x80000000, 1);
    EXPECT(I8, MAX, int8_t, -1, -128, -1);
    EXPECT(U8, MAX, uint8_t, 1, 255, 255);
    EXPECT(I64, MAX, int64_t, INT64_MIN, 0, 0);
    EXPECT(U64, MAX, uint64_t, UINT64_MAX, 0, UINT64_MAX);
}

/* Where neither is less, the lower rank's stays. */
TEST(minima_and_maxima_of_nan_and_of_both_zeros)
{
    EXPECT(F32, MIN, float, NAN, 1.0f, NAN);
    EXPECT(F32, MIN, float, 1.0f, NAN, 1.0f);
    EXPECT(F32, MAX, float, NAN, INFINITY, NAN);
    EXPECT(F64, MAX, double, 1.0, NAN, 1.0);
    EXPECT(F64, MIN, double, 0.0, -0.0, 0.0);
    EXPECT(F64, MAX, double, -0.0, 0.0, -0.0);
    EXPECT(F32, MAX, float, -INFINITY, INFINITY, INFINITY);
    EXPECT(F16, MAX, uint16_t, 0x7e00, 0x3c00, 0x7e00);
    EXPECT(F16, MIN, uint16_t, 0x0000, 0x8000, 0x0000);
    EXPECT(BF16, MIN, uint16_t, 0x3f80, 0xff80, 0xff80);
}

TEST(logical_results_are_0_and_1)
{
    EXPECT(I32, LAND, int32_t, 4, 2, 1);
    EXPECT(I32, BAND, int32_t, 4, 2, 0);
    EXPECT(I64, LOR, int64_t, INT64_C(1) << 40, 0, 1);
    EXPECT(U16, LXOR, uint16_t, 256, 2, 0);
    EXPECT(BOOL, LOR, uint8_t, 0, 7, 1);
    EXPECT(BOOL, BXOR, uint8_t, 4, 2, 0);
    EXPECT(BOOL, BAND, uint8_t, 4, 2, 1); /* bitwise is logical there */
}

struct at {
    float v;
    int32_t k;
};
struct located {
    double v;
    int32_t k, padding;
};
struct pair {
    double v, k;
};

#define EXPECT_AT(type, op, c_type, v1, k1, v2, k2, v, k)                                                    \
    expect_all(agg_code(AGG_##type, AGG_##op), &(c_type){v1, k1}, &(c_type){v2, k2}, &(c_type){v, k},        \
               #op " of " #v1 " at " #k1 " and " #v2 " at " #k2)

/* NaN is neither less nor equal: then the higher rank's stays, as in Open MPI. */
TEST(equal_values_give_the_lower_index)
{
    EXPECT_AT(F32, MINLOC, struct at, 1.0f, 7, 1.0f, -3, 1.0f, -3);
    EXPECT_AT(F32, MAXLOC, struct at, 1.0f, -3, 1.0f, 7, 1.0f, -3);
    EXPECT_AT(F32, MAXLOC, struct at, 2.0f, 9, 1.0f, 7, 2.0f, 9);
    EXPECT_AT(F64, MINPAIR, struct pair, 0.0, 2.0, -0.0, 1.0, -0.0, 1.0);
    EXPECT_AT(F64, MAXPAIR, struct pair, 5.0, 1.5, 5.0, 1.25, 5.0, 1.25);
    EXPECT_AT(F32, MINLOC, struct at, NAN, 1, 1.0f, 2, 1.0f, 2);
    EXPECT_AT(F32, MINLOC, struct at, 1.0f, 1, NAN, 2, NAN, 2);
    const struct located low = {-INFINITY, 4, 0x5a5a5a5a}, high = {INFINITY, 3, -1},
                         expected = {INFINITY, 3, 0};
    expect_all(agg_code(AGG_F64, AGG_MAXLOC), &low, &high, &expected, "padding comes back as zero");
}

/* 2048 + 1 lies between two halves: the even one. 2^-24 is the least half, 65504 the largest. */
TEST(halves_are_rounded_once_to_nearest_even)
{
    EXPECT(F16, SUM, uint16_t, 0x6800, 0x3c00, 0x6800);
    EXPECT(F16, SUM, uint16_t, 0x6801, 0x3c00, 0x6802);
    EXPECT(F16, SUM, uint16_t, 0x0001, 0x0001, 0x0002);
    EXPECT(F16, SUM, uint16_t, 0x7bff, 0x7bff, 0x7c00);
    EXPECT(F16, PROD, uint16_t, 0x0400, 0x3800, 0x0200); /* a denormal result */
    EXPECT(F16, SUM, uint16_t, 0x7c00, 0xfc00, 0x7e00);
    EXPECT(BF16, SUM, uint16_t, 0x4380, 0x3f80, 0x4380); /* 256 + 1 */
    EXPECT(BF16, SUM, uint16_t, 0x4381, 0x3f80, 0x4382);
    EXPECT(BF16, SUM, uint16_t, 0x7f81, 0x3f80, 0x7fc0); /* a NaN of low bits only stays one */
    EXPECT(BF16, SUM, uint16_t, 0x7f7f, 0x7f7f, 0x7f80);
}

/* 2048 + 1 + 1 - 2048: rounded on the way it would be 0. */
TEST(halves_are_not_rounded_on_the_way)
{
    static const uint16_t x[] = {0x6800, 0x3c00, 0x3c00, 0xe800};
    const void *const in[] = {&x[0], &x[1], &x[2], &x[3]};

    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(implementations[i]);
        uint16_t out = 0;
        if (k == NULL)
            continue;
        reduce_at_once(operation(k, agg_code(AGG_F16, AGG_SUM)), &out, in, 4, sizeof out);
        CU_ASSERT_EQUAL(out, 0x4000);
        fold_one_by_one(operation(k, agg_code(AGG_F16, AGG_SUM)), &out, in, 4, sizeof out);
        CU_ASSERT_EQUAL(out, 0x4000);
    }
}

TEST(a_sum_is_taken_in_the_order_of_its_inputs)
{
    static const float a[] = {1e8f}, b[] = {-1e8f}, c[] = {1.0f};
    const void *const abc[] = {a, b, c}, *const acb[] = {a, c, b};

    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(implementations[i]);
        float out;
        if (k == NULL)
            continue;
        operation(k, agg_code(AGG_F32, AGG_SUM))->reduce(&out, abc, 3, sizeof out);
        CU_ASSERT_EQUAL(out, 1.0f);
        operation(k, agg_code(AGG_F32, AGG_SUM))->reduce(&out, acb, 3, sizeof out);
        CU_ASSERT_EQUAL(out, 0.0f);
    }
}
