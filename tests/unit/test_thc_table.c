/* THC's tables: the best of all there are, against trying them all, and the numbers of the paper. */
#include "thc/table.h"

#include <math.h>
#include <string.h>

#include "thc/normal.h"
#include "unit.h"

static struct thc_table solved(unsigned bits, unsigned granularity, double fraction)
{
    struct thc_table t = {.bits = (uint8_t)bits, .granularity = (uint8_t)granularity, .fraction = fraction};

    CU_ASSERT_FATAL(thc_table_can(&t));
    thc_table_solve(&t);
    return t;
}

TEST(the_normal_distribution_is_that_of_the_c_library)
{
    for (int i = -8000; i <= 8000; i++) {
        const double x = i / 1000., density = exp(-x * x / 2) / sqrt(2 * acos(-1));

        CU_ASSERT_DOUBLE_EQUAL(thc_normal_from_0(x), erf(x / sqrt(2)) / 2, 2e-15);
        CU_ASSERT_DOUBLE_EQUAL(thc_normal_density(x) / density, 1, 4e-15);
    }
    for (double p = THC_LEAST_FRACTION; p < 1; p *= 1.5)
        CU_ASSERT_DOUBLE_EQUAL(erfc(thc_normal_bound(p) / sqrt(2)), p, 1e-15);
}

TEST(the_bounds_are_those_of_the_paper)
{
    static const struct {
        double by, bound;
    } known[] = {{16, 1.8627318674}, {32, 2.1538746941}, {64, 2.4175590162}, {128, 2.6600674686}};

    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        CU_ASSERT_DOUBLE_EQUAL(thc_normal_bound(1 / known[i].by), known[i].bound, 5e-11);
}

TEST(the_default_table_is_better_than_the_best_symmetric_one)
{
    static const uint8_t best[] = {0, 3, 5, 7, 9, 11, 13, 14, 15, 17, 19, 21, 23, 25, 27, 30};
    static const struct thc_table symmetric = {
        4, 30, 1. / 32, {0, 3, 5, 7, 9, 11, 13, 14, 16, 17, 19, 21, 23, 25, 27, 30}};
    const struct thc_table t = solved(4, 30, 1. / 32);

    CU_ASSERT_EQUAL(memcmp(t.value, best, sizeof(best)), 0);
    CU_ASSERT_DOUBLE_EQUAL(thc_table_error(&t), 0.0130625, 1e-7);
    CU_ASSERT_DOUBLE_EQUAL(thc_table_error(&symmetric), 0.0130746, 1e-7);
}

/* Tries all tables whose values from index i on are larger than the one before; counts them. */
static unsigned try_all(struct thc_table *t, unsigned i, struct thc_table *best)
{
    const unsigned last = (1u << t->bits) - 1;
    unsigned tables = 0;

    if (i == last) {
        t->value[last] = t->granularity;
        /* Of tables that are as good, the first one, which comes first. */
        if (thc_table_error(t) < thc_table_error(best) * (1 - 1e-13))
            *best = *t;
        return 1;
    }
    for (unsigned v = t->value[i - 1] + 1u; v + last - i <= t->granularity; v++) {
        t->value[i] = (uint8_t)v;
        tables += try_all(t, i + 1, best);
    }
    return tables;
}

static void try_all_of(unsigned bits, unsigned granularity, double fraction, unsigned expected)
{
    const struct thc_table found = solved(bits, granularity, fraction);
    struct thc_table t = {.bits = (uint8_t)bits, .granularity = (uint8_t)granularity, .fraction = fraction},
                     best = t;

    best.value[(1u << bits) - 1] = 1; /* an error that every table is below */
    for (unsigned i = 0; i < 1u << bits; i++)
        best.value[i] = i == 0 ? 0 : t.granularity;
    CU_ASSERT_EQUAL(try_all(&t, 1, &best), expected);
    if (memcmp(found.value, best.value, sizeof(best.value)) != 0)
        printf("\n    %u bits, granularity %u, fraction %g: not the best table\n", bits, granularity,
               fraction);
    CU_ASSERT_EQUAL(memcmp(found.value, best.value, sizeof(best.value)), 0);
}

/* There are C(granularity - 1, 2^bits - 2) of them. */
TEST(no_table_is_better)
{
    unsigned nth = 0;

    for (double fraction = 1. / 2; fraction > 1e-4; fraction /= 4) {
        try_all_of(1, 20, fraction, 1);
        for (unsigned g = 3; g <= 30; g++)
            if (unit_tries(nth++))
                try_all_of(2, g, fraction, (g - 1) * (g - 2) / 2);
        try_all_of(3, 7, fraction, 1);
        if (unit_tries(nth++))
            try_all_of(3, 13, fraction, 924);
        if (unit_tries(nth++))
            try_all_of(4, 18, fraction, 680);
    }
    for (double fraction = 0x1p-30; fraction >= THC_LEAST_FRACTION; fraction /= 4)
        if (unit_tries(nth++))
            try_all_of(2, 30, fraction, 406);
}

TEST(values_rise_from_0_to_the_granularity)
{
    unsigned nth = 0;

    for (unsigned bits = 1; bits <= THC_MOST_BITS; bits++)
        for (unsigned g = (1u << bits) - 1; g <= THC_MOST_GRANULARITY; g += 7) {
            if (!unit_tries(nth++))
                continue;
            const struct thc_table t = solved(bits, g, 1. / 64);

            CU_ASSERT_EQUAL(t.value[0], 0);
            for (unsigned i = 1; i < 1u << bits; i++)
                CU_ASSERT(t.value[i] > t.value[i - 1]);
            CU_ASSERT_EQUAL(t.value[(1u << bits) - 1], g);
        }
}

TEST(evenly_spaced_values_are_the_index_or_what_comes_next_to_it)
{
    static const uint8_t thirds[] = {0, 3, 7, 10};
    struct thc_table t = {.bits = 4, .granularity = 15, .fraction = 1. / 32};

    thc_table_space_evenly(&t);
    for (unsigned i = 0; i < THC_MOST_VALUES; i++)
        CU_ASSERT_EQUAL(t.value[i], i);
    CU_ASSERT(thc_table_error(&t) > 0.0130746); /* what non-uniform tables are for */
    t = (struct thc_table){.bits = 2, .granularity = 10, .fraction = 1. / 32};
    thc_table_space_evenly(&t);
    CU_ASSERT_EQUAL(memcmp(t.value, thirds, sizeof(thirds)), 0);
}

TEST(what_cannot_be_is_told)
{
    static const struct thc_table can[] = {{1, 1, .5, {0}},
                                           {4, 15, .5, {0}},
                                           {4, 255, THC_LEAST_FRACTION, {0}}},
                                  cannot[] = {{0, 1, .5, {0}},  {5, 31, .5, {0}}, {4, 14, .5, {0}},
                                              {4, 15, 1, {0}},  {4, 15, 0, {0}},  {4, 15, NAN, {0}},
                                              {4, 15, -1, {0}}, {2, 0, .5, {0}}};

    for (unsigned i = 0; i < sizeof(can) / sizeof(can[0]); i++)
        CU_ASSERT(thc_table_can(&can[i]));
    for (unsigned i = 0; i < sizeof(cannot) / sizeof(cannot[0]); i++)
        CU_ASSERT(!thc_table_can(&cannot[i]));
}

TEST(sums_of_so_many_workers_fit)
{
    CU_ASSERT_EQUAL(thc_granularity_for(8, 8), 31);
    CU_ASSERT_EQUAL(thc_granularity_for(1, 8), 255);
    CU_ASSERT_EQUAL(thc_granularity_for(255, 8), 1);
    CU_ASSERT_EQUAL(thc_granularity_for(256, 8), 0);
    CU_ASSERT_EQUAL(thc_granularity_for(64, 16), 255);
    CU_ASSERT_EQUAL(thc_granularity_for(1024, 16), 63);
}
