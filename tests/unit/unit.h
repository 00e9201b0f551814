/* What every unit test's main does: run one suite, print CUnit's summary, exit non-zero on any failure. */
#ifndef SWAGG_TESTS_UNIT_H
#define SWAGG_TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#define UNIT_TEST(function)                                                                                  \
    {                                                                                                        \
#function, function                                                                                  \
    }

/* tests ends with CU_TEST_INFO_NULL. */
static inline int unit_main(const char *suite, CU_TestInfo tests[])
{
    CU_SuiteInfo suites[] = {{suite, NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) {
        fprintf(stderr, "CUnit: %s\n", CU_get_error_msg());
        return 1;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}

#endif
