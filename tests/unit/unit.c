#include "unit.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <stdlib.h>

enum { TESTS_MAX = 64 };

static CU_TestInfo tests[TESTS_MAX + 1]; /* ends with CU_TEST_INFO_NULL */
static unsigned line_of[TESTS_MAX], count;
static CU_SetUpFunc before_each;
static CU_TearDownFunc after_each;

void unit_around(void (*before)(void), void (*after)(void))
{
    before_each = before;
    after_each = after;
}

void unit_add(unsigned line, const char *name, void (*test)(void))
{
    unsigned at = count++;

    if (count > TESTS_MAX)
        abort();
    for (; at > 0 && line_of[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        line_of[at] = line_of[at - 1];
    }
    tests[at] = (CU_TestInfo){name, test};
    line_of[at] = line;
}

int unit_main(void)
{
    CU_SuiteInfo suites[] = {{program_invocation_short_name, NULL, NULL, before_each, after_each, tests},
                             CU_SUITE_INFO_NULL};
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

static unsigned one_of(void)
{
    const char *thin = getenv("UNIT_ONE_OF");
    const unsigned n = thin != NULL ? (unsigned)strtoul(thin, NULL, 10) : 1;

    return n > 1 ? n : 1;
}

unsigned unit_cases(unsigned usual)
{
    return (usual + one_of() - 1) / one_of();
}

bool unit_tries(unsigned nth)
{
    return nth % one_of() == 0;
}

bool unit_descriptors_are_bounded(void)
{
    return getenv("UNIT_DESCRIPTORS") == NULL;
}
