/* What the reference allows a switch to return: what some order of the contributions gives, and nothing else.
 */
#include <math.h>
#include <string.h>

#include "random.h"
#include "reference.h"
#include "unit.h"

enum { RANKS = 7, ROUNDS = 200 };

static void shuffle(uint64_t *rng, const void *in[], unsigned n)
{
    for (unsigned i = n - 1; i > 0; i--) {
        const unsigned j = (unsigned)rng_below(rng, i + 1u);
        const void *other = in[i];

        in[i] = in[j];
        in[j] = other;
    }
}

static void tell(unsigned code, const void *result, const void *const in[], unsigned n)
{
    char text[80];

    reference_print(code, result, text, sizeof text);
    printf("\n  %s of %s: %s of", agg_op_name(agg_code_op(code)), agg_type_name(agg_code_type(code)), text);
    for (unsigned i = 0; i < n; i++) {
        reference_print(code, in[i], text, sizeof text);
        printf(" %s", text);
    }
    printf("\n");
}

/* Any bits, NaN and infinities among them. */
TEST(results_of_any_order_are_allowed)
{
    uint64_t rng = rng_seed(1);
    char elements[RANKS][REFERENCE_ELEMENT_MAX], result[REFERENCE_ELEMENT_MAX];
    const void *in[RANKS], *order[RANKS];

    for (unsigned code = 0; (code = reference_next(code)) != 0;)
        for (unsigned round = 0, refused = 0; round < ROUNDS; round++) {
            const unsigned n = 1 + (unsigned)rng_below(&rng, RANKS);

            for (unsigned i = 0; i < n; i++) {
                reference_fill(code, &rng, round % 2, elements[i], 1);
                order[i] = in[i] = elements[i];
            }
            shuffle(&rng, order, n);
            reference_reduce(code, result, order, n, 1);
            refused += !reference_allows(code, result, in, n);
            if (refused > 0)
                tell(code, result, in, n);
            CU_ASSERT_EQUAL_FATAL(refused, 0);
        }
}

/* One number that is plainly another: the highest bit but the sign is flipped. */
TEST(other_results_are_not)
{
    uint64_t rng = rng_seed(2);
    char elements[RANKS][REFERENCE_ELEMENT_MAX], result[REFERENCE_ELEMENT_MAX];
    const void *in[RANKS];

    for (unsigned i = 0; i < RANKS; i++)
        in[i] = elements[i];
    for (unsigned code = 0; (code = reference_next(code)) != 0;) {
        const size_t bytes = agg_code_bytes(code),
                     value = agg_code_op(code) >= AGG_MINLOC ? bytes / 2 : bytes;
        const size_t top = agg_code_type(code) == AGG_I16 && value == 4 ? 1 : value - 1;
        unsigned allowed = 0;

        for (unsigned round = 0; round < ROUNDS; round++) {
            for (unsigned i = 0; i < RANKS; i++)
                reference_fill(code, &rng, true, elements[i], 1);
            reference_reduce(code, result, in, RANKS, 1);
            result[top] ^= 0x40;
            allowed += reference_allows(code, result, in, RANKS);
        }
        if (allowed > 0)
            printf("\n  %s of %s: %u allowed\n", agg_op_name(agg_code_op(code)),
                   agg_type_name(agg_code_type(code)), allowed);
        CU_ASSERT_EQUAL(allowed, 0);
    }
}

static bool allows(unsigned op, float result, float a, float b, float c)
{
    const void *in[] = {&a, &b, &c};

    return reference_allows(agg_code(AGG_F32, op), &result, in, 3);
}

TEST(what_rounding_order_and_nan_allow)
{
    CU_ASSERT(allows(AGG_SUM, 16777216, 1, 1e-9F, 16777216));
    CU_ASSERT(allows(AGG_SUM, 16777218, 1, 1e-9F, 16777216));
    CU_ASSERT(!allows(AGG_SUM, 16777240, 1, 1e-9F, 16777216));
    CU_ASSERT(allows(AGG_SUM, INFINITY, 3e38F, 3e38F, -3e38F));
    CU_ASSERT(allows(AGG_SUM, 3e38F, 3e38F, 3e38F, -3e38F));
    CU_ASSERT(!allows(AGG_SUM, 1, 1, NAN, 1));
    CU_ASSERT(allows(AGG_MIN, 3, 5, NAN, 3));
    CU_ASSERT(allows(AGG_MIN, NAN, 5, NAN, 3));
    CU_ASSERT(!allows(AGG_MIN, 5, 5, NAN, 3));
    CU_ASSERT(!allows(AGG_MIN, NAN, 5, 4, 3));
    CU_ASSERT(allows(AGG_PROD, 0, 1e-30F, 1e-30F, 1e30F));
    CU_ASSERT(allows(AGG_PROD, 1e-30F, 1e-30F, 1e-30F, 1e30F));
    CU_ASSERT(!allows(AGG_PROD, 1e-10F, 1e-30F, 1e-30F, 1e30F));
}

static void expect_text(unsigned type, unsigned op, const void *element, const char *text)
{
    char got[80];

    reference_print(agg_code(type, op), element, got, sizeof got);
    CU_ASSERT_STRING_EQUAL(got, text);
}

TEST(elements_as_text)
{
    expect_text(AGG_U64, AGG_SUM, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    expect_text(AGG_I64, AGG_SUM, &(int64_t){INT64_MIN}, "-9223372036854775808");
    expect_text(AGG_I8, AGG_MAX, &(int8_t){-1}, "-1");
    expect_text(AGG_BOOL, AGG_LOR, &(uint8_t){1}, "1");
    expect_text(AGG_F16, AGG_SUM, &(uint16_t){0x3e00}, "1.5");
    expect_text(AGG_BF16, AGG_SUM, &(uint16_t){0xbfc0}, "-1.5");
    expect_text(AGG_F32, AGG_SUM, &(float){0.1F}, "0.100000001");
    expect_text(AGG_C64, AGG_SUM, (float[]){1.5F, -2}, "(1.5,-2)");
    expect_text(AGG_I32, AGG_MINLOC, (int32_t[]){-7, 3}, "-7@3");
}
