/* The shim's crossover: what follows from the times of both ways. */
#include "crossover.h"

#include "unit.h"

#define L WAY_LIBRARY
#define S WAY_SWITCH

static void test_open_mpi_unless_the_switch_is_clearly_faster(void)
{
    double faster[WAYS][CROSSOVER_ROUNDS] = {{10, 10, 10, 10, 10}, {9, 9, 9, 9, 9}};
    double about_as_fast[WAYS][CROSSOVER_ROUNDS] = {{10, 10, 10, 10, 10}, {9.9, 9.9, 9.9, 9.9, 9.9}};
    double slower[WAYS][CROSSOVER_ROUNDS] = {{10, 10, 10, 10, 10}, {11, 11, 11, 11, 11}};
    CU_ASSERT_EQUAL(crossover_faster(faster), S);
    CU_ASSERT_EQUAL(crossover_faster(about_as_fast), L);
    CU_ASSERT_EQUAL(crossover_faster(slower), L);
}

static void test_single_rounds_that_were_held_up_do_not_count(void)
{
    double held_up[WAYS][CROSSOVER_ROUNDS] = {{10, 10, 10, 10, 10}, {5000, 8, 8, 8, 700}};
    double lucky[WAYS][CROSSOVER_ROUNDS] = {{10, 10, 10, 10, 10}, {1, 20, 20, 20, 1}};
    CU_ASSERT_EQUAL(crossover_faster(held_up), S);
    CU_ASSERT_EQUAL(crossover_faster(lucky), L);
}

static void test_the_first_size_from_which_on_all_are_faster(void)
{
    CU_ASSERT_EQUAL(crossover_from((enum way[]){L, L, S, S, S}, 5), 4096);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){L, L, L, L, S}, 5), 65536);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){S, S, L, S, S}, 5), 16384);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){S, S, S, S, S}, 5), 1);
}

static void test_larger_sizes_than_are_measured_are_for_the_switch(void)
{
    CU_ASSERT_EQUAL(crossover_from((enum way[]){L, L, L, L, L}, 5), 262144);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){S, S, S, S, L}, 5), 262144);
}

static void test_sizes_that_are_not_known_go_the_usual_way(void)
{
    CU_ASSERT_EQUAL(crossover_from(NULL, 0), CROSSOVER_USUAL);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){S}, 1), CROSSOVER_USUAL);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){S, S}, 2), CROSSOVER_USUAL);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){S, S, L}, 3), CROSSOVER_USUAL);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){L, L, S}, 3), 4096);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){S, S, S}, 3), 1);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){L, L, L, L}, 4), 65536);
    CU_ASSERT_EQUAL(crossover_from((enum way[]){L, L, L, S}, 4), 16384);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_open_mpi_unless_the_switch_is_clearly_faster),
        UNIT_TEST(test_single_rounds_that_were_held_up_do_not_count),
        UNIT_TEST(test_the_first_size_from_which_on_all_are_faster),
        UNIT_TEST(test_larger_sizes_than_are_measured_are_for_the_switch),
        UNIT_TEST(test_sizes_that_are_not_known_go_the_usual_way),
        CU_TEST_INFO_NULL,
    };
    return unit_main("shim_crossover", tests);
}
