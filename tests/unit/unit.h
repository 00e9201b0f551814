/* What every unit test's main does: run one suite, print CUnit's summary, exit non-zero on any failure. */
#ifndef SWAGG_TESTS_UNIT_H
#define SWAGG_TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <stdlib.h>

/* Of so many random cases, those that are tried: all, or one of UNIT_ONE_OF in the environment, where each
 * takes many times as long (an emulator). */
static inline unsigned unit_cases(unsigned usual)
{
    const char *thin = getenv("UNIT_ONE_OF");
    const unsigned one_of = thin != NULL ? (unsigned)strtoul(thin, NULL, 10) : 1;

    return one_of <= 1 ? usual : (usual + one_of - 1) / one_of;
}

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
