/* The floating-point types of 16 bits: every value there is, through every implementation, against the scalar
 * one. */
#include "kernels/kernels.h"
#include "reference.h"
#include "unit.h"

static const char *const implementations[] = {"avx2", "avx512", "neon"};
enum { IMPLEMENTATIONS = sizeof implementations / sizeof *implementations, VALUES = 1 << 16 };

/* Both zeros, the least and the largest of each sign, denormals, infinities, NaN that are quiet and not. */
static const uint16_t corners[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x3c00, 0xbc00, 0x3f80,
                                   0xbf80, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe00, 0x7f7f,
                                   0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc0, 0x7fff, 0xffff, 0x4049};
enum { CORNERS = sizeof corners / sizeof *corners };

static const unsigned types[] = {AGG_F16, AGG_BF16};
enum { TYPES = sizeof types / sizeof *types };

static uint16_t every[VALUES], one[VALUES];

static void fill(uint16_t corner)
{
    for (unsigned i = 0; i < VALUES; i++) {
        every[i] = (uint16_t)i;
        one[i] = corner;
    }
}

static bool reduces_alike(const struct agg_kernels *k, uint8_t code, const void *const in[])
{
    static uint16_t out[VALUES], expected[VALUES];

    agg_kernels_scalar.operations[code].reduce(expected, in, 2, sizeof expected);
    k->operations[code].reduce(out, in, 2, sizeof out);
    if (!reference_same(code, out, expected, VALUES))
        return false;
    if (agg_is_wide(&k->operations[code]))
        return true;
    memcpy(out, in[0], sizeof out);
    k->operations[code].fold(out, in[1], sizeof out);
    return reference_same(code, out, expected, VALUES);
}

static void expect_alike(unsigned op)
{
    const void *const both[][2] = {{every, one}, {one, every}};

    for (unsigned c = 0; c < CORNERS; c++) {
        fill(corners[c]);
        for (unsigned i = 0; i < IMPLEMENTATIONS; i++) {
            const struct agg_kernels *k = agg_kernels_get(implementations[i]);
            for (unsigned t = 0; k != NULL && t < TYPES; t++)
                for (unsigned order = 0; order < 2; order++)
                    if (!reduces_alike(k, agg_code(types[t], op), both[order])) {
                        printf("%s: type %u, operation %u, with %04x\n", k->name, types[t], op, corners[c]);
                        CU_FAIL("another value than the scalar kernel's");
                    }
        }
    }
}

TEST(the_least_and_the_greatest_of_every_half_and_every_corner)
{
    expect_alike(AGG_MIN);
    expect_alike(AGG_MAX);
}

TEST(sums_and_products_of_every_half_and_every_corner)
{
    expect_alike(AGG_SUM);
    expect_alike(AGG_PROD);
}

/* Floats on both sides of where rounding turns, beside every half. */
TEST(every_half_is_rounded_to_from_both_sides)
{
    static const uint32_t below[] = {0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff};
    static uint32_t floats[VALUES];
    static uint16_t out[VALUES], expected[VALUES];

    for (unsigned i = 0; i < IMPLEMENTATIONS * TYPES; i++) {
        const struct agg_kernels *k = agg_kernels_get(implementations[i / TYPES]);
        const uint8_t code = agg_code(types[i % TYPES], AGG_SUM);
        for (unsigned b = 0; k != NULL && b < sizeof below / sizeof *below; b++) {
            for (uint32_t upper = 0; upper < VALUES; upper++)
                floats[upper] = upper << 16 | below[b];
            agg_kernels_scalar.operations[code].finish(expected, floats, 2, sizeof expected);
            k->operations[code].finish(out, floats, 2, sizeof out);
            CU_ASSERT(reference_same(code, out, expected, VALUES));
        }
    }
}
