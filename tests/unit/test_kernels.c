/* The kernels' tables, what brings elements into wire order, and the sum behind the checksum of the packets;
 * the operations are in test_operations.c. */
#include "kernels/kernels.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "by_the_book.h"
#include "fence.h"
#include "kernels_chosen.h"
#include "random.h"
#include "scratch.h"
#include "unit.h"

static const char *const implementations[] = {"avx2", "avx512", "neon"};
enum { IMPLEMENTATIONS = sizeof implementations / sizeof *implementations };

static uint32_t be32(uint32_t host)
{
    return __builtin_bswap32(host);
}

TEST(tables_are_found_by_name_and_complete)
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
        const bool is_pair = agg_code_bytes(code) != 0;
        CU_ASSERT_EQUAL(best->operations[code].fold != NULL, is_pair);
        CU_ASSERT_EQUAL(best->operations[code].reduce != NULL, is_pair);
    }
    CU_ASSERT_PTR_NOT_NULL(best->ones_sum);
    printf("best is %s ", best->name);
}

TEST(what_is_chosen_is_named_or_best_and_nothing_else)
{
    const char *before = getenv("SWAGG_KERNELS");
    char why[KERNELS_WHY], *kept = before == NULL ? NULL : strdup(before);

    unsetenv("SWAGG_KERNELS");
    CU_ASSERT_PTR_EQUAL(kernels_chosen(why), agg_kernels_best());
    setenv("SWAGG_KERNELS", "scalar", 1);
    CU_ASSERT_PTR_EQUAL(kernels_chosen(why), &agg_kernels_scalar);
    setenv("SWAGG_KERNELS", "mmx", 1);
    CU_ASSERT_PTR_NULL(kernels_chosen(why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "SWAGG_KERNELS: this CPU runs no kernels called 'mmx'"));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, agg_kernels_best()->name));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "scalar"));
    unsetenv("SWAGG_KERNELS");
    if (kept != NULL)
        setenv("SWAGG_KERNELS", kept, 1);
    free(kept);
}

TEST(convert_swaps_i32_only_and_undoes_itself)
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

TEST(ones_sums_are_those_of_the_book_for_all_lengths_and_alignments)
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
TEST(ones_sums_of_extremes)
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

/* Vector against scalar. */

struct trial {
    const struct agg_kernels *vector;
    unsigned type;
    size_t bytes, skew;
};

static bool trial_convert(const struct trial *t, uint64_t *rng)
{
    static struct scratch a, b, content;
    uint8_t *src = scratch_start(&content, rng, 0, content.mem, t->bytes);
    uint8_t *dst = scratch_start(&a, rng, t->skew, src, t->bytes);
    uint8_t *ref = scratch_start(&b, rng, 0, src, t->bytes);

    agg_kernels_scalar.convert[t->type](ref, src, t->bytes);
    t->vector->convert[t->type](dst, src, t->bytes);
    if (memcmp(dst, ref, t->bytes) != 0 || !scratch_intact(&a, t->skew, t->bytes))
        return false;
    memcpy(dst, src, t->bytes);
    t->vector->convert[t->type](dst, dst, t->bytes); /* dst may equal src */
    return memcmp(dst, ref, t->bytes) == 0;
}

TEST(vector_convert_has_the_bits_of_scalar_convert_for_all_lengths_and_alignments)
{
    uint64_t rng = rng_seed(7);
    unsigned failures = 0;

    for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
        struct trial t = {.vector = agg_kernels_get(implementations[i])};

        for (t.type = AGG_I32; t.vector != NULL && t.type < AGG_TYPES; t.type++)
            for (t.bytes = 0; t.bytes <= SCRATCH_MOST; t.bytes += 4)
                for (unsigned turn = 0; turn < 4; turn++) {
                    t.skew = turn == 0 ? 0 : rng_below(&rng, SCRATCH_SLACK);
                    failures += !trial_convert(&t, &rng);
                }
    }
    CU_ASSERT_EQUAL(failures, 0);
}

TEST(conversions_and_sums_touch_nothing_beyond_their_bytes)
{
    struct fence from = fence_make(), to = fence_make();

    for (unsigned i = 0; i <= IMPLEMENTATIONS; i++) {
        const struct agg_kernels *k = agg_kernels_get(i < IMPLEMENTATIONS ? implementations[i] : "scalar");

        for (size_t bytes = 0; k != NULL && bytes <= SCRATCH_MOST; bytes++)
            for (unsigned end = 0; end < 2; end++) {
                CU_ASSERT_EQUAL(k->ones_sum(fence_at(&from, bytes, end), bytes), 0);
                if (bytes % 4 == 0)
                    k->convert[AGG_I32](fence_at(&to, bytes, end), fence_at(&from, bytes, end), bytes);
            }
    }
    fence_free(&from);
    fence_free(&to);
}
