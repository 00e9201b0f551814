/* The log: lines that are whole, carry the time once the daemon runs, and never wait for a reader. */
#include "base/log.h"

#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stderr_capture.h"
#include "unit.h"

enum { LINES = 4000 };

static bool matches(const char *line, const char *pattern)
{
    regex_t regex;
    bool found;

    CU_ASSERT_FATAL(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
    found = regexec(&regex, line, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static void test_an_answer_to_a_command_line_has_no_time(void)
{
    log_warning("%s: %d", "a", 1);
    CU_ASSERT_STRING_EQUAL(capture_take(), "swagg: warning: a: 1\n");
    log_debug("not asked for");
    CU_ASSERT_STRING_EQUAL(capture_take(), "");
}

static void test_lines_carry_the_time(void)
{
    log_with_time();
    log_notice("ready");
    CU_ASSERT(matches(capture_take(),
                      "^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z "
                      "swagg: ready\n$"));
}

static void test_lines_of_libraries_go_the_same_way(void)
{
    FILE *stream = log_stream();

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    fprintf(stream, "EAL: %d\nEAL: again\n", 1);
    fflush(stream);
    CU_ASSERT(matches(capture_take(), "^[^\n]*Z swagg: EAL: 1\n[^\n]*Z swagg: EAL: again\n$"));
    fclose(stream);
}

/* Far more than a pipe holds. */
static void test_nobody_reads(void)
{
    unsigned whole = 0;
    char lost[80];

    for (unsigned i = 0; i < LINES; i++)
        log_notice("line %u of many", i);
    CU_ASSERT(log_lost() > 0);
    for (const char *at = capture_take(); *at != '\0'; at = strchr(at, '\n') + 1, whole++) {
        char expected[40];

        snprintf(expected, sizeof(expected), "Z swagg: line %u of many\n", whole);
        CU_ASSERT_FATAL(strchr(at, 'Z') != NULL);
        CU_ASSERT_FATAL(strncmp(strchr(at, 'Z'), expected, strlen(expected)) == 0);
    }
    CU_ASSERT_EQUAL(whole + log_lost(), LINES);

    log_notice("read again");
    snprintf(lost, sizeof(lost), "swagg: warning: %u lines were lost here", LINES - whole);
    CU_ASSERT_PTR_NOT_NULL(strstr(capture_take(), lost));
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, "read again\n"));
    log_notice("said once");
    CU_ASSERT_PTR_NULL(strstr(capture_take(), "lost"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_an_answer_to_a_command_line_has_no_time),
        UNIT_TEST(test_lines_carry_the_time),
        UNIT_TEST(test_lines_of_libraries_go_the_same_way),
        UNIT_TEST(test_nobody_reads),
        CU_TEST_INFO_NULL,
    };
    int status;

    if (!capture_begin())
        return EXIT_FAILURE;
    status = unit_main("log", tests);
    capture_end();
    return status;
}
