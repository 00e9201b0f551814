/* swagg-perf's command line: what it says of one that cannot be meant. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "perf_options.h"
#include "stderr_capture.h"
#include "unit.h"

enum { ARGUMENTS_MAX = 16 };

static struct perf p;

static int parse(const char *line)
{
    static char text[256];
    char *argument[ARGUMENTS_MAX + 1] = {"swagg-perf"}, *rest = text;
    int n = 1;

    snprintf(text, sizeof(text), "%s", line);
    while (n < ARGUMENTS_MAX && (argument[n] = strtok_r(NULL, " ", &rest)) != NULL)
        n++;
    optind = 0; /* from the first one on */
    return perf_parse(&p, n, argument);
}

static void expect_refusal(const char *line, const char *words)
{
    int ret;

    CU_ASSERT_FATAL(capture_begin());
    ret = parse(line);
    capture_take();
    capture_end();
    CU_ASSERT_EQUAL(ret, EXIT_USAGE);
    if (strstr(captured_text, words) == NULL)
        printf("\n%s\nsaid: %sexpected: %s\n", line, captured_text, words);
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, words));
}

#define WHO   "--job j --rank 0 --size 2"
#define WHOLE "--switch 10.0.0.254 " WHO

TEST(what_every_run_needs_is_missed)
{
    expect_refusal("", "--switch is missing");
    expect_refusal(WHO, "--switch is missing");
    expect_refusal(WHO " --server 10.0.0.9", "--switch is missing");
    expect_refusal("--switch 10.0.0.254 --rank 0 --size 2", "--job is missing");
    expect_refusal("--switch 10.0.0.254 --job j --rank 0", "--size is missing");
    expect_refusal("--switch 10.0.0.254 --job j --rank 2 --size 2", "--rank must be less than --size");
    CU_ASSERT_EQUAL(parse(WHOLE), OPTIONS_READ);
    CU_ASSERT_EQUAL(parse(WHO " --protocol atp --server 10.0.0.9"), OPTIONS_READ);
}

TEST(what_would_do_nothing_is_refused)
{
    expect_refusal(WHOLE " --server 10.0.0.9", "--server: only with --protocol atp or auto");
    CU_ASSERT_EQUAL(parse(WHOLE " --protocol auto --server 10.0.0.9"), OPTIONS_READ);
    expect_refusal(WHOLE " -b 16 -e 8", "--minbytes is more than --maxbytes");
    CU_ASSERT_EQUAL(parse(WHOLE " -b 16 -e 16"), OPTIONS_READ);
    expect_refusal(WHOLE " -f 1", "--stepfactor must be 2 or more");
}

TEST(how_long_to_wait_for_an_answer_is_the_librarys_option)
{
    CU_ASSERT_EQUAL_FATAL(parse(WHOLE " --answer-timeout 300000 --timeout 60000"), OPTIONS_READ);
    CU_ASSERT_EQUAL(p.options.answer_timeout_ms, 300000);
    CU_ASSERT_EQUAL(p.options.join_timeout_ms, 60000);
}

TEST(threads_are_the_librarys_option)
{
    CU_ASSERT_EQUAL_FATAL(parse(WHOLE " --threads 4"), OPTIONS_READ);
    CU_ASSERT_EQUAL(p.options.threads, 4);
    CU_ASSERT_EQUAL_FATAL(parse(WHOLE), OPTIONS_READ);
    CU_ASSERT_EQUAL(p.options.threads, 0);
    expect_refusal(WHOLE " --threads many", "--threads");
}
